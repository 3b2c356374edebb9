#include "driver/stage_probes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/arith/compute.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon {

using namespace tir;

namespace {

/// The minimum work, in expression nodes, of a loop that gets probes. It takes about a microsecond,
/// whereas a pair of probes takes about 30 ns.
constexpr double kMinWork = 4000;
/// Assumptions for estimates of work: the trip count of a loop of unknown extent, and the costs, in
/// expression nodes, of a call statement and of a math function.
constexpr double kUnknownExtent = 16;
constexpr double kCallWork = 64;
constexpr double kFunctionWork = 32;
/// The number of bits that one instruction is assumed to compute.
constexpr double kRegisterBits = 512;

constexpr int kFunction = -1;

/// Returns the approximate cost of evaluating an expression: the number of its nodes. A node with a
/// wide vector counts as several nodes.
double cost_of(const Expr& value) {
  double cost = 0;
  const auto count = [&](double weight, DataType type) {
    cost += weight *
            std::max(1.0, std::ceil(type.bits * static_cast<double>(type.lanes) / kRegisterBits));
  };
  tir::walk(
      value, [&](const Load& n) { count(1, n.buffer->dtype); },
      [&](const Binary& n) { count(1, n.a.dtype()); },
      [&](const Cast& n) { count(1, n.value.dtype()); },
      [&](const Select& n) { count(1, n.if_true.dtype()); },
      [&](const Call& n) { count(kFunctionWork, n.args.empty() ? Int(32) : n.args[0].dtype()); });
  return cost;
}

Stmt probe(const char* name, int region) {
  return make_evaluate(make_extern_call(Int(32), name, {make_int(Int(32), region)}));
}

class Prober {
 public:
  Prober(const PrimFunc& func, int first_region)
      : stored_(func), first_region_(first_region), counted_in_(stored_.stages().size()) {}

  std::pair<PrimFunc, ProfiledFunction> run(PrimFunc func) {
    func.body = inside(func.body, kFunction);
    ProfiledFunction regions{func.attrs.global_symbol, first_region_, stored_.stages(),
                             std::move(counted_in_)};
    return {std::move(func), std::move(regions)};
  }

 private:
  /// Whether the statement is a loop, a store or a call.
  static bool computes(const Stmt& s) {
    return s.as<For>() || s.as<While>() || s.as<Store>() || s.as<Evaluate>();
  }
  /// Returns the stage that owns the statement. Nullopt if the statement does not store to a stage.
  std::optional<int> owner_of(const Stmt& s) {
    const std::vector<int>& stages = stored_.of(s);
    return stages.empty() ? std::nullopt : std::optional(stages.back());
  }

  /// Adds probes to a statement whose time is attributed to the stage `owner`, or to the function.
  /// In a loop, the owner is a stage.
  Stmt inside(const Stmt& s, int owner) {
    if (is_stack_low()) return with_deep_stack([&] { return inside(s, owner); });
    if (stored_.of(s).empty()) return s;
    if (const Seq* n = s.as<Seq>()) return sequence(*n, owner);
    if (computes(s)) return run_of({s}, owner);
    return children(s, owner);
  }

