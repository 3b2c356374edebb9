#include "lower/passes/eliminate_common_subexpressions.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "lower/computation_table.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::string_view kPrefix = "cse_var_";

/// The variables whose values a computation may use at a place, and the lets among them.
class Context {
 public:
  void enter(ComputationId var) { ++in_scope_[var]; }
  void leave(ComputationId var) { --in_scope_[var]; }
  /// The outermost let of a value stands for it.
  void enter_let(ComputationId var, ComputationId value, const Var& handle) {
    enter(var);
    lets_[value].push_back(handle);
  }
  void leave_let(ComputationId var, ComputationId value) {
    leave(var);
    lets_[value].pop_back();
  }
  bool has(ComputationId var) const {
    const auto it = in_scope_.find(var);
    return it != in_scope_.end() && it->second > 0;
  }
  const Var* let_of(ComputationId value) const {
    const auto it = lets_.find(value);
    return it == lets_.end() || it->second.empty() ? nullptr : &it->second.front();
  }

 private:
  std::unordered_map<ComputationId, int> in_scope_;
  std::unordered_map<ComputationId, std::vector<Var>> lets_;
};

struct NewLet {
  Var var;
  Expr value;
};

/// What one search of a statement or an expression decided.
struct Choice {
  /// In the order of their making: each goes outside those before it.
  std::vector<NewLet> lets;
  std::unordered_map<ComputationId, Var> replacements;
  /// Computations seen at least twice that wait for variables of inner scopes, by those variables.
  std::unordered_map<ComputationId, std::vector<ComputationId>> waiting;
  /// How often each computation was seen.
  std::unordered_map<ComputationId, double> counts;

  bool changes_something() const { return !replacements.empty(); }
};

/// The candidates of one search, largest first.
class Queue {
 public:
  Queue(ComputationPool& pool, const ComputationTable& table) : pool_(pool) {
    for (const ComputationTable::Item& item : table.items()) {
      counts_.emplace(item.id, item.count);
      by_size_[pool_.size(item.id)].push_back(item.id);
    }
  }

  /// Calls decide(id, count) on each candidate in turn; where it returns false the candidate's
  /// parts join the queue, behind those of equal size.
  template <class Decide>
  void run(Decide decide) {
    while (!by_size_.empty()) {
      std::vector<ComputationId> group = std::move(by_size_.begin()->second);
      const std::vector<ComputationId> late = take(late_, by_size_.begin()->first);
      by_size_.erase(by_size_.begin());
      std::stable_sort(group.begin(), group.end(), [&](ComputationId a, ComputationId b) {
        return pool_.text(a) < pool_.text(b);
      });
      group.insert(group.end(), late.begin(), late.end());
      for (ComputationId id : group) {
        if (decide(id, counts_.at(id))) continue;
        for (ComputationId part : pool_.direct_parts(id)) push(part);
      }
    }
  }

  std::unordered_map<ComputationId, double> take_counts() { return std::move(counts_); }

 private:
  using BySize = std::map<double, std::vector<ComputationId>, std::greater<>>;

  static std::vector<ComputationId> take(BySize& from, double size) {
    const auto it = from.find(size);
    if (it == from.end()) return {};
    std::vector<ComputationId> found = std::move(it->second);
    from.erase(it);
    return found;
  }

  void push(ComputationId id) {
    const auto [it, is_new] = counts_.try_emplace(id, 0);
    it->second += 1;
    if (!is_new) return;
    by_size_.try_emplace(pool_.size(id));
    late_[pool_.size(id)].push_back(id);
  }

  ComputationPool& pool_;
  std::unordered_map<ComputationId, double> counts_;
  /// Those of the table, and those that joined later.
  BySize by_size_, late_;
};

class Eliminator {
 public:
  explicit Eliminator(const PrimFunc& func) {
    for (const Var& param : func.params) context_.enter(pool_.id_of(param));
    note_names(func.body);
  }

  Stmt run(const Stmt& s) { return visit(s); }

 private:
  // ---- choosing ---------------------------------------------------------------------------------

