#include "te/schedule/normalize.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "te/operations/body.h"
#include "te/schedule/schedule_data.h"
#include "te/schedule/stage_edit.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"

namespace tenon::te {

namespace {

// Expansion of inlined stages in their readers.

/// Maximum number of expressions in a stage after inlining. It also limits how many expressions are
/// created for one stage.
constexpr std::size_t kMaxInlinedNodes = std::size_t{1} << 20;

/// Rewrites the expressions of one stage. Replaces a read of an inlined stage by that stage's body,
/// at the indices of the read. Reads in the inserted body are replaced in the same visit, so that
/// nothing is copied twice. Equal reads share one expansion.
class Expander {
 public:
  Expander(const ScheduleData& schedule, const std::vector<bool>& is_inlined,
           const StageData& reader, const SourceLocation& where)
      : schedule_(schedule), is_inlined_(is_inlined), reader_(reader), where_(where) {}

  Expr operator()(const Expr& e) { return visit(e, {}, done_); }

  [[noreturn]] void refuse() const {
    fail("normalize", reader_,
         "after inlining, the stage would have more than " + std::to_string(kMaxInlinedNodes) +
             " operations; compute some of the inlined stages as tensors (compute_root or "
             "compute_at)",
         where_);
  }

 private:
  /// `axes` are the values of the axes in the body being visited, and `done` is the memo table for
  /// its expressions.
  Expr visit(const Expr& e, const tir::VarMap& axes, ExprMemo& done) {
    if (const Expr* known = done.find(&e.node())) return *known;
    spend();
    Expr result = e;
    if (e.as<tir::VarNode>()) {
      if (auto axis = axes.find(&e.node()); axis != axes.end()) result = axis->second;
    } else {
      result = tir::map_children(e, [&](const Expr& child) { return visit(child, axes, done); });
      if (const tir::ProducerLoad* load = result.as<tir::ProducerLoad>())
        result = read(*load, result);
      result = arith::keep_wrapping(e, result, reader_.op.root_iter_vars());
    }
    done.try_emplace(&e.node(), result);
    return result;
  }

  Expr read(const tir::ProducerLoad& load, const Expr& self) {
    const Tensor tensor = Tensor::of(load);
    const std::optional<StageOutput> output = schedule_.find(tensor);
    if (!output)
      internal_error("a read of tensor `" + tensor.name() + "`, which no stage computes");
    if (is_inlined_[output->stage.index()]) return expand(*output, load.indices);
    const Tensor present = schedule_.tensor(*output);
    return present.same_as(tensor) ? self
                                   : tir::make_producer_load(present.producer(), load.indices);
  }

  Expr expand(const StageOutput& output, const std::vector<Expr>& indices) {
    std::size_t key = output.stage.index() * 31 + static_cast<std::size_t>(output.index);
    for (const Expr& index : indices) key = key * 31 + index.node().hash;
    for (const auto& [known_output, known_indices, value] : expansions_[key])
      if (known_output == output && tir::structural_equal(known_indices, indices)) return value;
    const Compute& compute = *schedule_.stage(output.stage).op.as<Compute>();
    tir::VarMap axes;
    ExprMemo done;
    for (std::size_t n = 0; n < indices.size(); ++n)
      set(axes, compute.axis[n].var(), tir::cast(compute.axis[n].var().dtype(), indices[n]));
    Expr value = visit(compute.body[static_cast<std::size_t>(output.index)], axes, done);
    expansions_[key].emplace_back(output, indices, value);
    return value;
  }

  void spend() {
    if (++spent_ > kMaxInlinedNodes) refuse();
  }

