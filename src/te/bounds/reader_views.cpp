// What the readers of a stage need of it, as seen from the loops around it.
#include <ranges>

#include "te/bounds/bound_inference.h"
#include "te/bounds/thread_checks.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"

namespace tenon::te {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;
using arith::values_of;

namespace {

bool same_place(const std::optional<AttachPoint>& a, const std::optional<AttachPoint>& b) {
  if (!a || !b) return !a && !b;
  return a->stage == b->stage && a->axis.same_as(b->axis);
}

/// Whatever the loops around a reader do, it reads only within its own domain. An end alone is cut
/// only between constants: cut against a loop's variable, an interval could have less than no
/// elements.
Interval within(const Interval& set, const Interval& domain, const arith::Facts& facts) {
  if (arith::can_prove(*set.min() <= *domain.min(), facts) &&
      arith::can_prove(*set.max() >= *domain.max(), facts))
    return domain;
  const auto min = constant_int(*set.min()), max = constant_int(*set.max());
  const auto first = constant_int(*domain.min()), last = constant_int(*domain.max());
  if (min && max && first && last) {
    if (*max < *first || *last < *min) return set;
    return Interval::of(*min < *first ? *domain.min() : *set.min(),
                        *max > *last ? *domain.max() : *set.max());
  }
  // As long as the whole domain, or longer, wherever it begins.
  const auto extent = constant_int(arith::simplify(*set.max() - *set.min(), facts));
  return extent && first && last && *extent >= *last - *first ? domain : set;
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
  const ReaderView& view = view_of(reader, producer);
  // While one iteration around the producer runs, the reader's axes take only the values that are
  // needed in it.
  for (const NeededAxis& needed : view.axes)
    facts_.bind(needed.axis.var(), needed.range, /*replace=*/true);
  // At root everything is computed once, whatever indices are read later.
  const bool has_place = tightness_ == Tightness::Exact && graph_.stage(producer).place.has_value();
  const auto is_input = [&](const Tensor& t) {
    const std::optional<OutputId> output = graph_.find(t);
    return has_place && t.op().as<Placeholder>() && output &&
           !graph_.stage(output->stage).scan_part(output->index);
  };
  add_needs(graph_.stage(reader).op, reads_[reader.index()], tensor, view.domains, facts_, is_input,
            needs);
  for (const NeededAxis& needed : view.axes) {
    facts_.bind(needed.axis.var(), ranges_.at(needed.axis), /*replace=*/true);
  }
}

const ReaderView& BoundInference::view_of(StageId reader, StageId producer) {
  const std::optional<AttachPoint>& place = graph_.stage(producer).place;
  const StorageScope scope = graph_.stage(producer).scope;
  std::vector<ReaderView>& views = views_[reader.index()];
  for (const ReaderView& view : views) {
    if (view.scope == scope && same_place(view.place, place)) return view;
  }
  views.push_back(make_view(reader, producer, place, scope));
  return views.back();
}

ReaderView BoundInference::make_view(StageId reader, StageId producer,
                                     const std::optional<AttachPoint>& place, StorageScope scope) {
  const FrozenStage& stage = graph_.stage(reader);
  const StorageScope own_scope = graph_.stage(reader).scope;
  bool inside = true;
  AxisDomains domains;
  for (std::size_t i = stage.leaf_iter_vars.size(); i-- > 0;) {
    const IterVar& leaf = stage.leaf_iter_vars[i];
    if (place && place->stage == reader && place->axis.same_as(leaf)) inside = false;
    if (inside) check_sees_thread(graph_, producer, thread_of(stage, leaf), reader);
    domains.set(leaf, leaf_domain(stage, leaf, inside, scope, own_scope));
  }
  std::vector<AttachPoint> relaxed_loops;
  for (const AttachPoint& loop : graph_.attach_path(reader)) {
    if (place && place->stage == loop.stage && place->axis.same_as(loop.axis)) inside = false;
    const IterVar* thread = thread_of(graph_.stage(loop.stage), loop.axis);
    if (inside) check_sees_thread(graph_, producer, thread, loop.stage);
    if (is_relaxed(thread, inside, scope)) relaxed_loops.push_back(loop);
  }
  internal_check(!place || !inside, "a stage that is read outside of its loop");
  pass_domains_up(stage.relations, ranges_, domains);
  return finish_view(stage.op, place, scope, domains,
                     values_of_loops(reader, relaxed_loops, scope));
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
               values_of(Interval::from_range(ranges_.at(loop.axis)), values, facts_));
  }
  for (const AttachPoint& loop : loops_of_owners(graph_, reader)) {
    const IterVar& thread = *thread_of(graph_.stage(loop.stage), loop.axis);
    if (!is_shared_along(scope, *thread.thread())) continue;
    const Range counted = thread_values(loop.axis);
    values.set(thread.var(), values_of(Interval::from_range(counted), values, facts_));
  }
  return values;
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

ReaderView BoundInference::finish_view(const Operation& op, const std::optional<AttachPoint>& place,
                                       StorageScope scope, const AxisDomains& domains,
                                       const IntervalMap& relaxed) {
  ReaderView view{place, scope, {}, {}};
  for (const IterVar& axis : op.root_iter_vars()) {
    const Interval* own = domains.find(axis);
    const Range range = own ? own->to_range(declared(axis), nothing_) : ranges_.at(axis);
    Interval domain = Interval::from_range(range);
    if (uses_any(range.min, relaxed) || uses_any(range.extent, relaxed)) {
      const Interval first = values_of(range.min, relaxed, facts_);
      const Interval last = values_of(range.min + range.extent - 1, relaxed, facts_);
      const bool bounded = first.min() && last.max();
      const Interval whole = Interval::from_range(declared(axis));
      domain = bounded ? Interval::of(*first.min(), *last.max()) : whole;
      if (bounded && tightness_ == Tightness::Exact) domain = within(domain, whole, facts_);
    }
    view.domains.set(axis.var(), domain);
    facts_.bind(axis.var(), range, /*replace=*/true);
    view.axes.push_back({axis, range, std::move(domain)});
  }
  return view;
}

}  // namespace tenon::te
