// rfactor: computes a reduction in two steps. The partial results over one reduction loop become a
// tensor, which the old stage reduces.
#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/schedule/loop_order.h"
#include "te/schedule/stage_edit.h"

namespace tenon::te {

namespace {

/// The old reduction after one of its loops has become a data axis.
struct Factored {
  /// The factored loop as a data axis that starts at 0.
  IterVar data_axis;
  /// The reduction axes that remain: the other loops of the factored axis, and the unrelated axes.
  std::vector<IterVar> reduce_axes;
  /// Old reduction axes in terms of the new ones.
  tir::VarMap values;
  /// The condition that a point of the new axes belongs to the old reduction.
  Expr condition;
  /// The loops and root axes of the old reduction, in the order of the corresponding new loops.
  std::vector<IterVar> order;
};

void check_untouched(const StageEdit& edit, const Compute& compute, const AxisFlags& touched,
                     const IterVar& axis) {
  const StageData& stage = edit.stage();
  for (const IterVar& data : compute.axis)
    if (touched.contains(data))
      edit.fail(axis, "it is fused with data axis `" + data.name() + "`; factor before fusing");
  for (const Relation& relation : stage.relations) {
    // Rebases are made by normalize and do not count as changes by the user.
    if (std::holds_alternative<Rebase>(relation)) continue;
    for (const IterVar& parent : parents_of(relation))
      if (parent.kind() == IterKind::DataParallel)
        edit.fail(
            axis,
            "data axis `" + parent.name() +
                "` has already been changed; call rfactor first, then schedule the data axes");
    if (std::holds_alternative<Singleton>(relation))
      edit.fail(axis, "the stage has a loop made by fusing no loops; call rfactor first");
  }
  for (const auto& [data, attributes] : stage.attributes) {
    if (data.kind() != IterKind::DataParallel || !stage.has_leaf(data)) continue;
    // rfactor replaces the axis, which would lose its mark.
    const std::string how = attributes.thread
                                ? "is already bound to `" + attributes.thread->axis.name() + "`"
                                : "has already been scheduled";
    edit.fail(axis, "data axis `" + data.name() + "` " + how +
                        "; call rfactor first, then schedule the data axes");
  }
}

/// Returns all axes that are related to the axis, directly or through other axes. For example, if
/// an axis is split and one part is fused with another axis, the two axes are related.
AxisFlags touched_by(const StageData& stage, const IterVar& axis) {
  AxisFlags touched;
  touched.set(axis, true);
  const auto is_touched = [&](const IterVar& any) { return touched.contains(any); };
  std::size_t known = 0;
  do {
    known = touched.size();
    for (const Relation& relation : stage.relations) {
      std::vector<IterVar> related = parents_of(relation);
      const std::vector<IterVar> children = children_of(relation);
      related.insert(related.end(), children.begin(), children.end());
      if (std::ranges::none_of(related, is_touched)) continue;
      for (const IterVar& any : related) touched.set(any, true);
    }
  } while (touched.size() > known);
  return touched;
}

/// Throws if a range of the new operation would depend on an axis that the new operation does not
/// have.
void check_ranges(const StageEdit& edit, const Factored& factored, const AxisFlags& touched,
                  const IterVar& axis) {
  const auto uses = [](const Range& range, const IterVar& root) {
    return tir::uses_var(range.min, root.var()) || tir::uses_var(range.extent, root.var());
  };
  for (const IterVar& root : edit.stage().op.root_iter_vars()) {
    if (uses(*factored.data_axis.dom(), root))
      edit.fail(axis, "its range depends on axis `" + root.name() +
                          "`, but it would become a dimension of the partial results");
    if (root.kind() == IterKind::DataParallel || !touched.contains(root)) continue;
    const bool stays = root.same_as(axis) && tir::is_zero(root.dom()->min);
    for (const IterVar& reduced : factored.reduce_axes)
      if (!stays && uses(*reduced.dom(), root))
        edit.fail(axis, "the range of `" + reduced.name() + "` depends on reduction axis `" +
                            root.name() + "`, which would change");
  }
}

Factored factor(const StageEdit& edit, const Compute& compute, const tir::ReduceNode& reduction,
                const IterVar& axis) {
  const StageData& stage = edit.stage();
  const AxisFlags touched = touched_by(stage, axis);
  check_untouched(edit, compute, touched, axis);

  AxisRanges ranges;
  arith::Facts facts;
  std::vector<IterVar> touched_roots;
  for (const IterVar& root : compute.reduce_axis) {
    facts.bind(root.var(), *root.dom());
    if (!touched.contains(root)) continue;
    ranges.set(root, *root.dom());
    touched_roots.push_back(root);
  }
  // Every axis keeps the extent that its split requests, even if the parent is shorter. A loop that
  // becomes an axis here may later be bound to a thread.
  pass_ranges_down(stage.relations, ranges, facts);

  AxisValues values;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    if (!touched.contains(leaf)) continue;
    const Range& range = ranges.at(leaf);
    values.set(leaf, tir::is_one(range.extent) ? range.min : Expr(leaf));
  }
  pass_index_up(stage.relations, ranges, values);

