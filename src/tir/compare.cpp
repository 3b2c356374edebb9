#include "tenon/tir/compare.h"

#include <bit>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/fields.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

/// Walks two trees in parallel and records the first difference.
class Comparer {
 public:
  std::optional<Difference> difference;

  bool expr(const Expr& a, const Expr& b) {
    if (a.same_as(b) && pairs_.empty()) return true;
    if (is_stack_low()) return with_deep_stack([&] { return expr(a, b); });
    if (a.dtype() != b.dtype()) return differ("dtype", a, b);
    if (a.node().value.index() != b.node().value.index()) return differ("kind of expression", a, b);
    if (a.as<VarNode>()) return same_var(a, b) || differ("variable", a, b);
    return match(a.node().value, [&](const auto& n) {
      return nodes(n, std::get<std::decay_t<decltype(n)>>(b.node().value), a, b);
    });
  }

  bool stmt(const Stmt& a, const Stmt& b) {
    if (a.same_as(b) && pairs_.empty()) return true;
    if (is_stack_low()) return with_deep_stack([&] { return stmt(a, b); });
    if (a.node().value.index() != b.node().value.index()) return differ("kind of statement", a, b);
    return match(a.node().value, [&](const auto& n) {
      return nodes(n, std::get<std::decay_t<decltype(n)>>(b.node().value), a, b);
    });
  }

