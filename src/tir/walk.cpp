#include "tenon/tir/walk.h"

#include <algorithm>
#include <array>

#include "tenon/support/deep_stack.h"
#include "tenon/support/dense_map.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/fields.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {

// ---- children -----------------------------------------------------------------------------------
//
// Stack depth is checked here. Nearly every recursive traversal passes through these functions once
// per level, so callers need not check it.

namespace {

/// Calls f on the expressions and g on the statements in a field.
template <class F, class G>
struct ChildVisitor {
  const F& f;
  const G& g;

  void operator()(const Expr& e) const { f(e); }
  void operator()(const Stmt& s) const { g(s); }
  void operator()(const Range& r) const { f(r.min), f(r.extent); }
  void operator()(const std::shared_ptr<const ReduceNode>& r) const {
    for (const IterVar& axis : r->axis)
      if (axis.dom()) (*this)(*axis.dom());
    (*this)(r->source), (*this)(r->init), f(r->condition);
  }
  void operator()(const BufferRegion& r) const { (*this)(r.region); }
  void operator()(const MatchBuffer& match) const { (*this)(match.source); }
  void operator()(const std::shared_ptr<const Block>& b) const {
    for (const IterVar& axis : b->iters)
      if (axis.dom()) (*this)(*axis.dom());
    (*this)(b->reads), (*this)(b->writes), (*this)(b->match_buffers);
    (*this)(b->init), (*this)(b->body);
  }
  template <class T>
  void operator()(const std::vector<T>& list) const {
    for (const T& x : list) (*this)(x);
  }
  template <class T>
  void operator()(const std::optional<T>& x) const {
    if (x) (*this)(*x);
  }
  template <LeafField T>
  void operator()(const T&) const {}
};

template <class Node, class F, class G>
void visit_children(const Node& node, const F& f, const G& g) {
  const ChildVisitor<F, G> visitor{f, g};
  for_each_field<Node>([&](const auto& field) { visitor(node.*field.member); });
}

/// Maps a field: applies f to its expressions and g to its statements. Returns nullopt if nothing
/// changed, and std::false_type for a field that has no children.
template <class F, class G>
struct ChildMapper {
  const F& f;
  const G& g;

  std::optional<Expr> operator()(const Expr& e) const { return changed(f(e), e); }
  std::optional<Stmt> operator()(const Stmt& s) const { return changed(g(s), s); }
  std::optional<Range> operator()(const Range& r) const {
    Expr min = f(r.min), extent = f(r.extent);
    if (min.same_as(r.min) && extent.same_as(r.extent)) return std::nullopt;
    return Range::from_min_extent(std::move(min), std::move(extent));
  }
  std::optional<IterVar> operator()(const IterVar& axis) const {
    std::optional<Range> dom;
    if (axis.dom()) dom = (*this)(*axis.dom());
    if (!dom) return std::nullopt;
    return IterVar(std::move(dom), axis.var(), axis.kind(), axis.thread());
  }
  std::optional<std::shared_ptr<const ReduceNode>> operator()(
      const std::shared_ptr<const ReduceNode>& r) const {
    auto axis = (*this)(r->axis);
    auto source = (*this)(r->source), init = (*this)(r->init);
    auto condition = (*this)(r->condition);
    if (!axis && !source && !init && !condition) return std::nullopt;
    return std::make_shared<const ReduceNode>(ReduceNode{
        r->combiner, either(std::move(source), r->source), either(std::move(init), r->init),
        either(std::move(axis), r->axis), either(std::move(condition), r->condition)});
  }
  std::optional<BufferRegion> operator()(const BufferRegion& r) const {
    auto region = (*this)(r.region);
    if (!region) return std::nullopt;
    return BufferRegion{r.buffer, std::move(*region)};
  }
  std::optional<MatchBuffer> operator()(const MatchBuffer& match) const {
    auto source = (*this)(match.source);
    if (!source) return std::nullopt;
    return MatchBuffer{match.buffer, std::move(*source)};
  }
  std::optional<std::shared_ptr<const Block>> operator()(
      const std::shared_ptr<const Block>& b) const {
    auto iters = (*this)(b->iters);
    auto reads = (*this)(b->reads), writes = (*this)(b->writes);
    auto matches = (*this)(b->match_buffers);
    auto init = (*this)(b->init);
    auto body = (*this)(b->body);
    if (!iters && !reads && !writes && !matches && !init && !body) return std::nullopt;
    return std::make_shared<const Block>(
        Block{.iters = either(std::move(iters), b->iters),
              .reads = either(std::move(reads), b->reads),
              .writes = either(std::move(writes), b->writes),
              .name = b->name,
              .init = either(std::move(init), b->init),
              .body = either(std::move(body), b->body),
              .alloc_buffers = b->alloc_buffers,
              .match_buffers = either(std::move(matches), b->match_buffers),
              .annotations = b->annotations,
              .id = b->id});
  }
  template <class T>
  std::optional<std::vector<T>> operator()(const std::vector<T>& list) const {
    std::optional<std::vector<T>> result;
    for (std::size_t n = 0; n < list.size(); ++n) {
      std::optional<T> x = (*this)(list[n]);
      if (!x) continue;
      if (!result) result = list;
      (*result)[n] = std::move(*x);
    }
    return result;
  }
  template <class T>
  std::optional<std::optional<T>> operator()(const std::optional<T>& x) const {
    if (!x) return std::nullopt;
    if (auto y = (*this)(*x)) return std::optional<std::optional<T>>(std::move(y));
    return std::nullopt;
  }
  template <LeafField T>
  std::false_type operator()(const T&) const {
    return {};
  }

