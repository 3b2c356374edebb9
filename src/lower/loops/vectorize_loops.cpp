// Vectorizes marked loops: the loop variable becomes a ramp.
//
//   for (i, 0, 8) "vectorized" { B[((o*8) + i)] = (A[i] + 1f32) }
//   B[ramp((o*8), 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(1f32, 8))
//
// The method is Halide's (Ragan-Kelley et al., PLDI 2013). Statements that cannot be vectorized,
// such as a branch that differs between lanes or a call of a C function, become a serial loop `i.s`
// around the smallest enclosing statement. An if_then_else becomes a select that does not fault,
// because its lanes evaluate only the chosen arm (guard_choices). In vectorize_loops_as_text, an
// if_then_else that differs between lanes becomes serial as well, as in TVM 0.9 text.
//
// options.disable_vectorize makes the loops serial. Of nested vectorized loops, only the innermost
// is vectorized; the others become serial. Throws LowerError for a loop of symbolic extent (see
// loop_extent.h).
#include "lower/passes.h"

#include "lower/loops/lanes.h"
#include "lower/loops/loop_extent.h"
#include "lower/rewriting.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The maximum number of lanes that a vector type holds.
constexpr int kMaxLanes = 1 << 14;

class Vectorizer {
 public:
  Vectorizer(bool enabled, LaneOptions::Choice choice) : enabled_(enabled), choice_(choice) {}

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
    const LaneOptions options{.choice = choice_, .may_serialize = true};
    return *in_lanes(body, {loop.var, loop.min, *extent}, options);
  }

  bool enabled_;
  LaneOptions::Choice choice_;
  int vectorized_inside_ = 0;
  EnclosingVars enclosing_;
};

}  // namespace

PrimFunc vectorize_loops(const PrimFunc& func, const PassOptions& options) {
  return with_body(
      func, Vectorizer(!options.disable_vectorize, LaneOptions::Choice::Select).stmt(func.body));
}

PrimFunc vectorize_loops_as_text(const PrimFunc& func, const PassOptions& options) {
  return with_body(
      func, Vectorizer(!options.disable_vectorize, LaneOptions::Choice::Serial).stmt(func.body));
}

}  // namespace tenon::lowering
