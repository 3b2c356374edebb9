// The requirements of a stage's readers, in terms of the loops around the stage.
#include <algorithm>
#include <ranges>

#include "te/bounds/bound_inference.h"
#include "te/bounds/thread_checks.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::te {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;

namespace {

bool same_place(const std::optional<AttachPoint>& a, const std::optional<AttachPoint>& b) {
  if (!a || !b) return !a && !b;
  return a->stage == b->stage && a->axis.same_as(b->axis);
}

/// Distributes an offset over minima and maxima. If both operands depend on the same loop, separate
/// bounds are tighter.
Expr sum_inside(const Expr& e, const Expr& offset) {
  const Binary* n = e.as<Binary>();
  if (n && (n->op == BinaryOp::Min || n->op == BinaryOp::Max))
    return fold(n->op, sum_inside(n->a, offset), sum_inside(n->b, offset));
  if (n && n->op == BinaryOp::Add && constant_int(n->b)) return sum_inside(n->a, offset + n->b);
  if (n && n->op == BinaryOp::Sub && constant_int(n->b)) return sum_inside(n->a, offset - n->b);
  return simplify(e + offset);
}

/// Returns the last value of a range. For an extent max(a, b) + 1 - min(a, c) with the minimum
/// min(a, c), the last value is max(a, b), regardless of how the simplifier would write it.
Expr last_of(const Range& range) {
  const Binary* n = range.extent.as<Binary>();
  const bool ends_in_min = n && n->op == BinaryOp::Sub && structural_equal(n->b, range.min);
  return ends_in_min ? sum_inside(n->a, make_int(range.min.dtype(), -1))
                     : sum_inside(range.extent, range.min - 1);
}

/// An intrinsic computes its whole tile; other statements compute only elements inside the stage.
bool is_guarded_by_element(const FrozenStage& stage) {
  return stage.op.as<Compute>() && !stage.is_tensorized();
}

}  // namespace

std::vector<Needs> BoundInference::needs_of_readers(StageId id, StageId kept_in) {
  std::vector<Needs> all;
  for (const TensorReaders& output : graph_.output_readers(id)) {
    Needs needs(output.tensor.shape().size());
    for (StageId reader : output.readers) add_needs_of(reader, kept_in, output.tensor, needs);
    all.push_back(std::move(needs));
  }
  return all;
}

void BoundInference::add_needs_of(StageId reader, StageId producer, const Tensor& tensor,
                                  Needs& needs) {
  check_is_seen(producer, reader);
  const ReaderView& view = view_of(reader, producer);
  // During one iteration around the producer, the reader's axes take only the values that this
  // iteration requires.
  for (const NeededAxis& needed : view.axes)
    facts_.bind(needed.axis.var(), needed.range, /*replace=*/true);
  // At root, everything is computed once, regardless of later data-dependent indices.
  const bool has_place = is_exact() && graph_.stage(producer).place.has_value();
  const auto is_input = [&](const Tensor& t) {
    const std::optional<OutputId> output = graph_.find(t);
    return has_place && t.op().as<Placeholder>() && output &&
           !graph_.stage(output->stage).scan_part(output->index);
  };
  const FrozenStage& stage = graph_.stage(producer);
  const auto rounds_up = [&](std::size_t dim) {
    return stage.op.as<Compute>() && stage.rounds_up(stage.op.axis()[dim]);
  };
  add_needs(graph_.stage(reader).op, reads_[reader.index()], tensor, view.domains, facts_, is_input,
            rounds_up, needs);
  for (const NeededAxis& needed : view.axes) {
    facts_.bind(needed.axis.var(), ranges_.at(needed.axis), /*replace=*/true);
  }
}

void BoundInference::check_is_seen(StageId producer, StageId reader) const {
  const std::optional<AttachPoint>& place = graph_.stage(producer).place;
  const FrozenStage& stage = graph_.stage(reader);
  for (std::size_t i = stage.leaf_iter_vars.size(); i-- > 0;) {
    const IterVar& leaf = stage.leaf_iter_vars[i];
    if (place && place->stage == reader && place->axis.same_as(leaf)) return;
    check_sees_thread(graph_, producer, thread_of(stage, leaf), reader);
  }
  for (const AttachPoint& loop : graph_.attach_path(reader)) {
    if (place && place->stage == loop.stage && place->axis.same_as(loop.axis)) return;
    check_sees_thread(graph_, producer, thread_of(graph_.stage(loop.stage), loop.axis), loop.stage);
  }
}

