#include "te/intrinsics/reduction_progress.h"

#include <algorithm>

#include "te/relations/propagate.h"
#include "tenon/te/relation.h"

namespace tenon::te {

namespace {

/// Traverses the loops derived from an axis, from the slowest to the fastest.
class Order {
 public:
  explicit Order(const FrozenStage& stage) : stage_(stage) {}

  /// Whether the leaves are in that order.
  bool holds_for(const IterVar& axis) {
    const auto& leaves = stage_.leaf_iter_vars;
    const auto leaf = std::ranges::find_if(
        leaves, [&](const IterVar& candidate) { return candidate.same_as(axis); });
    if (leaf != leaves.end()) {
      const bool follows = leaf - leaves.begin() > last_;
      last_ = leaf - leaves.begin();
      return follows;
    }
    for (const Relation& relation : stage_.relations) {
      if (const Split* split = std::get_if<Split>(&relation); split && split->parent.same_as(axis))
        return holds_for(split->outer) && holds_for(split->inner);
      if (const Fuse* fuse = std::get_if<Fuse>(&relation);
          fuse && (fuse->outer.same_as(axis) || fuse->inner.same_as(axis)))
        return holds_for(fuse->fused);
      if (const Rebase* rebase = std::get_if<Rebase>(&relation);
          rebase && rebase->parent.same_as(axis))
        return holds_for(rebase->rebased);
    }
    return false;
  }

 private:
  const FrozenStage& stage_;
  std::ptrdiff_t last_ = -1;
};

}  // namespace

ReductionProgress reduction_progress(const FrozenStage& stage, std::size_t depth) {
  constexpr unsigned kFromData = 1;
  AxisMarks marks;
  for (const IterVar& axis : stage.op.axis()) marks.set(axis, kFromData);
  mark_reached(stage.relations, marks);
  const auto is_fused_with_data = [&](const IterVar& axis) {
    return axis.kind() == IterKind::Reduce && marks.value_or(axis, 0) != 0;
  };
  ReductionProgress result;
  bool is_mixed = false;
  for (std::size_t n = 0; n < depth; ++n) {
    const IterVar& leaf = stage.leaf_iter_vars[n];
    if (leaf.kind() != IterKind::Reduce) continue;
    is_mixed = is_mixed || is_fused_with_data(leaf);
    result.axes.push_back(leaf);
  }
  if (!is_mixed) return result;
  result.axes = stage.op.reduce_axis();
  for (const Relation& relation : stage.relations) {
    const Fuse* fuse = std::get_if<Fuse>(&relation);
    if (fuse && is_fused_with_data(fuse->fused) && !Order(stage).holds_for(fuse->fused))
      result.out_of_order = fuse->fused;
  }
  return result;
}

}  // namespace tenon::te
