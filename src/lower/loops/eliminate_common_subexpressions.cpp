// Common subexpression elimination: names repeated computations `let cse_var_N = ...`.
//
//   B[i*8 + k] = A[i*8 + k] + 1        =>   let cse_var_1: int32 = ((i*8) + k)
//                                           B[cse_var_1] = (A[cse_var_1] + 1f32)
//
// The selection, the order and the numbering of the lets match TVM 0.9 text:
// - A computation contains no load and no call. Its variables are parameters, loops and lets.
// - A let is not placed outside of a loop or condition if only the body uses it. A computation
//   counts only if it occurs in two of the parts: min, extent and body of a loop; condition and
//   cases of a branch; condition and body of a while.
// - At a statement, candidates are tried by size, largest first, then by text. A rejected candidate
//   adds its parts to the candidates, each counted once.
// - Each new let encloses the earlier ones. Then the nest is searched again.
//
// One rule differs from TVM 0.9, which would hoist an integer division by a value that may be zero.
// Here, such a division remains in the arms of a choice, unless another occurrence is evaluated
// unconditionally.
#include "lower/passes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/rewriting.h"
#include "tenon/support/dense_map.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- value numbers ----

/// Whether two nodes are equal, given that their children are equal. Variables, buffers, producers
/// and reducers compare by identity.
bool same_head(const ExprNode& a, const ExprNode& b) {
  if (a.dtype != b.dtype || a.value.index() != b.value.index()) return false;
  return match(
      a.value, [&](const IntImm& x) { return x.value == std::get<IntImm>(b.value).value; },
      [&](const FloatImm& x) {
        return std::bit_cast<std::uint64_t>(x.value) ==
               std::bit_cast<std::uint64_t>(std::get<FloatImm>(b.value).value);
      },
      [&](const StringImm& x) { return x.value == std::get<StringImm>(b.value).value; },
      [&](const Binary& x) { return x.op == std::get<Binary>(b.value).op; },
      each_of<Cast, Not, Select>([] { return true; }),
      [&](const Ramp& x) { return x.lanes == std::get<Ramp>(b.value).lanes; },
      [&](const Broadcast& x) { return x.lanes == std::get<Broadcast>(b.value).lanes; },
      [&](const Shuffle& x) {
        return x.vectors.size() == std::get<Shuffle>(b.value).vectors.size();
      },
      [&](const LetExpr& x) { return x.var.same_as(std::get<LetExpr>(b.value).var); },
      [&](const Call& x) {
        const Call& y = std::get<Call>(b.value);
        if (x.callee.index() != y.callee.index()) return false;
        if (const Intrin* intrin = std::get_if<Intrin>(&x.callee))
          return *intrin == std::get<Intrin>(y.callee);
        const ExternCallee& f = std::get<ExternCallee>(x.callee);
        const ExternCallee& g = std::get<ExternCallee>(y.callee);
        return f.name == g.name && f.pure == g.pure;
      },
      [&](const Load& x) { return x.buffer.same_as(std::get<Load>(b.value).buffer); },
      each_of<VarNode, ProducerLoad, Reduce>([&] { return &a == &b; }));
}

bool may_be_zero(const Expr& divisor) {
  const Broadcast* same = divisor.as<Broadcast>();
  return constant_int(same ? same->value : divisor).value_or(0) == 0;
}

// Value numbering of expressions (hash consing): structurally equal trees have the same number,
// even if they consist of different nodes.
//
//   ComputationPool pool;
//   pool.id_of(x * 4 + y) == pool.id_of(x * 4 + y)      // two trees, one number
//
// Interning a node costs time proportional to its number of children, so shared subtrees are walked
// once. All lists share one array, so a returned span is valid only until the next call.

/// The number of an expression. Numbers are assigned consecutively from 0.
using ComputationId = int;