const ReaderView& BoundInference::view_of(StageId reader, StageId producer) {
  const std::optional<AttachPoint>& place = graph_.stage(producer).place;
  const StorageScope scope = graph_.stage(producer).scope;
  std::vector<ReaderView>& views = views_[reader.index()];
  for (const ReaderView& view : views) {
    if (view.scope == scope && same_place(view.place, place)) return view;
  }
  views.push_back(make_view(reader, place, scope));
  return views.back();
}

ReaderView BoundInference::make_view(StageId reader, const std::optional<AttachPoint>& place,
                                     StorageScope scope) {
  const FrozenStage& stage = graph_.stage(reader);
  const StorageScope own_scope = graph_.stage(reader).scope;
  bool inside = true;
  AxisDomains domains;
  for (std::size_t i = stage.leaf_iter_vars.size(); i-- > 0;) {
    const IterVar& leaf = stage.leaf_iter_vars[i];
    if (place && place->stage == reader && place->axis.same_as(leaf)) inside = false;
    domains.set(leaf, leaf_domain(stage, leaf, inside, scope, own_scope));
  }
  std::vector<AttachPoint> relaxed_loops;
  for (const AttachPoint& loop : graph_.attach_path(reader)) {
    if (place && place->stage == loop.stage && place->axis.same_as(loop.axis)) inside = false;
    const IterVar* thread = thread_of(graph_.stage(loop.stage), loop.axis);
    if (is_relaxed(thread, inside, scope)) relaxed_loops.push_back(loop);
  }
  internal_check(!place || !inside, "a stage that is read outside of its loop");
  const bool is_tight = is_exact() && is_guarded_by_element(stage);
  const AxisDomains leaves = is_tight ? domains : AxisDomains();
  pass_domains_up(stage.relations, ranges_, domains);
  if (is_guarded_by_element(stage)) stay_in_step(stage, domains);
  IntervalMap relaxed = values_of_loops(reader, relaxed_loops, scope);
  Reaches reaches;
  if (is_tight) {
    tighten(stage, leaves, domains);
    for (const IterVar& axis : stage.op.root_iter_vars())
      if (const Interval* domain = domains.find(axis))
        if (!stage.rounds_up(axis)) add_reach(*domain, declared(axis), facts_, reaches);
    for (const AttachPoint& loop : relaxed_loops)
      trim_idle_iterations(loop.axis.var(), reaches, all_values_, facts_, relaxed);
  }
  return finish_view(stage, place, scope, domains, relaxed, reaches);
}

/// Restricts the loops over the step of a scan to the single current step. A guard stops loops that
/// overshoot it, so later states are not required; memory for them may not exist.
void BoundInference::stay_in_step(const FrozenStage& stage, AxisDomains& domains) const {
  const std::optional<ScanPart> part = stage.scan_part(0);
  if (!part || part->role != ScanPart::Role::Update) return;
  const IterVar& time = stage.op.axis().front();
  const Range& step = ranges_.at(time);
  if (domains.find(time) && is_one(step.extent)) domains.set(time, Interval::point(step.min));
}

/// Restricts the domains to those of the guards. A loop over a fused axis may advance by whole
/// rows: its values cover all columns, but the index itself takes only one.
void BoundInference::tighten(const FrozenStage& stage, const AxisDomains& leaves,
                             AxisDomains& domains) const {
  AxisValues iteration;
  IntervalMap values;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const Interval& domain = leaves.at(leaf);
    iteration.set(leaf, domain.is_point() ? *domain.min() : Expr(leaf.var()));
    if (!domain.is_point()) values.set(leaf.var(), domain);
  }
  const AxisValues indices = simple_indices(stage.relations, ranges_, std::move(iteration), facts_);
  Reaches reaches;
  for (const IterVar& axis : stage.op.root_iter_vars())
    if (const Expr* index = indices.find(axis); index && !stage.rounds_up(axis))
      add_reach(Interval::point(*index), ranges_.at(axis), facts_, reaches);
  for (const IterVar& leaf : stage.leaf_iter_vars)
    if (values.find(leaf.var()))
      trim_idle_iterations(leaf.var(), reaches, all_values_, facts_, values);
  for (const IterVar& axis : stage.op.root_iter_vars()) {
    const Interval* domain = domains.find(axis);
    const Expr* index = indices.find(axis);
    if (!domain || !domain->is_bounded() || stage.rounds_up(axis)) continue;
    const Interval own = Interval::from_range(ranges_.at(axis));
    Interval tight = within(*domain, own, facts_);
    if (index) tight = shorter(tight, values_of(*index, values, facts_), facts_);
    domains.set(axis, tightness_ == Tightness::Clamped ? clamped(tight, own, facts_) : tight);
  }
}