  const ScheduleData& schedule_;
  const std::vector<bool>& is_inlined_;
  const StageData& reader_;
  const SourceLocation& where_;
  /// The memo table for the stage's own expressions.
  ExprMemo done_;
  /// The values that replace reads of inlined outputs: the output, the indices of the read and the
  /// value, by a hash of the output and the indices. Never iterated, because the order is
  /// unspecified.
  std::unordered_map<std::size_t, std::vector<std::tuple<StageOutput, std::vector<Expr>, Expr>>>
      expansions_;
  std::size_t spent_ = 0;
};

/// Returns the stages to inline. Throws if a stage is marked for inlining but cannot be inlined.
std::vector<bool> find_inlined(ScheduleData& schedule) {
  std::vector<bool> is_inlined(schedule.stages.size(), false);
  for (StageNumber id : schedule.order) {
    const StageData& stage = schedule.stage(id);
    if (!std::holds_alternative<AttachInline>(stage.attach)) continue;
    StageEdit(schedule, id, "compute_inline", stage.attach_where).check_can_inline();
    is_inlined[id.index()] = true;
  }
  for (StageNumber reader : schedule.order) {
    if (schedule.stage(reader).op.as<Compute>()) continue;
    for (const StageOutput& read : schedule.reads(reader)) {
      if (!is_inlined[read.stage.index()]) continue;
      is_inlined[read.stage.index()] = false;
      schedule.stage(read.stage).attach = AttachRoot{};
    }
  }
  return is_inlined;
}

/// Returns the operation with its reads expanded, or the same operation if nothing changes.
Operation settled(const ScheduleData& schedule, const StageData& stage, Expander& expand) {
  const Compute* compute = stage.op.as<Compute>();
  if (!compute)
    return replace_inputs(stage.op, [&](const Tensor& tensor) -> std::optional<Tensor> {
      return schedule.tensor(*schedule.find(tensor));
    });
  std::vector<Expr> bodies = map_bodies(compute->body, std::ref(expand), /*maps_ranges=*/true);
  if (std::ranges::equal(bodies, compute->body, &Expr::same_as)) return stage.op;
  for (const Expr& body : bodies)
    if (tree_size(body, kMaxInlinedNodes) >= kMaxInlinedNodes) expand.refuse();
  return make_compute(stage.op.name(), compute->axis, std::move(bodies),
                      {stage.op.tag(), stage.op.attrs()}, stage.op.where());
}

void settle(ScheduleData& schedule, StageNumber id, const std::vector<bool>& is_inlined,
            const SourceLocation& where) {
  StageData& stage = schedule.stage(id);
  Expander expand(schedule, is_inlined, stage, where);
  Operation op = settled(schedule, stage, expand);
  if (!op.same_as(stage.op)) schedule.set_op(id, std::move(op));
  StageData& present = schedule.stage(id);
  if (present.store_predicate) present.store_predicate = expand(*present.store_predicate);
  for (auto& [axis, attributes] : present.attributes) {
    for (PrefetchRequest& request : attributes.prefetches) {
      const StageOutput output = *schedule.find(request.tensor);
      if (is_inlined[output.stage.index()])
        fail("prefetch", present, axis,
             "tensor `" + request.tensor.name() + "` is inlined and has no memory", request.where);
      request.tensor = schedule.tensor(output);
    }
  }
}

/// Updates the operation of every stage in `schedule.order` to read the current outputs of stages
/// that are not inlined, and removes the inlined stages from the order. If an inlined stage has a
/// reader that is not a compute, the stage is kept and computed at root. Takes time linear in its
/// output. Throws ScheduleError beyond a budget.
void inline_stages(ScheduleData& schedule, const SourceLocation& where) {
  const std::vector<bool> is_inlined = find_inlined(schedule);
  std::vector<StageNumber> remaining;
  for (StageNumber id : schedule.order) {
    if (is_inlined[id.index()]) continue;
    remaining.push_back(id);
    settle(schedule, id, is_inlined, where);
  }
  schedule.order = std::move(remaining);
}

// Rebases every root axis that is a loop. A stage that is attached inside another stage's loops
// computes a region that need not start at 0, regardless of its axes' declared ranges.
void rebase_loops(StageData& stage) {
  for (const IterVar& root : stage.op.root_iter_vars()) {
    const std::optional<int> place = stage.leaf_position(root);
    if (!place) continue;
    IterVar rebased(std::nullopt, root.var().fresh(), root.kind());
    stage.relations.push_back(Rebase{root, rebased});
    stage.all_iter_vars.push_back(rebased);
    stage.leaf_iter_vars[static_cast<std::size_t>(*place)] = rebased;
    if (!stage.attributes_of(root)) continue;
    LoopAttributes moved = std::exchange(
        static_cast<LoopAttributes&>(stage.attributes_of_or_new(root)), LoopAttributes{});
    stage.attributes.emplace_back(rebased, AxisAttributes{std::move(moved), {}});
  }
}

/// Returns the loop derived from an axis: the inner one of a split, or the fused one.
IterVar loop_of(const StageSpec& stage, IterVar axis, const std::string& attached,
                const SourceLocation& where) {
  while (!stage.has_leaf(axis)) {
    const Relation* consumer = stage.consumer_of(axis);
    if (!consumer)
      throw ScheduleError("compute_at of " + attached + ": " + describe(stage) +
                              " no longer has axis `" + axis.name() + "`; its loops are " +
                              describe(stage.leaf_iter_vars),
                          where);
    axis = children_of(*consumer).back();
  }
  return axis;
}

void settle_attach(const ScheduleData& schedule, Attach& attach, const std::string& attached,
                   const SourceLocation& where) {
  if (AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach))
    at->axis = loop_of(schedule.stage(at->scan), at->axis, attached, where);
  AttachAt* at = std::get_if<AttachAt>(&attach);
  if (!at) return;
  const StageData& target = schedule.stage(at->stage);
  const bool is_gone = std::ranges::find(schedule.order, at->stage) == schedule.order.end();
  if (is_gone)
    throw ScheduleError(
        "compute_at of " + attached + ": " + describe(target) + " is inlined and has no loops",
        where);
  at->axis = loop_of(target, at->axis, attached, where);
}

}  // namespace

void normalize(ScheduleData& schedule, const SourceLocation& where) {
  inline_stages(schedule, where);
  for (StageNumber id : schedule.order) rebase_loops(schedule.stage(id));
  for (StageNumber id : schedule.order) {
    StageData& stage = schedule.stage(id);
    // A placeholder is not computed, regardless of its attachment.
    if (stage.op.as<Placeholder>()) stage.attach = AttachRoot{};
    settle_attach(schedule, stage.attach, describe(stage), stage.attach_where);
  }
  for (GroupData& group : schedule.groups)
    settle_attach(schedule, group.attach, "group `" + group.name + "`", group.attach_where);
}

}  // namespace tenon::te