  Choice choose(const ComputationTable& table) {
    Choice choice;
    Queue queue(pool_, table);
    queue.run([&](ComputationId id, double count) {
      if (const Var* var = context_.let_of(id)) {
        choice.replacements.emplace(id, *var);
        return true;
      }
      if (count < 2) return false;
      bool in_scope = true;
      for (ComputationId var : pool_.free_vars(id)) {
        if (context_.has(var)) continue;
        choice.waiting[var].push_back(id);
        in_scope = false;
      }
      if (!in_scope) return false;
      const Var var = new_variable(pool_.expr(id).dtype());
      choice.lets.push_back({var, pool_.expr(id)});
      choice.replacements.emplace(id, var);
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

  void note_names(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { note_names(e); }, [&](const Stmt& child) { note_names(child); });
  }

  void note_names(const Expr& e) {
    if (!noted_.insert(pool_.id_of(e)).second) return;
    if (const VarNode* var = e.as<VarNode>()) note_name(var->name);
    for_each_child(e, [&](const Expr& child) { note_names(child); });
  }

  void note_name(std::string_view name) {
    if (!name.starts_with(kPrefix)) return;
    name.remove_prefix(kPrefix.size());
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) taken_numbers_.insert(number);
  }

  // ---- replacing --------------------------------------------------------------------------------

  /// Replaces outermost matches. Larger computations were chosen first, so this equals replacing
  /// them one by one.
  class Replacer {
   public:
    Replacer(ComputationPool& pool, const Choice& choice) : pool_(pool), choice_(choice) {}

    Expr expr(const Expr& e) {
      const ComputationId id = pool_.id_of(e);
      if (const auto found = choice_.replacements.find(id); found != choice_.replacements.end()) {
        return found->second;
      }
      return below(e);
    }
    /// The same, but the expression itself stays.
    Expr below(const Expr& e) {
      const ComputationId id = pool_.id_of(e);
      if (pool_.children(id).empty()) return e;
      if (const auto found = done_.find(id); found != done_.end()) return found->second.value_or(e);
      Expr result = map_children(e, [&](const Expr& child) { return expr(child); });
      done_.emplace(id, result.same_as(e) ? std::nullopt : std::optional<Expr>(result));
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
    /// Absent: nothing in it changes.
    std::unordered_map<ComputationId, std::optional<Expr>> done_;
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

  // ---- going down -------------------------------------------------------------------------------

  /// Searches the statement until no search makes a let, then what is inside.
  Stmt visit(const Stmt& s) {
    Stmt result = s;
    while (true) {
      const Choice choice = choose(counter_.table_of(result));
      if (!choice.changes_something()) return descend(result, &choice);
      result = apply(choice, result);
      if (choice.lets.empty()) return descend(result, nullptr);
    }
  }

  /// `settled`: a search of an enclosing statement under the same variables that changed nothing
  /// and that saw all computations of this one. A search of this one would find no candidate more
  /// often than that one did, and change nothing either; so only what it did not see is searched:
  /// parts of loops and conditions, and bodies of lets.
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

  /// Whether the variable that has just come into scope can change what the settled search found.
  bool may_change(ComputationId var, ComputationId value, const Choice& settled) {
    // The value's own occurrence counts once.
    if (const auto seen = settled.counts.find(value);
        seen != settled.counts.end() && seen->second > 1)
      return true;
    const auto waiting = settled.waiting.find(var);
    if (waiting == settled.waiting.end()) return false;
    return std::any_of(waiting->second.begin(), waiting->second.end(), [&](ComputationId id) {
      const std::vector<ComputationId>& vars = pool_.free_vars(id);
      return std::all_of(vars.begin(), vars.end(),
                         [&](ComputationId v) { return context_.has(v); });
    });
  }

  /// What repeats within one expression becomes a let expression; there is no second search.
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

  ComputationPool pool_;
  ComputationCounter counter_{pool_};
  Context context_;
  std::unordered_set<ComputationId> noted_;
  std::unordered_set<int> taken_numbers_;
  int last_number_ = 0;
};

}  // namespace

PrimFunc eliminate_common_subexpressions(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = Eliminator(func).run(func.body);
  return result;
}

}  // namespace tenon::lowering