  template <class T>
  static T either(std::optional<T>&& changed, const T& old) {
    return changed ? std::move(*changed) : old;
  }
  template <class T>
  static const T& either(std::false_type, const T& old) {
    return old;  // NOLINT(bugprone-return-const-ref-from-parameter): a field of the node
  }

 private:
  template <class T>
  static std::optional<T> changed(T now, const T& before) {
    if (now.same_as(before)) return std::nullopt;
    return now;
  }
};

/// Returns the node with mapped children, in field order; nullopt if nothing changed.
template <class Node, class F, class G>
std::optional<Node> mapped_node(const Node& node, const F& f, const G& g) {
  const ChildMapper<F, G> map{f, g};
  return std::apply(
      [&](const auto&... field) -> std::optional<Node> {
        // Brace initialization evaluates the fields in order; a function call would not.
        std::tuple parts{map(node.*field.member)...};
        return std::apply(
            [&](auto&... part) -> std::optional<Node> {
              if ((!part && ...)) return std::nullopt;
              return Node{ChildMapper<F, G>::either(std::move(part), node.*field.member)...};
            },
            parts);
      },
      kFields<Node>);
}

/// Returns the expression with the node's replaced children. Types are checked and recomputed.
Expr remade(const Expr& e, Cast n) { return make_cast(e.dtype(), std::move(n.value)); }
Expr remade(const Expr&, Binary n) { return make_binary(n.op, std::move(n.a), std::move(n.b)); }
Expr remade(const Expr&, Not n) { return make_not(std::move(n.a)); }
Expr remade(const Expr&, Select n) {
  return make_select(std::move(n.condition), std::move(n.if_true), std::move(n.if_false));
}
Expr remade(const Expr&, Ramp n) {
  return make_ramp(std::move(n.base), std::move(n.stride), n.lanes);
}
Expr remade(const Expr&, Broadcast n) { return make_broadcast(std::move(n.value), n.lanes); }
Expr remade(const Expr&, Shuffle n) {
  return make_shuffle(std::move(n.vectors), std::move(n.indices));
}
Expr remade(const Expr&, LetExpr n) {
  return make_let(n.var, std::move(n.value), std::move(n.body));
}
Expr remade(const Expr& e, Call n) { return make_call(e.dtype(), n.callee, std::move(n.args)); }
Expr remade(const Expr&, Load n) { return make_load(n.buffer, std::move(n.indices)); }
Expr remade(const Expr&, ProducerLoad n) {
  return make_producer_load(n.producer, std::move(n.indices));
}
Expr remade(const Expr&, Reduce n) { return make_reduce(std::move(n.reduction), n.value_index); }

Stmt remade(Seq n) { return make_seq(std::move(n.stmts)); }
template <class Node>
Stmt remade(Node n) {
  return make_stmt(std::move(n));
}

constexpr auto kNoStmt = [](const Stmt& s) -> Stmt { return s; };

}  // namespace

