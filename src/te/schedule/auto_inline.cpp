#include "tenon/te/auto_inline.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "te/operations/body.h"
#include "te/schedule/schedule_data.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

// ---- kinds of operations ------------------------------------------------------------------------

namespace {

/// Returns the operation as an expression of its inputs; null if it is not an expression. An
/// operation with side effects does not qualify, because inlining would repeat them.
const Compute* as_expression(const Operation& op) {
  const Compute* compute = op.as<Compute>();
  if (!compute || compute->body.size() != 1 || compute->reduction()) return nullptr;
  return tir::effect_of(compute->body.front()) == tir::Effect::UpdateState ? nullptr : compute;
}

/// Whether the test holds for every read in the operation.
bool all_reads(const Operation& op,
               FunctionRef<bool(const Tensor&, const std::vector<Expr>& indices)> test) {
  return std::ranges::all_of(collect_reads(op),
                             [&](const TensorRead& read) { return test(read.first, read.second); });
}

bool is_at(const Expr& index, const IterVar& axis) { return index.same_as(axis.var()); }

bool is_at_some_axes(const Tensor& tensor, const std::vector<Expr>& indices,
                     const std::vector<IterVar>& axes) {
  auto next = axes.begin();
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const Expr& index = indices[n];
    if (tir::is_constant(index) && tir::is_one(tensor.shape()[n])) continue;
    next = std::find_if(next, axes.end(), [&](const IterVar& axis) { return is_at(index, axis); });
    if (next == axes.end()) return false;
    ++next;
  }
  return true;
}

}  // namespace

bool is_elementwise(const Operation& op) {
  const Compute* compute = as_expression(op);
  return compute && all_reads(op, [&](const Tensor&, const std::vector<Expr>& indices) {
           return std::ranges::equal(indices, compute->axis, is_at);
         });
}

bool is_broadcast(const Operation& op) {
  const Compute* compute = as_expression(op);
  return compute && all_reads(op, [&](const Tensor& tensor, const std::vector<Expr>& indices) {
           return is_at_some_axes(tensor, indices, compute->axis);
         });
}

bool is_injective(const Operation& op) { return as_expression(op) != nullptr; }

// ---- legality -----------------------------------------------------------------------------------

namespace {

bool is_untouched(const StageData& stage) {
  return stage.has_default_loops() && stage.op.same_as(stage.origin_op) &&
         std::holds_alternative<AttachRoot>(stage.attach) && !stage.scope &&
         !stage.store_predicate && !stage.double_buffer && !stage.rolling_buffer && !stage.group &&
         !stage.layout;
}

bool is_inlined(const StageData& stage) {
  return std::holds_alternative<AttachInline>(stage.attach);
}

/// Returns the stages that must not be inlined, because other stages are attached to their loops or
/// because their memory is prefetched.
std::set<StageNumber> find_needed(const ScheduleData& schedule) {
  std::set<StageNumber> needed;
  auto need_target = [&](const Attach& attach) {
    if (const AttachAt* at = std::get_if<AttachAt>(&attach)) needed.insert(at->stage);
  };
  for (const StageData& stage : schedule.stages) {
    need_target(stage.attach);
    for (const auto& [axis, attributes] : stage.attributes)
      for (const PrefetchRequest& request : attributes.prefetches)
        if (const std::optional<StageOutput> output = schedule.find(request.tensor))
          needed.insert(output->stage);
  }
  for (const GroupData& group : schedule.groups) need_target(group.attach);
  return needed;
}

/// Whether a read in the stage can be replaced by an expression.
bool takes_expressions(const StageData& reader) {
  return reader.op.as<Compute>() && !reader.is_tensorized();
}

// ---- size after inlining ------------------------------------------------------------------------

/// Maximum number of operations of a stage after inlining. Larger stages compile and run slowly;
/// compute_inline has a much higher limit.
constexpr double kMaxWritten = 1 << 16;

/// The number of operations of an expression after inlining: the last element, plus the n-th
/// element times the size of the index that replaces the stage's n-th axis. Floating point, so that
/// exponential growth saturates at infinity.
using WrittenSize = std::vector<double>;

void add(WrittenSize& sum, const WrittenSize& other, double times) {
  for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += times * other[n];
}

class InlinedSizes {
 public:
  explicit InlinedSizes(const ScheduleData& schedule)
      : schedule_(schedule), sizes_(schedule.stages.size()) {}

  /// Memoizes the size of an inlined stage. Precondition: no further input of the stage will be
  /// inlined.
  void settle(StageNumber id) { sizes_[id.index()] = of_body(id); }

  /// Returns the size of a stage in which all stages inlined so far are expanded.
  double of_stage(StageNumber id) {
    const WrittenSize size = of_body(id);
    for (StageNumber later : unsettled_) sizes_[later.index()].reset();
    unsettled_.clear();
    return std::accumulate(size.begin(), size.end(), 0.0);
  }

 private:
  using KnownSizes = std::unordered_map<const tir::ExprNode*, WrittenSize>;

