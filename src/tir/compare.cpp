#include "tenon/tir/compare.h"

#include <bit>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

/// Walks two trees in step and remembers the first place where they part.
class Comparer {
 public:
  std::optional<Difference> difference;

  bool expr(const Expr& a, const Expr& b) {
    if (a.same_as(b) && pairs_.empty()) return true;
    if (is_stack_low()) return with_deep_stack([&] { return expr(a, b); });
    if (a.dtype() != b.dtype()) return differ("dtype", a, b);
    if (a.node().value.index() != b.node().value.index()) return differ("kind of expression", a, b);
    return match(
        a.node().value,
        [&](const IntImm& n) {
          return n.value == b.as<IntImm>()->value || differ("constant", a, b);
        },
        [&](const FloatImm& n) {
          return same_bits(n.value, b.as<FloatImm>()->value) || differ("constant", a, b);
        },
        [&](const StringImm& n) {
          return n.value == b.as<StringImm>()->value || differ("text", a, b);
        },
        [&](const VarNode&) { return same_var(a, b) || differ("variable", a, b); },
        [&](const Cast& n) { return expr(n.value, b.as<Cast>()->value); },
        [&](const Binary& n) {
          const Binary& m = *b.as<Binary>();
          if (n.op != m.op) return differ("operator", a, b);
          return expr(n.a, m.a) && expr(n.b, m.b);
        },
        [&](const Not& n) { return expr(n.a, b.as<Not>()->a); },
        [&](const Select& n) {
          const Select& m = *b.as<Select>();
          return expr(n.condition, m.condition) && expr(n.if_true, m.if_true) &&
                 expr(n.if_false, m.if_false);
        },
        [&](const Ramp& n) {
          const Ramp& m = *b.as<Ramp>();
          return expr(n.base, m.base) && expr(n.stride, m.stride);
        },
        [&](const Broadcast& n) { return expr(n.value, b.as<Broadcast>()->value); },
        [&](const Shuffle& n) {
          const Shuffle& m = *b.as<Shuffle>();
          return list(n.vectors, m.vectors, a, b) && list(n.indices, m.indices, a, b);
        },
        [&](const LetExpr& n) {
          const LetExpr& m = *b.as<LetExpr>();
          if (!expr(n.value, m.value)) return false;
          return bound(n.var, m.var, [&] { return expr(n.body, m.body); });
        },
        [&](const Call& n) {
          const Call& m = *b.as<Call>();
          return (same_callee(n, m) || differ("called function", a, b)) &&
                 list(n.args, m.args, a, b);
        },
        [&](const Load& n) {
          const Load& m = *b.as<Load>();
          return (same_buffer(n.buffer, m.buffer) || differ("buffer", a, b)) &&
                 list(n.indices, m.indices, a, b);
        },
        [&](const ProducerLoad& n) {
          const ProducerLoad& m = *b.as<ProducerLoad>();
          const bool same = n.producer->operation_identity() == m.producer->operation_identity() &&
                            n.producer->value_index() == m.producer->value_index();
          return (same || differ("tensor", a, b)) && list(n.indices, m.indices, a, b);
        },
        [&](const Reduce& n) {
          const Reduce& m = *b.as<Reduce>();
          const ReduceNode &r = *n.reduction, &q = *m.reduction;
          const bool same_axes =
              r.axis.size() == q.axis.size() &&
              std::equal(r.axis.begin(), r.axis.end(), q.axis.begin(),
                         [](const IterVar& x, const IterVar& y) { return x.same_as(y); });
          if (n.value_index != m.value_index || r.combiner != q.combiner || !same_axes)
            return differ("reduction", a, b);
          return list(r.source, q.source, a, b) && list(r.init, q.init, a, b) &&
                 expr(r.condition, q.condition);
        });
  }

