// Shortens loops whose whole body is guarded by an upper bound on their variable. Runs for host
// code only, after `lower`.
//
//   for (i, 0, 16) {                     for (i, 0, 4) {
//     if (i < 4) B[i] = A[i]      =>       B[i] = A[i]
//   }                                    }
//
// Such loops result from vectors that overrun a dimension. Only constant bounds are applied;
// symbolic ones would be evaluated at run time for each loop.
#include "lower/passes.h"

#include <algorithm>
#include <limits>

#include "lower/rewriting.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Returns the first value of `var` from which the condition always fails; nullopt if the condition
/// is not a constant upper bound.
std::optional<std::int64_t> end_of(const Expr& condition, const Var& var) {
  const Binary* compare = condition.as<Binary>();
  if (!compare || !compare->a.same_as(var)) return std::nullopt;
  const std::optional<std::int64_t> end = constant_int(compare->b);
  if (!end) return std::nullopt;
  if (compare->op == BinaryOp::Lt) return end;
  if (compare->op == BinaryOp::Le && *end < std::numeric_limits<std::int64_t>::max())
    return *end + 1;
  return std::nullopt;
}

std::optional<Stmt> trimmed(const For& loop) {
  const If* guard = loop.body.as<If>();
  const std::optional<std::int64_t> min = constant_int(loop.min),
                                    extent = constant_int(loop.extent);
  if (!guard || guard->else_case || !min || !extent || loop.kind != ForKind::Serial)
    return std::nullopt;
  std::int64_t count = *extent;
  std::vector<Expr> others;
  for_each_conjunct(guard->condition, [&](const Expr& condition) {
    const std::optional<std::int64_t> end = end_of(condition, loop.var);
    std::int64_t holds = 0;
    if (end && !__builtin_sub_overflow(*end, *min, &holds))
      count = std::min(count, std::max<std::int64_t>(holds, 0));
    else
      others.push_back(condition);
  });
  if (count == *extent) return std::nullopt;
  For result = loop;
  result.extent = make_int(loop.extent.dtype(), count);
  result.body = guard->then_case;
  if (!others.empty())
    result.body = make_stmt(If{conjunction(others), guard->then_case, std::nullopt});
  return make_stmt(std::move(result));
}

Stmt trimmed_below(const Stmt& s) {
  const Stmt done = map_statements(s, trimmed_below);
  const For* loop = done.as<For>();
  if (!loop) return done;
  return trimmed(*loop).value_or(done);
}

}  // namespace

PrimFunc tighten_loop_bounds(const PrimFunc& func, const PassOptions&) {
  return with_body(func, trimmed_below(func.body));
}

}  // namespace tenon::lowering