  Expr condition = tir::make_true();
  for (const Expr& guard : guards_of(stage, touched_roots, ranges, values, facts))
    condition = condition && guard;
  condition = condition && reduction.condition;

  const Range& factored = ranges.at(axis);
  const Range from_zero =
      Range::from_min_extent(tir::make_int(axis.var().dtype(), 0), factored.extent);
  Factored result{IterVar(from_zero, axis.var(), IterKind::DataParallel),
                  {},
                  {},
                  tir::likely(condition),
                  {axis}};
  for (const IterVar& root : compute.reduce_axis) {
    if (!touched.contains(root)) {
      result.reduce_axes.push_back(root);
      result.order.push_back(root);
    } else if (root.same_as(axis)) {
      // The root axis need not start at 0, but its index in the new tensor does.
      if (!tir::is_zero(factored.min)) set(result.values, root.var(), axis + factored.min);
    } else {
      // A loop may have a wider type than the axis that it derives from.
      set(result.values, root.var(), tir::cast(root.var().dtype(), values.at(root)));
    }
  }
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (touched.contains(leaf) && !leaf.same_as(axis)) {
      result.reduce_axes.emplace_back(ranges.at(leaf), leaf.var(), IterKind::Reduce);
      result.order.push_back(leaf);
    }
  check_ranges(edit, result, touched, axis);
  return result;
}

/// Makes the operation that computes the partial results.
Operation make_factored(const Operation& op, const Compute& compute,
                        const tir::ReduceNode& reduction, const Factored& factored, int position) {
  std::vector<IterVar> axes = compute.axis;
  axes.insert(axes.begin() + position, factored.data_axis);
  tir::ReduceNode partial{reduction.combiner,
                          {},
                          {},
                          factored.reduce_axes,
                          tir::substitute(factored.condition, factored.values)};
  for (const Expr& source : reduction.source)
    partial.source.push_back(tir::substitute(source, factored.values));
  std::vector<Expr> bodies;
  if (partial.axis.empty()) {
    // Each element of the partial results has a single term, so there is no reduction. The
    // condition of the reduction still applies.
    for (std::size_t n = 0; n < partial.source.size(); ++n)
      bodies.push_back(tir::is_true(partial.condition)
                           ? partial.source[n]
                           : tir::if_then_else(partial.condition, partial.source[n],
                                               reduction.combiner->identity[n]));
  } else {
    bodies = components_of(std::make_shared<const tir::ReduceNode>(std::move(partial)));
  }
  return make_compute(op.name() + ".rf", std::move(axes), std::move(bodies), {op.tag(), op.attrs()},
                      op.where());
}

/// Makes the reduction of the partial results.
Operation make_final(const Operation& op, const Compute& compute, const tir::ReduceNode& reduction,
                     const Operation& partial, const IterVar& data_axis, int position) {
  const std::vector<IterVar> axes = numbered_axes(op.output(0).shape());
  const IterVar reduced(data_axis.dom(), data_axis.var().fresh(data_axis.name() + ".v"),
                        IterKind::Reduce);
  std::vector<Expr> indices(axes.begin(), axes.end());
  indices.insert(indices.begin() + position, reduced);
  tir::VarMap new_axes;
  for (std::size_t n = 0; n < axes.size(); ++n) set(new_axes, compute.axis[n].var(), axes[n]);
  const auto renamed = [&](const Expr& e) { return tir::substitute(e, new_axes); };
  tir::ReduceNode rest{
      map_reducer(reduction.combiner, renamed), {}, {}, {reduced}, tir::make_true()};
  for (const Expr& init : reduction.init) rest.init.push_back(renamed(init));
  for (const Tensor& output : outputs_of(partial)) rest.source.push_back(output(indices));
  return make_compute(op.name() + ".repl", axes,
                      components_of(std::make_shared<const tir::ReduceNode>(std::move(rest))),
                      {op.tag(), op.attrs()}, op.where());
}

int checked_position(const StageEdit& edit, const IterVar& axis, int factor_axis,
                     std::size_t rank) {
  const int count = static_cast<int>(rank) + 1;
  const int position = factor_axis >= 0 ? factor_axis : count + factor_axis;
  if (position < 0 || position >= count)
    edit.fail(axis, "factor_axis is " + std::to_string(factor_axis) + ", but the new tensor has " +
                        std::to_string(count) + " dimensions");
  return position;
}

}  // namespace

