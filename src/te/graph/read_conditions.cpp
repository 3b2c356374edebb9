#include "te/graph/read_conditions.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_set>

#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// More alternatives than that are not worth the check.
constexpr std::size_t kMaxAlternatives = 4;

/// A disjunction of conditions; always true once it has no condition or too many.
struct Need {
  bool is_always = false;
  std::vector<Expr> alternatives;

  void add(const std::optional<Expr>& condition) {
    if (is_always) return;
    if (!condition || alternatives.size() == kMaxAlternatives) {
      is_always = true;
      return;
    }
    const bool is_known = std::ranges::any_of(
        alternatives, [&](const Expr& known) { return structural_equal(known, *condition); });
    if (!is_known) alternatives.push_back(*condition);
  }

  std::optional<Expr> condition() const {
    if (is_always || alternatives.empty()) return std::nullopt;
    Expr all = alternatives.front();
    for (std::size_t n = 1; n < alternatives.size(); ++n) all = all || alternatives[n];
    return all;
  }
};

class ReadConditions {
 public:
  explicit ReadConditions(const StageGraph& graph) : graph_(graph), needs_(graph.size()) {}

  std::vector<std::optional<Expr>> find() {
    std::vector<std::optional<Expr>> result(graph_.size());
    for (StageId id : graph_.ids() | std::views::reverse) {
      const FrozenStage& stage = graph_.stage(id);
      Need& need = needs_[id.index()];
      if (stage.is_output) need.add(std::nullopt);
      const std::optional<Expr> own = result[id.index()] = need.condition();
      const Compute* compute = stage.op.as<Compute>();
      const bool is_part = !stage.scan_parts.empty();
      if (!compute || is_part) {
        result[id.index()] = std::nullopt;
        for (StageId read : graph_.reads(id)) needs_[read.index()].add(std::nullopt);
        continue;
      }
      read_by(stage.op, *compute, own);
    }
    return result;
  }

 private:
  void read_by(const Operation& op, const Compute& compute, const std::optional<Expr>& condition) {
    // Most operations read without any such condition.
    bool decides = condition.has_value();
    if (const ReduceNode* reduction = compute.reduction()) {
      decides = decides || is_uniform(reduction->condition);
      for (const Expr& source : reduction->source) decides = decides || has_choice(source);
    } else {
      for (const Expr& body : compute.body) decides = decides || has_choice(body);
    }
    if (!decides) {
      for (const Tensor& input : op.inputs())
        if (const std::optional<StageId> read = graph_.find(input.op()))
          needs_[read->index()].add(std::nullopt);
      return;
    }
    if (const ReduceNode* reduction = compute.reduction()) {
      for (const Expr& init : reduction->init) visit(init, condition);
      visit(reduction->condition, condition);
      for (const IterVar& axis : reduction->axis) {
        visit(axis.dom()->min, condition);
        visit(axis.dom()->extent, condition);
      }
      for (const Expr& source : reduction->source)
        visit(source, both(condition, reduction->condition));
    } else {
      for (const Expr& body : compute.body) visit(body, condition);
    }
  }

  bool has_choice(const Expr& e) {
    if (!contains<Call>(e)) return false;
    bool found = false;
    walk(e, [&](const Call& call) {
      const Intrin* callee = std::get_if<Intrin>(&call.callee);
      found = found || (callee && *callee == Intrin::if_then_else && is_uniform(call.args[0]));
    });
    return found;
  }

  /// Whether it has one value in a call of the function, and one that is not just true.
  bool is_uniform(const Expr& condition) {
    if (is_constant(condition) || effect_of(condition) != Effect::Pure) return false;
    bool reads = false;
    walk(condition, [&](const ProducerLoad&) { reads = true; });
    if (reads) return false;
    if (bound_vars_.empty()) note_bound_vars();
    return std::ranges::none_of(free_vars(condition),
                                [&](const Var& var) { return bound_vars_.contains(&var.node()); });
  }

  /// Axes and lets: what has other values within a call.
  void note_bound_vars() {
    for (StageId id : graph_.ids()) {
      const FrozenStage& stage = graph_.stage(id);
      for (const IterVar& axis : stage.all_iter_vars) bound_vars_.insert(&axis.var().node());
      const auto note_lets = [&](const Expr& e) {
        if (contains<LetExpr>(e))
          walk(e, [&](const LetExpr& let) { bound_vars_.insert(&let.var.node()); });
      };
      const Compute* compute = stage.op.as<Compute>();
      if (!compute) continue;
      for (const Expr& body : compute->body) note_lets(body);
      if (const ReduceNode* reduction = compute->reduction()) {
        note_lets(reduction->condition);
        for (const Expr& source : reduction->source) note_lets(source);
      }
    }
  }

  std::optional<Expr> both(const std::optional<Expr>& outer, const Expr& inner) {
    if (!is_uniform(inner)) return outer;
    conditions_.push_back(outer ? *outer && inner : inner);
    return conditions_.back();
  }

  void visit(const Expr& e, const std::optional<Expr>& condition) {
    if (!visited_.emplace(&e.node(), condition ? &condition->node() : nullptr).second) return;
    if (const Call* call = as_call(e, Intrin::if_then_else)) {
      visit(call->args[0], condition);
      visit(call->args[1], both(condition, call->args[0]));
      visit(call->args[2], both(condition, !call->args[0]));
      return;
    }
    if (const ProducerLoad* load = e.as<ProducerLoad>())
      if (const std::optional<StageId> read = graph_.find(Tensor::of(*load).op()))
        needs_[read->index()].add(condition);
    for_each_child(e, [&](const Expr& child) { visit(child, condition); });
  }

  const StageGraph& graph_;
  std::vector<Need> needs_;
  /// Made where a condition may be uniform; look up only.
  std::unordered_set<const ExprNode*> bound_vars_;
  /// Expressions and the conditions that they were visited under; look up only.
  std::set<std::pair<const ExprNode*, const ExprNode*>> visited_;
  /// Keeps those conditions alive.
  std::vector<Expr> conditions_;
};

}  // namespace

std::vector<std::optional<Expr>> read_conditions(const StageGraph& graph) {
  return ReadConditions(graph).find();
}

}  // namespace tenon::te
