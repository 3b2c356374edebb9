// The rewriter and `simplify` against simplify.tsv.
#include "tenon/arith/simplify.h"

#include <gtest/gtest.h>

#include <map>

#include "tenon/tir/compare.h"
#include "tests/arith/table.h"

namespace tenon::arith {
namespace {

using namespace tir;

constexpr std::size_t kInput = 3, kSimplify = 5, kRewrite = 6, kAgain = 8;

const std::map<std::string, std::string>& deliberate() {
  static const std::map<std::string, std::string> reasons = {};
  return reasons;
}

bool is_compared(const Row& row) { return row.cells[0] != "weak" && !deliberate().contains(row.cells[kInput]); }

std::string place(const Row& row) {
  return "line " + std::to_string(row.line) + " " + row.cells[0] + ", " + row.cells[1] + " given " + row.cells[2] +
         "\n  input    " + row.cells[kInput];
}

void expect_text(const Row& row, const TableScope& scope, const Expr& result, const std::string& expected) {
  // Floats are compared as they print: the table has six digits of them.
  const bool is_float = row.cells[0] == "float";
  EXPECT_TRUE(is_float ? to_text(result) == expected : structural_equal(result, scope.parse(expected)))
      << place(row) << "\n  expected " << expected << "\n  got      " << to_text(result);
}

TEST(Simplify, RewrittenFormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    expect_text(row, scope, rewrite_simplify(scope.parse(row.cells[kInput]), scope.facts()), row.cells[kRewrite]);
  }
}

TEST(Simplify, FormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    expect_text(row, scope, simplify(scope.parse(row.cells[kInput]), scope.facts()), row.cells[kSimplify]);
  }
}

TEST(Simplify, FormsOfFormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    const std::string& expected = row.cells[kAgain] == "=" ? row.cells[kSimplify] : row.cells[kAgain];
    expect_text(row, scope, simplify(scope.parse(row.cells[kSimplify]), scope.facts()), expected);
  }
}

}  // namespace
}  // namespace tenon::arith
