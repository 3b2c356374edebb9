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
// One rule differs from TVM 0.9, which hoists such divisions: an integer division by a value that
// may be zero remains in the arms of a choice, unless another occurrence is evaluated
// unconditionally.
#include "lower/passes.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "lower/loops/computations.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::string_view kPrefix = "cse_var_";

/// The variables in scope at a place, and the lets among them.
class Context {
 public:
  void enter(ComputationId var) {
    if (in_scope_.size() <= index(var)) in_scope_.resize(index(var) + 1);
    ++in_scope_[index(var)];
  }
  void leave(ComputationId var) { --in_scope_[index(var)]; }
  /// Registers a let. For equal values, the outermost let is used.
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

  /// The nesting count of each variable, by number.
  std::vector<int> in_scope_;
  DenseMap<ComputationId, std::vector<Var>> lets_;
};

struct NewLet {
  Var var;
  Expr value;
};

/// The decisions of one search of a statement or an expression.
struct Choice {
  /// The new lets in order of creation: each encloses those before it.
  std::vector<NewLet> lets;
  DenseMap<ComputationId, Var> replacements;
  /// Repeated computations that use variables of inner scopes, by those variables.
  DenseMap<ComputationId, std::vector<ComputationId>> waiting;
  /// The number of times each computation was seen.
  DenseMap<ComputationId, double> counts;

  bool changes_something() const { return !replacements.empty(); }
};

/// The candidates of one search, largest first. For equal sizes, candidates of the table precede
/// late ones. Candidates of the table are ordered by text, late ones by arrival.
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

  /// Calls decide(id, count, is_certain) on each candidate. If it returns false, the parts of the
  /// candidate, which are smaller, join the queue. A candidate is visited after everything that
  /// contains it.
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
    /// The order of insertion.
    std::size_t number;
    /// Whether this candidate follows `other`.
    bool operator<(const Candidate& other) const {
      return std::tie(size, other.is_late, other.number) < std::tie(other.size, is_late, number);
    }
  };

  /// Removes the candidates of the largest size: all that are from the table, or else all late
  /// ones.
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
    std::stable_sort(group.begin(), group.end(), [&](ComputationId a, ComputationId b) {
      return pool_.text(a) < pool_.text(b);
    });
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
  /// A heap with the next candidate first.
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
      const Var var = new_variable(pool_.expr(id).dtype());
      choice.lets.push_back({var, pool_.expr(id)});
      choice.replacements.try_emplace(id, var);
      return true;
    });
    choice.counts = queue.take_counts();
    return choice;
  }

  Var new_variable(DataType type) {
    do {
      ++last_number_;
    } while (taken_numbers_.contains(last_number_));
    return Var(std::string(kPrefix) + std::to_string(last_number_), type);
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

  /// Replaces outermost matches. Larger computations were chosen first, so this equals replacing
  /// them one by one.
  class Replacer {
   public:
    Replacer(ComputationPool& pool, const Choice& choice) : pool_(pool), choice_(choice) {}

    Expr expr(const Expr& e) {
      const ComputationId id = pool_.id_of(e);
      if (const Var* replacement = choice_.replacements.find(id)) return *replacement;
      return below(e);
    }
    /// Replaces matches strictly inside the expression.
    Expr below(const Expr& e) {
      const ComputationId id = pool_.id_of(e);
      if (pool_.children(id).empty()) return e;
      if (const std::optional<Expr>* found = done_.find(id)) return found->value_or(e);
      Expr result = map_children(e, [&](const Expr& child) { return expr(child); });
      done_.try_emplace(id, result.same_as(e) ? std::nullopt : std::optional<Expr>(result));
      return result;
    }
    Stmt stmt(const Stmt& s) {
      return map_children(
          s, [&](const Expr& e) { return expr(e); },
          [&](const Stmt& child) { return stmt(child); });
    }

   private:
    ComputationPool& pool_;
    const Choice& choice_;
    /// Memoized results; nullopt for unchanged expressions.
    DenseMap<ComputationId, std::optional<Expr>> done_;
  };

  Stmt apply(const Choice& choice, const Stmt& s) {
    Replacer replacer(pool_, choice);
    Stmt result = replacer.stmt(s);
    for (const NewLet& let : choice.lets) {
      result = make_stmt(Let{let.var, replacer.below(let.value), result});
    }
    return result;
  }

  Expr apply(const Choice& choice, const Expr& e) {
    Replacer replacer(pool_, choice);
    Expr result = replacer.expr(e);
    for (const NewLet& let : choice.lets)
      result = make_let(let.var, replacer.below(let.value), result);
    return result;
  }

  // ---- traversal --------------------------------------------------------------------------------

  /// Searches the statement until a search makes no let, then visits its parts.
  Stmt visit(const Stmt& s) {
    Stmt result = s;
    while (true) {
      const Choice choice = choose(counter_.table_of(result));
      if (!choice.changes_something()) return descend(result, &choice);
      result = apply(choice, result);
      if (choice.lets.empty()) return descend(result, nullptr);
    }
  }

  /// Visits the parts of a statement. `settled` is a search of an enclosing statement that changed
  /// nothing, saw all computations of this statement and had the same variables in scope. Another
  /// search of this statement would find no candidate more often, so it is skipped. Only the parts
  /// that `settled` did not see are searched: parts of loops and conditions, and bodies of lets.
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

  /// Whether a variable that came into scope can change the result of the settled search.
  bool may_change(ComputationId var, ComputationId value, const Choice& settled) {
    // The occurrence in the let's own value counts once.
    if (const double* seen = settled.counts.find(value); seen && *seen > 1) return true;
    const std::vector<ComputationId>* waiting = settled.waiting.find(var);
    if (!waiting) return false;
    return std::ranges::any_of(*waiting, [&](ComputationId id) {
      return std::ranges::all_of(pool_.free_vars(id),
                                 [&](ComputationId v) { return context_.has(v); });
    });
  }

  /// Turns computations that repeat within one expression into let expressions. There is no second
  /// search.
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
  PrimFunc result = func;
  result.body = Eliminator(func, false).run(func.body);
  return result;
}

PrimFunc eliminate_common_subexpressions_as_text(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = Eliminator(func, true).run(func.body);
  return result;
}

}  // namespace tenon::lowering