  bool stmt(const Stmt& a, const Stmt& b) {
    if (a.same_as(b) && pairs_.empty()) return true;
    if (is_stack_low()) return with_deep_stack([&] { return stmt(a, b); });
    if (a.node().value.index() != b.node().value.index()) return differ("kind of statement", a, b);
    return match(
        a.node().value,
        [&](const Store& n) {
          const Store& m = *b.as<Store>();
          return (same_buffer(n.buffer, m.buffer) || differ("buffer", a, b)) &&
                 expr(n.value, m.value) && list(n.indices, m.indices, a, b);
        },
        [&](const Realize& n) {
          const Realize& m = *b.as<Realize>();
          if (!ranges(n.bounds, m.bounds, a, b) || !expr(n.condition, m.condition)) return false;
          return with_buffer(n.buffer, m.buffer, a, b, [&] { return stmt(n.body, m.body); });
        },
        [&](const BufferView& n) {
          const BufferView& m = *b.as<BufferView>();
          if (!same_buffer(n.source, m.source)) return differ("buffer", a, b);
          return ranges(n.region, m.region, a, b) &&
                 with_buffer(n.view, m.view, a, b, [&] { return stmt(n.body, m.body); });
        },
        [&](const Allocate& n) {
          const Allocate& m = *b.as<Allocate>();
          const VarNode *p = n.data.as<VarNode>(), *q = m.data.as<VarNode>();
          if (n.dtype != m.dtype || p->pointer != q->pointer) return differ("allocation", a, b);
          return list(n.extents, m.extents, a, b) && expr(n.condition, m.condition) &&
                 bound(n.data, m.data, [&] { return stmt(n.body, m.body); });
        },
        [&](const For& n) {
          const For& m = *b.as<For>();
          if (n.kind != m.kind || n.var.dtype() != m.var.dtype())
            return differ("kind of loop", a, b);
          return expr(n.min, m.min) && expr(n.extent, m.extent) &&
                 bound(n.var, m.var, [&] { return stmt(n.body, m.body); });
        },
        [&](const While& n) {
          const While& m = *b.as<While>();
          return expr(n.condition, m.condition) && stmt(n.body, m.body);
        },
        [&](const If& n) {
          const If& m = *b.as<If>();
          if (n.else_case.has_value() != m.else_case.has_value()) return differ("else", a, b);
          return expr(n.condition, m.condition) && stmt(n.then_case, m.then_case) &&
                 (!n.else_case || stmt(*n.else_case, *m.else_case));
        },
        [&](const Let& n) {
          const Let& m = *b.as<Let>();
          return expr(n.value, m.value) &&
                 bound(n.var, m.var, [&] { return stmt(n.body, m.body); });
        },
        [&](const Assert& n) {
          const Assert& m = *b.as<Assert>();
          return (n.message == m.message || differ("message", a, b)) &&
                 expr(n.condition, m.condition) && stmt(n.body, m.body);
        },
        [&](const Attr& n) { return attr(n, *b.as<Attr>(), a, b); },
        [&](const Evaluate& n) { return expr(n.value, b.as<Evaluate>()->value); },
        [&](const Seq& n) {
          const Seq& m = *b.as<Seq>();
          if (n.stmts.size() != m.stmts.size()) return differ("number of statements", a, b);
          for (std::size_t i = 0; i < n.stmts.size(); ++i)
            if (!stmt(n.stmts[i], m.stmts[i])) return false;
          return true;
        },
        [&](const Prefetch& n) {
          const Prefetch& m = *b.as<Prefetch>();
          return (same_buffer(n.buffer, m.buffer) || differ("buffer", a, b)) &&
                 ranges(n.region, m.region, a, b);
        });
  }

  bool function(const PrimFunc& a, const PrimFunc& b) {
    if (a.params.size() != b.params.size() || a.buffers.size() != b.buffers.size())
      return differ("number of parameters", a.body, b.body);
    for (std::size_t i = 0; i < a.params.size(); ++i) {
      if (a.params[i].dtype() != b.params[i].dtype())
        return differ("dtype", a.params[i], b.params[i]);
      pairs_.emplace_back(&a.params[i].node(), &b.params[i].node());
    }
    for (std::size_t i = 0; i < a.buffers.size(); ++i)
      if (!declared(a.buffers[i].declared, b.buffers[i].declared) ||
          !declared(a.buffers[i].buffer, b.buffers[i].buffer))
        return differ("parameter", a.buffers[i].param, b.buffers[i].param);
    return stmt(a.body, b.body);
  }

 private:
  /// Names of both sides that stand for each other, innermost last.
  std::vector<std::pair<const void*, const void*>> pairs_;

  template <class T>
  bool differ(const char* what, const T& a, const T& b) {
    if (!difference) difference = Difference{print_legacy_of(a), print_legacy_of(b), what};
    return false;
  }
  static std::string print_legacy_of(const Expr& e) { return print_legacy(e); }
  static std::string print_legacy_of(const Stmt& s) {
    std::string text = print_legacy(s);
    return text.substr(0, text.find('\n'));
  }