class ComputationPool {
 public:
  ComputationId id_of(const Expr& e) {
    if (const ComputationId* found = by_node_.find(&e.node())) return *found;
    const std::size_t first = open_.size();
    for_each_child(e, [&](const Expr& child) { open_.push_back(id_of(child)); });
    const std::span<const ComputationId> parts = std::span(open_).subspan(first);
    ComputationId& last = *by_hash_.try_emplace(e.node().hash, -1).first;
    ComputationId id = last;
    while (id >= 0 && !(std::ranges::equal(children(id), parts) &&
                        same_head(entries_[id].expr.node(), e.node())))
      id = entries_[id].equal_hash;
    if (id >= 0) {
      aliases_.push_back(e);
    } else {
      id = static_cast<ComputationId>(entries_.size());
      entries_.push_back(make_entry(e, keep(parts)));
      entries_.back().equal_hash = std::exchange(last, id);
    }
    open_.resize(first);
    by_node_.try_emplace(&e.node(), id);
    return id;
  }

  /// The number of distinct expressions so far.
  std::size_t size() const { return entries_.size(); }
  const Expr& expr(ComputationId id) const { return entries_[id].expr; }
  /// The direct subexpressions, left to right.
  std::span<const ComputationId> children(ComputationId id) const {
    return all(entries_[id].children);
  }
  /// The number of nodes of the tree; a double, because shared trees can be exponentially large.
  double size(ComputationId id) const { return entries_[id].size; }
  /// Whether a let may bind the expression. Constants, variables, ramps, broadcasts, calls and
  /// loads are not eligible, nor are expressions that contain a call or a load.
  bool is_eligible(ComputationId id) const { return entries_[id].eligible; }
  bool contains_let(ComputationId id) const { return entries_[id].contains_let; }
  /// Whether the expression divides an integer by a value that may be zero, so that it must not be
  /// speculated.
  bool may_fault(ComputationId id) const { return entries_[id].may_fault; }
  /// Whether only the first child is always evaluated.
  bool is_lazy(ComputationId id) const { return tir::is_lazy(entries_[id].expr); }

  /// The expression's legacy text (print_legacy), which orders computations of equal size.
  const std::string& text(ComputationId id) {
    const auto [text, is_new] = texts_.try_emplace(id);
    if (is_new) *text = print_legacy(entries_[id].expr);
    return *text;
  }

  /// The numbers of the free variables, ascending.
  std::span<const ComputationId> free_vars(ComputationId id) {
    if (!entries_[id].free_vars) {
      std::vector<ComputationId> vars = find_free_vars(id);
      std::ranges::sort(vars);
      const auto repeated = std::ranges::unique(vars);
      vars.erase(repeated.begin(), repeated.end());
      entries_[id].free_vars = keep(vars);
    }
    return all(*entries_[id].free_vars);
  }

  /// The nearest eligible subexpressions. A subexpression that occurs n times is listed n times.
  std::span<const ComputationId> direct_parts(ComputationId id) {
    if (!entries_[id].direct_parts) {
      std::vector<ComputationId> parts;
      for (std::size_t n = 0; n < children(id).size(); ++n) {
        const ComputationId child = children(id)[n];
        if (entries_[child].eligible) {
          parts.push_back(child);
        } else {
          const std::span<const ComputationId> inner = direct_parts(child);
          parts.insert(parts.end(), inner.begin(), inner.end());
        }
      }
      entries_[id].direct_parts = keep(parts);
    }
    return all(*entries_[id].direct_parts);
  }

 private:
  /// A range of `numbers_`: the first index and the size.
  using List = std::pair<std::uint32_t, std::uint32_t>;
  struct Entry {
    Expr expr;
    List children = {};
    double size = 1;
    /// The previous entry with the same structural hash; -1 if this is the first one.
    ComputationId equal_hash = -1;
    bool eligible = false;
    bool contains_effect = false;  // a call or a load
    bool contains_let = false;
    bool may_fault = false;
    std::optional<List> free_vars = {};
    std::optional<List> direct_parts = {};
  };

  std::span<const ComputationId> all(List list) const {
    return std::span(numbers_).subspan(list.first, list.second);
  }
  ComputationPool::List keep(std::span<const ComputationId> numbers) {
    const List list{static_cast<std::uint32_t>(numbers_.size()),
                    static_cast<std::uint32_t>(numbers.size())};
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    return list;
  }

