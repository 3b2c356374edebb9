// One primitive, or a few that are used together, on one stage of a schedule. Every method says in
// words what it did, and returns "" where there was nothing to do.
#pragma once

#include "tests/fuzz/noted_schedule.h"
#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

class ScheduleStep {
 public:
  ScheduleStep(NotedSchedule schedule, const ScheduleOptions& options,
               const std::vector<te::IterVar>& threads, Random random)
      : schedule_(std::move(schedule)), options_(options), threads_(threads), random_(random) {}

  /// Fills in stage kind and primitive before it tries; the text is what was done.
  void run(Attempt& attempt, const char* name = nullptr);
  void tensorize(Attempt& attempt);
  /// With what was done: normalize makes another one.
  const te::Schedule& schedule() const { return schedule_.plain(); }
  const NotedSchedule& noted() const { return schedule_; }

 private:
  /// The stages on which a primitive is worth a try. Readers: all but inputs, including extern
  /// operations and those on regions.
  enum class On : std::uint8_t { Loops, Computed, Producers, Reductions, Scans, Readers };
  struct Primitive {
    const char* name;
    int weight;
    std::string (ScheduleStep::*apply)(const NotedStage&);
    On on = On::Computed;
    /// Only where threads of a device may be used.
    bool needs_threads = false;
  };
  static const std::vector<Primitive>& primitives();

  // ---- schedule_step.cpp
  const Primitive& pick_primitive();
  static const Primitive& primitive_of(std::string_view name);
  /// The stages that have loops.
  std::vector<NotedStage> computed_stages() const;
  std::optional<NotedStage> pick_stage(On on);
  te::IterVar leaf(const NotedStage& stage);
  std::vector<te::IterVar> leaves(const NotedStage& stage, tir::IterKind kind) const;
  /// The same, of those that read it.
  std::vector<NotedStage> readers(const NotedStage& stage) const;
  /// A thread axis of the kind, now and then one with a range of its own.
  te::IterVar thread(int n);
  tir::Operand symbolic_or(int constant);
  static std::vector<te::Tensor> outputs_of(const NotedStage& stage);
  int factor();

  // ---- loop_steps.cpp
  std::string split(const NotedStage& stage);
  std::string tile(const NotedStage& stage);
  std::string fuse(const NotedStage& stage);
  std::string rounds(const NotedStage& stage);
  std::string reorder(const NotedStage& stage);
  std::string vectorize(const NotedStage& stage);
  std::string split_and_vectorize(const NotedStage& stage);
  std::string data_innermost_vectorized(const NotedStage& stage);
  std::string fuse_reduction_with_data(const NotedStage& stage);
  std::string unroll(const NotedStage& stage);
  std::string parallel(const NotedStage& stage);
  std::string parallel_region(const NotedStage& stage, const te::IterVar& axis);
  std::string partition_hint(const NotedStage& stage);
  std::string pragma(const NotedStage& stage);

  // ---- memory_steps.cpp
  std::string compute_at(const NotedStage& stage);
  std::string compute_inline(const NotedStage& stage);
  std::string compute_root(const NotedStage& stage);
  std::string cache_read(const NotedStage& stage);
  std::string cache_write(const NotedStage& stage);
  std::string rfactor(const NotedStage& stage);
  std::string strands(const NotedStage& stage);
  std::string register_tile(const NotedStage& stage);
  std::string producer_at_reader(const NotedStage& stage);
  std::string storage_align(const NotedStage& stage);
  std::string prefetch(const NotedStage& stage);
  std::string transform_layout(const NotedStage& stage);
  std::string random_scope();
  std::string set_scope(const NotedStage& stage);
  std::string double_buffer(const NotedStage& stage);
  std::string rolling_buffer(const NotedStage& stage);
  std::string treat_tail(const NotedStage& stage);
  std::string autotune_loops(const NotedStage& stage);
  std::string round_up_with_inputs(const NotedStage& stage);
  std::string set_store_predicate(const NotedStage& stage);
  std::string group(const NotedStage& stage);
  std::string normalize(const NotedStage& stage);
  std::string copy(const NotedStage& stage);

  // ---- thread_steps.cpp
  std::string virtual_threads(const NotedStage& stage);
  std::string bind(const NotedStage& stage);
  std::string blocks_and_threads(const NotedStage& stage);
  std::string cooperative_fetch(const NotedStage& stage);
  std::string reduction_over_threads(const NotedStage& stage);
  std::string threads_of_scan(const NotedStage& stage);
  /// The loops inside of the first thread of a launch; virtual threads start none.
  static std::vector<te::IterVar> loops_in_launch(const NotedStage& stage);

  // ---- compound_steps.cpp
  std::string producer_at_stretch(const NotedStage& stage);
  std::string layout_at_reader(const NotedStage& stage);
  std::optional<te::IterVar> place_in_launch(const NotedStage& stage, std::string& text);
  std::string share_work(const NotedStage& stage);
  std::string caches_of_two_scopes(const NotedStage& stage);
  std::string shared_from_shared(const NotedStage& chosen);

  NotedSchedule schedule_;
  const ScheduleOptions& options_;
  const std::vector<te::IterVar>& threads_;
  Random random_;
};

}  // namespace tenon::fuzz
