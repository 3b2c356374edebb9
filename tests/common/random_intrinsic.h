// A random choice of random schedules: an intrinsic for a few iterations of a stage.
#pragma once

#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tests/common/declared_part.h"
#include "tests/common/loop_intrinsics.h"

namespace tenon::testing {

/// A number in [lo, hi].
using Between = std::function<int(int lo, int hi)>;

namespace detail {

/// The leaf whose iterations are neighbours along the axis, if there is one.
template <class Stage>
std::optional<te::IterVar> innermost_part(const Stage& stage, te::IterVar axis) {
  for (const te::Relation& relation : stage.data().relations) {
    const te::Split* split = std::get_if<te::Split>(&relation);
    if (split && split->parent.same_as(axis)) axis = split->inner;
  }
  for (const te::IterVar& leaf : stage.leaf_iter_vars())
    if (leaf.same_as(axis)) return axis;
  return std::nullopt;
}

/// The maximum number of iterations of a loop over the operation's `axis` that is cut from `loop`,
/// at most 5; 1 if the extent of `loop` is unknown.
inline int most_iterations(const tir::Expr& axis, const tir::Expr& loop) {
  const auto length = tir::constant_int(loop), whole = tir::constant_int(axis);
  return length ? static_cast<int>(
                      std::clamp<std::int64_t>(std::min(*length, whole.value_or(5)), 1, 5))
                : 1;
}

template <class Stage>
void move_inside(const Stage& stage, const std::vector<te::IterVar>& inside) {
  std::vector<te::IterVar> order = stage.leaf_iter_vars();
  std::erase_if(order, [&](const te::IterVar& leaf) {
    return std::any_of(inside.begin(), inside.end(),
                       [&](const te::IterVar& i) { return i.same_as(leaf); });
  });
  order.insert(order.end(), inside.begin(), inside.end());
  stage.reorder(order);
}

}  // namespace detail

/// Cuts a few iterations off the inner end of some axes of the operation, moves them inside of all
/// others, and has an intrinsic compute them. Says what was done; "" where nothing could be.
/// `frozen` is the stage's schedule; a stage is anything with te::Stage's methods.
template <class Stage>
std::string tensorize_by_chance(
    const te::StageGraph& frozen, const Stage& stage, const Between& between,
    LoopIntrinsicOptions::Strides strides = LoopIntrinsicOptions::Strides::Any) {
  const std::optional<te::StageId> id = frozen.find(stage.op());
  if (!id) return "";
  const te::Bounds bounds = te::infer_bound(frozen);
  std::vector<int> extents;
  std::vector<te::IterVar> inside;
  std::string text;
  for (const te::IterVar& root : stage.op().root_iter_vars()) {
    const std::optional<te::IterVar> axis = detail::innermost_part(stage, root);
    const tir::Range* range = axis ? bounds.find(*axis) : nullptr;
    const int extent =
        range ? between(1, detail::most_iterations(root.dom()->extent, range->extent)) : 1;
    extents.push_back(extent);
    if (extent == 1) continue;
    inside.push_back(stage.split(*axis, extent).inner);
    text += (text.empty() ? "" : ", ") + axis->name() + ": " + std::to_string(extent);
  }
  if (inside.empty()) return "";
  for (std::size_t n = inside.size(); n > 1; --n)
    std::swap(inside[n - 1], inside[static_cast<std::size_t>(between(0, static_cast<int>(n) - 1))]);
  // The frozen stage has inlined operations substituted.
  const auto part =
      declared_part(frozen.stage(*id).op, extents, [&](int n) { return between(1, n) == 1; });
  if (!part) return "";
  LoopIntrinsicOptions options{.strides = strides};
  const int missing = between(0, 3);
  options.reset = missing != 0;
  options.body = missing != 1;
  detail::move_inside(stage, inside);
  stage.tensorize(inside[0], loop_intrinsic(part->front(), options));
  return "tensorize(" + text + (options.reset ? "" : ", no reset") + ")";
}

}  // namespace tenon::testing
