#include "s_tir/reduction_body.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "s_tir/context.h"
#include "tenon/arith/simplify.h"
#include "tenon/s_tir/reducers.h"
#include "tenon/support/error.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

// ---- registered reducers of tuples  -------------------------------------------------------------

namespace {

/// A reducer: its arity, its combiner, and its identity.
using Registered = std::tuple<int, CombineTuples, IdentityOfTypes>;

/// Returns a reducer of (index, value) pairs: it selects x if `first` holds for the values of x and
/// y, otherwise y.
Registered best_of(Expr (*first)(const Expr& x, const Expr& y), bool is_max) {
  return {2,
          [first](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
            const Expr is_first = first(x[1], y[1]);
            return {select(is_first, x[0], y[0]), select(is_first, x[1], y[1])};
          },
          [is_max](std::span<const DataType> t) -> std::vector<Expr> {
            return {make_const(t[0], -1), is_max ? min_value(t[1]) : max_value(t[1])};
          }};
}

using Reducers = std::map<std::string, Registered>;
/// The memoized results of broken_law, by reducer, types and change.
using Laws = std::map<std::string, std::optional<std::string>>;

/// Returns the registered reducers and their laws, locked for as long as the result exists.
std::tuple<std::unique_lock<std::mutex>, Reducers&, Laws&> locked_reducers() {
  static std::mutex mutex;
  static Reducers reducers = {
      {"argmax", best_of([](const Expr& x, const Expr& y) { return x >= y; }, true)},
      {"argmax of the later", best_of([](const Expr& x, const Expr& y) { return x > y; }, true)},
      {"argmin", best_of([](const Expr& x, const Expr& y) { return x <= y; }, false)},
      {"argmin of the later", best_of([](const Expr& x, const Expr& y) { return x < y; }, false)}};
  static Laws laws;
  return {std::unique_lock(mutex), reducers, laws};
}

/// Returns the reducer for values of these types. Throws TypeError if it does not support them.
CommReducer made(const std::string& name, const Registered& reducer,
                 const std::vector<DataType>& types) {
  const auto& [arity, combine, identity] = reducer;
  CommReducerNode node;
  node.name = name;
  for (std::size_t n = 0; n < types.size(); ++n) {
    node.lhs.emplace_back("x" + std::to_string(n), types[n]);
    node.rhs.emplace_back("y" + std::to_string(n), types[n]);
  }
  node.result = combine(node.lhs, node.rhs);
  node.identity = identity(types);
  return std::make_shared<const CommReducerNode>(std::move(node));
}

std::vector<CommReducer> reducers_of(const std::vector<DataType>& types) {
  // A copy, because the functions of a reducer run without the lock.
  const Reducers all = std::get<Reducers&>(locked_reducers());
  std::vector<CommReducer> result;
  for (const auto& [name, reducer] : all) {
    if (std::get<int>(reducer) != static_cast<int>(types.size())) continue;
    try {
      result.push_back(made(name, reducer, types));
    } catch (const TypeError&) {
      // The reducer does not support these types, so it is skipped.
    }
  }
  return result;
}

// ---- analysis of a block's body  ----------------------------------------------------------------

/// Returns the stores of a body that consists of nothing else, except for enclosing lets. Values of
/// the lets are substituted into the stored values.
std::optional<std::vector<Store>> stores_of(const Stmt& body) {
  std::vector<Store> result;
  VarMap lets;
  const Stmt* at = &body;
  for (; const Let* let = at->as<Let>(); at = &let->body)
    set(lets, let->var, substitute(let->value, lets));
  for (const Stmt& part : parts_of(*at)) {
    const Store* store = part.as<Store>();
    if (!store) return std::nullopt;
    // A value that is computed between the stores may depend on an earlier store.
    if (!lets.empty() && !store->value.as<VarNode>()) return std::nullopt;
    result.push_back({store->buffer, substitute(store->value, lets), store->indices});
  }
  return result;
}

bool is_same_element(const std::vector<Expr>& indices, const Buffer& buffer, const Store& store) {
  return buffer.same_as(store.buffer) && structural_equal(indices, store.indices);
}

/// Whether the stores provably write different elements.
bool are_distinct(const Store& a, const Store& b) {
  if (!a.buffer.same_as(b.buffer)) return true;
  for (std::size_t d = 0; d < a.indices.size(); ++d)
    if (arith::can_prove(make_binary(BinaryOp::Ne, a.indices[d], b.indices[d]))) return true;
  return false;
}

bool loads_any(const Expr& e, const std::vector<Store>& stores) {
  bool found = false;
  walk(e, [&](const Load& load) {
    for (const Store& store : stores) found = found || load.buffer.same_as(store.buffer);
  });
  return found;
}

/// Matches an expression with `pattern`, a part of the reducer's result. Adds the values for which
/// the operands y of the reducer make the pattern equal to the expression.
bool matches(const CommReducerNode& reducer, const Expr& pattern, const Expr& e, VarMap& values) {
  for (const Var& y : reducer.rhs) {
    if (!pattern.same_as(y)) continue;
    if (const auto known = values.find(&y.node()); known != values.end())
      return structural_equal(known->second, e);
    const bool uses_x =
        std::ranges::any_of(reducer.lhs, [&](const Var& x) { return uses_var(e, x); });
    if (uses_x || e.dtype() != y.dtype()) return false;
    set(values, y, e);
    return true;
  }
  if (pattern.as<VarNode>()) return pattern.same_as(e);
  return equal_but_for_children(pattern, e) &&
         std::ranges::equal(children_of(pattern), children_of(e),
                            [&](const Expr& part, const Expr& own) {
                              return matches(reducer, part, own, values);
                            });
}

/// Matches independent sums, products, minima and maxima.
std::optional<ReductionBody> find_simple(const std::vector<Store>& update,
                                         const std::vector<Store>& init) {
  ReductionBody body;
  CommReducerNode combiner;
  for (std::size_t n = 0; n < update.size(); ++n) {
    const Store& store = update[n];
    Block one = plain_block("", make_stmt(Store(store)));
    one.init = make_stmt(Store(init[n]));
    const std::optional<Combination> combination = find_combination(one);
    if (!combination || loads_any(combination->value, update)) return std::nullopt;
    const Var x("x", store.value.dtype()), y("y", store.value.dtype());
    combiner.lhs.push_back(x);
    combiner.rhs.push_back(y);
    combiner.result.push_back(combination->element_is_left ? make_binary(combination->op, x, y)
                                                           : make_binary(combination->op, y, x));
    combiner.identity.push_back(init[n].value);
    body.values.push_back(combination->value);
  }
  body.combiner = std::make_shared<const CommReducerNode>(std::move(combiner));
  return body;
}

std::optional<ReductionBody> find_registered(const std::vector<Store>& update,
                                             const std::vector<Store>& init) {
  std::vector<DataType> types;
  for (const Store& store : update) types.push_back(store.value.dtype());
  for (const CommReducer& reducer : reducers_of(types)) {
    VarMap values;
    bool is_match = true;
    for (std::size_t n = 0; n < types.size() && is_match; ++n) {
      // The previous value of each output element is the reducer's operand x. A reducer cannot use
      // other elements of an output.
      const Expr value =
          rewrite(update[n].value, [&](const Load& load, const Expr&) -> std::optional<Expr> {
            for (std::size_t k = 0; k < types.size(); ++k)
              if (is_same_element(load.indices, load.buffer, update[k])) return reducer->lhs[k];
            return std::nullopt;
          });
      is_match = !loads_any(value, update) &&
                 matches(*reducer, reducer->result[n], value, values) &&
                 structural_equal(init[n].value, reducer->identity[n]);
    }
    if (!is_match || values.size() != reducer->rhs.size()) continue;
    ReductionBody body;
    for (const Var& y : reducer->rhs) body.values.push_back(values.at(&y.node()));
    body.combiner = reducer;
    return body;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ReductionBody> find_reduction_body(const Block& block) {
  if (!block.init) return std::nullopt;
  const std::optional<std::vector<Store>> update = stores_of(block.body);
  std::optional<std::vector<Store>> init = stores_of(*block.init);
  if (!update || !init || update->size() != init->size()) return std::nullopt;
  // The outputs must be different elements.
  for (std::size_t n = 0; n < update->size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (!are_distinct((*update)[m], (*update)[n])) return std::nullopt;
  // The init may store the outputs in another order than the update.
  for (std::size_t n = 0; n < update->size(); ++n) {
    const auto own = std::ranges::find_if(*init, [&](const Store& store) {
      return is_same_element(store.indices, store.buffer, (*update)[n]);
    });
    if (own == init->end()) return std::nullopt;
    std::swap((*init)[n], *own);
  }
  const bool has_lets = block.body.as<Let>() != nullptr;
  std::optional<ReductionBody> body;
  if (!has_lets) body = find_simple(*update, *init);
  if (!body && (has_lets || update->size() == 1)) body = find_registered(*update, *init);
  if (!body) return std::nullopt;
  body->outputs = *update;
  body->has_lets = has_lets;
  for (const Store& store : *init) body->identities.push_back(store.value);
  return body;
}

std::optional<std::string> broken_law(const ReductionBody& body, arith::ReductionChange change) {
  const CommReducerNode& reducer = *body.combiner;
  if (reducer.name.empty()) return std::nullopt;
  std::string key =
      reducer.name + (change.regroups ? " regroups" : "") + (change.reorders ? " reorders" : "");
  for (const Var& operand : reducer.lhs) key += " " + operand.dtype().str();
  {
    const auto [lock, reducers, laws] = locked_reducers();
    if (const auto known = laws.find(key); known != laws.end()) return known->second;
  }
  auto found = arith::find_counterexample(reducer, body.values, false, change);
  const auto [lock, reducers, laws] = locked_reducers();
  return laws.insert_or_assign(key, std::move(found)).first->second;
}

Stmt stores_to(const std::vector<Store>& elements, const std::vector<Expr>& values) {
  std::vector<Stmt> stores;
  for (std::size_t n = 0; n < elements.size(); ++n)
    stores.push_back(make_store(elements[n].buffer, values[n], elements[n].indices));
  return make_seq(std::move(stores));
}

Stmt ReductionBody::update(const std::vector<Store>& to, const std::vector<Expr>& with) const {
  VarMap operands;
  for (std::size_t n = 0; n < to.size(); ++n) {
    set(operands, combiner->lhs[n], make_load(to[n].buffer, to[n].indices));
    set(operands, combiner->rhs[n], with[n]);
  }
  std::vector<Expr> results;
  for (const Expr& result : combiner->result) results.push_back(substitute(result, operands));
  if (!has_lets) return stores_to(to, results);
  std::vector<Expr> lets;
  for (std::size_t n = 0; n < to.size(); ++n)
    lets.push_back(Var("v_" + to[n].buffer->name, results[n].dtype()));
  Stmt body = stores_to(to, lets);
  for (std::size_t n = to.size(); n-- > 0;)
    body = make_stmt(Let{Var::of(lets[n]), results[n], body});
  return body;
}

void register_reducer(const Name& name, int arity, CombineTuples combine, IdentityOfTypes identity,
                      SourceLocation where) {
  if (arity < 1 || !combine || !identity)
    throw TypeError(
        "register_reducer: `" + std::string(name) +
            "` needs at least one value, a combining function and a function that returns the "
            "identity",
        where);
  const auto [lock, reducers, laws] = locked_reducers();
  laws.clear();
  reducers.insert_or_assign(name, Registered{arity, std::move(combine), std::move(identity)});
}

}  // namespace tenon::s_tir
