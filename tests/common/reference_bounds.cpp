#include "tests/common/reference_bounds.h"

#include <algorithm>
#include <ranges>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/match.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;
using te::AttachPoint;
using te::AxisMap;
using te::FrozenStage;
using te::IterVar;
using te::StageId;
using tir::Expr;
using tir::make_int;
using tir::Range;
using tir::StorageScope;
using tir::ThreadTag;
using tir::Var;

namespace {

struct NotTold {};

const Facts kNothing;

Range from_zero(const IterVar& axis, const Expr& extent) {
  const DataType type = axis.var().dtype();
  return Range::from_min_extent(make_int(type, 0), tir::cast(type, extent));
}

bool is_same(const Interval& set, const Range& range) {
  return set.is_bounded() && arith::can_prove_equal(*set.min(), range.min) &&
         arith::can_prove_equal(*set.max(), range.min + range.extent - 1);
}

const IterVar* thread_of(const FrozenStage& stage, const IterVar& axis) {
  const te::ThreadMark* mark = stage.thread_mark_of(axis);
  return mark ? &mark->axis : nullptr;
}

/// Blocks share global memory alone, threads that of a block as well; a warp lies along
/// threadIdx.x.
bool is_shared_along(StorageScope scope, const ThreadTag& tag) {
  if (scope == StorageScope::Global) return true;
  if (scope == StorageScope::Warp) return tag.is_thread() && tag.dim == 0;
  return (scope == StorageScope::Shared || scope == StorageScope::SharedDyn) && !tag.is_block();
}

class Inference {
 public:
  explicit Inference(const te::StageGraph& graph) : graph_(graph) {}

  AxisMap<Range> run() {
    for (StageId id : graph_.ids() | std::views::reverse) {
      const FrozenStage& stage = graph_.stage(id);
      if (stage.op.as<te::Placeholder>()) continue;
      if (!stage.op.as<te::Compute>()) throw NotTold{};
      infer_roots(id);
      go_down(stage);
    }
    return std::move(ranges_);
  }

 private:
  // ---- ranges down to the loops

  void set(const IterVar& axis, Range range) {
    known_.bind(axis.var(), range, /*replace=*/true);
    ranges_.set(axis, std::move(range));
  }

  void go_down(const FrozenStage& stage) {
    const AxisMap<bool> keeps_extent = thread_bound(stage);
    for (const te::Relation& relation : stage.relations) {
      match(
          relation, [&](const te::Split& split) { go_down(split, keeps_extent); },
          [&](const te::Fuse& fuse) {
            set(fuse.fused, from_zero(fuse.fused, ranges_.at(fuse.outer).extent *
                                                      ranges_.at(fuse.inner).extent));
          },
          [&](const te::Rebase& rebase) {
            set(rebase.rebased, from_zero(rebase.rebased, ranges_.at(rebase.parent).extent));
          },
          [&](const te::Singleton& one) { set(one.iter, from_zero(one.iter, 1)); },
          [](const te::Transform&) { throw NotTold{}; });
    }
  }

  void go_down(const te::Split& split, const AxisMap<bool>& keeps_extent) {
    const Expr extent = ranges_.at(split.parent).extent;
    const Expr asked = split.count;
    const IterVar& given = split.is_by_parts ? split.outer : split.inner;
    const IterVar& other = split.is_by_parts ? split.inner : split.outer;
    const bool keeps = keeps_extent.value_or(given, false) || tir::is_zero(extent);
    const bool is_shorter = !keeps && arith::can_prove(extent < asked, known_);
    set(given, from_zero(given, is_shorter ? extent : asked));
    set(other, from_zero(other, simplify(floordiv(extent + asked - 1, asked), known_)));
  }

  static AxisMap<bool> thread_bound(const FrozenStage& stage) {
    AxisMap<bool> bound;
    for (const IterVar& leaf : stage.leaf_iter_vars)
      if (thread_of(stage, leaf)) bound.set(leaf, true);
    for (const te::Relation& relation : stage.relations | std::views::reverse)
      for (const IterVar& child : children_of(relation))
        if (bound.value_or(child, false))
          for (const IterVar& parent : parents_of(relation)) bound.set(parent, true);
    return bound;
  }

  // ---- what readers need

  void infer_roots(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    std::vector<std::vector<Interval>> needs(stage.op.axis().size());
    if (!stage.is_output)
      for (int k = 0; k < stage.op.num_outputs(); ++k)
        for (StageId reader : graph_.output_readers(id)[static_cast<std::size_t>(k)])
          add_needs(reader, id, stage.op.output(k), needs);
    for (std::size_t d = 0; d < needs.size(); ++d) {
      const IterVar& axis = stage.op.axis()[d];
      set(axis,
          stage.is_output ? *axis.dom() : hull(needs[d], kNothing).to_range(*axis.dom(), kNothing));
    }
    for (const IterVar& axis : stage.op.reduce_axis()) set(axis, *axis.dom());
  }