void for_each_child(const Expr& e, ExprVisit f) {
  if (is_stack_low()) return with_deep_stack([&] { for_each_child(e, f); });
  match(e.node().value, [&](const auto& node) { visit_children(node, f, kNoStmt); });
}

void for_each_child(const Stmt& s, ExprVisit f, StmtVisit g) {
  if (is_stack_low()) return with_deep_stack([&] { for_each_child(s, f, g); });
  match(s.node().value, [&](const auto& node) { visit_children(node, f, g); });
}

bool is_lazy(const Expr& e) {
  const Binary* n = e.as<Binary>();
  return e.as<Select>() || as_call(e, Intrin::if_then_else) ||
         (n && (n->op == BinaryOp::And || n->op == BinaryOp::Or));
}

void for_each_operand(const Expr& e, ExprVisit always,
                      FunctionRef<void(const Expr& condition, const Expr& operand)> under) {
  const auto choice = [&](const Expr& condition, const Expr& if_true, const Expr& if_false) {
    always(condition);
    under(condition, if_true);
    under(make_not(condition), if_false);
  };
  if (const Select* n = e.as<Select>()) return choice(n->condition, n->if_true, n->if_false);
  if (const Call* n = as_call(e, Intrin::if_then_else))
    return choice(n->args[0], n->args[1], n->args[2]);
  if (const Binary* n = e.as<Binary>(); n && is_lazy(e)) {
    always(n->a);
    return under(n->op == BinaryOp::And ? n->a : make_not(n->a), n->b);
  }
  const Reduce* n = e.as<Reduce>();
  if (!n) return for_each_child(e, always);
  const ReduceNode& reduction = *n->reduction;
  for (const IterVar& axis : reduction.axis)
    if (axis.dom()) always(axis.dom()->min), always(axis.dom()->extent);
  for (const Expr& init : reduction.init) always(init);
  always(reduction.condition);
  for (const Expr& source : reduction.source) under(reduction.condition, source);
}

Expr map_children(const Expr& e, ExprMap f) {
  if (is_stack_low()) return with_deep_stack([&] { return map_children(e, f); });
  return match(e.node().value, each_of<IntImm, FloatImm, StringImm, VarNode>([&] { return e; }),
               [&](const auto& node) {
                 auto changed = mapped_node(node, f, kNoStmt);
                 return changed ? remade(e, std::move(*changed)) : e;
               });
}

Stmt map_children(const Stmt& s, ExprMap f, StmtMap g) {
  if (is_stack_low()) return with_deep_stack([&] { return map_children(s, f, g); });
  return match(s.node().value, [&](const auto& node) {
    auto changed = mapped_node(node, f, g);
    return changed ? remade(std::move(*changed)) : s;
  });
}

// ---- whole trees --------------------------------------------------------------------------------

namespace detail {

void walk_expr(const Expr& e, ExprVisit visit) {
  visit(e);
  for_each_child(e, [&](const Expr& c) { walk_expr(c, visit); });
}

void walk_stmt(const Stmt& s, ExprVisit visit_expr, StmtVisit visit_stmt) {
  visit_stmt(s);
  for_each_child(
      s, [&](const Expr& e) { walk_expr(e, visit_expr); },
      [&](const Stmt& c) { walk_stmt(c, visit_expr, visit_stmt); });
}

Expr rewrite_expr(const Expr& e, FunctionRef<std::optional<Expr>(const Expr&)> f) {
  Expr rebuilt = map_children(e, [&](const Expr& c) { return rewrite_expr(c, f); });
  auto replaced = f(rebuilt);
  return replaced ? *replaced : rebuilt;
}

Stmt rewrite_stmt(const Stmt& s, FunctionRef<std::optional<Expr>(const Expr&)> f,
                  FunctionRef<std::optional<Stmt>(const Stmt&)> g) {
  Stmt rebuilt = map_children(
      s, [&](const Expr& e) { return rewrite_expr(e, f); },
      [&](const Stmt& c) { return rewrite_stmt(c, f, g); });
  auto replaced = g(rebuilt);
  return replaced ? *replaced : rebuilt;
}

}  // namespace detail

