// free_vars, the only query on trees that has to consider definitions.
#include "tenon/support/deep_stack.h"
#include "tenon/tir/fields.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

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
      define(let->var);
      expr(let->body);
      return;
    }
    if (const Reduce* reduce = e.as<Reduce>()) {
      for (const IterVar& axis : reduce->reduction->axis) define(axis.var());
      reducer(*reduce->reduction->combiner);
    }
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    match(
        s.node().value, [&](const BufferView& n) { view(n); },
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
        [&]<class Node>(const Node& n) {
          // A statement's bounds are visited before its variable is defined, because only its body
          // may use the variable.
          for_each_child(
              s, [&](const Expr& e) { expr(e); },
              [&](const Stmt& body) {
                for_each_field<Node, FieldRole::Definition>(
                    [&](const auto& field) { define(n.*field.member); });
                stmt(body);
              });
        });
  }

 private:
  void define(const Var& var) { seen_.insert(&var.node()); }
  /// Does nothing, because an access of a buffer is not a use of a variable.
  void define(const Buffer&) {}

  void reducer(const CommReducerNode& n) {
    for (const std::vector<Var>* operands : {&n.lhs, &n.rhs})
      for (const Var& operand : *operands) define(operand);
    for (const std::vector<Expr>* values : {&n.result, &n.identity})
      for (const Expr& value : *values) expr(value);
  }

  /// Visits a view. If a size, stride or offset of the view is a variable, it is defined inside the
  /// view only.
  void view(const BufferView& n) {
    for (const Range& range : n.region) expr(range.min), expr(range.extent);
    std::vector<const ExprNode*> defined;
    const auto define_size = [&](const Expr& e) {
      if (e.as<VarNode>() && seen_.insert(&e.node()).second) defined.push_back(&e.node());
    };
    define_size(n.view->data);
    define_size(n.view->elem_offset);
    for (const Expr& extent : n.view->shape) define_size(extent);
    for (const Expr& stride : n.view->strides) define_size(stride);
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
