// Widens vectors to the target's registers where consecutive iterations access consecutive vectors.
// For host code; never printed.
//
//   for (j, 0, 4) {
//     C[ramp(j*8, 1, 8)] = B[ramp(j*8, 1, 8)] * 2
//   }
// becomes
//   for (j, 0, 2) {
//     C[ramp(j*16, 1, 16)] = B[ramp(j*16, 1, 16)] * 2
//   }
//
// A schedule with 8 lanes is then portable and still uses the full width of each target. Every
// element is computed from the same operands in the same order.
#include "lower/passes.h"

#include <algorithm>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class LoopWidener {
 public:
  explicit LoopWidener(int vector_bits) : vector_bits_(vector_bits) {}

  Stmt stmt(const Stmt& s) const {
    // The lanes of a vector branch are fixed by its condition.
    if (const If* n = s.as<If>(); n && n->condition.dtype().is_vector()) return s;
    Stmt inside = map_statements(s, [&](const Stmt& child) { return stmt(child); });
    if (const For* loop = inside.as<For>()) {
      if (std::optional<Stmt> wide = widened(*loop)) return std::move(*wide);
    }
    return inside;
  }

 private:
  std::optional<Stmt> widened(const For& loop) const {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    const bool is_serial = loop.kind == ForKind::Serial;
    if ((!is_serial && loop.kind != ForKind::Parallel) || !extent || !constant_int(loop.min))
      return std::nullopt;
    if (!is_serial && *extent < kMinParallelIterations) return std::nullopt;
    const std::optional<VectorBody> body = read_vector_body(loop.body);
    if (!body) return std::nullopt;
    // Sums are not widened with a tail, because registers would hold sums of two widths.
    const int factor = factor_for(*extent, is_serial && body->sums.empty(), loop.body);
    if (factor < 2 || !has_independent_iterations(loop, *body)) return std::nullopt;
    const DataType type = loop.var.dtype();
    const Var round = loop.var.fresh();
    const Expr first = loop.min + round * make_int(type, factor);
    const std::optional<Stmt> wide =
        in_lanes(loop.body, {loop.var, first, factor}, {.choice = LaneOptions::Choice::Keep});
    if (!wide) return std::nullopt;
    const Stmt main = make_stmt(
        For{round, make_int(type, 0), make_int(type, *extent / factor), loop.kind, *wide});
    const std::int64_t left = *extent % factor;
    if (left == 0) return main;
    const Expr begin = arith::simplify(loop.min + make_int(type, *extent - left));
    return make_seq({main, fresh_copy(make_stmt(
                               For{loop.var, begin, make_int(type, left), loop.kind, loop.body}))});
  }

  /// Returns the largest power of two that divides the extent, or leaves a short tail of it, and
  /// keeps every vector within a register.
  int factor_for(std::int64_t extent, bool may_leave_tail, const Stmt& body) const {
    int widest = 0;
    const auto measure = [&](DataType type) { widest = std::max(widest, type.bits * type.lanes); };
    walk(
        body, [&](const Store& store) { measure(store.value.dtype()); },
        [&](const Load& load) {
          measure(load.buffer->dtype.element().with_lanes(load.indices[0].dtype().lanes));
        });
    int factor = 1;
    const auto fits = [&](int wider) {
      return extent % wider == 0 || (may_leave_tail && extent >= kMinRoundsBeforeTail * wider);
    };
    while (widest * factor * 2 <= vector_bits_ && fits(factor * 2)) factor *= 2;
    return factor;
  }

  int vector_bits_;
};

}  // namespace

PrimFunc widen_vectors(const PrimFunc& func, const PassOptions& options) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return with_body(func, LoopWidener(options.vector_registers->bits).stmt(func.body));
}

}  // namespace tenon::lowering
