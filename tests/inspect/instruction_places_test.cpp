// Statements of instructions: what LLVM tells, and what is concluded where it does not.
#include "inspect/instruction_places.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using codegen::AssemblerLine;
using Kind = AssemblerLine::Kind;

LoopView::Stmt stmt(int first, int last, int parent) {
  return {LoopView::Stmt::Kind::Serial, first, last, parent, -1};
}
/// A loop with two loops of a statement each: lines 1 to 8.
const std::vector<LoopView::Stmt> kStmts = {stmt(1, 8, -1), stmt(2, 4, 0), stmt(3, 3, 1),
                                            stmt(5, 7, 0), stmt(6, 6, 3)};

std::vector<int> places(const std::vector<int>& lines,
                        const std::vector<std::pair<std::size_t, std::size_t>>& loops = {}) {
  codegen::AssemblerListing code{{{Kind::Function, "f"}}, loops};
  for (int line : lines) code.lines.push_back({Kind::Instruction, "nop", line});
  std::vector<int> result;
  for (const LoopView::Instruction& each : place_instructions(code, kStmts))
    if (each.kind == LoopView::Instruction::Kind::Instruction) result.push_back(each.stmt);
  return result;
}

TEST(InstructionPlaces, ALineIsTheStatementThatBeginsThere) {
  EXPECT_EQ(places({3, 2, 6}), (std::vector<int>{2, 1, 4}));
}

TEST(InstructionPlaces, WithoutALineItIsTheStatementOfTheLoopAround) {
  // Lines 1 to 3 of the code are a loop of machine code: all that is known there is of statement 2.
  EXPECT_EQ(places({3, 0, 3, 6}, {{1, 3}}), (std::vector<int>{2, 2, 2, 4}));
}

TEST(InstructionPlaces, AnUnknownInstructionBelongsToTheCommonStatement) {
  EXPECT_EQ(places({3, 0, 6}, {{1, 3}}), (std::vector<int>{2, 0, 4}));
}

TEST(InstructionPlaces, OutsideOfLoopsItIsWhatTheWholeFunctionIsOf) {
  EXPECT_EQ(places({0, 3, 3}, {{2, 3}}), (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(places({0, 3, 6}), (std::vector<int>{0, 2, 4}));
}

TEST(InstructionPlaces, ALoopThatKnowsNothingAsksTheOneAroundIt) {
  EXPECT_EQ(places({6, 0, 0, 6}, {{2, 3}, {1, 4}}), (std::vector<int>{4, 4, 4, 4}));
}

TEST(InstructionPlaces, AFunctionOfNoStatementHasNone) {
  EXPECT_EQ(places({0, 0}), (std::vector<int>{-1, -1}));
}

TEST(InstructionPlaces, OnlyWhatLlvmTellsIsNoGuess) {
  const codegen::AssemblerListing code{
      {{Kind::Function, "f"}, {Kind::Instruction, "nop", 3}, {Kind::Instruction, "nop", 0}}, {}};
  const auto placed = place_instructions(code, kStmts);
  EXPECT_FALSE(placed[1].is_guessed);
  EXPECT_TRUE(placed[2].is_guessed);
}

}  // namespace
}  // namespace tenon
