// Loops marked vectorised become vector statements, lane by lane the same: the loop's variable is a
// ramp.
//
//   for (i, 0, 8) "vectorized" { B[((o*8) + i)] = (A[i] + 1f32) }
//   B[ramp((o*8), 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(1f32, 8))
//
// As in Halide (Ragan-Kelley et al., PLDI 2013). What has no meaning by lanes is done by a serial
// loop `i.s` around the smallest statement that holds it: a branch that differs between lanes, a
// call of a C function, ... An if_then_else becomes a select, which never faults: its lanes
// evaluate the side that they choose (guard_choices).
//
// With options.disable_vectorize the loops become serial ones. Of nested vectorised loops the
// innermost is done by lanes, the others serially. A loop of symbolic extent: see loop_extent.h.
// Throws LowerError for it.
// Vectorizes as in TVM 0.9 text: an if_then_else that differs between lanes is serial as well.
#include "lower/passes.h"

#include "lower/loops/lanes.h"
#include "lower/loops/loop_extent.h"
#include "lower/rewriting.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// More lanes than a vector type holds are no use to anyone.
constexpr int kMaxLanes = 1 << 14;

class Vectorizer {
 public:
  Vectorizer(bool enabled, LaneChoice choice) : enabled_(enabled), choice_(choice) {}

  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) return this->loop(*loop);
    if (const Attr* attr = s.as<Attr>(); attr && std::holds_alternative<IterVar>(attr->subject))
      enclosing_.enter(std::get<IterVar>(attr->subject).var());
    return map_statements(s, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  Stmt loop(const For& loop) {
    const int outer_count = vectorized_inside_;
    vectorized_inside_ = 0;
    enclosing_.enter(loop.var);
    const Stmt body = stmt(loop.body);
    enclosing_.leave(loop.var);
    const bool has_inner = vectorized_inside_ > 0;
    vectorized_inside_ = outer_count + vectorized_inside_;
    if (loop.kind != ForKind::Vectorized)
      return make_stmt(For{loop.var, loop.min, loop.extent, loop.kind, body});
    ++vectorized_inside_;
    const Stmt serial = make_stmt(For{loop.var, loop.min, loop.extent, ForKind::Serial, body});
    if (!enabled_ || has_inner) return serial;
    const std::optional<int> extent = constant_extent(loop, "vectorize", enclosing_);
    if (!extent || *extent > kMaxLanes) return serial;
    if (*extent == 0) return make_nop();
    if (*extent == 1) return substitute(body, {{&loop.var.node(), loop.min}});
    return Lanes(loop.var, loop.min, *extent, choice_).stmt(body);
  }

  bool enabled_;
  LaneChoice choice_;
  int vectorized_inside_ = 0;
  EnclosingVars enclosing_;
};

}  // namespace

PrimFunc vectorize_loops(const PrimFunc& func, const PassOptions& options) {
  PrimFunc result = func;
  result.body = Vectorizer(!options.disable_vectorize, LaneChoice::Select).stmt(func.body);
  return result;
}

PrimFunc vectorize_loops_as_text(const PrimFunc& func, const PassOptions& options) {
  PrimFunc result = func;
  result.body = Vectorizer(!options.disable_vectorize, LaneChoice::Serial).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