// ---- substitution -------------------------------------------------------------------------------

void set(VarMap& map, const Var& var, Expr value) {
  map.insert_or_assign(&var.node(), std::move(value));
}

namespace {

/// Returns a Bloom filter of the variables that are replaced. It has all bits if there are more
/// than `max_variables`, because nearly all bits of 64 would then be set.
std::uint64_t variables_of(const VarMap& map, std::size_t max_variables) {
  if (map.size() > max_variables) return ~std::uint64_t{0};
  std::uint64_t variables = 0;
  for (const auto& [var, value] : map) variables |= bit_of_variable(var);
  return variables;
}

/// Substitutes variables. Skips subtrees without any of the `variables` of the map. With `folds`,
/// rebuilt operations are folded.
Expr substitute(const Expr& e, const VarMap& map, std::uint64_t variables, bool folds) {
  if ((e.node().contents.variables & variables) == 0) return e;
  if (e.as<VarNode>()) {
    const auto found = map.find(&e.node());
    return found == map.end() ? e : found->second;
  }
  Expr rebuilt =
      map_children(e, [&](const Expr& c) { return substitute(c, map, variables, folds); });
  const Binary* n = folds && !rebuilt.same_as(e) ? rebuilt.as<Binary>() : nullptr;
  return n ? fold(n->op, n->a, n->b) : rebuilt;
}
Stmt substitute(const Stmt& s, const VarMap& map, std::uint64_t variables) {
  if ((s.node().contents.variables & variables) == 0) return s;
  return map_children(
      s, [&](const Expr& e) { return substitute(e, map, variables, false); },
      [&](const Stmt& c) { return substitute(c, map, variables); });
}

constexpr std::size_t kMaxOfExpression = 16, kMaxOfProgram = 64;

}  // namespace

Expr substitute(const Expr& e, const VarMap& map) {
  return substitute(e, map, variables_of(map, kMaxOfExpression), false);
}

Stmt substitute(const Stmt& s, const VarMap& map) {
  return substitute(s, map, variables_of(map, kMaxOfProgram));
}

Range substitute(const Range& r, const VarMap& map) {
  return Range::from_min_extent(substitute(r.min, map), substitute(r.extent, map));
}

Expr substitute_folding(const Expr& e, const VarMap& map) {
  return substitute(e, map, variables_of(map, kMaxOfExpression), true);
}

namespace {

/// Maximum size of an expanded let.
constexpr std::size_t kMaxLetNodes = 4096;

std::size_t memoized_tree_size(const Expr& e, std::size_t limit,
                               DenseMap<const ExprNode*, std::size_t>& sizes) {
  if (const std::size_t* known = sizes.find(&e.node())) return *known;
  std::size_t size = 1;
  for_each_child(e, [&](const Expr& child) {
    size = std::min(limit, size + memoized_tree_size(child, limit, sizes));
  });
  sizes.try_emplace(&e.node(), size);
  return size;
}

}  // namespace

std::size_t tree_size(const Expr& e, std::size_t limit) {
  DenseMap<const ExprNode*, std::size_t> sizes;
  return memoized_tree_size(e, limit, sizes);
}

std::optional<Expr> expand_let(const Expr& value, const VarMap& lets) {
  Expr expanded = substitute(value, lets);
  if (tree_size(expanded, kMaxLetNodes + 1) > kMaxLetNodes) return std::nullopt;
  return expanded;
}

// ---- queries ------------------------------------------------------------------------------------

bool uses_var(const Expr& e, FunctionRef<bool(const Expr& var)> is_one) {
  if (e.as<VarNode>()) return is_one(e);
  bool found = false;
  for_each_child(e, [&](const Expr& c) { found = found || uses_var(c, is_one); });
  return found;
}

bool uses_var(const Stmt& s, FunctionRef<bool(const Expr& var)> is_one) {
  bool found = false;
  for_each_child(
      s, [&](const Expr& e) { found = found || uses_var(e, is_one); },
      [&](const Stmt& c) { found = found || uses_var(c, is_one); });
  return found;
}