  void add_needs(StageId reader_id, StageId producer, const te::Tensor& tensor,
                 std::vector<std::vector<Interval>>& needs) {
    const FrozenStage& reader = graph_.stage(reader_id);
    const FrozenStage& stage = graph_.stage(producer);
    AxisMap<Interval> domains;
    bool inside = true;
    const auto leave_at = [&](StageId at, const IterVar& axis) {
      if (stage.place && stage.place->stage == at && stage.place->axis.same_as(axis))
        inside = false;
    };
    for (const IterVar& leaf : reader.leaf_iter_vars | std::views::reverse) {
      leave_at(reader_id, leaf);
      const IterVar* thread = thread_of(reader, leaf);
      const Range& range = ranges_.at(leaf);
      const bool takes_all = thread ? is_shared_along(stage.scope, *thread->thread()) : inside;
      domains.set(leaf, tir::is_one(range.extent) ? Interval::point(range.min)
                        : takes_all               ? Interval::from_range(range)
                        : thread                  ? Interval::point(thread->var())
                                                  : Interval::point(leaf.var()));
    }
    IntervalMap relaxed;
    for (const AttachPoint& loop : graph_.attach_path(reader_id)) {
      leave_at(loop.stage, loop.axis);
      const IterVar* thread = thread_of(graph_.stage(loop.stage), loop.axis);
      if (!(thread ? is_shared_along(stage.scope, *thread->thread()) : inside)) continue;
      const Interval all = Interval::from_range(ranges_.at(loop.axis));
      relaxed.set(loop.axis.var(), all);
      if (thread) relaxed.set(thread->var(), all);
    }
    go_up(reader, domains);

    Facts facts;
    IntervalMap of_axes;
    for (const IterVar& axis : reader.op.root_iter_vars()) {
      const Interval* domain = domains.find(axis);
      const Range range = domain ? domain->to_range(*axis.dom(), kNothing) : *axis.dom();
      const Interval ends =
          Interval::of(range.min, simplify(range.min + range.extent - 1, kNothing));
      of_axes.set(axis.var(), relaxed.size() > 0 ? all_values(ends, relaxed) : ends);
      facts.bind(axis.var(), range);
    }
    for_each_read(reader.op, tensor, [&](const std::vector<Expr>& indices) {
      for (std::size_t d = 0; d < indices.size(); ++d)
        needs[d].push_back(cut(values_of(indices[d], of_axes, facts), tensor.shape()[d], facts));
    });
  }

  /// The ranges of loops may be said in terms of others.
  static Interval all_values(Interval ends, const IntervalMap& relaxed) {
    constexpr int kDeepest = 16;
    for (int n = 0; n < kDeepest; ++n) {
      const Interval next = values_of(ends, relaxed);
      if (!next.is_bounded()) return next;
      const bool is_done = tir::structural_equal(*next.min(), *ends.min()) &&
                           tir::structural_equal(*next.max(), *ends.max());
      ends = next;
      if (is_done) break;
    }
    return ends;
  }

  template <class F>
  static void for_each_read(const te::Operation& op, const te::Tensor& tensor, F f) {
    for (const Expr& body : op.body())
      walk(body, [&](const tir::ProducerLoad& load) {
        if (te::Tensor::of(load).same_as(tensor)) f(load.indices);
      });
  }

  static Interval cut(const Interval& index, const Expr& extent, const Facts& facts) {
    const Interval whole = Interval::of(make_int(extent.dtype(), 0), extent - 1);
    if (index.is_everything()) return whole;
    if (!index.is_bounded()) return index;
    const bool passes_both = arith::can_prove(*index.min() <= 0, facts) &&
                             arith::can_prove(extent - 1 <= *index.max(), facts);
    return passes_both ? whole : index;
  }

  // ---- domains up to the axes

  void go_up(const FrozenStage& stage, AxisMap<Interval>& domains) const {
    for (const te::Relation& relation : stage.relations | std::views::reverse) {
      match(
          relation, [&](const te::Split& split) { go_up(split, domains); },
          [&](const te::Fuse& fuse) { go_up(fuse, domains); },
          [&](const te::Rebase& rebase) {
            const Interval& domain = domains.at(rebase.rebased);
            const Range& parent = ranges_.at(rebase.parent);
            domains.set(rebase.parent,
                        is_same(domain, ranges_.at(rebase.rebased))
                            ? Interval::from_range(parent)
                            : Interval::of(*domain.min() + parent.min, *domain.max() + parent.min));
          },
          [](const te::Singleton&) {}, [](const te::Transform&) { throw NotTold{}; });
    }
  }