  ComputationPool::Entry make_entry(const Expr& e, List children) const {
    Entry entry{.expr = e, .children = children};
    for (ComputationId child : all(children)) {
      entry.size += entries_[child].size;
      entry.contains_effect |= entries_[child].contains_effect;
      entry.contains_let |= entries_[child].contains_let;
      entry.may_fault |= entries_[child].may_fault;
    }
    if (const Binary* n = e.as<Binary>(); n && is_integer_division(n->op))
      entry.may_fault |= may_be_zero(n->b);
    const bool is_effect = e.as<Call>() || e.as<Load>() || e.as<ProducerLoad>();
    const bool is_atom = e.as<IntImm>() || e.as<FloatImm>() || e.as<StringImm>() || e.as<VarNode>();
    entry.contains_effect |= is_effect;
    entry.contains_let |= e.as<LetExpr>() != nullptr;
    entry.eligible = !entry.contains_effect && !is_atom && !e.as<Ramp>() && !e.as<Broadcast>();
    return entry;
  }

  std::vector<ComputationId> find_free_vars(ComputationId id) {
    std::vector<ComputationId> vars;
    const auto add = [&](ComputationId part) {
      const std::span<const ComputationId> of_part = free_vars(part);
      vars.insert(vars.end(), of_part.begin(), of_part.end());
    };
    const Expr e = entries_[id].expr;
    if (e.as<VarNode>()) {
      vars.push_back(id);
    } else if (const LetExpr* let = e.as<LetExpr>()) {
      add(id_of(let->body));
      std::erase(vars, id_of(let->var));
      add(id_of(let->value));
    } else {
      for (std::size_t n = 0; n < children(id).size(); ++n) add(children(id)[n]);
    }
    return vars;
  }

  std::vector<Entry> entries_;
  std::vector<ComputationId> numbers_;
  DenseMap<const ExprNode*, ComputationId> by_node_;
  /// The last entry for each structural hash.
  DenseMap<std::size_t, ComputationId> by_hash_;
  DenseMap<ComputationId, std::string> texts_;
  /// Nodes whose address is a key of by_node_, but which are not the expression of an entry,
  /// because an equal node is. They are kept alive here.
  std::vector<Expr> aliases_;
  /// The stack of the recursion in id_of: for each expression on the current path, the ids of the
  /// children that have been visited.
  std::vector<ComputationId> open_;
};

// ---- counts ----

/// The maximal eligible computations and how often each occurs, in order of first appearance.
class ComputationTable {
 public:
  /// Adds `count` occurrences. `is_certain` states that at least one of them is evaluated
  /// unconditionally.
  void add(ComputationId id, double count, bool is_certain) {
    counts_[id] += count;
    if (is_certain) certain_.try_emplace(id, true);
  }
  double count(ComputationId id) const {
    const double* found = counts_.find(id);
    return found ? *found : 0;
  }
  bool is_certain(ComputationId id) const { return certain_.contains(id); }
  bool empty() const { return counts_.empty(); }
  const DenseMap<ComputationId, double>& counts() const { return counts_; }

 private:
  DenseMap<ComputationId, double> counts_;
  DenseMap<ComputationId, bool> certain_;
};

void add_all(const ComputationTable& from, ComputationTable& to) {
  for (const auto& [id, count] : from.counts()) to.add(id, count, from.is_certain(id));
}

/// Adds to `result` each computation that occurs in `some` and in at least one of `others`. The new
/// count is the sum of the counts in all tables. The computation is certain if it is certain in
/// `some` and in one of `others`.
void add_common(const ComputationTable& some, const std::vector<const ComputationTable*>& others,
                ComputationTable& result) {
  for (const auto& [id, count] : some.counts()) {
    double elsewhere = 0;
    bool is_certain = false;
    for (const ComputationTable* other : others) {
      elsewhere += other->count(id);
      is_certain |= some.is_certain(id) && other->is_certain(id);
    }
    if (elsewhere > 0 && result.count(id) == 0) result.add(id, count + elsewhere, is_certain);
  }
}

class ComputationCounter {
 public:
  explicit ComputationCounter(ComputationPool& pool) : pool_(pool) {}

  template <class Tree>
  ComputationTable table_of(const Tree& tree) {
    ComputationTable table;
    add(tree, table);
    return table;
  }

