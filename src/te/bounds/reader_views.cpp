// The requirements of a stage's readers, in terms of the loops around the stage.
#include <algorithm>
#include <ranges>

#include "te/bounds/bound_inference.h"
#include "te/graph/thread_scope.h"
#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "tenon/arith/compute.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;

namespace {

bool same_place(const std::optional<AttachPoint>& a, const std::optional<AttachPoint>& b) {
  return a && b ? same_loop(*a, *b) : !a && !b;
}

/// Adds an offset to both operands of a minimum or maximum. Bounds that are computed for each
/// operand separately are tighter if both operands depend on the same loop.
Expr sum_inside(const Expr& e, const Expr& offset) {
  const Binary* n = e.as<Binary>();
  if (n && (n->op == BinaryOp::Min || n->op == BinaryOp::Max))
    return fold(n->op, sum_inside(n->a, offset), sum_inside(n->b, offset));
  if (n && n->op == BinaryOp::Add && constant_int(n->b)) return sum_inside(n->a, offset + n->b);
  if (n && n->op == BinaryOp::Sub && constant_int(n->b)) return sum_inside(n->a, offset - n->b);
  return simplify(e + offset);
}

/// Returns the last value of a range. If the extent has the form e - min, the last value is
/// computed as e - 1, so that the minimum cancels even if the simplifier would rewrite the extent.
Expr last_of(const Range& range) {
  const Binary* n = range.extent.as<Binary>();
  const bool ends_in_min = n && n->op == BinaryOp::Sub && structural_equal(n->b, range.min);
  return ends_in_min ? sum_inside(n->a, make_int(range.min.dtype(), -1))
                     : sum_inside(range.extent, range.min - 1);
}

/// Whether guards protect each element of the stage. An intrinsic always computes its whole tile.
bool is_guarded_by_element(const FrozenStage& stage) {
  return stage.op.as<Compute>() && !stage.is_tensorized();
}

std::optional<std::int64_t> distance(const Expr& from, const Expr& to, const Facts& facts) {
  return constant_int(simplify(to - from, facts));
}

std::optional<std::int64_t> length(const Interval& set, const Facts& facts) {
  return distance(*set.min(), *set.max(), facts);
}

/// Whether all offsets are outside [0, extent).
bool are_idle(const Interval& offsets, std::int64_t extent, const IntervalMap& values,
              const IntervalMap& around, const Facts& facts) {
  const auto all = [&](const Expr& end) {
    return values_of(values_of(end, values, facts), around, facts);
  };
  const Interval first = all(*offsets.min()), last = all(*offsets.max());
  const auto lowest = first.min() ? constant_int(*first.min()) : std::nullopt;
  const auto highest = last.max() ? constant_int(*last.max()) : std::nullopt;
  return (lowest && *lowest >= extent) || (highest && *highest < 0);
}

/// Returns the greatest value below the extent that the expression can have, by its modular set: 8
/// for 3*i + 2 and extent 10.
std::int64_t greatest_below(std::int64_t extent, const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  if (step <= 1) return extent - 1;
  return base + (extent - 1 - base + step) / step * step - step;
}

/// Returns the least non-negative value that the expression can have, by its modular set.
std::int64_t least_from_zero(const Expr& e, const Facts& facts) {
  const auto [step, base] = arith::modular_set(e, facts);
  return step <= 1 ? 0 : base;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return *arith::compute(BinaryOp::FloorDiv, a, b);
}

/// The linear relation to = (times * from + plus) / by between two expressions of the same loops,
/// with by > 0. For from = 3*i + 1 and to = 6*i + 5, times is 2, plus is 3 and by is 1.
struct Ratio {
  std::int64_t times, plus, by;