  void go_up(const te::Split& split, AxisMap<Interval>& domains) const {
    const Interval &outer = domains.at(split.outer), &inner = domains.at(split.inner);
    const Range& parent = ranges_.at(split.parent);
    if (is_same(outer, ranges_.at(split.outer)) && is_same(inner, ranges_.at(split.inner)))
      return domains.set(split.parent, Interval::from_range(parent));
    IntervalMap children;
    children.set(split.outer.var(), outer);
    children.set(split.inner.var(), inner);
    const Expr& step = ranges_.at(split.inner).extent;
    domains.set(split.parent, values_of(split.outer * step + split.inner + parent.min, children));
  }

  void go_up(const te::Fuse& fuse, AxisMap<Interval>& domains) const {
    const Interval& fused = domains.at(fuse.fused);
    const Range &rows = ranges_.at(fuse.outer), &columns = ranges_.at(fuse.inner);
    const Expr &width = columns.extent, &first = *fused.min(), &last = *fused.max();
    const auto row = [&](const Expr& at) { return rows.min + floordiv(at, width); };
    const auto column = [&](const Expr& at) { return columns.min + floormod(at, width); };
    if (is_same(fused, ranges_.at(fuse.fused))) {
      domains.set(fuse.outer, Interval::from_range(rows));
      return domains.set(fuse.inner, Interval::from_range(columns));
    }
    if (fused.is_point()) {
      const Expr at = first;
      domains.set(fuse.outer, Interval::point(row(at)));
      return domains.set(fuse.inner, Interval::point(column(at)));
    }
    const Expr length = last - first + 1;
    const bool in_one_row = tir::is_zero(simplify(floormod(width, length))) &&
                            tir::is_zero(simplify(floormod(first, length)));
    const Interval stretch =
        in_one_row ? Interval::of(column(first), column(last)) : Interval::from_range(columns);
    domains.set(fuse.outer, Interval::of(row(first), row(last)));
    domains.set(fuse.inner, stretch);
  }

  const te::StageGraph& graph_;
  AxisMap<Range> ranges_;
  /// The ranges of all axes so far, for what is proved on the way down.
  Facts known_;
};

}  // namespace

std::optional<AxisMap<Range>> reference_bounds(const te::StageGraph& graph) {
  try {
    return Inference(graph).run();
  } catch (const NotTold&) {
    return std::nullopt;
  }
}

// ---- how much memory that is --------------------------------------------------------------------

namespace {

/// The loops around a stage, run for their values alone.
class Iterations {
 public:
  Iterations(std::vector<IterVar> loops, std::vector<const IterVar*> threads,
             const AxisMap<Range>& ranges)
      : loops_(std::move(loops)), threads_(std::move(threads)), ranges_(ranges) {}

  /// False beyond the most iterations.
  template <class F>
  bool for_each(F f, std::size_t depth = 0) {
    if (depth == loops_.size()) {
      f();
      return ++count_ <= kMax;
    }
    const std::int64_t extent = value(ranges_.at(loops_[depth]).extent);
    for (std::int64_t at = 0; at < extent; ++at) {
      set(loops_[depth].var(), at);
      if (threads_[depth]) set(threads_[depth]->var(), at);
      if (!for_each(f, depth + 1)) return false;
    }
    return true;
  }

  std::int64_t value(const Expr& e) const {
    return tir::evaluate_int(e, [&](const Var& var) {
      for (const auto& [known, value] : values_)
        if (known.same_as(var)) return value;
      throw NotTold{};
    });
  }

 private:
  static constexpr std::int64_t kMax = 1'000'000;

  void set(const Var& var, std::int64_t value) {
    for (auto& [known, old] : values_)
      if (known.same_as(var)) return void(old = value);
    values_.emplace_back(var, value);
  }

  std::vector<IterVar> loops_;
  std::vector<const IterVar*> threads_;
  const AxisMap<Range>& ranges_;
  std::vector<std::pair<Var, std::int64_t>> values_;
  std::int64_t count_ = 0;
};

}  // namespace

std::optional<std::vector<std::int64_t>> greatest_extents(const te::StageGraph& graph, StageId id,
                                                          const AxisMap<Range>& ranges) {
  std::vector<Expr> extents;
  for (const IterVar& axis : graph.stage(id).op.axis()) extents.push_back(ranges.at(axis).extent);
  std::vector<IterVar> loops;
  std::vector<const IterVar*> threads;
  if (!std::ranges::all_of(extents, [](const Expr& e) { return tir::constant_int(e).has_value(); }))
    for (const AttachPoint& loop : graph.attach_path(id) | std::views::reverse) {
      loops.push_back(loop.axis);
      threads.push_back(thread_of(graph.stage(loop.stage), loop.axis));
    }
  std::vector<std::int64_t> greatest(extents.size(), 0);
  Iterations iterations(std::move(loops), std::move(threads), ranges);
  try {
    const bool is_all = iterations.for_each([&] {
      for (std::size_t d = 0; d < extents.size(); ++d)
        greatest[d] = std::max(greatest[d], iterations.value(extents[d]));
    });
    if (!is_all) return std::nullopt;
  } catch (const NotTold&) {
    return std::nullopt;
  }
  return greatest;
}

}  // namespace tenon::testing
