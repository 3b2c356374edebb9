// free_vars, the only query on trees that has to consider definitions.
#include "tenon/support/deep_stack.h"
#include "tenon/tir/fields.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

template <class Node>
constexpr bool defines_variable() {
  bool defines = false;
  for_each_field<Node, FieldRole::Definition>(
      [&]<class N, class T>(const Field<FieldRole::Definition, N, T>&) {
        defines |= !std::is_same_v<T, Buffer>;
      });
  return defines;
}

class FreeVars {
 public:
  std::vector<Var> found;

  void expr(const Expr& e) {
    if (e.as<VarNode>()) {
      if (seen_.insert(&e.node()).second) found.push_back(Var::of(e));
      return;
    }
    if (const LetExpr* let = e.as<LetExpr>()) {
      expr(let->value);
      seen_.insert(&let->var.node());
      expr(let->body);
      return;
    }
    if (const Reduce* reduce = e.as<Reduce>()) {
      for (const IterVar& axis : reduce->reduction->axis) seen_.insert(&axis.var().node());
      reducer(*reduce->reduction->combiner);
    }
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    // A statement's bounds are visited before its variable is defined, because only its body may
    // use the variable.
    auto define = [&](const Var& v) { seen_.insert(&v.node()); };
    match(
        s.node().value,
        [&](const For& n) { expr(n.min), expr(n.extent), define(n.var), stmt(n.body); },
        [&](const Let& n) { expr(n.value), define(n.var), stmt(n.body); },
        [&](const Allocate& n) {
          for (const Expr& e : n.extents) expr(e);
          expr(n.condition), define(n.data), stmt(n.body);
        },
        [&](const BufferView& n) { view(n); },
        [&](const BlockRealize& n) {
          for (const Expr& e : n.values) expr(e);
          expr(n.predicate);
          for (const IterVar& axis : n.block->iters) define(axis.var());
          for (const Buffer& buffer : n.block->alloc_buffers) define(buffer->data);
          for (const MatchBuffer& match : n.block->match_buffers) define(match.buffer->data);
          for_each_child(
              s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
        },
        [&](const Attr& n) {
          expr(n.value);
          const IterVar* axis = std::get_if<IterVar>(&n.subject);
          if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread))
            define(axis->var());
          stmt(n.body);
        },
        [&]<class Node>(const Node&) {
          static_assert(!defines_variable<Node>(), "its variable is not free in its body");
          for_each_child(
              s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
        });
  }

 private:
  void reducer(const CommReducerNode& n) {
    for (const std::vector<Var>* operands : {&n.lhs, &n.rhs})
      for (const Var& operand : *operands) seen_.insert(&operand.node());
    for (const std::vector<Expr>* values : {&n.result, &n.identity})
      for (const Expr& value : *values) expr(value);
  }

  /// Visits a view. If a size, stride or offset of the view is a variable, it is defined inside the
  /// view only.
  void view(const BufferView& n) {
    for (const Range& range : n.region) expr(range.min), expr(range.extent);
    std::vector<const ExprNode*> defined;
    auto define = [&](const Expr& e) {
      if (e.as<VarNode>() && seen_.insert(&e.node()).second) defined.push_back(&e.node());
    };
    define(n.view->data);
    define(n.view->elem_offset);
    for (const Expr& extent : n.view->shape) define(extent);
    for (const Expr& stride : n.view->strides) define(stride);
    stmt(n.body);
    for (const ExprNode* var : defined) seen_.erase(var);
  }

  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

std::vector<Var> free_vars(const Expr& e) {
  FreeVars vars;
  vars.expr(e);
  return vars.found;
}

std::vector<Var> free_vars(const Stmt& s) {
  FreeVars vars;
  vars.stmt(s);
  return vars.found;
}

}  // namespace tenon::tir
