// Listings whose lines are attributed to statements.

#include "tenon/codegen/source_listing.h"

#include <gtest/gtest.h>

#include "tenon/codegen/assembler_listing.h"

namespace tenon::codegen {
namespace {

// ---- sources ------------------------------------------------------------------------------------

// Checks the reader of source whose lines are attributed to statements.

TEST(SourceListing, ALineHasTheStatementThatItsEndNames) {
  const std::vector<SourceLine> lines =
      list_source("static int f(void) {\n  x = 1;" + line_mark(12) + "\n\n}\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1].text, "  x = 1;");
  EXPECT_EQ(lines[1].line, 12);
  EXPECT_EQ(lines[0].line, 0);
  EXPECT_EQ(lines[2].text, "");
}

TEST(SourceListing, OtherCommentsStay) {
  const std::vector<SourceLine> lines = list_source("a; // C, matmul.cpp:14\nb; //@home");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "a; // C, matmul.cpp:14");
  EXPECT_EQ(lines[1].text, "b; //@home");
  EXPECT_EQ(lines[1].line, 0);
}

// ---- assembler listings -------------------------------------------------------------------------

// Checks the reader of assembler listings.

using Kind = AssemblerLine::Kind;

constexpr const char* kText = R"(    .text
    .file    0 "" "loops"
    .type    sum_compute,@function
sum_compute:                            # @sum_compute
.Lfunc_begin0:
    .cfi_startproc
# %bb.0:                                # %entry
    .loc    0 1 0 prologue_end              # loops:1:0
    xorl    %eax, %eax
.LBB0_1:                                # %loop
.Ltmp0:
    .loc    0 2 0                           # loops:2:0
    vaddss    (%rdi,%rax,4), %xmm0, %xmm0
    .loc    0 0 0 is_stmt 0                 # loops:0:0
    incq    %rax
    .loc    0 1 0 is_stmt 1
    cmpq    $8, %rax
    jne    .LBB0_1
.LBB0_2:                                # %unused
    retq                                    # comment
.Lfunc_end0:
    .size    sum_compute, .Lfunc_end0-sum_compute
    .cfi_endproc
    .section    .rodata,"a",@progbits
.Ltable:
    .long    3
)";

TEST(AssemblerListing, HasFunctionsInstructionsAndLabelsThatAreJumpedTo) {
  std::vector<std::string> texts;
  for (const AssemblerLine& line : list_assembler(kText).lines) texts.push_back(line.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"sum_compute", "xorl %eax, %eax", ".LBB0_1",
                                             "vaddss (%rdi,%rax,4), %xmm0, %xmm0", "incq %rax",
                                             "cmpq $8, %rax", "jne .LBB0_1", "retq"}));
}

TEST(AssemblerListing, AnInstructionHasTheLineOfTheLocBeforeIt) {
  const AssemblerListing listing = list_assembler(kText);
  const auto line = [&](std::size_t n) { return listing.lines.at(n).line; };
  EXPECT_EQ(line(1), 1);
  EXPECT_EQ(line(3), 2);
  EXPECT_EQ(line(4), 0);
  EXPECT_EQ(line(6), 1);
  EXPECT_EQ(listing.lines[2].kind, Kind::Label);
  EXPECT_EQ(listing.lines[0].kind, Kind::Function);
}

TEST(AssemblerListing, AJumpBackIsALoop) {
  const AssemblerListing listing = list_assembler(kText);
  ASSERT_EQ(listing.loops.size(), 1u);
  EXPECT_EQ(listing.loops[0].first, 2u);
  EXPECT_EQ(listing.loops[0].second, 6u);
}

TEST(AssemblerListing, InnerLoopsComeFirst) {
  const AssemblerListing listing = list_assembler(
      "\t.type\tf,@function\nf:\n.LBB0_1:\n\tnop\n.LBB0_2:\n\tjne\t.LBB0_2\n\tjne\t.LBB0_1\n");
  ASSERT_EQ(listing.loops.size(), 2u);
  EXPECT_EQ(listing.loops[0].first, 3u);
  EXPECT_EQ(listing.loops[1].first, 1u);
}

TEST(AssemblerListing, ARegisterOnArmIsNoCommentAndANumberNeither) {
  const AssemblerListing listing =
      list_assembler("\t.type\tf,@function\nf:\n\tadd\tx0, x0, #4\n\tret // back\n");
  EXPECT_EQ(listing.lines.at(1).text, "add x0, x0, #4");
  EXPECT_EQ(listing.lines.at(2).text, "ret");
}

}  // namespace
}  // namespace tenon::codegen