  std::int64_t rounded_down(std::int64_t from) const { return floor_div(times * from + plus, by); }
  std::int64_t rounded_up(std::int64_t from) const { return -floor_div(-times * from - plus, by); }
};

/// Returns the relation; nullopt if it is not known. A constant `to` is rejected too, because it
/// does not depend on the iteration.
std::optional<Ratio> ratio(const Expr& from, const Expr& to, const Facts& facts) {
  if (const auto plus = distance(from, to, facts); plus && !constant_int(to))
    return Ratio{.times = 1, .plus = *plus, .by = 1};
  const std::vector<Var> vars = free_vars(from);
  const auto a = arith::linear_form(from, vars), b = arith::linear_form(to, vars);
  if (!a || !b) return std::nullopt;
  const auto known = [](const Expr& e) -> std::optional<std::int64_t> {
    constexpr std::int64_t kMax = 1 << 20;
    const auto number = constant_int(e);
    return number && std::abs(*number) < kMax ? number : std::nullopt;
  };
  const auto base = known(a->base), other_base = known(b->base);
  std::int64_t times = 0, by = 0;
  for (std::size_t n = 0; n < vars.size(); ++n) {
    const auto x = known(a->coefficients[n]), y = known(b->coefficients[n]);
    if (!x || !y) return std::nullopt;
    if (by == 0) times = *y, by = *x;
    if (*x * times != *y * by) return std::nullopt;
  }
  if (!base || !other_base || times == 0 || by == 0) return std::nullopt;
  if (by < 0) times = -times, by = -by;
  return Ratio{.times = times, .plus = *other_base * by - *base * times, .by = by};
}

/// Maximum number of iterations that are tested one by one. This is necessary for indices with
/// remainders, for which no range of iterations can be proved idle at once.
constexpr int kMaxSingle = 64;

/// Adds the reach of an index. Does nothing if an end of the indices or the extent is unknown.
void add_reach(const Interval& indices, const Range& range, const Facts& facts, Reaches& reaches) {
  const auto extent = constant_int(range.extent);
  if (!extent || !indices.is_bounded()) return;
  const auto offset = [&](const Expr& index) { return simplify(index - range.min, facts); };
  reaches.emplace_back(Interval::of(offset(*indices.min()), offset(*indices.max())), *extent);
}

/// Removes idle iterations from both ends of the loop's range in `values`. `around` has the ranges
/// of loops that `values` does not contain.
void trim_idle_iterations(const Var& loop, const Reaches& reaches, const IntervalMap& around,
                          const Facts& facts, IntervalMap& values) {
  const Interval all = *values.find(loop);
  if (!all.is_bounded()) return;
  const auto begin = constant_int(*all.min()), end = constant_int(*all.max());
  if (!begin || !end) return;
  std::int64_t first = *begin, last = *end;
  const auto set = [&](std::int64_t min, std::int64_t max) {
    values.set(loop, Interval::of(make_int(loop.dtype(), min), make_int(loop.dtype(), max)));
  };
  const auto is_idle = [&](std::int64_t min, std::int64_t max) {
    set(min, max);
    return std::ranges::any_of(reaches, [&](const auto& reach) {
      return are_idle(reach.first, reach.second, values, around, facts);
    });
  };
  // Finds the longest idle ranges at both ends by bisection. At least one iteration remains.
  for (std::int64_t step = last - first; step > 0;)
    if (step <= last - first && is_idle(last - step + 1, last)) {
      last -= step;
    } else {
      step /= 2;
    }
  for (std::int64_t step = last - first; step > 0;)
    if (step <= last - first && is_idle(first, first + step - 1)) {
      first += step;
    } else {
      step /= 2;
    }
  for (int n = 0; n < kMaxSingle && first < last && is_idle(last, last); ++n) --last;
  for (int n = 0; n < kMaxSingle && first < last && is_idle(first, first); ++n) ++first;
  set(first, last);
}

/// Returns `all` without values that only idle iterations require. `all` is the requirement of all
/// iterations, and `one` the requirement of a single iteration. If an end of `one` is a linear
/// function of the offsets of a reach, the end of `all` is computed from the first or the last
/// offset that is not idle.
///
///   one = [4*o + i + 3, 4*o + i + 5], 4*o + i in [0, 10):   all = [3, 14]
///   one = [2*o + i + 1, 2*o + i + 1], 4*o + 2*i in [0, 10):   all = [1, 5]
Interval not_beyond(const Reaches& reaches, const Interval& one, Interval all, const Facts& facts) {
  // Longer reaches are skipped, because the arithmetic could overflow.
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;
  if (!one.is_bounded() || !all.is_bounded()) return all;
  for (const auto& [offsets, extent] : reaches) {
    if (extent > kLongest) continue;
    const auto min = constant_int(*all.min()), max = constant_int(*all.max());
    if (!min || !max) return all;
    // An iteration reads nothing if its whole interval of offsets is outside [0, extent).
    const std::int64_t last = greatest_below(extent, *offsets.min(), facts);
    const std::int64_t first = least_from_zero(*offsets.max(), facts);
    std::int64_t begin = *min, end = *max;
    if (const auto r = ratio(*offsets.min(), *one.max(), facts); r && r->times > 0)
      end = std::min(end, r->rounded_down(last));
    if (const auto r = ratio(*offsets.max(), *one.max(), facts); r && r->times < 0)
      end = std::min(end, r->rounded_down(first));
    if (const auto r = ratio(*offsets.max(), *one.min(), facts); r && r->times > 0)
      begin = std::max(begin, r->rounded_up(first));
    if (const auto r = ratio(*offsets.min(), *one.min(), facts); r && r->times < 0)
      begin = std::max(begin, r->rounded_up(last));
    // If the range is empty, no iteration reads anything, and `all` may stay as it is.
    if (begin <= end)
      all = Interval::of(make_int(all.min()->dtype(), begin), make_int(all.max()->dtype(), end));
  }
  return all;
}

/// Returns a set that contains all elements that are read, given that both `set` and `domain`
/// contain them. If both are constant, returns their intersection. Otherwise returns one of them,
/// because the extent of an intersection that is cut at a loop variable could be negative.
Interval within(const Interval& set, const Interval& domain, const Facts& facts) {
  if (can_prove(*set.min() <= *domain.min(), facts) &&
      can_prove(*set.max() >= *domain.max(), facts))
    return domain;
  const auto min = constant_int(*set.min()), max = constant_int(*set.max());
  const auto first = constant_int(*domain.min()), last = constant_int(*domain.max());
  if (min && max && first && last) {
    if (*max < *first || *last < *min) return set;
    return Interval::of(*min < *first ? *domain.min() : *set.min(),
                        *max > *last ? *domain.max() : *set.max());
  }
  // If the set is at least as long as the whole domain, the domain is the better bound.
  const auto extent = length(set, facts), whole = length(domain, facts);
  return extent && whole && *extent >= *whole ? domain : set;
}

/// Returns the interval that is provably shorter, or `a` if neither is. Precondition: both contain
/// everything that is read.
const Interval& shorter(const Interval& a, const Interval& b, const Facts& facts) {
  if (!b.is_bounded() || a.is_point()) return a;
  if (b.is_point()) return b;
  const auto extent = length(a, facts), other = length(b, facts);
  return other && (!extent || *other < *extent) ? b : a;
}

/// Returns the set with every value beyond the domain replaced by the domain's last value. A set
/// that is wholly beyond the domain becomes this single value; its elements are never read.
/// Precondition: the set does not start before the domain.
Interval clamped(const Interval& set, const Interval& domain, const Facts& facts) {
  const Expr &first = *domain.min(), &last = *domain.max();
  if (can_prove(*set.max() <= last, facts)) return set;
  const auto at_most_last = [&](const Expr& e) {
    // A value near the end of the type could wrap. It is then clamped relative to the domain's
    // start.
    const std::optional<std::int64_t> greatest = constant_int(tir::max_value(e.dtype()));
    const bool may_wrap = !is_zero(first) && constant_int(last) && greatest &&
                          !arith::const_bound(e, facts).is_at_most(*greatest);
    return may_wrap ? tir::min(simplify(e - first), simplify(last - first)) + first
                    : tir::min(e, last);
  };
  const Expr max = at_most_last(*set.max());
  if (set.is_point()) return Interval::point(max);
  return Interval::of(can_prove(*set.min() <= last, facts) ? *set.min() : at_most_last(*set.min()),
                      max);
}

/// Returns the simplified index of every axis in terms of the leaves. An axis that was split and
/// fused again has the index of the fused axis, without quotients and remainders. Axes with large
/// indices (is_large) are omitted.
AxisValues simple_indices(const std::vector<Relation>& relations, const AxisRanges& ranges,
                          AxisValues leaves, const Facts& facts) {
  // Replaces each fused axis `f` by a variable. If a split divides `f` by an extent `n`, the sum
  // floordiv(f, n)*n + floormod(f, n) then simplifies to that variable.
  VarMap fused;
  AxisValues result = leaves;
  for (const Relation& relation : std::views::reverse(relations)) {
    const Fuse* fuse = std::get_if<Fuse>(&relation);
    const Expr* index = fuse ? leaves.find(fuse->fused) : nullptr;
    if (index && !index->as<VarNode>()) {
      const Var hidden(fuse->fused.name(), index->dtype());
      set(fused, hidden, substitute(*index, fused));
      leaves.set(fuse->fused, hidden);
    }
    pass_index_up({&relation, 1}, ranges, leaves);
    if (fused.empty()) continue;
    for (const IterVar& parent : parents_of(relation))
      if (const Expr* value = leaves.find(parent)) leaves.set(parent, simplify(*value));
  }
  for (const Relation& relation : relations)
    for (const IterVar& parent : parents_of(relation))
      if (const Expr* value = leaves.find(parent))
        if (const Expr index = substitute(*value, fused); !is_large(index))
          result.set(parent, simplify(index, facts));
  return result;
}

}  // namespace