  WrittenSize of_body(StageNumber id) {
    if (is_stack_low()) return with_deep_stack([&] { return of_body(id); });
    const Compute& compute = *schedule_.stage(id).op.as<Compute>();
    KnownSizes known;
    WrittenSize sum(compute.axis.size() + 1, 0);
    // All components of a reduction have the same expressions, so only one component is counted.
    const std::size_t bodies = compute.reduction() ? 1 : compute.body.size();
    for (std::size_t n = 0; n < bodies; ++n)
      add(sum, of_expression(compute.body[n], compute.axis, known), 1);
    return sum;
  }

  /// Returns the size of an expression in the body of a stage with these axes.
  WrittenSize of_expression(const Expr& e, const std::vector<IterVar>& axes, KnownSizes& known) {
    if (auto found = known.find(&e.node()); found != known.end()) return found->second;
    WrittenSize size(axes.size() + 1, 0);
    const auto axis =
        std::ranges::find_if(axes, [&](const IterVar& candidate) { return is_at(e, candidate); });
    if (axis != axes.end()) {
      size[static_cast<std::size_t>(axis - axes.begin())] = 1;
    } else if (const std::optional<StageNumber> stage = inlined_read(e)) {
      const WrittenSize read = of_inlined(*stage);
      const std::vector<Expr>& indices = e.as<tir::ProducerLoad>()->indices;
      size.back() = read.back();
      for (std::size_t n = 0; n < indices.size(); ++n)
        add(size, of_expression(indices[n], axes, known), read[n]);
    } else {
      size.back() = 1;
      tir::for_each_child(
          e, [&](const Expr& child) { add(size, of_expression(child, axes, known), 1); });
    }
    known.emplace(&e.node(), size);
    return size;
  }

  std::optional<StageNumber> inlined_read(const Expr& e) const {
    const tir::ProducerLoad* load = e.as<tir::ProducerLoad>();
    if (!load) return std::nullopt;
    const StageOutput read = *schedule_.find(Tensor::of(*load));
    return is_inlined(schedule_.stage(read.stage)) ? std::optional(read.stage) : std::nullopt;
  }

  WrittenSize of_inlined(StageNumber id) {
    std::optional<WrittenSize>& size = sizes_[id.index()];
    if (!size) {
      size = of_body(id);
      unsettled_.push_back(id);
    }
    return *size;
  }

  const ScheduleData& schedule_;
  /// For each inlined stage, the size of its expression, memoized by settle or during a query.
  std::vector<std::optional<WrittenSize>> sizes_;
  /// Stages whose memoized size is dropped at the end of the current query.
  std::vector<StageNumber> unsettled_;
};

// ---- inlining -----------------------------------------------------------------------------------

/// Returns the stages whose loops would contain the stage's expression if it were inlined. A reader
/// that is itself inlined is replaced by its own readers.
std::vector<StageNumber> final_readers(const ScheduleData& schedule, StageNumber id) {
  std::vector<StageNumber> found, pending{id};
  std::set<StageNumber> seen;
  while (!pending.empty()) {
    const StageNumber next = pending.back();
    pending.pop_back();
    for (StageNumber reader : schedule.readers_by_age(next)) {
      if (!seen.insert(reader).second) continue;
      (is_inlined(schedule.stage(reader)) ? pending : found).push_back(reader);
    }
  }
  return found;
}

/// Inlines the stages whose operations are of the kind. Returns these operations in stage order.
std::vector<Operation> auto_inline(const Schedule& schedule, bool (*is_of_kind)(const Operation&),
                                   const SourceLocation& where) {
  const ScheduleData& data = schedule.data();
  const std::set<StageNumber> needed = find_needed(data);
  InlinedSizes sizes(data);
  const auto try_inline = [&](StageNumber id) {
    const StageData& stage = data.stage(id);
    if (stage.is_output || needed.contains(id) || !is_untouched(stage) || !is_of_kind(stage.op))
      return false;
    const std::vector<StageNumber> readers = final_readers(data, id);
    if (!std::ranges::all_of(
            readers, [&](StageNumber reader) { return takes_expressions(data.stage(reader)); }))
      return false;
    const Stage handle = schedule[StageKey(stage.origin_op, where)];
    handle.compute_inline(where);
    if (std::ranges::all_of(
            readers, [&](StageNumber reader) { return sizes.of_stage(reader) <= kMaxWritten; }))
      return true;
    handle.compute_root(where);
    return false;
  };
  std::vector<Operation> result;
  for (StageNumber id : data.order) {
    const Operation op = data.stage(id).origin_op;
    if (try_inline(id)) result.push_back(op);
    if (is_inlined(data.stage(id))) sizes.settle(id);
  }
  return result;
}

}  // namespace

bool is_untouched(const Stage& stage) { return !stage.is_group() && is_untouched(stage.data()); }

std::vector<Operation> auto_inline_elementwise(const Schedule& schedule, SourceLocation where) {
  return auto_inline(schedule, is_elementwise, where);
}
std::vector<Operation> auto_inline_broadcast(const Schedule& schedule, SourceLocation where) {
  return auto_inline(schedule, is_broadcast, where);
}
std::vector<Operation> auto_inline_injective(const Schedule& schedule, SourceLocation where) {
  return auto_inline(schedule, is_injective, where);
}

}  // namespace tenon::te