IntervalMap BoundInference::values_of_loops(StageId reader, const std::vector<AttachPoint>& loops,
                                            StorageScope scope) const {
  IntervalMap values;
  for (const IterVar& thread : threads_) {
    if (is_shared_along(scope, *thread.thread()))
      values.set(thread.var(), *all_values_.find(thread.var()));
  }
  for (const AttachPoint& loop : std::views::reverse(loops)) {
    values.set(loop.axis.var(),
               values_of(Interval::from_range(range_in_loops(loop)), values, facts_));
  }
  for (const AttachPoint& loop : loops_of_owners(graph_, reader)) {
    const IterVar& thread = *thread_of(graph_.stage(loop.stage), loop.axis);
    if (!is_shared_along(scope, *thread.thread())) continue;
    const Range counted = thread_values(loop.axis);
    values.set(thread.var(), values_of(Interval::from_range(counted), values, facts_));
  }
  return values;
}

Range BoundInference::range_in_loops(const AttachPoint& loop) const {
  const FrozenStage& stage = graph_.stage(loop.stage);
  const Range& range = ranges_.at(loop.axis);
  const auto is_used = [&](const IterVar& root) {
    return uses_var(range.min, root.var()) || uses_var(range.extent, root.var());
  };
  if (std::ranges::none_of(stage.op.root_iter_vars(), is_used)) return range;
  AxisValues iteration;
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    const Range& own = ranges_.at(leaf);
    iteration.set(leaf, is_one(own.extent) ? own.min : Expr(leaf.var()));
  }
  pass_index_up(stage.relations, ranges_, iteration);
  VarMap roots;
  for (const IterVar& root : stage.op.root_iter_vars())
    if (const Expr* value = iteration.find(root)) set(roots, root.var(), *value);
  return substitute(range, roots);
}

Interval BoundInference::leaf_domain(const FrozenStage& stage, const IterVar& leaf, bool inside,
                                     StorageScope scope, StorageScope own_scope) const {
  const Range& range = ranges_.at(leaf);
  if (is_one(range.extent)) return Interval::point(range.min);
  const IterVar* thread = thread_of(stage, leaf);
  if (is_relaxed(thread, inside, scope)) return Interval::from_range(range);
  if (thread && !is_divided(stage, leaf, *thread, own_scope)) return Interval::point(range.min);
  if (thread) return Interval::point(shifted(cast(leaf.var().dtype(), thread->var()), range.min));
  return Interval::point(leaf.var());
}

ReaderView BoundInference::finish_view(const FrozenStage& stage,
                                       const std::optional<AttachPoint>& place, StorageScope scope,
                                       const AxisDomains& domains, const IntervalMap& relaxed,
                                       const Reaches& reaches) {
  ReaderView view{place, scope, {}, {}};
  for (const IterVar& axis : stage.op.root_iter_vars()) {
    const Interval* own = domains.find(axis);
    const Range range = own ? own->to_range(declared(axis), nothing_) : ranges_.at(axis);
    Interval domain = Interval::from_range(range);
    if (uses_any(range.min, relaxed) || uses_any(range.extent, relaxed)) {
      const Interval first = values_of(range.min, relaxed, facts_);
      const Interval last = is_exact() ? values_of(last_of(range), relaxed, facts_)
                                       : values_of(range.min + range.extent - 1, relaxed, facts_);
      const bool bounded = first.min() && last.max();
      const Interval whole = Interval::from_range(declared(axis));
      domain = bounded ? Interval::of(*first.min(), *last.max()) : whole;
      if (bounded && is_exact() && !stage.rounds_up(axis))
        domain =
            not_beyond(reaches, Interval::from_range(range), within(domain, whole, facts_), facts_);
    }
    view.domains.set(axis.var(), domain);
    facts_.bind(axis.var(), range, /*replace=*/true);
    view.axes.push_back({axis, range, std::move(domain)});
  }
  return view;
}

}  // namespace tenon::te