 private:
  void add(const Expr& e, ComputationTable& table) {
    const ComputationId root = pool_.id_of(e);
    if (pool_.is_eligible(root)) return table.add(root, 1, true);
    if (pool_.children(root).empty()) return;
    // Counts propagate from parents to children, so each shared node is visited only once.
    occurrences_.resize(pool_.size());
    is_certain_.resize(pool_.size());
    order_.clear();
    note_order(root);
    for (ComputationId id : order_) {
      is_certain_[id] = id == root;
      occurrences_[id] = id == root;
    }
    for (ComputationId id : std::views::reverse(order_)) {
      if (pool_.is_eligible(id)) continue;
      bool is_certain = is_certain_[id];
      for (ComputationId child : pool_.children(id)) {
        occurrences_[child] += occurrences_[id];
        if (is_certain) is_certain_[child] = true;
        is_certain = is_certain && !pool_.is_lazy(id);
      }
    }
    for (ComputationId id : order_) {
      if (pool_.is_eligible(id)) table.add(id, occurrences_[id], is_certain_[id]);
      occurrences_[id] = 0;
    }
  }

  void add(const Stmt& s, ComputationTable& table) {
    if (s.as<For>() || s.as<If>() || s.as<While>()) return add_all(common_of(s), table);
    for_each_child(
        s, [&](const Expr& e) { add(e, table); }, [&](const Stmt& child) { add(child, table); });
  }

  /// Returns the computations that occur in at least two parts of `s`. The count of each is the sum
  /// over the parts.
  const ComputationTable& common_of(const Stmt& s) {
    if (auto found = common_.find(&s.node()); found != common_.end()) return found->second.second;
    ComputationTable table = make_common(s);
    return common_.emplace(&s.node(), std::pair(s, std::move(table))).first->second.second;
  }

  ComputationTable make_common(const Stmt& s) {
    ComputationTable result;
    if (const For* loop = s.as<For>()) {
      const ComputationTable min = table_of(loop->min), extent = table_of(loop->extent);
      // A computation counts if it occurs in two parts, and one of these must be the min or the
      // extent.
      if (min.empty() && extent.empty()) return result;
      const ComputationTable body = table_of(loop->body);
      add_common(min, {&extent, &body}, result);
      add_common(extent, {&min, &body}, result);
    } else if (const While* loop = s.as<While>()) {
      const ComputationTable condition = table_of(loop->condition);
      if (condition.empty()) return result;
      const ComputationTable body = table_of(loop->body);
      add_common(condition, {&body}, result);
    } else if (const If* branch = s.as<If>()) {
      const ComputationTable condition = table_of(branch->condition);
      if (condition.empty() && !branch->else_case) return result;
      const ComputationTable then_case = table_of(branch->then_case);
      const ComputationTable else_case =
          branch->else_case ? table_of(*branch->else_case) : ComputationTable();
      add_common(condition, {&then_case, &else_case}, result);
      add_common(then_case, {&condition, &else_case}, result);
    }
    return result;
  }

  void note_order(ComputationId id) {
    constexpr double kNoted = -1;
    if (occurrences_[id] == kNoted) return;
    occurrences_[id] = kNoted;
    if (!pool_.is_eligible(id))
      for (ComputationId child : pool_.children(id)) note_order(child);
    order_.push_back(id);
  }

  ComputationPool& pool_;
  /// State while an expression is added. `order_`: its nodes outside of computations, each once,
  /// children before parents. For each node, `occurrences_` has its number of occurrences, and
  /// `is_certain_` whether one of them is unconditional.
  std::vector<ComputationId> order_;
  std::vector<double> occurrences_;
  std::vector<bool> is_certain_;
  /// The results of common_of, each with its statement, which keeps the key alive.
  std::unordered_map<const StmtNode*, std::pair<Stmt, ComputationTable>> common_;
};

// ---- elimination ----

constexpr std::string_view kPrefix = "cse_var_";

/// The variables in scope at a statement, including lets with their values.
class Context {
 public:
  void enter(ComputationId var) {
    if (in_scope_.size() <= index(var)) in_scope_.resize(index(var) + 1);
    ++in_scope_[index(var)];
  }
  void leave(ComputationId var) { --in_scope_[index(var)]; }
  /// Registers a let. If several lets have equal values, the outermost let is used.
  void enter_let(ComputationId var, ComputationId value, const Var& handle) {
    enter(var);
    lets_[value].push_back(handle);
  }
  void leave_let(ComputationId var, ComputationId value) {
    leave(var);
    lets_[value].pop_back();
  }
  bool has(ComputationId var) const {
    return index(var) < in_scope_.size() && in_scope_[index(var)] > 0;
  }
  const Var* let_of(ComputationId value) const {
    const std::vector<Var>* vars = lets_.find(value);
    return !vars || vars->empty() ? nullptr : &vars->front();
  }

