#include "driver/stage_probes.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::driver {

using namespace tir;

namespace {

/// The minimum work of a timed loop in nodes, about a microsecond; a pair of probes takes about 30
/// ns.
constexpr double kMinWork = 4000;
/// The assumed trip count of a loop with unknown extent, and the cost in nodes of a statement-level
/// call and of a math function.
constexpr double kUnknownExtent = 16;
constexpr double kCallWork = 64;
constexpr double kFunctionWork = 32;
/// The number of bits that one instruction computes.
constexpr double kRegisterBits = 512;

constexpr int kFunction = -1;

/// Returns the approximate cost of a value in nodes; nodes with long vectors count several times.
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

/// The cost of one execution of a statement.
class Costs {
 public:
  double of(const Stmt& s) {
    if (const auto found = known_.find(&s.node()); found != known_.end()) return found->second;
    if (is_stack_low()) return with_deep_stack([&] { return of(s); });
    double cost = 0;
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { cost += of(child); });
    if (const Store* n = s.as<Store>()) cost += 1 + cost_of(n->value);
    if (s.as<Evaluate>()) cost += kCallWork;
    if (const For* n = s.as<For>()) {
      const auto extent = constant_int(n->extent);
      cost *= extent ? static_cast<double>(*extent) : kUnknownExtent;
    }
    if (s.as<While>()) cost *= kUnknownExtent;
    known_.emplace(&s.node(), cost);
    return cost;
  }

 private:
  std::unordered_map<const StmtNode*, double> known_;
};

Stmt probe(const char* name, int region) {
  return make_evaluate(make_extern_call(Int(32), name, {make_int(Int(32), region)}));
}

class Prober {
 public:
  Prober(const PrimFunc& func, int first_region) : stored_(func), first_region_(first_region) {
    probes_.stages = stored_.stages();
    probes_.places.resize(probes_.stages.size());
  }

  StageProbes run(const PrimFunc& func) {
    probes_.func = func;
    probes_.func.body = inside(func.body, {kFunction, false});
    return std::move(probes_);
  }

 private:
  /// The stage that the time at the current place is attributed to, and whether a loop encloses it.
  struct Where {
    int owner;
    bool in_loop;
  };

  /// Whether the statement is a loop, a store or a call.
  static bool computes(const Stmt& s) {
    return s.as<For>() || s.as<While>() || s.as<Store>() || s.as<Evaluate>();
  }
  /// Returns nullopt for statements that store to no stage.
  std::optional<int> owner_of(const Stmt& s) {
    const std::vector<int>& stages = stored_.of(s);
    return stages.empty() ? std::nullopt : std::optional(stages.back());
  }

  Stmt inside(const Stmt& s, Where where) {
    if (is_stack_low()) return with_deep_stack([&] { return inside(s, where); });
    if (stored_.of(s).empty()) return s;
    if (const Seq* n = s.as<Seq>()) return sequence(*n, where);
    if (computes(s)) return run_of({s}, where);
    return children(s, where);
  }

  Stmt children(const Stmt& s, Where where) {
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return inside(child, where); });
  }

  /// Groups consecutive statements of one stage into runs. Statements that store to no stage belong
  /// to the stage that follows, because sums in registers are stored last.
  Stmt sequence(const Seq& n, Where where) {
    std::vector<Stmt> result, run;
    std::optional<int> owner;
    const auto flush = [&] {
      if (!run.empty()) result.push_back(owner ? run_of(run, where) : make_seq(run));
      run.clear();
      owner.reset();
    };
    for (const Stmt& child : n.stmts) {
      const std::optional<int> mine = owner_of(child);
      if (!computes(child) && mine) {
        flush();
        result.push_back(inside(child, where));
        continue;
      }
      if (mine && owner && *mine != *owner) flush();
      if (mine) owner = mine;
      run.push_back(child);
    }
    flush();
    return make_seq(std::move(result));
  }

  /// Adds probes around a run. Precondition: at least one statement belongs to a stage, and all
  /// that do belong to the same one.
  Stmt run_of(const std::vector<Stmt>& stmts, Where where) {
    std::optional<int> mine;
    double work = 0;
    for (const Stmt& s : stmts) {
      if (const auto owner = owner_of(s)) mine = owner;
      work += costs_.of(s);
    }
    const bool is_own = *mine != where.owner;
    if (is_own && where.in_loop && work < kMinWork) {
      for (const Stmt& s : stmts)
        for (int stage : stored_.of(s)) count_in(stage, where.owner);
      return make_seq(stmts);
    }
    if (is_own) place(*mine).is_timed = true;
    std::vector<Stmt> result;
    if (is_own) result.push_back(probe("tenon_profile_enter", first_region_ + *mine));
    for (const Stmt& s : stmts) result.push_back(children(s, {*mine, true}));
    if (is_own) result.push_back(probe("tenon_profile_leave", first_region_ + *mine));
    return make_seq(std::move(result));
  }

  StageProbes::Place& place(int stage) { return probes_.places[static_cast<std::size_t>(stage)]; }

  void count_in(int stage, int owner) {
    if (stage != owner && !place(stage).counted_in) place(stage).counted_in = owner;
  }

  StoredStages stored_;
  Costs costs_;
  int first_region_;
  StageProbes probes_{{{}, {}, make_nop()}, {}, {}};
};

}  // namespace

StageProbes probe_stages(const PrimFunc& func, int first_region) {
  return Prober(func, first_region).run(func);
}

}  // namespace tenon::driver