  Stmt children(const Stmt& s, int owner) {
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return inside(child, owner); });
  }

  /// Groups consecutive statements of one stage into runs. Statements that do not store to a stage
  /// belong to the stage of the following statements: they compute sums in registers, which are
  /// stored last.
  Stmt sequence(const Seq& n, int owner) {
    // `pending` are the statements after `run` that do not store to a stage.
    std::vector<Stmt> result, run, pending;
    std::optional<int> current;
    const auto add_pending = [&] {
      run.insert(run.end(), pending.begin(), pending.end());
      pending.clear();
    };
    const auto flush = [&] {
      if (!run.empty()) result.push_back(current ? run_of(run, owner) : make_seq(run));
      run.clear();
      current.reset();
    };
    for (const Stmt& child : n.stmts) {
      const std::optional<int> mine = owner_of(child);
      if (!computes(child) && mine) {
        add_pending();
        flush();
        result.push_back(inside(child, owner));
        continue;
      }
      pending.push_back(child);
      if (!mine) continue;
      if (current && *mine != *current) flush();
      add_pending();
      current = mine;
    }
    add_pending();
    flush();
    return make_seq(std::move(result));
  }

  /// Adds probes around a run of statements. Precondition: at least one of them belongs to a stage,
  /// and all that belong to a stage belong to the same one.
  Stmt run_of(const std::vector<Stmt>& stmts, int owner) {
    std::optional<int> mine;
    double work = 0;
    for (const Stmt& s : stmts) {
      if (const auto stage = owner_of(s)) mine = stage;
      work += cost(s);
    }
    const bool is_own = *mine != owner;
    if (is_own && owner != kFunction && work < kMinWork) {
      for (const Stmt& s : stmts)
        for (int stage : stored_.of(s))
          if (stage != owner && !counted_in(stage)) counted_in(stage) = owner;
      return make_seq(stmts);
    }
    if (is_own) counted_in(*mine) = mine;
    std::vector<Stmt> result;
    if (is_own) result.push_back(probe("tenon_profile_enter", first_region_ + *mine));
    for (const Stmt& s : stmts) result.push_back(children(s, *mine));
    if (is_own) result.push_back(probe("tenon_profile_leave", first_region_ + *mine));
    return make_seq(std::move(result));
  }

  /// Returns the cost of one execution of a statement. Results are memoized.
  double cost(const Stmt& s) {
    if (const auto found = costs_.find(&s.node()); found != costs_.end()) return found->second;
    if (is_stack_low()) return with_deep_stack([&] { return cost(s); });
    double sum = 0;
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { sum += cost(child); });
    if (const Store* n = s.as<Store>()) sum += 1 + cost_of(n->value);
    if (s.as<Evaluate>()) sum += kCallWork;
    if (const For* n = s.as<For>()) {
      const auto extent = constant_int(n->extent);
      sum *= extent ? static_cast<double>(*extent) : kUnknownExtent;
    }
    if (s.as<While>()) sum *= kUnknownExtent;
    costs_.emplace(&s.node(), sum);
    return sum;
  }

  std::optional<int>& counted_in(int stage) { return counted_in_[static_cast<std::size_t>(stage)]; }

  StoredStages stored_;
  std::unordered_map<const StmtNode*, double> costs_;
  int first_region_;
  /// See ProfiledFunction.
  std::vector<std::optional<int>> counted_in_;
};

}  // namespace

std::pair<PrimFunc, ProfiledFunction> probe_stages(const PrimFunc& func, int first_region) {
  return Prober(func, first_region).run(func);
}