std::vector<Tensor> Schedule::rfactor(const std::vector<Tensor>& tensors, const IterVar& given,
                                      int factor_axis, SourceLocation where) const {
  ScheduleData& schedule = *data_;
  if (tensors.empty()) throw ScheduleError("rfactor: no tensor is listed", where);
  const StageNumber id = schedule.require(tensors.front(), "rfactor", where).stage;
  const StageEdit edit(schedule, id, "rfactor", where);
  for (const Tensor& tensor : tensors)
    if (schedule.require(tensor, "rfactor", where).stage != id)
      edit.fail("tensor `" + tensor.name() + "` belongs to another operation");
  const Operation op = edit.stage().op;
  const Compute* compute = op.as<Compute>();
  const tir::ReduceNode* reduction = compute ? compute->reduction() : nullptr;
  if (!reduction) edit.fail("the stage is not a reduction");
  const IterVar axis = edit.leaf(given);
  if (axis.kind() != IterKind::Reduce)
    edit.fail(axis, "it is a " + std::string(to_string(axis.kind())) +
                        " axis; only a reduction axis can be factored");
  const int position = checked_position(edit, axis, factor_axis, compute->axis.size());
  check_attached_axes_stay(edit, {});
  edit.check_not_tensorized();
  check_predicate_stays(edit, {});

  const Factored factored = factor(edit, *compute, *reduction, axis);
  check_reduction_order(edit, axis, factored.order, /*has_partial_results=*/true);
  const Operation partial = make_factored(op, *compute, *reduction, factored, position);
  const Operation final =
      make_final(op, *compute, *reduction, partial, factored.data_axis, position);

  const StageNumber partial_id = schedule.insert_stage(partial, schedule.position(id));
  schedule.set_op(id, final);
  reset_loops(edit);
  schedule.stage(partial_id).group = schedule.stage(id).group;
  return outputs_of(partial);
}

Tensor Schedule::rfactor(const Tensor& tensor, const IterVar& axis, int factor_axis,
                         SourceLocation where) const {
  const std::vector<Tensor> all = rfactor(std::vector<Tensor>{tensor}, axis, factor_axis, where);
  return all[static_cast<std::size_t>(tensor.value_index())];
}

}  // namespace tenon::te
