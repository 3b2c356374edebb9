// Binds loop ranges that read memory which the function writes to variables. Later passes repeat a
// range in conditions and indices inside of the loop, where it would have another value than when
// the loop began. Not used for TVM 0.9 text.
//
//   for (j, 0, A[i]) {        let j_extent = A[i]
//     A[j] = 0            =>  for (j, 0, j_extent) {
//   }                           A[j] = 0
//                             }
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

PrimFunc bind_loop_ranges(const PrimFunc& func, const PassOptions&) {
  std::optional<arith::WrittenMemory> memory;
  const auto is_stable = [&](const Expr& e) {
    if (effect_of(e) == Effect::Pure) return true;
    if (!memory) memory.emplace(func.body);
    return memory->is_stable(e);
  };
  return with_body(func, rewrite(func.body, [&](const For& n, const Stmt&) -> std::optional<Stmt> {
                     const bool is_min_stable = is_stable(n.min),
                                is_extent_stable = is_stable(n.extent);
                     if (is_min_stable && is_extent_stable) return std::nullopt;
                     const Var min(n.var.name() + "_min", n.min.dtype());
                     const Var extent(n.var.name() + "_extent", n.extent.dtype());
                     For loop = n;
                     if (!is_min_stable) loop.min = min;
                     if (!is_extent_stable) loop.extent = extent;
                     Stmt bound = make_stmt(std::move(loop));
                     if (!is_extent_stable) bound = make_stmt(Let{extent, n.extent, bound});
                     if (!is_min_stable) bound = make_stmt(Let{min, n.min, bound});
                     return bound;
                   }));
}

}  // namespace tenon::lowering
