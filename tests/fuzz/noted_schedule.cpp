#include "tests/fuzz/noted_schedule.h"

#include <algorithm>

#include "tenon/tir/walk.h"
#include "tenon/topi/schedule.h"

namespace tenon::fuzz {

using te::IterVar;

namespace {

bool is_reduction(const IterVar& axis) { return axis.kind() == tir::IterKind::Reduce; }

/// The text after the preposition.
std::string amount(const tir::Operand& number) {
  const std::optional<std::int64_t> constant = tir::constant_int(number.alone());
  if (!constant) return "a size";
  return *constant >= (1 << 15) - 1 ? "2^15 or more" : "a constant";
}

bool reads(const te::Operation& reader, const te::Stage& producer) {
  return std::ranges::any_of(reader.inputs(), [&](const te::Tensor& input) {
    return input.op().same_as(producer.op()) || input.op().same_as(producer.origin_op());
  });
}

/// The sign of a zero depends on the order of a sum, like the digits of other sums.
void require_partial_sums(const te::Operation& op) {
  if (op.tag() == kSumOfZeros)
    throw ScheduleError("partial sums start from 0.0, and this sum from -0.0");
}

}  // namespace

StageKind kind_of(const te::Stage& stage) {
  if (stage.is_group()) return StageKind::Group;
  const te::Operation op = stage.op();
  if (op.as<te::Placeholder>()) return StageKind::Input;
  if (op.as<te::Scan>()) return StageKind::Scan;
  if (op.as<te::Extern>()) return StageKind::Extern;
  if (op.as<te::TensorCompute>()) return StageKind::Region;
  const std::string& name = op.name();
  if (name.ends_with(".rf")) return StageKind::Factored;
  for (const char* scope : {".local", ".global", ".shared", ".shared.dyn", ".warp"})
    if (name.ends_with(scope) && op.reduce_axis().empty()) return StageKind::Copy;
  const bool is_one = op.num_outputs() == 1;
  if (op.reduce_axis().empty()) return is_one ? StageKind::Elementwise : StageKind::SeveralOutputs;
  return is_one ? StageKind::Reduction : StageKind::Tuple;
}

void NotedStage::note(std::string_view primitive, std::string_view option) const {
  notes_->primitive(primitive, option, kind_of(stage_));
}

// ---- loops

void NotedStage::note_split(std::string_view primitive, const IterVar& axis, const tir::Operand& by,
                            std::string_view preposition) const {
  note(primitive, std::string(preposition) + " " + amount(by));
  if (is_reduction(axis)) note(primitive, "of a reduction");
}

te::Stage::SplitAxes NotedStage::split(const IterVar& axis, const tir::Operand& factor) const {
  note_split("split", axis, factor, "by");
  return stage_.split(axis, factor);
}

te::Stage::SplitAxes NotedStage::split_by_nparts(const IterVar& axis,
                                                 const tir::Operand& nparts) const {
  note_split("split_by_nparts", axis, nparts, "into");
  return stage_.split_by_nparts(axis, nparts);
}

IterVar NotedStage::fuse(const std::vector<IterVar>& axes) const {
  note("fuse", axes.empty()       ? "nothing"
               : axes.size() == 1 ? "one loop"
               : axes.size() == 2 ? "two loops"
                                  : "three or more");
  const bool some = std::ranges::any_of(axes, is_reduction);
  if (some)
    note("fuse", std::ranges::all_of(axes, is_reduction) ? "of a reduction" : "data and reduction");
  return stage_.fuse(axes);
}

IterVar NotedStage::fuse(const IterVar& outer, const IterVar& inner) const {
  return fuse(std::vector{outer, inner});
}

te::Stage::TileAxes NotedStage::tile(const IterVar& x, const IterVar& y,
                                     const tir::Operand& x_factor,
                                     const tir::Operand& y_factor) const {
  const bool by_size = amount(x_factor) == "a size" || amount(y_factor) == "a size";
  note("tile", by_size ? "by a size" : "by constants");
  return stage_.tile(x, y, x_factor, y_factor);
}

NotedStage NotedStage::reorder(const std::vector<IterVar>& order) const {
  note("reorder", order.size() == leaf_iter_vars().size() ? "all loops" : "some loops");
  stage_.reorder(order);
  return *this;
}

// ---- how a loop runs

void NotedStage::note_loop(std::string_view primitive, const IterVar& axis) const {
  note(primitive, is_reduction(axis) ? "a reduction" : "data");
}

NotedStage NotedStage::vectorize(const IterVar& axis) const {
  note_loop("vectorize", axis);
  stage_.vectorize(axis);
  return *this;
}

NotedStage NotedStage::unroll(const IterVar& axis) const {
  note_loop("unroll", axis);
  stage_.unroll(axis);
  return *this;
}

NotedStage NotedStage::parallel(const IterVar& axis) const {
  note_loop("parallel", axis);
  stage_.parallel(axis);
  return *this;
}

NotedStage NotedStage::bind(const IterVar& axis, const IterVar& thread) const {
  note("bind", thread.thread()->str());
  if (thread.dom()) note("bind", "a thread of a range");
  if (is_reduction(axis)) {
    note("bind", "a reduction");
    require_partial_sums(op());
  }
  stage_.bind(axis, thread);
  return *this;
}

NotedStage NotedStage::pragma(const IterVar& axis, const std::string& key,
                              te::PragmaValue value) const {
  const auto& rows = coverage_tables().front().rows;
  const bool is_known = std::ranges::any_of(
      rows, [&](const auto& row) { return row.what == "pragma" && row.option == key; });
  note("pragma", is_known ? key : "of no meaning");
  stage_.pragma(axis, key, std::move(value));
  return *this;
}

NotedStage NotedStage::prefetch(const te::Tensor& tensor, const IterVar& axis,
                                const tir::Operand& offset) const {
  note("prefetch", tensor.op().as<te::Placeholder>() ? "of an input" : "of a stage");
  if (!tir::constant_int(offset.alone())) note("prefetch", "by a size");
  stage_.prefetch(tensor, axis, offset);
  return *this;
}

NotedStage NotedStage::tensorize(const IterVar& axis, const te::TensorIntrin& intrin) const {
  const te::TensorIntrinBody& code = intrin.node().body;
  note("tensorize", !code.body    ? "reset and update"
                    : code.update ? "body, reset and update"
                                  : "body alone");
  const auto says_strides = [](const tir::Buffer& buffer) {
    return buffer.strides().size() > 1 && tir::constant_int(buffer.strides().front());
  };
  if (std::ranges::any_of(intrin.node().buffers, says_strides))
    note("tensorize", "strides declared");
  stage_.tensorize(axis, intrin);
  return *this;
}

// ---- where and how it is stored

NotedStage NotedStage::compute_at(const NotedStage& parent, const IterVar& axis) const {
  const bool is_reader = stage_.is_group() || reads(parent.op(), stage_);
  note("compute_at", is_reader ? "at a reader" : "at another stage");
  stage_.compute_at(parent.stage_, axis);
  return *this;
}

NotedStage NotedStage::compute_inline() const {
  note("compute_inline");
  stage_.compute_inline();
  return *this;
}

NotedStage NotedStage::compute_root() const {
  note("compute_root");
  stage_.compute_root();
  return *this;
}

NotedStage NotedStage::set_scope(const std::string& scope) const {
  note("set_scope", scope);
  stage_.set_scope(scope);
  return *this;
}

NotedStage NotedStage::set_store_predicate(const tir::Operand& condition) const {
  const Expr holds = condition.alone();
  const bool is_of_thread = std::ranges::any_of(leaf_iter_vars(), [&](const IterVar& leaf) {
    const te::ThreadMark* mark = data().thread_mark_of(leaf);
    return mark && tir::uses_var(holds, mark->axis.var());
  });
  note("set_store_predicate", is_of_thread ? "of a thread" : "of data");
  stage_.set_store_predicate(condition);
  return *this;
}

NotedStage NotedStage::env_threads(const std::vector<IterVar>& threads) const {
  note("env_threads", threads.size() == 1 ? "one" : "several");
  stage_.env_threads(threads);
  return *this;
}

NotedStage NotedStage::storage_align(const IterVar& axis, int factor, int offset) const {
  note("storage_align");
  stage_.storage_align(axis, factor, offset);
  return *this;
}

NotedStage NotedStage::double_buffer() const {
  note("double_buffer");
  stage_.double_buffer();
  return *this;
}

NotedStage NotedStage::round_up(const te::IterVar& axis) const {
  note("round_up");
  stage_.round_up(axis);
  return *this;
}

NotedStage NotedStage::shift_inwards(const te::IterVar& axis) const {
  note("shift_inwards");
  stage_.shift_inwards(axis);
  return *this;
}

NotedStage NotedStage::autotune_loops() const {
  note("autotune_loops");
  stage_.autotune_loops();
  return *this;
}

NotedStage NotedStage::rolling_buffer() const {
  note("rolling_buffer");
  stage_.rolling_buffer();
  return *this;
}

std::vector<IterVar> NotedStage::transform_layout(const te::IndexFunction<std::vector<Expr>>& map,
                                                  te::LayoutOptions options) const {
  note("transform_layout", options.pad ? "padded" : "plain");
  const te::IndexFunction<std::vector<Expr>> watched = [&](std::span<const Var> at) {
    std::vector<Expr> to = map(at);
    for (const Expr& e : to)
      if (e.as<tir::StringImm>()) note("transform_layout", "with a separator");
    return to;
  };
  return stage_.transform_layout(watched, options);
}

// ---- of a whole schedule

std::vector<NotedStage> NotedSchedule::stages() const {
  std::vector<NotedStage> stages;
  for (const te::Stage& stage : schedule_.stages()) stages.emplace_back(stage, *notes_);
  return stages;
}

void NotedSchedule::note_all(std::string_view primitive) const {
  for (const te::Stage& stage : schedule_.stages())
    notes_->primitive(primitive, "", kind_of(stage));
}

te::Tensor NotedSchedule::cache_read(const te::Tensor& tensor, const std::string& scope,
                                     const std::vector<te::Operation>& readers) const {
  const StageKind kind = kind_of(schedule_[tensor]);
  notes_->primitive("cache_read", scope, kind);
  notes_->primitive("cache_read",
                    readers.empty()       ? "all readers"
                    : readers.size() == 1 ? "one reader"
                                          : "several readers",
                    kind);
  return schedule_.cache_read(tensor, scope, readers);
}

std::vector<te::Tensor> NotedSchedule::cache_write(const std::vector<te::Tensor>& tensors,
                                                   const std::string& scope) const {
  notes_->primitive("cache_write", scope, kind_of(schedule_[tensors.front()]));
  return schedule_.cache_write(tensors, scope);
}

std::vector<te::Tensor> NotedSchedule::rfactor(const std::vector<te::Tensor>& tensors,
                                               const IterVar& axis, int factor_axis) const {
  notes_->primitive("rfactor",
                    factor_axis == 0    ? "first"
                    : factor_axis == -1 ? "last"
                                        : "in between",
                    kind_of(schedule_[tensors.front()]));
  require_partial_sums(tensors.front().op());
  return schedule_.rfactor(tensors, axis, factor_axis);
}

NotedStage NotedSchedule::create_group(const std::vector<te::Tensor>& outputs,
                                       const std::vector<te::Tensor>& inputs,
                                       bool include_inputs) const {
  const StageKind kind = kind_of(schedule_[outputs.front()]);
  notes_->primitive("create_group", include_inputs ? "with inputs" : "without inputs", kind);
  if (outputs.size() > 1) notes_->primitive("create_group", "of several outputs", kind);
  return {schedule_.create_group(outputs, inputs, include_inputs), *notes_};
}

NotedSchedule NotedSchedule::normalize() const {
  note_all("normalize");
  return {schedule_.normalize(), *notes_};
}

NotedSchedule NotedSchedule::copy() const {
  note_all("copy");
  return {schedule_.copy(), *notes_};
}

void NotedSchedule::schedule_by_topi(const std::vector<te::Tensor>& outputs,
                                     const tir::TargetFacts& target) const {
  note_all("topi::schedule");
  for (const te::Stage& stage : schedule_.stages()) require_partial_sums(stage.op());
  topi::schedule(schedule_, outputs, target);
}

}  // namespace tenon::fuzz
