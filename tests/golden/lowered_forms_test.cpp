// The column `lowered` of simplify.tsv: what the printed text shows for an expression in a loop
// nest over its bound variables, under ifs for the given conditions.
#include <gtest/gtest.h>

#include <set>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/tables/table.h"

namespace tenon::lowering {
namespace {

using namespace tir;

constexpr std::size_t kGroup = 0, kVariables = 1, kGiven = 2, kInput = 3, kSimplify = 5,
                      kLowered = 9;

/// Inputs whose form is deliberately another one; tests/arith/simplify_test.cpp has the forms and
/// the reasons.
const std::set<std::string_view>& deliberate() {
  static const std::set<std::string_view> inputs = {
      // 0 times an infinity, the difference of two, or 0 by 0 is no number.
      "(broadcast(f, 4)*broadcast(0f32, 4))", "(f*0f32)", "(0f32*f)", "(h*0f16)", "((f*0f32) + g)",
      "(0f32 / f)", "(f - f)", "((f*g) - (f*g))",
      // Sums of floats are rounded: taking away what was added need not restore.
      "((f + g) - g)", "((f + g) - f)", "(f - (f + g))", "(f - (g + f))",
      // A division by a constant stays one unless the reciprocal is exact.
      "(f / 3f32)", "(f / 10f32)", "(h / 3f16)", "(d / 3f64)", "(f / 0.1f32)", "(f / 7f32)",
      "(f / 255f32)", "(f / 49f32)", "(f / 9f32)",
      // It holds where one of them is NaN.
      "!(f < g)",
      // A constant of a narrow type is a value of that type.
      "(0.1f16*3f16)"};
  return inputs;
}

/// The passes between flattening and common subexpressions that change the form of an expression.
std::vector<Pass> form_passes() {
  static const std::set<std::string_view> kNames = {"fold-added-zeros", "simplify",
                                                    "renormalize-splits"};
  std::vector<Pass> passes;
  for (const Pass& pass : lowering_passes())
    if (kNames.contains(pass.name)) passes.push_back(pass);
  // They work on any form; in between, the others change it.
  for (Pass& pass : passes) pass.takes = pass.gives = Form::MultiDimensional;
  return passes;
}

/// `name:[lo,hi)` of the row's variables, as (name, range) texts.
std::optional<Range> range_of(const std::string& declaration, DataType type) {
  const auto open = declaration.find('[');
  if (open == std::string::npos) return std::nullopt;
  const auto comma = declaration.find(',', open);
  const std::string lo = declaration.substr(open + 1, comma - open - 1);
  const std::string hi = declaration.substr(comma + 1, declaration.size() - comma - 2);
  const bool is_number = lo.find_first_not_of("-0123456789") == std::string::npos &&
                         hi.find_first_not_of("-0123456789") == std::string::npos;
  if (!is_number) return std::nullopt;
  return Range::from_min_extent(make_int(type, std::stoll(lo)),
                                make_int(type, std::stoll(hi) - std::stoll(lo)));
}

/// Loops around ifs around a call that keeps the expression.
PrimFunc program(const arith::TableScope& scope, const arith::Row& row) {
  Stmt body = make_evaluate(make_extern_call(Int(32), "keep", {scope.parse(row.cells[kInput])}));
  std::vector<std::string> given = arith::split_list(row.cells[kGiven], " ; ");
  for (std::size_t n = given.size(); n-- > 0;)
    body = make_stmt(If{scope.parse(given[n]), body, std::nullopt});
  PrimFunc func{{}, {}, make_nop()};
  const std::vector<std::string> declared = arith::split_list(row.cells[kVariables], " ");
  for (std::size_t n = declared.size(); n-- > 0;) {
    const Var& v = scope.vars()[n];
    if (auto range = range_of(declared[n], v.dtype())) {
      body = make_stmt(For{v, range->min, range->extent, ForKind::Serial, body});
    } else {
      func.params.insert(func.params.begin(), v);
    }
  }
  func.body = body;
  return func;
}

std::optional<std::string> lowered(const arith::Row& row) {
  const arith::TableScope scope(row.cells[kVariables], row.cells[kGiven]);
  const std::vector<Pass> passes = form_passes();
  const PrimFunc func =
      run_passes(passes, program(scope, row), {.simple_mode = true, .passes = {.verify = false}});
  std::optional<std::string> text;
  walk(func.body, [&](const Call& call) {
    const auto* callee = std::get_if<ExternCallee>(&call.callee);
    if (callee && callee->name == "keep") text = arith::to_text(call.args.front());
  });
  return text;
}

TEST(LoweredForms, AreThoseOfTheTable) {
  int rows = 0;
  for (const arith::Row& row : arith::read_table("simplify.tsv")) {
    if (row.cells[kGroup] == "weak" || row.cells.size() <= kLowered) continue;
    const std::string expected =
        row.cells[kLowered] == "=" ? row.cells[kSimplify] : row.cells[kLowered];
    std::optional<std::string> actual;
    try {
      actual = lowered(row);
    } catch (const std::exception& error) {
      actual = std::string("error: ") + error.what();
    }
    if (deliberate().contains(row.cells[kInput])) {
      EXPECT_NE(actual, expected) << row.cells[kInput]
                                  << " has the table's form now: take it off the list";
      continue;
    }
    ++rows;
    EXPECT_EQ(actual, expected) << "row " << row.line << ": " << row.cells[kVariables] << " | "
                                << row.cells[kGiven] << " | " << row.cells[kInput];
  }
  EXPECT_GT(rows, 1500);
}

}  // namespace
}  // namespace tenon::lowering
