// Guards every store by bounds checks of all elements that it reads and writes:
//
//   Y[i] = X[i + 1]   =>   if (0 <= i < size(Y) && 0 <= i + 1 < size(X)) { Y[i] = X[i + 1] }
//                          else assert(..., "OUT OF THE BOUNDS")
//
// Sizes come from the `buffer_bound` attributes of flatten_storage; for temporaries, they are those
// of the accessed buffer. A load in one arm of an if_then_else is checked only if that arm is
// taken.
#include "lower/passes.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr const char* kMessage = "OUT OF THE BOUNDS";

/// The smallest and the largest index that a vector index contains.
struct Touched {
  Expr first, last;
};

std::optional<Touched> touched_by(const Expr& index) {
  if (const Broadcast* n = index.as<Broadcast>()) return Touched{n->value, n->value};
  const Ramp* n = index.as<Ramp>();
  if (!n) return index.dtype().is_scalar() ? std::optional(Touched{index, index}) : std::nullopt;
  const Expr end = n->base + n->stride * make_int(n->stride.dtype(), n->lanes - 1);
  const auto stride = constant_int(n->stride);
  if (!stride) return Touched{min(n->base, end), max(n->base, end)};
  return *stride < 0 ? Touched{end, n->base} : Touched{n->base, end};
}

class Instrumenter {
 public:
  explicit Instrumenter(const PrimFunc& func) {
    for (const BufferParam& param : func.buffers)
      sizes_.emplace(&param.buffer->data.node(), std::nullopt);
  }

  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return guarded(s, *n);
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::BufferBound) note_size(*n);
    if (const Allocate* n = s.as<Allocate>()) allocated_.insert_or_assign(&n->data.node(), *n);
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  void note_size(const Attr& attr) {
    const Call* size = attr.value.as<Call>();
    const Expr* data = std::get_if<Expr>(&attr.subject);
    if (size && data && size->args.size() == 1)
      sizes_.insert_or_assign(&data->node(), size->args.front());
  }

  Stmt guarded(const Stmt& s, const Store& n) {
    std::vector<Expr> conditions;
    collect(n.value, conditions);
    for (const Expr& index : n.indices) collect(index, conditions);
    if (auto own = in_bounds(n.buffer, n.indices)) conditions.push_back(std::move(*own));
    if (conditions.empty()) return s;
    Expr all = conditions.front();
    for (std::size_t k = 1; k < conditions.size(); ++k)
      all = make_binary(BinaryOp::And, all, conditions[k]);
    return make_stmt(If{all, s, make_stmt(Assert{all, kMessage, make_evaluate(1)})});
  }

  /// Appends the bounds conditions of all loads in the expression, left to right.
  void collect(const Expr& e, std::vector<Expr>& conditions) {
    if (const Load* n = e.as<Load>()) {
      if (auto own = in_bounds(n->buffer, n->indices)) conditions.push_back(std::move(*own));
    } else if (const Call* n = as_call(e, Intrin::if_then_else)) {
      collect(n->args[0], conditions);
      collect_under(n->args[0], n->args[1], conditions);
      collect_under(make_not(n->args[0]), n->args[2], conditions);
      return;
    } else if (const Select* n = e.as<Select>()) {
      collect(n->condition, conditions);
      collect_under(n->condition, n->if_true, conditions);
      collect_under(make_not(n->condition), n->if_false, conditions);
      return;
    } else if (const Binary* n = e.as<Binary>();
               n && (n->op == BinaryOp::And || n->op == BinaryOp::Or)) {
      collect(n->a, conditions);
      collect_under(n->op == BinaryOp::And ? n->a : make_not(n->a), n->b, conditions);
      return;
    } else if (const LetExpr* n = e.as<LetExpr>()) {
      // The condition is evaluated outside the let.
      std::vector<Expr> inner;
      collect(n->value, conditions);
      collect(n->body, inner);
      for (const Expr& condition : inner) {
        const Var fresh = n->var.fresh();
        const Expr renamed = substitute(condition, {{&n->var.node(), fresh}});
        conditions.push_back(renamed.same_as(condition) ? condition
                                                        : make_let(fresh, n->value, renamed));
      }
      return;
    }
    for_each_child(e, [&](const Expr& child) { collect(child, conditions); });
  }

  /// Appends the conditions of loads in an arm. Vector choices are skipped: check_accesses has
  /// checked each lane before vectorization.
  void collect_under(const Expr& condition, const Expr& branch, std::vector<Expr>& conditions) {
    if (condition.dtype().is_vector()) return;
    std::vector<Expr> inner;
    collect(branch, inner);
    for (const Expr& each : inner) {
      // The bound is evaluated only if the arm is taken, because the bound itself may load from
      // there.
      conditions.push_back(make_call(Bool(), Intrin::if_then_else, {condition, each, make_true()}));
    }
  }

  std::optional<Expr> size_of(const Buffer& buffer) const {
    const auto noted = sizes_.find(&buffer->data.node());
    const bool is_noted = noted != sizes_.end() && noted->second;
    const auto own = allocated_.find(&buffer->data.node());
    if (own == allocated_.end()) return is_noted ? noted->second : std::nullopt;
    // The recorded size of a temporary is its size before double buffering and virtual threads
    // multiplied it.
    return is_noted ? size_of(own->second, buffer->dtype.element())
                    : buffer->shape.front() * buffer->dtype.lanes;
  }

  /// Returns the number of elements that fit the memory.
  static Expr size_of(const Allocate& memory, DataType element) {
    Expr size = memory.dtype.lanes;
    for (const Expr& extent : memory.extents) size = size * extent;
    const int own = memory.dtype.element().bytes(), other = element.bytes();
    return own == other ? size : floordiv(size * own, other);
  }

  std::optional<Expr> in_bounds(const Buffer& buffer, const std::vector<Expr>& indices) const {
    if (indices.size() != 1) return std::nullopt;
    const auto size = size_of(buffer);
    const auto touched = touched_by(indices.front());
    if (!size || !touched) return std::nullopt;
    const Expr first = wide(touched->first), last = wide(touched->last) * buffer->dtype.lanes;
    const Expr bound = wide(*size);
    return make_binary(BinaryOp::And, make_binary(BinaryOp::Ge, first, make_int(Int(64), 0)),
                       make_binary(BinaryOp::Lt, last, bound));
  }

  /// Returns the expression in 64 bits, so that the comparison cannot overflow.
  static Expr wide(const Expr& e) {
    const Expr simple = arith::simplify(e);
    return simple.dtype() == Int(64) ? simple : make_cast(Int(64), simple);
  }

  /// The sizes in scalars of parameters, and of temporaries with a `buffer_bound`. For look-up
  /// only.
  std::unordered_map<const ExprNode*, std::optional<Expr>> sizes_;
  std::unordered_map<const ExprNode*, Allocate> allocated_;
};

}  // namespace

PrimFunc instrument_bounds(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = Instrumenter(func).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