 private:
  static std::size_t index(ComputationId id) { return static_cast<std::size_t>(id); }

  /// The number of definitions in scope of each variable, indexed by the variable's ComputationId.
  std::vector<int> in_scope_;
  DenseMap<ComputationId, std::vector<Var>> lets_;
};

/// The result of one search for repeated computations in a statement or an expression.
struct Choice {
  /// The variables and values of the new lets in order of creation. Each let encloses the earlier
  /// ones.
  std::vector<std::pair<Var, Expr>> lets;
  DenseMap<ComputationId, Var> replacements;
  /// Repeated computations that cannot be bound here because they use variables of inner scopes,
  /// indexed by these variables.
  DenseMap<ComputationId, std::vector<ComputationId>> waiting;
  /// How often each computation was seen.
  DenseMap<ComputationId, double> counts;

  bool changes_something() const { return !replacements.empty(); }
};

/// The candidates of one search, by descending size. Among candidates of equal size, those from the
/// table come first, ordered by text. Candidates that were added during the search follow in order
/// of arrival.
class Queue {
 public:
  Queue(ComputationPool& pool, const ComputationTable& table)
      : pool_(pool), counts_(table.counts()) {
    for (const auto& [id, count] : counts_) {
      waiting_.push_back({pool_.size(id), false, id, last_number_++});
      if (table.is_certain(id)) certain_.try_emplace(id, true);
    }
    std::make_heap(waiting_.begin(), waiting_.end());
  }

  /// Calls decide(id, count, is_certain) for each candidate. If it returns false, the parts of the
  /// candidate are added to the queue. Parts are smaller than the candidate, so a candidate is
  /// visited after everything that contains it.
  template <class Decide>
  void run(Decide decide) {
    std::vector<ComputationId> group;
    while (!waiting_.empty()) {
      take_group(group);
      for (ComputationId id : group) {
        if (decide(id, *counts_.find(id), certain_.contains(id))) continue;
        for (ComputationId part : pool_.direct_parts(id)) push(part);
        if (certain_.contains(id)) note_certain_parts(id);
      }
    }
  }

  DenseMap<ComputationId, double> take_counts() { return std::move(counts_); }

 private:
  struct Candidate {
    double size;
    bool is_late;
    ComputationId id;
    /// The position in the order of insertion.
    std::size_t number;
    /// Whether this candidate follows `other`.
    bool operator<(const Candidate& other) const {
      return std::tie(size, other.is_late, other.number) < std::tie(other.size, is_late, number);
    }
  };

  /// Removes all candidates of the largest size. If some of them are from the table, only those are
  /// removed.
  void take_group(std::vector<ComputationId>& group) {
    group.clear();
    const Candidate first = waiting_.front();
    while (!waiting_.empty() && waiting_.front().size == first.size &&
           waiting_.front().is_late == first.is_late) {
      group.push_back(waiting_.front().id);
      std::pop_heap(waiting_.begin(), waiting_.end());
      waiting_.pop_back();
    }
    if (first.is_late || group.size() == 1) return;
    for (ComputationId id : group) pool_.text(id);
    std::ranges::stable_sort(
        group, [&](ComputationId a, ComputationId b) { return pool_.text(a) < pool_.text(b); });
  }

  void note_certain_parts(ComputationId id) {
    for (ComputationId child : pool_.children(id)) {
      if (pool_.is_eligible(child))
        certain_.try_emplace(child, true);
      else
        for (ComputationId part : pool_.direct_parts(child)) certain_.try_emplace(part, true);
      if (pool_.is_lazy(id)) return;
    }
  }

  void push(ComputationId id) {
    const auto [count, is_new] = counts_.try_emplace(id, 0);
    *count += 1;
    if (!is_new) return;
    waiting_.push_back({pool_.size(id), true, id, last_number_++});
    std::push_heap(waiting_.begin(), waiting_.end());
  }

  ComputationPool& pool_;
  DenseMap<ComputationId, double> counts_;
  DenseMap<ComputationId, bool> certain_;
  /// A heap whose first element is the next candidate.
  std::vector<Candidate> waiting_;
  std::size_t last_number_ = 0;
};