  bool note(const Annotation& a, const Annotation& b) {
    if (a.value.index() != b.value.index()) return false;
    if (const Expr* e = std::get_if<Expr>(&a.value)) return expr(*e, std::get<Expr>(b.value));
    return std::ranges::equal(std::get<1>(a.value), std::get<1>(b.value),
                              [&](const auto& x, const auto& y) { return note(x, y); });
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
  /// Corresponding definitions of both sides, innermost last.
  std::vector<std::pair<const void*, const void*>> pairs_;

  /// Compares two nodes of one kind. Compares the fields outside the definitions first, and then
  /// the bodies, in which the definitions correspond. `a` and `b` are the expressions or statements
  /// that contain the nodes, for the report of a difference.
  template <class Node, class Whole>
  bool nodes(const Node& n, const Node& m, const Whole& a, const Whole& b) {
    const std::size_t outside = pairs_.size();
    bool is_same = true;
    const auto same_field = [&](const auto& field) {
      is_same = is_same && same(n.*field.member, m.*field.member, field.name, a, b);
    };
    for_each_field<Node, FieldRole::Part>(same_field);
    for_each_field<Node, FieldRole::Definition>([&](const auto& field) {
      is_same = is_same && (define(n.*field.member, m.*field.member) || differ(field.name, a, b));
    });
    for_each_field<Node, FieldRole::Body>(same_field);
    pairs_.resize(outside);
    return is_same;
  }

  // ---- definitions ----

  bool define(const Var& x, const Var& y) {
    if (x.dtype() != y.dtype() || x.as<VarNode>()->pointer != y.as<VarNode>()->pointer)
      return false;
    pairs_.emplace_back(&x.node(), &y.node());
    return true;
  }
  bool define(const Buffer& x, const Buffer& y) {
    if (x->dtype != y->dtype || x->rank() != y->rank() || x->scope() != y->scope()) return false;
    pairs_.emplace_back(x.get(), y.get());
    return true;
  }
  /// Compares the subjects of two attributes. An axis is a definition, so both axes correspond from
  /// here on. Other subjects refer to existing definitions.
  bool define(const decltype(Attr::subject)& x, const decltype(Attr::subject)& y) {
    if (x.index() != y.index()) return false;
    return match(
        x, [&](const Expr& e) { return expr(e, std::get<Expr>(y)); },
        [&](const IterVar& axis) {
          const IterVar& other = std::get<IterVar>(y);
          if (axis.thread() != other.thread() || axis.kind() != other.kind()) return false;
          pairs_.emplace_back(&axis.var().node(), &other.var().node());
          return true;
        },
        [&](const Buffer& buffer) { return same_buffer(buffer, std::get<Buffer>(y)); },
        [&](const CommReducer& reducer) { return reducer == std::get<CommReducer>(y); });
  }

  /// Defines a buffer with its shape, as blocks do.
  template <class T>
  bool define_shaped(const Buffer& x, const Buffer& y, const T& a, const T& b) {
    if (!define(x, y)) return differ("buffer", a, b);
    pairs_.emplace_back(&x->data.node(), &y->data.node());
    return same(x->shape, y->shape, "shape", a, b) && same(x->strides, y->strides, "strides", a, b);
  }

  // ---- parts ----

  template <class T>
  bool same(const Expr& x, const Expr& y, const char*, const T&, const T&) {
    return expr(x, y);
  }
  template <class T>
  bool same(const Stmt& x, const Stmt& y, const char*, const T&, const T&) {
    return stmt(x, y);
  }
  template <class T>
  bool same(const Range& x, const Range& y, const char*, const T&, const T&) {
    return expr(x.min, y.min) && expr(x.extent, y.extent);
  }
  template <class X, class T>
  bool same(const std::vector<X>& x, const std::vector<X>& y, const char* what, const T& a,
            const T& b) {
    if (x.size() != y.size())
      return differ(std::is_same_v<X, Range>  ? "number of dimensions"
                    : std::is_same_v<X, Stmt> ? "number of statements"
                                              : "number of operands",
                    a, b);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same(x[i], y[i], what, a, b)) return false;
    return true;
  }
  template <class T>
  bool same(const std::optional<Stmt>& x, const std::optional<Stmt>& y, const char*, const T& a,
            const T& b) {
    const bool is_block = std::is_same_v<T, Stmt> && a.template as<BlockRealize>();
    if (x.has_value() != y.has_value()) return differ(is_block ? "init" : "else", a, b);
    return !x || stmt(*x, *y);
  }
  template <class T>
  bool same(const Buffer& x, const Buffer& y, const char* what, const T& a, const T& b) {
    return same_buffer(x, y) || differ(what, a, b);
  }
  template <class T>
  bool same(const std::shared_ptr<const ReduceNode>& x, const std::shared_ptr<const ReduceNode>& y,
            const char* what, const T& a, const T& b) {
    const bool same_axes = std::ranges::equal(x->axis, y->axis, &IterVar::same_as);
    if (x->combiner != y->combiner || !same_axes) return differ(what, a, b);
    return same(x->source, y->source, what, a, b) && same(x->init, y->init, what, a, b) &&
           expr(x->condition, y->condition);
  }
  template <class T>
  bool same(const BufferRegion& x, const BufferRegion& y, const char* what, const T& a,
            const T& b) {
    return same(x.buffer, y.buffer, what, a, b) && same(x.region, y.region, what, a, b);
  }
  /// Compares two blocks. Their definitions correspond until the whole BlockRealize has been
  /// compared.
  template <class T>
  bool same(const std::shared_ptr<const Block>& x, const std::shared_ptr<const Block>& y,
            const char*, const T& a, const T& b) {
    const std::size_t iters = x->iters.size(), allocated = x->alloc_buffers.size();
    const std::size_t matched = x->match_buffers.size();
    if (iters != y->iters.size()) return differ("number of iterators", a, b);
    if (allocated != y->alloc_buffers.size() || matched != y->match_buffers.size())
      return differ("number of buffers", a, b);
    for (std::size_t n = 0; n < iters; ++n) {
      const IterVar &i = x->iters[n], &j = y->iters[n];
      if (i.kind() != j.kind() || i.dom().has_value() != j.dom().has_value())
        return differ("iterator", a, b);
      if (i.dom() && !same(*i.dom(), *j.dom(), "domain", a, b)) return false;
      if (!define(i.var(), j.var())) return differ("iterator", a, b);
    }
    for (std::size_t n = 0; n < allocated; ++n)
      if (!define_shaped(x->alloc_buffers[n], y->alloc_buffers[n], a, b)) return false;
    for (std::size_t n = 0; n < matched; ++n) {
      const MatchBuffer &m = x->match_buffers[n], &o = y->match_buffers[n];
      if (!same(m.source, o.source, "region", a, b)) return false;
      if (!declared(m.buffer, o.buffer)) return differ("buffer", a, b);
    }
    if (!same_notes(x->annotations, y->annotations)) return differ("annotations", a, b);
    return same(x->reads, y->reads, "reads", a, b) && same(x->writes, y->writes, "writes", a, b) &&
           same(x->init, y->init, "init", a, b) && stmt(x->body, y->body);
  }
  template <LeafField X, class T>
  bool same(const X& x, const X& y, const char* what, const T& a, const T& b) {
    return same_leaf(x, y) || differ(what, a, b);
  }