namespace {

// Counts the loop iterations that satisfy guards, by enumerating the iterations.
//
//    for i in 0..8, for j in 0..8, if i * 8 + j < 61         // 61 iterations

/// A variable that is bound to a value by a let.
using NamedValue = std::pair<tir::Var, tir::Expr>;

constexpr double kMaxTries = 1 << 16;

/// Precondition: the extent is constant.
double trip_count(const For& loop) {
  return static_cast<double>(std::max<std::int64_t>(*constant_int(loop.extent), 0));
}

using Assignment = std::unordered_map<const ExprNode*, std::int64_t>;

/// Evaluates an integer expression. Nullopt if it uses other variables than those in `values`, or
/// operations other than integer arithmetic.
std::optional<std::int64_t> value_of(const Expr& e, const Assignment& values) {
  if (const IntImm* n = e.as<IntImm>()) return n->value;
  if (e.as<VarNode>()) {
    const auto found = values.find(&e.node());
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  if (const Binary* n = e.as<Binary>()) {
    const auto a = value_of(n->a, values);
    const auto b = a ? value_of(n->b, values) : std::nullopt;
    return b ? arith::compute(n->op, *a, *b) : std::nullopt;
  }
  if (const Not* n = e.as<Not>()) {
    const auto a = value_of(n->a, values);
    return a ? std::optional<std::int64_t>(*a == 0) : std::nullopt;
  }
  if (const Cast* n = e.as<Cast>(); n && e.dtype().is_integral() && n->value.dtype().is_integral())
    return value_of(n->value, values);
  if (const Call* n = e.as<Call>(); n && n->is(Intrin::likely)) return value_of(n->args[0], values);
  return std::nullopt;
}

/// Returns the named values that the guards depend on, directly or through other values, in order
/// of definition.
std::vector<NamedValue> needed_values(const std::vector<Expr>& guards,
                                      const std::vector<NamedValue>& values) {
  std::vector<NamedValue> needed;
  for (std::size_t n = values.size(); n-- > 0;) {
    const Var& var = values[n].first;
    const bool is_used =
        std::ranges::any_of(guards, [&](const Expr& e) { return uses_var(e, var); }) ||
        std::ranges::any_of(needed, [&](const NamedValue& v) { return uses_var(v.second, var); });
    if (is_used) needed.insert(needed.begin(), values[n]);
  }
  return needed;
}

/// Returns the number of iterations that satisfy all guards. The loops have constant bounds. Guards
/// may use the loop variables and `values`. A value may use earlier values. Returns nullopt if the
/// guards use other variables or operations other than integer arithmetic, or if there are too many
/// iterations to enumerate.
std::optional<double> guarded_iterations(const std::vector<const For*>& loops,
                                         const std::vector<Expr>& guards,
                                         const std::vector<NamedValue>& values) {
  const std::vector<NamedValue> needed = needed_values(guards, values);
  std::vector<const For*> tried;
  double others = 1, tries = 1;
  for (const For* loop : loops) {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop->var); };
    const bool matters =
        std::ranges::any_of(guards, uses) ||
        std::ranges::any_of(needed, [&](const NamedValue& v) { return uses(v.second); });
    (matters ? tries : others) *= trip_count(*loop);
    if (matters) tried.push_back(loop);
  }
  if (tries > kMaxTries) return std::nullopt;
  Assignment now;
  double count = 0;
  const auto tries_total = static_cast<std::int64_t>(tries);
  for (std::int64_t n = 0; n < tries_total; ++n) {
    std::int64_t rest = n;
    for (const For* loop : tried) {
      const std::int64_t extent = *constant_int(loop->extent);
      now[&loop->var.node()] = *constant_int(loop->min) + rest % extent;
      rest /= extent;
    }
    for (const auto& [var, expr] : needed) {
      const auto value = value_of(expr, now);
      if (!value) return std::nullopt;
      now[&var.node()] = *value;
    }
    bool holds = true;
    for (const Expr& guard : guards) {
      const auto value = value_of(guard, now);
      if (!value) return std::nullopt;
      holds = holds && *value != 0;
      if (!holds) break;
    }
    count += holds ? 1 : 0;
  }
  return count * others;
}

/// Maximum number of guarded statements per function whose iterations are enumerated. The guards of
/// all further statements are assumed to hold.
constexpr int kMaxGuardsTried = 64;

double bytes_of(DataType type) { return type.element().bytes() * static_cast<double>(type.lanes); }

/// Returns the number of arithmetic operations that a call counts as.
double operations_of(const Call& call) {
  if (call.is(Intrin::fma)) return 2;
  if (call.is(Intrin::dp4a)) return 2 * call.args[0].dtype().lanes;
  const bool is_free =
      call.is(Intrin::if_then_else) || call.is(Intrin::likely) || call.is(Intrin::reinterpret);
  return is_free ? 0 : 1;
}

/// Adds the work of evaluating an expression once. Returns false if the work is unknown, because
/// the expression calls a C function.
bool add_work(const Expr& e, StageProfile::Work& work) {
  if (is_stack_low()) return with_deep_stack([&] { return add_work(e, work); });
  const double lanes = e.dtype().lanes;
  if (e.as<Load>()) {
    work.bytes_read += bytes_of(e.dtype());
    return true;  // Index computations do not count.
  }
  bool is_known = true;
  if (e.as<Binary>()) work.operations += lanes;
  if (const Call* n = e.as<Call>()) {
    work.operations += operations_of(*n) * lanes;
    is_known = std::holds_alternative<Intrin>(n->callee);
  }
  for_each_child(e, [&](const Expr& child) { is_known &= add_work(child, work); });
  return is_known;
}

class Counter {
 public:
  explicit Counter(const PrimFunc& func)
      : stored_(func),
        work_(stored_.stages().size(), StageProfile::Work()),
        stores_(work_.size()),
        is_stored_(work_.size()) {
    stmt(func.body);
  }