class Eliminator {
 public:
  Eliminator(const PrimFunc& func, bool may_leave_choices) : may_leave_choices_(may_leave_choices) {
    for (const Var& param : func.params) context_.enter(pool_.id_of(param));
    intern(func.body);
    for (std::size_t id = 0; id < pool_.size(); ++id)
      if (const VarNode* var = pool_.expr(static_cast<ComputationId>(id)).as<VarNode>())
        note_name(var->name);
  }

  Stmt run(const Stmt& s) { return visit(s); }

 private:
  // ---- selection --------------------------------------------------------------------------------

  Choice choose(const ComputationTable& table) {
    Choice choice;
    Queue queue(pool_, table);
    queue.run([&](ComputationId id, double count, bool is_certain) {
      if (const Var* var = context_.let_of(id)) {
        choice.replacements.try_emplace(id, *var);
        return true;
      }
      if (count < 2) return false;
      if (pool_.may_fault(id) && !is_certain && !may_leave_choices_) return false;
      bool in_scope = true;
      for (ComputationId var : pool_.free_vars(id)) {
        if (context_.has(var)) continue;
        choice.waiting[var].push_back(id);
        in_scope = false;
      }
      if (!in_scope) return false;
      const Var var = new_variable(pool_.expr(id));
      choice.lets.emplace_back(var, pool_.expr(id));
      choice.replacements.try_emplace(id, var);
      return true;
    });
    choice.counts = queue.take_counts();
    return choice;
  }

  Var new_variable(const Expr& value) {
    do {
      ++last_number_;
    } while (taken_numbers_.contains(last_number_));
    return Var::let(std::string(kPrefix) + std::to_string(last_number_), value);
  }

