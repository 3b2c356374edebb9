#include "te/loops/check_factors.h"

#include <algorithm>
#include <ranges>

#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

struct SplitSize {
  Expr value;
  std::string_view primitive, what;
};

SplitSize size_of(const Split& split) {
  return match(
      split.size,
      [](const Split::ByFactor& by) {
        return SplitSize{by.factor, "split", "factor"};
      },
      [](const Split::ByParts& by) {
        return SplitSize{by.parts, "split_by_nparts", "number of parts"};
      });
}

}  // namespace

Stmt check_factors(const Program& program, Stmt body) {
  std::vector<Expr> checked;
  for (StageId id : program.graph.ids() | std::views::reverse) {
    const FrozenStage& stage = program.graph.stage(id);
    for (const Relation& relation : stage.relations) {
      const Split* split = std::get_if<Split>(&relation);
      if (!split) continue;
      const SplitSize size = size_of(*split);
      const Expr is_positive = make_int(size.value.dtype(), 0) < size.value;
      const bool is_known = std::any_of(checked.begin(), checked.end(), [&](const Expr& known) {
        return structural_equal(known, size.value);
      });
      if (constant_int(size.value) || is_known || arith::can_prove(is_positive, program.facts))
        continue;
      checked.push_back(size.value);
      std::string text(size.primitive);
      text += " of " + describe(stage, split->parent) + ": the " + std::string(size.what) + " `" +
              print_expr(size.value) + "` must be positive";
      body = make_stmt(Assert{is_positive, std::move(text), std::move(body)});
    }
  }
  return body;
}

}  // namespace tenon::te