  std::vector<std::optional<StageProfile::Work>> result() {
    for (std::size_t n = 0; n < work_.size(); ++n) {
      const std::optional<std::int64_t> distinct = stored_.stages()[n].stores;
      if (!is_stored_[n]) work_[n].reset();
      if (work_[n] && distinct.value_or(0) > 0)
        work_[n]->recomputation = stores_[n] / static_cast<double>(*distinct);
    }
    return std::move(work_);
  }

 private:
  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Evaluate* n = s.as<Evaluate>()) {
      for (const std::string& name : written_by_calls(*n)) forget(name);
      return;
    }
    if (const For* n = s.as<For>()) return loop(*n);
    if (const While* n = s.as<While>()) {
      ++unknown_;
      stmt(n->body);
      --unknown_;
      return;
    }
    if (const If* n = s.as<If>()) {
      const auto guarded = [&](const Expr& guard, const Stmt& body) {
        guards_.push_back(guard);
        stmt(body);
        guards_.pop_back();
      };
      guarded(n->condition, n->then_case);
      if (n->else_case) guarded(make_not(n->condition), *n->else_case);
      return;
    }
    if (const Let* n = s.as<Let>()) return let(*n);
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
  }

  void loop(const For& n) {
    const bool is_known = constant_int(n.min) && constant_int(n.extent);
    if (is_known) loops_.push_back(&n);
    unknown_ += is_known ? 0 : 1;
    stmt(n.body);
    unknown_ -= is_known ? 0 : 1;
    if (is_known) loops_.pop_back();
  }

  /// Counts the work of a let. If several stores use its value, it is attributed to the stage of
  /// the last one. Index computations do not count.
  void let(const Let& n) {
    values_.emplace_back(n.var, n.value);
    const std::vector<int>& stages = stored_.of(n.body);
    if (!stages.empty() && (n.value.dtype().is_floating() || contains<Load>(n.value)))
      add(stages.back(), n.value, iterations());
    stmt(n.body);
    values_.pop_back();
  }

  void store(const Store& n) {
    const std::optional<int> stage = stored_.stage_of(n.buffer->stage_name());
    if (!stage) return;
    const auto index = static_cast<std::size_t>(*stage);
    is_stored_[index] = true;
    const std::optional<double> times = iterations();
    add(*stage, n.value, times);
    if (!times || !work_[index]) return;
    work_[index]->bytes_written += *times * bytes_of(n.value.dtype());
    if (n.buffer->stage_name() == stored_.stages()[index].buffer)
      stores_[index] += *times * n.value.dtype().lanes;
  }

  /// Adds the work of evaluating a value `times` times.
  void add(int stage, const Expr& value, std::optional<double> times) {
    std::optional<StageProfile::Work>& work = work_[static_cast<std::size_t>(stage)];
    StageProfile::Work once;
    if (!add_work(value, once) || !times) work.reset();
    if (!work) return;
    work->operations += *times * once.operations;
    work->bytes_read += *times * once.bytes_read;
  }

  void forget(const std::string& buffer) {
    if (const auto stage = stored_.stage_of(buffer))
      work_[static_cast<std::size_t>(*stage)].reset();
  }

  /// Returns how often the current statement executes. Nullopt if this is unknown.
  std::optional<double> iterations() {
    if (unknown_ > 0) return std::nullopt;
    if (!guards_.empty() && guards_tried_ < kMaxGuardsTried) {
      ++guards_tried_;
      if (const auto counted = guarded_iterations(loops_, guards_, values_)) return counted;
    }
    double times = 1;
    for (const For* loop : loops_) times *= trip_count(*loop);
    return times;
  }

  StoredStages stored_;
  std::vector<std::optional<StageProfile::Work>> work_;
  /// The number of elements stored to each stage's first buffer.
  std::vector<double> stores_;
  std::vector<bool> is_stored_;
  /// The enclosing loops whose bounds are constant.
  std::vector<const For*> loops_;
  std::vector<Expr> guards_;
  std::vector<NamedValue> values_;
  /// The number of enclosing loops with unknown trip counts.
  int unknown_ = 0;
  int guards_tried_ = 0;
};

}  // namespace

std::vector<std::optional<StageProfile::Work>> stage_work(const PrimFunc& func) {
  return Counter(func).result();
}

}  // namespace tenon