  template <class X>
  static bool same_leaf(const X& x, const X& y) {
    return x == y;
  }
  static bool same_leaf(double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  }
  static bool same_leaf(const ProducerRef& x, const ProducerRef& y) {
    return x->operation_identity() == y->operation_identity() &&
           x->value_index() == y->value_index();
  }
  bool same_leaf(const decltype(For::traits)& x, const decltype(For::traits)& y) {
    static const LoopTraits kNone;
    const LoopTraits &v = x ? *x : kNone, &w = y ? *y : kNone;
    return v.thread == w.thread && same_notes(v.annotations, w.annotations);
  }
  bool same_notes(const Annotations& x, const Annotations& y) {
    return std::ranges::equal(x, y, [&](const auto& v, const auto& w) {
      return v.first == w.first && note(v.second, w.second);
    });
  }

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

  bool same_name(const void* a, const void* b) const {
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair)
      if (pair->first == a || pair->second == b) return pair->first == a && pair->second == b;
    return a == b;
  }
  bool same_var(const Expr& a, const Expr& b) const { return same_name(&a.node(), &b.node()); }

  /// Whether two buffers are equal: they correspond by definition, or they have equal shapes and
  /// their memory corresponds.
  bool same_buffer(const Buffer& a, const Buffer& b) {
    if (same_name(a.get(), b.get())) return true;
    if (pairs_.empty() || !same_var(a->data, b->data)) return false;
    if (a->dtype != b->dtype || a->scope() != b->scope()) return false;
    Comparer shapes;
    shapes.pairs_ = pairs_;
    return std::ranges::equal(a->shape, b->shape,
                              [&](const Expr& x, const Expr& y) { return shapes.expr(x, y); });
  }

  /// Compares parameters. Their shapes may introduce symbolic sizes, which then correspond.
  bool declared(const Buffer& a, const Buffer& b) {
    if (a->dtype != b->dtype || a->strides.size() != b->strides.size()) return false;
    auto same = [&](const Expr& x, const Expr& y) {
      const bool both_vars = x.as<VarNode>() && y.as<VarNode>();
      if (both_vars && !same_var(x, y)) pairs_.emplace_back(&x.node(), &y.node());
      return expr(x, y);
    };
    if (!std::ranges::equal(a->shape, b->shape, same) ||
        !std::ranges::equal(a->strides, b->strides, same) || !same(a->elem_offset, b->elem_offset))
      return false;
    pairs_.emplace_back(&a->data.node(), &b->data.node());
    pairs_.emplace_back(a.get(), b.get());
    return true;
  }
};

}  // namespace

bool structural_equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (a.node().hash != b.node().hash || a.dtype() != b.dtype()) return false;
  return Comparer().expr(a, b);
}

bool operator==(const Annotation& a, const Annotation& b) { return Comparer().note(a, b); }

bool structural_equal(const Stmt& a, const Stmt& b) { return Comparer().stmt(a, b); }

bool structural_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b,
                            [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
}

bool structural_equal(const PrimFunc& a, const PrimFunc& b) { return Comparer().function(a, b); }

std::vector<Expr> children_of(const Expr& e) {
  std::vector<Expr> children;
  for_each_child(e, [&](const Expr& child) { children.push_back(child); });
  return children;
}

bool equal_but_for_children(const Expr& a, const Expr& b) {
  if (a.node().value.index() != b.node().value.index()) return false;
  const std::vector<Expr> children = children_of(b);
  if (children_of(a).size() != children.size()) return false;
  std::size_t next = 0;
  return structural_equal(map_children(a, [&](const Expr&) { return children[next++]; }), b);
}

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