std::vector<Needs> BoundInference::needs_of_readers(StageId id, StageId kept_in) {
  std::vector<Needs> all;
  for (const Tensor& output : outputs_of(graph_.stage(id).op)) {
    Needs needs(output.shape().size());
    for (StageId reader : graph_.output_readers(id)[all.size()])
      add_needs_of(reader, kept_in, output, needs);
    all.push_back(std::move(needs));
  }
  return all;
}

void BoundInference::add_needs_of(StageId reader, StageId producer, const Tensor& tensor,
                                  Needs& needs) {
  check_is_seen(producer, reader);
  const ReaderView& view = view_of(reader, producer);
  // One iteration of the loops around the producer needs only these values of the reader's axes.
  for (const auto& [axis, range] : view.axes) facts_.bind(axis.var(), range, /*replace=*/true);
  // Requirements may be expressed in terms of elements of inputs that are used as indices. Such an
  // element may differ between iterations. A stage at root is computed once for all iterations, so
  // the elements are used only if the producer is attached to a loop.
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
  for (const auto& [axis, range] : view.axes)
    facts_.bind(axis.var(), ranges_.at(axis), /*replace=*/true);
}

void BoundInference::check_is_seen(StageId producer, StageId reader) const {
  const std::optional<AttachPoint>& place = graph_.stage(producer).place;
  for (const AttachPoint& loop : loops_of(graph_, reader)) {
    if (place && same_loop(*place, loop)) return;
    check_sees_thread(graph_, producer, thread_of(graph_, loop), loop.stage);
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
    if (place && same_loop(*place, {reader, leaf})) inside = false;
    domains.set(leaf, leaf_domain(stage, leaf, inside, scope, own_scope));
  }
  std::vector<AttachPoint> relaxed_loops;
  for (const AttachPoint& loop : graph_.attach_path(reader)) {
    if (place && same_loop(*place, loop)) inside = false;
    const IterVar* thread = thread_of(graph_, loop);
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

/// If a step of a scan is a single value of the time axis, restricts the axis of the update to this
/// value. The loops may run past the current step. A guard skips these extra iterations, so they
/// must not make the producer compute later states, whose memory may not exist.
void BoundInference::stay_in_step(const FrozenStage& stage, AxisDomains& domains) const {
  const std::optional<ScanPart> part = stage.scan_part(0);
  if (!part || part->role != ScanPart::Role::Update) return;
  const IterVar& time = stage.op.axis().front();
  const Range& step = ranges_.at(time);
  if (domains.find(time) && is_one(step.extent)) domains.set(time, Interval::point(step.min));
}

/// Restricts the domains of root axes to the values that the guards admit. Also computes the
/// interval of each axis's index directly, because it can be shorter than the domain. For example,
/// a loop over a fused axis that advances by whole rows covers all columns, but the index of the
/// column axis takes a single value.
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
    const IterVar& thread = *thread_of(graph_, loop);
    if (!is_shared_along(scope, *thread.thread())) continue;
    // Threads count from 0, even if the loop bound to them does not.
    const Range counted =
        Range::from_min_extent(make_int(loop.axis.var().dtype(), 0), ranges_.at(loop.axis).extent);
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
    view.domains.set(axis.var(), std::move(domain));
    facts_.bind(axis.var(), range, /*replace=*/true);
    view.axes.emplace_back(axis, range);
  }
  return view;
}

}  // namespace tenon::te
