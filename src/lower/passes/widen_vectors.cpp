#include "lower/passes/widen_vectors.h"

#include <algorithm>

#include "lower/vector_body.h"
#include "tenon/arith/simplify.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Rewrites a loop's body so that one iteration does what `factor` did; fails where their vectors
/// do not continue each other.
class Widener {
 public:
  Widener(const For& loop, int factor) : var_(loop.var), round_(loop.var.fresh()), factor_(factor) {
    facts_.bind(var_, Range::from_min_extent(loop.min, loop.extent));
    set(next_, var_, var_ + make_int(var_.dtype(), 1));
    set(first_, var_, loop.min + round_ * make_int(var_.dtype(), factor));
  }

  const Var& round() const { return round_; }

  std::optional<Stmt> stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) {
      const std::optional<Expr> value = vector(n->value), index = vector(n->indices[0]);
      if (!value || !index) return std::nullopt;
      return make_stmt(Store{n->buffer, *value, {*index}});
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
    if (const Let* n = s.as<Let>()) {
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
  std::optional<Expr> vector(const Expr& e) const {
    if (const Broadcast* n = e.as<Broadcast>()) {
      if (moves(n->value)) return std::nullopt;
      return make_broadcast(n->value, n->lanes * factor_);
    }
    if (const Ramp* n = e.as<Ramp>()) {
      if (!is_one(n->stride) || step(n->base) != n->lanes) return std::nullopt;
      return make_ramp(substitute_folding(n->base, first_), n->stride, n->lanes * factor_);
    }
    if (const Load* n = e.as<Load>()) {
      const std::optional<Expr> index = vector(n->indices[0]);
      if (!index) return std::nullopt;
      return make_load(n->buffer, {*index});
    }
    if (const Binary* n = e.as<Binary>()) {
      const std::optional<Expr> a = vector(n->a), b = vector(n->b);
      if (!a || !b) return std::nullopt;
      return make_binary(n->op, *a, *b);
    }
    if (const Cast* n = e.as<Cast>()) {
      const std::optional<Expr> value = vector(n->value);
      if (!value) return std::nullopt;
      return make_cast(e.dtype().with_lanes(value->dtype().lanes), *value);
    }
    if (const Select* n = e.as<Select>()) {
      const std::optional<Expr> condition = vector(n->condition), a = vector(n->if_true),
                                b = vector(n->if_false);
      if (!condition || !a || !b) return std::nullopt;
      return make_select(*condition, *a, *b);
    }
    return std::nullopt;
  }

  bool moves(const Expr& e) const { return uses_var(substitute(e, lets_), var_); }

  /// By how much the expression grows from one iteration to the next.
  std::optional<std::int64_t> step(const Expr& e) const {
    const Expr flat = substitute(e, lets_);
    return constant_int(arith::simplify(substitute(flat, next_) - flat, facts_));
  }

  Var var_, round_;
  int factor_;
  arith::Facts facts_;
  VarMap next_, first_, lets_;
};

class LoopWidener {
 public:
  explicit LoopWidener(int vector_bits) : vector_bits_(vector_bits) {}

  Stmt stmt(const Stmt& s) const {
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
    if (loop.kind != ForKind::Serial || !extent || !constant_int(loop.min)) return std::nullopt;
    const std::optional<VectorBody> body = read_vector_body(loop.body);
    if (!body) return std::nullopt;
    const int factor = factor_for(*extent, loop.body);
    if (factor < 2 || !has_independent_iterations(loop, *body)) return std::nullopt;
    Widener widener(loop, factor);
    const std::optional<Stmt> wide = widener.stmt(loop.body);
    if (!wide) return std::nullopt;
    const DataType type = loop.var.dtype();
    return make_stmt(For{widener.round(), make_int(type, 0), make_int(type, *extent / factor),
                         loop.kind, *wide});
  }

  /// The greatest power of two that divides the extent and that no vector of the body is too wide
  /// for.
  int factor_for(std::int64_t extent, const Stmt& body) const {
    int widest = 0;
    const auto measure = [&](DataType type) { widest = std::max(widest, type.bits * type.lanes); };
    walk(
        body, [&](const Store& store) { measure(store.value.dtype()); },
        [&](const Load& load) {
          measure(load.buffer->dtype.element().with_lanes(load.indices[0].dtype().lanes));
        });
    int factor = 1;
    while (widest * factor * 2 <= vector_bits_ && extent % (factor * 2) == 0) factor *= 2;
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
