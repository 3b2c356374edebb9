// A schedule whose primitives are noted, with their options and the kind of the operation, and then
// passed on. Random steps call primitives through these alone, so that the tables of coverage.h
// show what they do. A method for each primitive of te::Stage and te::Schedule, of the same name
// and meaning.
#pragma once

#include <tenon/tenon.h>

#include "tenon/te/stage_data.h"
#include "tests/fuzz/coverage.h"

namespace tenon::fuzz {

/// The tag of a sum that starts from -0.0.
constexpr const char* kSumOfZeros = "sum of zeros";

StageKind kind_of(const te::Stage& stage);

class NotedStage {
 public:
  NotedStage(te::Stage stage, Notes& notes) : stage_(std::move(stage)), notes_(&notes) {}

  // ---- questions
  te::Operation op() const { return stage_.op(); }
  te::Operation origin_op() const { return stage_.origin_op(); }
  te::IterVar axis(int n) const { return stage_.axis(n); }
  te::IterVar reduce_axis(int n) const { return stage_.reduce_axis(n); }
  const std::vector<te::IterVar>& leaf_iter_vars() const { return stage_.leaf_iter_vars(); }
  const te::StageData& data() const { return stage_.data(); }
  std::string name() const { return stage_.name(); }
  /// To ask, not to change.
  const te::Stage& plain() const { return stage_; }

  // ---- loops
  te::Stage::SplitAxes split(const te::IterVar& axis, const tir::Operand& factor) const;
  te::Stage::SplitAxes split_by_nparts(const te::IterVar& axis, const tir::Operand& nparts) const;
  te::IterVar fuse(const std::vector<te::IterVar>& axes) const;
  te::IterVar fuse(const te::IterVar& outer, const te::IterVar& inner) const;
  te::Stage::TileAxes tile(const te::IterVar& x, const te::IterVar& y, const tir::Operand& x_factor,
                           const tir::Operand& y_factor) const;
  NotedStage reorder(const std::vector<te::IterVar>& order) const;

  // ---- how a loop runs
  NotedStage vectorize(const te::IterVar& axis) const;
  NotedStage unroll(const te::IterVar& axis) const;
  NotedStage parallel(const te::IterVar& axis) const;
  NotedStage bind(const te::IterVar& axis, const te::IterVar& thread) const;
  NotedStage pragma(const te::IterVar& axis, const std::string& key, te::PragmaValue value) const;
  NotedStage prefetch(const te::Tensor& tensor, const te::IterVar& axis,
                      const tir::Operand& offset) const;
  NotedStage tensorize(const te::IterVar& axis, const te::TensorIntrin& intrin) const;

  // ---- where and how it is stored
  NotedStage compute_at(const NotedStage& parent, const te::IterVar& axis) const;
  NotedStage compute_inline() const;
  NotedStage compute_root() const;
  NotedStage set_scope(const std::string& scope) const;
  NotedStage set_store_predicate(const tir::Operand& condition) const;
  NotedStage env_threads(const std::vector<te::IterVar>& threads) const;
  NotedStage storage_align(const te::IterVar& axis, int factor, int offset) const;
  NotedStage double_buffer() const;
  NotedStage rolling_buffer() const;
  NotedStage round_up(const te::IterVar& axis) const;
  NotedStage shift_inwards(const te::IterVar& axis) const;
  NotedStage autotune_loops() const;
  std::vector<te::IterVar> transform_layout(const te::IndexFunction<std::vector<Expr>>& map,
                                            te::LayoutOptions options = {}) const;

 private:
  void note(std::string_view primitive, std::string_view option = "") const;
  void note_split(std::string_view primitive, const te::IterVar& axis, const tir::Operand& by,
                  std::string_view preposition) const;
  void note_loop(std::string_view primitive, const te::IterVar& axis) const;

  te::Stage stage_;
  Notes* notes_;
};

class NotedSchedule {
 public:
  NotedSchedule(te::Schedule schedule, Notes& notes)
      : schedule_(std::move(schedule)), notes_(&notes) {}

  NotedStage operator[](const te::StageKey& key) const { return {schedule_[key], *notes_}; }
  std::vector<NotedStage> stages() const;
  /// To ask, not to change.
  const te::Schedule& plain() const { return schedule_; }

  te::Tensor cache_read(const te::Tensor& tensor, const std::string& scope,
                        const std::vector<te::Operation>& readers) const;
  std::vector<te::Tensor> cache_write(const std::vector<te::Tensor>& tensors,
                                      const std::string& scope) const;
  std::vector<te::Tensor> rfactor(const std::vector<te::Tensor>& tensors, const te::IterVar& axis,
                                  int factor_axis = 0) const;
  NotedStage create_group(const std::vector<te::Tensor>& outputs,
                          const std::vector<te::Tensor>& inputs, bool include_inputs) const;
  /// Notes that several primitives are used together.
  void note_together(std::string_view what) const { notes_->feature("together", what); }
  NotedSchedule normalize() const;
  NotedSchedule copy() const;
  /// Calls topi::schedule.
  void schedule_by_topi(const std::vector<te::Tensor>& outputs,
                        const tir::TargetFacts& target) const;

 private:
  /// Notes a primitive of the whole schedule, for every kind of operation in it.
  void note_all(std::string_view primitive) const;

  te::Schedule schedule_;
  Notes* notes_;
};

}  // namespace tenon::fuzz
