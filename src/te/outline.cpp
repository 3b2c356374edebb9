// Schedule::print_loops: the loops of a schedule, one line each.
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

std::string marks(const FrozenStage& stage, const IterVar& axis) {
  const AxisAttributes* attributes = stage.attributes_of(axis);
  if (!attributes) return "";
  std::string text;
  if (attributes->run == tir::ForKind::Unrolled) text += ", unrolled";
  if (attributes->run == tir::ForKind::Vectorized) text += ", vectorized";
  if (attributes->run == tir::ForKind::Parallel) text += ", parallel";
  if (attributes->thread) text += ", on " + attributes->thread->axis.var().name();
  if (attributes->tensorize) text += ", by " + attributes->tensorize->name();
  for (const Pragma& pragma : attributes->pragmas)
    text += ", " + pragma.key + " = " + print_expr(pragma.value);
  for (const PrefetchRequest& request : attributes->prefetches)
    text += ", prefetches " + request.tensor.name();
  return text;
}

/// Returns the lines of a stage, and of the stages attached inside it, at this nesting depth.
std::string outline_of(StageId id, const Bounds& bounds, std::size_t depth) {
  const FrozenStage& stage = bounds.graph()->stage(id);
  std::string text;
  const auto add_line = [&](const std::string& line) {
    text += std::string(2 * depth, ' ') + line + '\n';
  };
  add_line("produce " + stage.op.name() +
           (stage.scope == tir::StorageScope::Global && !stage.scope_is_set
                ? ""
                : " in " + std::string(to_string(stage.scope))) +
           ":");
  ++depth;
  for (const IterVar& axis : stage.leaf_iter_vars) {
    add_line("for " + axis.var().name() + " in " + range_text(bounds[axis]) + marks(stage, axis) +
             ":");
    ++depth;
    for (const StageId inner : bounds.graph()->attached_at(id, axis))
      text += outline_of(inner, bounds, depth);
  }
  add_line(stage.op.as<Scan>() ? "scan " + stage.op.name() : "compute " + stage.op.name());
  return text;
}

}  // namespace

std::string Schedule::print_loops(SourceLocation where) const {
  const Bounds bounds = infer_bound(*this, where);
  std::string text;
  for (const StageId id : bounds.graph()->ids()) {
    const FrozenStage& stage = bounds.graph()->stage(id);
    if (!stage.place && !stage.op.as<Placeholder>()) text += outline_of(id, bounds, 0);
  }
  return text;
}

}  // namespace tenon::te
