// Schedule::print_loops: the loops of a schedule, one line each.
#include <array>

#include "tenon/arith/simplify.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

std::string range_text(const Range& range) {
  return tir::print_expr(range.min) + ".." +
         tir::print_expr(arith::simplify(range.min + range.extent));
}

class Outline {
 public:
  explicit Outline(const Bounds& bounds) : bounds_(bounds), graph_(*bounds.graph()) {}

  std::string text() {
    for (const StageId id : graph_.ids())
      if (!graph_.stage(id).place && !graph_.stage(id).op.as<Placeholder>()) produce(id);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + '\n'; }

  void produce(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    line("produce " + stage.op.name() +
         (stage.scope == tir::StorageScope::Global && !stage.scope_is_set
              ? ""
              : " in " + std::string(to_string(stage.scope))) +
         ":");
    const std::size_t outside = depth_++;
    for (const IterVar& axis : stage.leaf_iter_vars) {
      line("for " + axis.var().name() + " in " + range_text(bounds_[axis]) + marks(stage, axis) +
           ":");
      ++depth_;
      for (const StageId inner : graph_.attached_at(id, axis)) produce(inner);
    }
    line(stage.op.as<Scan>() ? "scan " + stage.op.name() : "compute " + stage.op.name());
    depth_ = outside;
  }

  static std::string marks(const FrozenStage& stage, const IterVar& axis) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (!attributes) return "";
    std::string text;
    constexpr std::array kRuns = {", unrolled", ", vectorized", ", parallel"};
    if (attributes->run) text += kRuns[static_cast<std::size_t>(attributes->run->mark)];
    if (attributes->thread) text += ", on " + attributes->thread->axis.var().name();
    if (attributes->tensorize) text += ", by " + attributes->tensorize->intrin.name();
    for (const Pragma& pragma : attributes->pragmas)
      text += ", " + pragma.key + " = " + print_expr(pragma.value);
    for (const PrefetchRequest& request : attributes->prefetches)
      text += ", prefetches " + request.tensor.name();
    return text;
  }

  const Bounds& bounds_;
  const StageGraph& graph_;
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string Schedule::print_loops(SourceLocation where) const {
  return Outline(infer_bound(*this, where)).text();
}

}  // namespace tenon::te