  static bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }

  bool same_name(const void* a, const void* b) const {
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair)
      if (pair->first == a || pair->second == b) return pair->first == a && pair->second == b;
    return a == b;
  }
  bool same_var(const Expr& a, const Expr& b) const { return same_name(&a.node(), &b.node()); }

  /// Buffers are the same by name, or views of memory that stands for the same, of one shape.
  bool same_buffer(const Buffer& a, const Buffer& b) {
    if (same_name(a.get(), b.get())) return true;
    if (pairs_.empty() || !same_var(a->data, b->data)) return false;
    if (a->dtype != b->dtype || a->scope() != b->scope() || a->shape.size() != b->shape.size())
      return false;
    Comparer shapes;
    shapes.pairs_ = pairs_;
    for (std::size_t i = 0; i < a->shape.size(); ++i)
      if (!shapes.expr(a->shape[i], b->shape[i])) return false;
    return true;
  }

  static bool same_callee(const Call& a, const Call& b) {
    if (a.callee.index() != b.callee.index()) return false;
    return match(
        a.callee, [&](Intrin i) { return b.is(i); },
        [&](const ExternCallee& c) {
          const auto& d = std::get<ExternCallee>(b.callee);
          return c.name == d.name && c.pure == d.pure;
        });
  }

  template <class T>
  bool list(const std::vector<Expr>& x, const std::vector<Expr>& y, const T& a, const T& b) {
    if (x.size() != y.size()) return differ("number of operands", a, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!expr(x[i], y[i])) return false;
    return true;
  }
  bool ranges(const std::vector<Range>& x, const std::vector<Range>& y, const Stmt& a,
              const Stmt& b) {
    if (x.size() != y.size()) return differ("number of dimensions", a, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!expr(x[i].min, y[i].min) || !expr(x[i].extent, y[i].extent)) return false;
    return true;
  }

  template <class F>
  bool bound(const Expr& a, const Expr& b, F inside) {
    pairs_.emplace_back(&a.node(), &b.node());
    const bool same = inside();
    pairs_.pop_back();
    return same;
  }

  /// A buffer that both sides introduce: same type and rank, then the same by name.
  template <class F>
  bool with_buffer(const Buffer& x, const Buffer& y, const Stmt& a, const Stmt& b, F inside) {
    if (x->dtype != y->dtype || x->rank() != y->rank() || x->scope() != y->scope())
      return differ("buffer", a, b);
    pairs_.emplace_back(x.get(), y.get());
    const bool same = inside();
    pairs_.pop_back();
    return same;
  }

  /// Parameters: shapes may introduce symbolic sizes, which then stand for each other.
  bool declared(const Buffer& a, const Buffer& b) {
    if (a->dtype != b->dtype || a->rank() != b->rank() || a->strides.size() != b->strides.size())
      return false;
    auto same = [&](const Expr& x, const Expr& y) {
      const bool both_vars = x.as<VarNode>() && y.as<VarNode>();
      if (both_vars && !same_var(x, y)) pairs_.emplace_back(&x.node(), &y.node());
      return expr(x, y);
    };
    for (std::size_t i = 0; i < a->shape.size(); ++i)
      if (!same(a->shape[i], b->shape[i])) return false;
    for (std::size_t i = 0; i < a->strides.size(); ++i)
      if (!same(a->strides[i], b->strides[i])) return false;
    if (!same(a->elem_offset, b->elem_offset)) return false;
    pairs_.emplace_back(&a->data.node(), &b->data.node());
    pairs_.emplace_back(a.get(), b.get());
    return true;
  }

  bool attr(const Attr& n, const Attr& m, const Stmt& a, const Stmt& b) {
    if (n.kind != m.kind || n.key != m.key || n.subject.index() != m.subject.index())
      return differ("attribute", a, b);
    if (!expr(n.value, m.value)) return false;
    return match(
        n.subject,
        [&](const Expr& e) { return expr(e, std::get<Expr>(m.subject)) && stmt(n.body, m.body); },
        [&](const IterVar& axis) {
          const IterVar& other = std::get<IterVar>(m.subject);
          if (axis.thread() != other.thread() || axis.kind() != other.kind())
            return differ("thread", a, b);
          return bound(axis.var(), other.var(), [&] { return stmt(n.body, m.body); });
        },
        [&](const Buffer& x) {
          return (same_buffer(x, std::get<Buffer>(m.subject)) || differ("buffer", a, b)) &&
                 stmt(n.body, m.body);
        },
        [&](const CommReducer& r) {
          return (r == std::get<CommReducer>(m.subject) || differ("reducer", a, b)) &&
                 stmt(n.body, m.body);
        });
  }
};

}  // namespace

bool structural_equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (a.node().hash != b.node().hash || a.dtype() != b.dtype()) return false;
  return Comparer().expr(a, b);
}

bool structural_equal(const Stmt& a, const Stmt& b) { return Comparer().stmt(a, b); }

bool structural_equal(const PrimFunc& a, const PrimFunc& b) { return Comparer().function(a, b); }

std::optional<Difference> first_difference(const Expr& a, const Expr& b) {
  Comparer comparer;
  comparer.expr(a, b);
  return comparer.difference;
}

std::optional<Difference> first_difference(const Stmt& a, const Stmt& b) {
  Comparer comparer;
  comparer.stmt(a, b);
  return comparer.difference;
}

}  // namespace tenon::tir