// Two variables may share a bit, so a set bit is not conclusive.
bool uses_var(const Expr& e, const Var& var) {
  if ((e.node().contents.variables & var.node().contents.variables) == 0) return false;
  if (e.same_as(var)) return true;
  bool found = false;
  for_each_child(e, [&](const Expr& c) { found = found || uses_var(c, var); });
  return found;
}
bool uses_var(const Stmt& s, const Var& var) {
  if ((s.node().contents.variables & var.node().contents.variables) == 0) return false;
  bool found = false;
  for_each_child(
      s, [&](const Expr& e) { found = found || uses_var(e, var); },
      [&](const Stmt& c) { found = found || uses_var(c, var); });
  return found;
}

Effect effect_of(const Call& call) {
  // A pure extern function may read memory through its pointer arguments.
  const auto is_pointer = [](const Expr& arg) {
    return arg.dtype().is_handle() && !arg.as<StringImm>();
  };
  return match(
      call.callee, [](Intrin i) { return effect_of(i); },
      [&](const ExternCallee& c) {
        if (!c.pure) return Effect::UpdateState;
        return std::ranges::any_of(call.args, is_pointer) ? Effect::ReadState : Effect::Pure;
      });
}

Effect effect_of(const Expr& e) {
  const bool reads = contains<Load>(e) || contains<ProducerLoad>(e);
  if (!contains(e, Content::ImpureCall)) return reads ? Effect::ReadState : Effect::Pure;
  Effect effect = Effect::Pure;
  const auto raise = [&](Effect other) { effect = std::max(effect, other); };
  walk(
      e, [&](const Load&) { raise(Effect::ReadState); },
      [&](const ProducerLoad&) { raise(Effect::ReadState); },
      [&](const Call& call) { raise(effect_of(call)); });
  return effect;
}

namespace {

/// Returns the type in which `e` computes: the operands' type for a comparison, otherwise its own
/// type.
DataType type_of_arithmetic(const Expr& e) {
  const Binary* n = e.as<Binary>();
  return n && is_comparison(n->op) ? n->a.dtype() : e.dtype();
}

/// Whether the expression contains an element, a variable that holds data, or the result of a call
/// that is not index arithmetic.
bool has_data(const Expr& e) {
  return contains<Load>(e) || contains<ProducerLoad>(e) || contains<Reduce>(e) ||
         contains(e, Content::DataVariable) || contains(e, Content::DataCall);
}

}  // namespace

bool wraps(const Expr& e) {
  const DataType type = type_of_arithmetic(e);
  return (!type.is_bool() && !type.element().is_index()) || has_data(e) ||
         contains(e, Content::DataCast);
}

// ---- positions ----------------------------------------------------------------------------------

