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

#include "lower/cpu/lane_value.h"
#include "lower/cpu/vector_body.h"
#include "lower/loops/lanes.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The minimum number of wide iterations of a loop that needs a tail loop.
constexpr std::int64_t kMinRoundsBeforeTail = 4;
/// The minimum trip count of a widened parallel loop, so that the threads have enough to share.
constexpr std::int64_t kMinParallelIterations = 256;

/// Rewrites a loop body so that one iteration does the work of `factor` iterations; fails if their
/// vectors are not consecutive.
class VectorWidener {
 public:
  VectorWidener(const For& loop, int factor)
      : var_(loop.var), round_(loop.var.fresh()), factor_(factor) {
    facts_.bind(var_, Range::from_min_extent(loop.min, loop.extent));
    set(next_, var_, var_ + make_int(var_.dtype(), 1));
    set(first_, var_, loop.min + round_ * make_int(var_.dtype(), factor));
  }

  const Var& round() const { return round_; }

  std::optional<Stmt> stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) {
      const std::optional<Expr> value = vector(n->value), index = place(n->buffer, n->indices[0]);
      if (!value || !index) return std::nullopt;
      return make_stmt(Store{wide(n->buffer), *value, {*index}});
    }
    if (const Seq* n = s.as<Seq>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : n->stmts) {
        std::optional<Stmt> wide = stmt(part);
        if (!wide) return std::nullopt;
        parts.push_back(std::move(*wide));
      }
      return make_seq(std::move(parts));
    }
    if (const Allocate* n = s.as<Allocate>()) {
      own_.insert_or_assign(&n->data.node(), 0);
      const std::optional<Stmt> body = stmt(n->body);
      if (!body) return std::nullopt;
      Allocate wide = *n;
      wide.extents[0] = wide.extents[0] * make_int(wide.extents[0].dtype(), factor_);
      wide.body = *body;
      return make_stmt(std::move(wide));
    }
    if (const Let* n = s.as<Let>()) {
      if (n->var.dtype().is_vector()) return vector_let(*n);
      if (reads_own(n->value)) return std::nullopt;
      set(lets_, n->var, substitute(n->value, lets_));
      const std::optional<Stmt> body = stmt(n->body);
      if (!body) return std::nullopt;
      return make_stmt(Let{n->var, substitute_folding(n->value, first_), *body});
    }
    const For& n = *s.as<For>();
    facts_.bind(n.var, Range::from_min_extent(n.min, n.extent));
    const std::optional<Stmt> body = stmt(n.body);
    if (!body) return std::nullopt;
    return make_stmt(For{n.var, n.min, n.extent, n.kind, *body});
  }

 private:
  std::optional<Stmt> vector_let(const Let& n) {
    const std::optional<Expr> value = vector(n.value);
    if (!value) return std::nullopt;
    const Var wide(n.var.name(), value->dtype());
    set(wide_lets_, n.var, wide);
    const std::optional<Stmt> body = stmt(n.body);
    return body ? std::optional(make_stmt(Let{wide, *value, *body})) : std::nullopt;
  }

  std::optional<std::vector<Expr>> vectors(const std::vector<Expr>& list) {
    std::vector<Expr> result;
    for (const Expr& e : list) {
      std::optional<Expr> one = vector(e);
      if (!one) return std::nullopt;
      result.push_back(std::move(*one));
    }
    return result;
  }

  /// Widens a lane-wise function, or a choice with one condition for all lanes.
  std::optional<Expr> call(const Call& n, DataType type) {
    const Intrin* intrin = std::get_if<Intrin>(&n.callee);
    const bool is_choice = n.is(Intrin::if_then_else);
    if (!intrin || (!is_choice && !is_lane_wise(*intrin))) return std::nullopt;
    const bool is_uniform = is_choice && n.args[0].dtype().is_scalar();
    if (is_uniform && (moves(n.args[0]) || reads_own(n.args[0]))) return std::nullopt;
    std::optional<std::vector<Expr>> args =
        vectors(is_uniform ? std::vector<Expr>{n.args[1], n.args[2]} : n.args);
    if (!args) return std::nullopt;
    if (is_uniform) args->insert(args->begin(), n.args[0]);
    return make_call(type, n.callee, std::move(*args));
  }

  std::optional<Expr> vector(const Expr& e) {
    if (!e.dtype().is_vector()) return std::nullopt;
    if (const auto found = wide_lets_.find(&e.node()); found != wide_lets_.end())
      return found->second;
    if (const Call* n = e.as<Call>())
      return call(*n, e.dtype().with_lanes(e.dtype().lanes * factor_));
    if (const Broadcast* n = e.as<Broadcast>()) {
      if (moves(n->value) || reads_own(n->value)) return std::nullopt;
      return make_broadcast(n->value, n->lanes * factor_);
    }
    if (const Ramp* n = e.as<Ramp>()) {
      const std::optional<std::int64_t> stride = constant_int(n->stride);
      if (!stride || step(n->base) != *stride * n->lanes) return std::nullopt;
      return make_ramp(substitute_folding(n->base, first_), n->stride, n->lanes * factor_);
    }
    if (const Load* n = e.as<Load>()) {
      const std::optional<Expr> index = place(n->buffer, n->indices[0]);
      if (!index) return std::nullopt;
      return make_load(wide(n->buffer), {*index});
    }
    return lane_wise(e, [&](const Expr& operand) { return vector(operand); });
  }

  /// Returns the index of the merged vectors. Memory that the body allocates grows by the factor:
  /// its vectors all have the same width and lie at multiples of that width.
  std::optional<Expr> place(const Buffer& buffer, const Expr& index) {
    const auto own = own_.find(&buffer->data.node());
    if (own == own_.end()) return vector(index);
    const Ramp* ramp = index.as<Ramp>();
    if (!ramp || !is_one(ramp->stride) || moves(ramp->base)) return std::nullopt;
    if (own->second == 0) own->second = ramp->lanes;
    const Expr flat = substitute(ramp->base, lets_);
    const DataType type = flat.dtype();
    if (own->second != ramp->lanes ||
        !is_zero(arith::simplify(floormod(flat, make_int(type, ramp->lanes)), facts_)))
      return std::nullopt;
    return make_ramp(ramp->base * make_int(type, factor_), ramp->stride, ramp->lanes * factor_);
  }

  /// Returns the buffer with its size multiplied, if the body allocates its memory.
  Buffer wide(const Buffer& buffer) {
    if (!own_.contains(&buffer->data.node())) return buffer;
    const auto known = buffers_.find(buffer.get());
    if (known != buffers_.end()) return known->second;
    BufferNode own = *buffer.get();
    for (Expr& size : own.shape) size = size * make_int(size.dtype(), factor_);
    return buffers_.emplace(buffer.get(), make_buffer(std::move(own))).first->second;
  }

  bool reads_own(const Expr& e) const {
    bool result = false;
    walk(e, [&](const Load& load) { result = result || own_.contains(&load.buffer->data.node()); });
    return result;
  }

  bool moves(const Expr& e) const { return uses_var(substitute(e, lets_), var_); }

  /// Returns the increment of the expression per iteration.
  std::optional<std::int64_t> step(const Expr& e) const {
    const Expr flat = substitute(e, lets_);
    return constant_int(arith::simplify(substitute(flat, next_) - flat, facts_));
  }

  Var var_, round_;
  int factor_;
  arith::Facts facts_;
  VarMap next_, first_, lets_;
  /// The vector lets and their wide replacements.
  VarMap wide_lets_;
  /// The memory that the body allocates: the width of its vectors by data pointer, 0 before the
  /// first.
  std::unordered_map<const ExprNode*, int> own_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

class LoopWidener {
 public:
  explicit LoopWidener(int vector_bits) : vector_bits_(vector_bits) {}

  Stmt stmt(const Stmt& s) const {
    // The lanes of a vector branch are fixed by its condition.
    if (const If* n = s.as<If>(); n && n->condition.dtype().is_vector()) return s;
    Stmt inside = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
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
    VectorWidener widener(loop, factor);
    const std::optional<Stmt> wide = widener.stmt(loop.body);
    if (!wide) return std::nullopt;
    const DataType type = loop.var.dtype();
    const Stmt main = make_stmt(For{widener.round(), make_int(type, 0),
                                    make_int(type, *extent / factor), loop.kind, *wide});
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
  PrimFunc result = func;
  result.body = LoopWidener(options.vector_registers->bits).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
