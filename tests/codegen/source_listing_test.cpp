// Checks the reader of source whose lines are attributed to statements.
#include "tenon/codegen/source_listing.h"

#include <gtest/gtest.h>

namespace tenon::codegen {
namespace {

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

}  // namespace
}  // namespace tenon::codegen