namespace {

/// Whether the arithmetic of the expression's result may wrap.
bool has_wrapped_values(const Expr& e) { return has_data(e) || contains(e, Content::LossyCast); }

/// Returns the index type that holds all values of the type; int64 for uint64.
DataType index_type_for(DataType type) {
  const bool fits_int32 = type.bits < 32 || (type.is_int() && type.bits == 32);
  return Int(fits_int32 ? 32 : 64, type.lanes);
}

// The functions below rewrite shared nodes once, because a tree in full may be exponentially
// larger. Each rule has its own map from nodes to results. They do not enter elements, whose
// indices are indices already.

using Results = std::array<VarMap, 5>;
constexpr std::size_t kInt32 = 0, kInt64 = 1, kPositions = 2, kGuards = 3, kChoices = 4;

/// Returns the known result for the node, or calls `rewritten`. The rules recurse through this
/// function, so stack depth is checked here.
Expr once(const Expr& e, VarMap& results, FunctionRef<Expr()> rewritten) {
  if (is_stack_low()) return with_deep_stack([&] { return once(e, results, rewritten); });
  if (const auto known = results.find(&e.node()); known != results.end()) return known->second;
  Expr result = rewritten();
  results.insert_or_assign(&e.node(), result);
  return result;
}

bool is_element(const Expr& e) { return e.as<Load>() || e.as<ProducerLoad>(); }

Expr in_index_type(const Expr& e, DataType type, Results& results);
Expr with_guards(const Expr& e, Results& results);

/// Returns the choice with its condition rewritten by `with_guards` and its values by `value`;
/// nullopt for other expressions.
std::optional<Expr> mapped_choice(const Expr& e, ExprMap value, Results& results) {
  const Select* select = e.as<Select>();
  const Call* call = as_call(e, Intrin::if_then_else);
  if (!select && !call) return std::nullopt;
  const Expr& condition = select ? select->condition : call->args[0];
  const Expr& if_true = select ? select->if_true : call->args[1];
  const Expr& if_false = select ? select->if_false : call->args[2];
  const Expr c = with_guards(condition, results), a = value(if_true), b = value(if_false);
  if (c.same_as(condition) && a.same_as(if_true) && b.same_as(if_false)) return e;
  return select ? make_select(c, a, b) : make_call(a.dtype(), Intrin::if_then_else, {c, a, b});
}

/// Returns the integer in an index type, with its arithmetic done in that type.
Expr in_index_type(const Expr& e, DataType type, Results& results) {
  if (const std::optional<std::int64_t> value = constant_int(e)) return make_int(type, *value);
  return once(e, results[type.bits > 32 ? kInt64 : kInt32], [&] {
    const auto widened = [&](const Expr& x) { return in_index_type(x, type, results); };
    if (const Cast* n = e.as<Cast>(); n && e.dtype().includes(n->value.dtype()))
      return widened(n->value);
    if (const Binary* n = e.as<Binary>()) return fold(n->op, widened(n->a), widened(n->b));
    const std::optional<Expr> choice = mapped_choice(e, widened, results);
    return choice ? *choice : cast(type, e);
  });
}

/// Returns the expression with casts of positions to index types widened.
Expr with_positions(const Expr& e, Results& results) {
  if (is_element(e) || !(contains<Cast>(e) || contains<Select>(e) || contains<Call>(e))) return e;
  return once(e, results[kPositions], [&] {
    const auto inside = [&](const Expr& x) { return with_positions(x, results); };
    if (const Cast* n = e.as<Cast>(); n && e.dtype().element().is_index() &&
                                      n->value.dtype().is_narrow() && !has_wrapped_values(n->value))
      return in_index_type(n->value, e.dtype(), results);
    const std::optional<Expr> choice = mapped_choice(e, inside, results);
    return choice ? *choice : map_children(e, inside);
  });
}

Expr as_index(const Expr& e, Results& results) {
  if (!e.dtype().is_narrow()) return with_positions(e, results);
  return has_wrapped_values(e) ? e : in_index_type(e, index_type_for(e.dtype()), results);
}

Expr with_guards(const Expr& e, Results& results) {
  if (is_element(e)) return e;
  return once(e, results[kGuards], [&] {
    const Binary* n = e.as<Binary>();
    if (!n || !is_comparison(n->op) || !n->a.dtype().is_integral() || n->a.dtype().is_bool() ||
        has_wrapped_values(e))
      return map_children(e, [&](const Expr& x) { return with_guards(x, results); });
    const Expr a = as_index(n->a, results), b = as_index(n->b, results);
    return a.same_as(n->a) && b.same_as(n->b) ? e : fold(n->op, a, b);
  });
}

Expr with_guards_in_choices(const Expr& e, Results& results) {
  if (is_element(e) || !(contains<Select>(e) || contains<Call>(e))) return e;
  return once(e, results[kChoices], [&] {
    const auto inside = [&](const Expr& x) { return with_guards_in_choices(x, results); };
    const std::optional<Expr> choice = mapped_choice(e, inside, results);
    return choice ? *choice : map_children(e, inside);
  });
}

}  // namespace

Expr as_index(const Expr& e) {
  Results results;
  return as_index(e, results);
}
Expr as_guard(const Expr& condition) {
  Results results;
  return with_guards(condition, results);
}
Expr with_guards_on_indices(const Expr& e) {
  Results results;
  return with_guards_in_choices(e, results);
}

std::size_t node_count(const Expr& e) {
  std::size_t count = 0;
  walk(e, [&](const auto&) { ++count; });
  return count;
}

std::size_t node_count(const Stmt& s) {
  std::size_t count = 0;
  walk(s, [&](const auto&) { ++count; });
  return count;
}

}  // namespace tenon::tir
