// Rebases loops that begin far from 0, so that constants next to their variables stay small.
// Otherwise rewriting would combine constants near the end of int32 and overflow. Not used for TVM
// 0.9 text.
//
//   for (i, 2147483636, 2147483638) {          for (i, 0, 2) {
//     A[(7 - (i - 2147483636))] = 0f32    =>     A[(7 - ((i + 2147483636) - 2147483636))] = 0f32
//   }                                          }
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The minimum distance from 0 of a rebased loop: small multiples of closer constants fit int32.
constexpr std::int64_t kFar = std::int64_t{1} << 24;

std::optional<Stmt> rebased(const For& n) {
  const std::int64_t begin = constant_int(n.min).value_or(0);
  if (begin < kFar && begin > -kFar) return std::nullopt;
  const Var var = n.var.fresh();
  For loop = n;
  loop.var = var;
  loop.min = make_int(n.min.dtype(), 0);
  loop.body = substitute(n.body, {{&n.var.node(), var + n.min}});
  return make_stmt(std::move(loop));
}

}  // namespace

PrimFunc rebase_loops(const PrimFunc& func, const PassOptions&) {
  return with_body(func, rewrite(func.body, [](const For& n, const Stmt&) { return rebased(n); }));
}

}  // namespace tenon::lowering