  void intern(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { pool_.id_of(e); }, [&](const Stmt& child) { intern(child); });
  }

  void note_name(std::string_view name) {
    if (!name.starts_with(kPrefix)) return;
    name.remove_prefix(kPrefix.size());
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) taken_numbers_.insert(number);
  }

  // ---- replacement ------------------------------------------------------------------------------

  /// Memoized results of replaced_below; nullopt for expressions that remain unchanged.
  using Replaced = DenseMap<ComputationId, std::optional<Expr>>;

  /// Replaces outermost matches. This gives the same result as replacing computations one by one,
  /// because larger computations were chosen first.
  Expr replaced(const Expr& e, const Choice& choice, Replaced& done) {
    const ComputationId id = pool_.id_of(e);
    if (const Var* replacement = choice.replacements.find(id)) return *replacement;
    return replaced_below(e, choice, done);
  }
  Stmt replaced(const Stmt& s, const Choice& choice, Replaced& done) {
    return map_children(
        s, [&](const Expr& e) { return replaced(e, choice, done); },
        [&](const Stmt& child) { return replaced(child, choice, done); });
  }
  /// Replaces matches strictly inside the expression.
  Expr replaced_below(const Expr& e, const Choice& choice, Replaced& done) {
    const ComputationId id = pool_.id_of(e);
    if (pool_.children(id).empty()) return e;
    if (const std::optional<Expr>* found = done.find(id)) return found->value_or(e);
    Expr result = map_children(e, [&](const Expr& child) { return replaced(child, choice, done); });
    done.try_emplace(id, result.same_as(e) ? std::nullopt : std::optional<Expr>(result));
    return result;
  }

  Stmt apply(const Choice& choice, const Stmt& s) {
    Replaced done;
    Stmt result = replaced(s, choice, done);
    for (const auto& [var, value] : choice.lets)
      result = make_stmt(Let{var, replaced_below(value, choice, done), result});
    return result;
  }

  Expr apply(const Choice& choice, const Expr& e) {
    Replaced done;
    Expr result = replaced(e, choice, done);
    for (const auto& [var, value] : choice.lets)
      result = make_let(var, replaced_below(value, choice, done), result);
    return result;
  }

  // ---- traversal --------------------------------------------------------------------------------

  /// Searches the statement repeatedly, until a search introduces no let. Then visits the parts of
  /// the statement.
  Stmt visit(const Stmt& s) {
    Stmt result = s;
    while (true) {
      const Choice choice = choose(counter_.table_of(result));
      if (!choice.changes_something()) return descend(result, &choice);
      result = apply(choice, result);
      if (choice.lets.empty()) return descend(result, nullptr);
    }
  }

  /// Visits the parts of a statement. `settled` is a search of an enclosing statement. This search
  /// introduced no let, saw all computations of this statement, and had the same variables in
  /// scope, so another search would find no further repetitions. If `settled` is given, only the
  /// parts that it did not see are searched: the parts of loops and conditions, and the bodies of
  /// lets.
  Stmt descend(const Stmt& s, const Choice* settled) {
    if (const Let* let = s.as<Let>()) return descend_let(s, *let, settled);
    if (const For* loop = s.as<For>()) return descend_loop(s, *loop);
    if (s.as<If>() || s.as<While>()) {
      return map_children(
          s, [&](const Expr& e) { return visit(e); },
          [&](const Stmt& child) { return visit(child); });
    }
    return map_children(
        s, [&](const Expr& e) { return settled ? e : visit(e); },
        [&](const Stmt& child) { return settled ? descend(child, settled) : visit(child); });
  }

  Stmt descend_loop(const Stmt& s, const For& loop) {
    const Expr min = visit(loop.min), extent = visit(loop.extent);
    const ComputationId var = pool_.id_of(loop.var);
    context_.enter(var);
    const Stmt body = visit(loop.body);
    context_.leave(var);
    if (min.same_as(loop.min) && extent.same_as(loop.extent) && body.same_as(loop.body)) return s;
    return make_stmt(For{loop.var, min, extent, loop.kind, body});
  }

  Stmt descend_let(const Stmt& s, const Let& let, const Choice* settled) {
    const Expr value = settled ? let.value : visit(let.value);
    const ComputationId var = pool_.id_of(let.var), value_id = pool_.id_of(let.value);
    context_.enter_let(var, value_id, let.var);
    const bool body_is_settled = settled && !may_change(var, value_id, *settled);
    const Stmt body = body_is_settled ? descend(let.body, settled) : visit(let.body);
    context_.leave_let(var, value_id);
    if (value.same_as(let.value) && body.same_as(let.body)) return s;
    return make_stmt(Let{let.var, value, body});
  }

  /// Whether the new variable in scope can change the result of the search `settled`.
  bool may_change(ComputationId var, ComputationId value, const Choice& settled) {
    // The value of the let itself accounts for one occurrence.
    if (const double* seen = settled.counts.find(value); seen && *seen > 1) return true;
    const std::vector<ComputationId>* waiting = settled.waiting.find(var);
    if (!waiting) return false;
    return std::ranges::any_of(*waiting, [&](ComputationId id) {
      return std::ranges::all_of(pool_.free_vars(id),
                                 [&](ComputationId v) { return context_.has(v); });
    });
  }

  /// Binds computations that repeat within one expression by let expressions. The expression is
  /// searched only once.
  Expr visit(const Expr& e) {
    const Choice choice = choose(counter_.table_of(e));
    if (!choice.changes_something() && !pool_.contains_let(pool_.id_of(e))) return e;
    return descend(choice.changes_something() ? apply(choice, e) : e);
  }

  Expr descend(const Expr& e) {
    const LetExpr* let = e.as<LetExpr>();
    if (!let) return map_children(e, [&](const Expr& child) { return visit(child); });
    const Expr value = visit(let->value);
    const ComputationId var = pool_.id_of(let->var), value_id = pool_.id_of(let->value);
    context_.enter_let(var, value_id, let->var);
    const Expr body = visit(let->body);
    context_.leave_let(var, value_id);
    if (value.same_as(let->value) && body.same_as(let->body)) return e;
    return make_let(let->var, value, body);
  }

  bool may_leave_choices_;
  ComputationPool pool_;
  ComputationCounter counter_{pool_};
  Context context_;
  std::unordered_set<int> taken_numbers_;
  int last_number_ = 0;
};

}  // namespace

PrimFunc eliminate_common_subexpressions(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Eliminator(func, false).run(func.body));
}

PrimFunc eliminate_common_subexpressions_as_text(const PrimFunc& func, const PassOptions&) {
  return with_body(func, Eliminator(func, true).run(func.body));
}

}  // namespace tenon::lowering
