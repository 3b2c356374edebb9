#include "te/bounds/stage_needs.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Maximum number of conditions in the disjunction of a stage. Evaluating more conditions would
/// cost more than skipping the stage saves.
constexpr std::size_t kMaxAlternatives = 4;

/// The conditions of a stage's reads. Nullopt, which means that the stage is always needed, if
/// there is an unconditional read or too many alternatives.
using Need = std::optional<std::vector<Expr>>;

void add(Need& need, const std::optional<Expr>& condition) {
  if (!need) return;
  if (!condition || need->size() == kMaxAlternatives) {
    need.reset();
    return;
  }
  const auto is_same = [&](const Expr& known) { return structural_equal(known, *condition); };
  if (std::ranges::none_of(*need, is_same)) need->push_back(*condition);
}

/// Returns the disjunction of the conditions; nullopt if the stage is always needed or never read.
std::optional<Expr> disjunction(const Need& need) {
  if (!need || need->empty()) return std::nullopt;
  Expr all = need->front();
  for (std::size_t n = 1; n < need->size(); ++n) all = all || (*need)[n];
  return all;
}

class NeedFinder {
 public:
  explicit NeedFinder(const StageGraph& graph)
      : graph_(graph), needs_(graph.size(), Need(std::in_place)) {}

  std::vector<std::optional<Expr>> find() {
    std::vector<std::optional<Expr>> result(graph_.size());
    for (StageId id : graph_.ids() | std::views::reverse) {
      const FrozenStage& stage = graph_.stage(id);
      Need& need = needs_[id.index()];
      if (stage.is_output) add(need, std::nullopt);
      if (!stage.op.as<Compute>() || !stage.scan_parts.empty()) {
        for (StageId read : graph_.reads(id)) add(needs_[read.index()], std::nullopt);
        continue;
      }
      result[id.index()] = disjunction(need);
      for (const Expr& body : stage.op.body()) visit(body, result[id.index()]);
    }
    return result;
  }

 private:
  /// Whether the condition has one value throughout a call of the function and is not constant.
  bool is_uniform(const Expr& condition) const {
    if (is_constant(condition) || effect_of(condition) != Effect::Pure ||
        contains<ProducerLoad>(condition))
      return false;
    return std::ranges::none_of(free_vars(condition), [&](const Var& var) {
      return std::ranges::any_of(lets_, [&](const Var& let) { return let.same_as(var); }) ||
             is_axis(var);
    });
  }

  bool is_axis(const Var& var) const {
    return std::ranges::any_of(graph_.ids(), [&](StageId id) {
      return std::ranges::any_of(graph_.stage(id).all_iter_vars,
                                 [&](const IterVar& axis) { return axis.var().same_as(var); });
    });
  }

  std::optional<Expr> both(const std::optional<Expr>& outer, const Expr& inner) {
    if (!is_uniform(inner)) return outer;
    conditions_.push_back(outer ? *outer && inner : inner);
    return conditions_.back();
  }

  /// Records the tensors that the expression reads under the condition.
  void visit(const Expr& e, const std::optional<Expr>& condition) {
    if (e.as<VarNode>() || is_constant(e)) return;
    if (!visited_.emplace(&e.node(), condition ? &condition->node() : nullptr).second) return;
    if (const Call* call = as_call(e, Intrin::if_then_else)) {
      visit(call->args[0], condition);
      visit(call->args[1], both(condition, call->args[0]));
      visit(call->args[2], both(condition, !call->args[0]));
      return;
    }
    if (const Reduce* reduce = e.as<Reduce>()) {
      const ReduceNode& reduction = *reduce->reduction;
      for (const Expr& init : reduction.init) visit(init, condition);
      visit(reduction.condition, condition);
      for (const IterVar& axis : reduction.axis) {
        visit(axis.dom()->min, condition);
        visit(axis.dom()->extent, condition);
      }
      const std::optional<Expr> inside = both(condition, reduction.condition);
      for (const Expr& source : reduction.source) visit(source, inside);
      return;
    }
    if (const LetExpr* let = e.as<LetExpr>()) lets_.push_back(let->var);
    if (const ProducerLoad* load = e.as<ProducerLoad>())
      if (const std::optional<StageId> read = graph_.find(Tensor::of(*load).op()))
        add(needs_[read->index()], condition);
    for_each_child(e, [&](const Expr& child) { visit(child, condition); });
  }

  const StageGraph& graph_;
  std::vector<Need> needs_;
  /// Variables of lets seen so far. Their values vary within a call.
  std::vector<Var> lets_;
  /// Pairs of an expression and the condition under which it was visited. Never iterated, because
  /// the elements are addresses.
  std::set<std::pair<const ExprNode*, const ExprNode*>> visited_;
  /// The conditions in `visited_`, kept alive because their addresses are keys.
  std::vector<Expr> conditions_;
};

}  // namespace

std::vector<std::optional<Expr>> needs_of(const StageGraph& graph) {
  return NeedFinder(graph).find();
}

}  // namespace tenon::te
