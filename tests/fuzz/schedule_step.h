// One primitive, or a few that are used together, on one stage of a schedule. Every method says in
// words what it did, and returns "" where there was nothing to do.
#pragma once

#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

class ScheduleStep {
 public:
  ScheduleStep(te::Schedule schedule, const ScheduleOptions& options,
               const std::vector<te::IterVar>& threads, Random random)
      : schedule_(std::move(schedule)), options_(options), threads_(threads), random_(random) {}

  /// Fills in stage kind and primitive before it tries; the text is what was done.
  void run(Attempt& attempt);
  void tensorize(Attempt& attempt);

 private:
  /// The stages on which a primitive is worth a try.
  enum class On : std::uint8_t { Loops, Computed, Producers, Reductions };
  struct Primitive {
    const char* name;
    int weight;
    std::string (ScheduleStep::*apply)(const te::Stage&);
    On on = On::Computed;
    /// Only where threads of a device may be used.
    bool needs_threads = false;
  };
  static const std::vector<Primitive>& primitives();

  // ---- schedule_step.cpp
  const Primitive& pick_primitive();
  std::vector<te::Stage> computed_stages() const;
  std::optional<te::Stage> pick_stage(On on);
  te::IterVar leaf(const te::Stage& stage);
  std::vector<te::IterVar> leaves(const te::Stage& stage, tir::IterKind kind) const;
  std::vector<te::Stage> readers(const te::Stage& stage) const;
  static std::vector<te::Tensor> outputs_of(const te::Stage& stage);
  int factor();

  // ---- loop_steps.cpp
  std::string split(const te::Stage& stage);
  std::string tile(const te::Stage& stage);
  std::string fuse(const te::Stage& stage);
  std::string reorder(const te::Stage& stage);
  std::string vectorize(const te::Stage& stage);
  std::string split_and_vectorize(const te::Stage& stage);
  std::string data_innermost_vectorized(const te::Stage& stage);
  std::string fuse_reduction_with_data(const te::Stage& stage);
  std::string unroll(const te::Stage& stage);
  std::string parallel(const te::Stage& stage);
  std::string pragma(const te::Stage& stage);

  // ---- memory_steps.cpp
  std::string compute_at(const te::Stage& stage);
  std::string compute_inline(const te::Stage& stage);
  std::string compute_root(const te::Stage& stage);
  std::string cache_read(const te::Stage& stage);
  std::string cache_write(const te::Stage& stage);
  std::string rfactor(const te::Stage& stage);
  std::string strands(const te::Stage& stage);
  std::string register_tile(const te::Stage& stage);
  std::string producer_at_reader(const te::Stage& stage);
  std::string storage_align(const te::Stage& stage);
  std::string prefetch(const te::Stage& stage);
  std::string transform_layout(const te::Stage& stage);
  std::string set_scope(const te::Stage& stage);
  std::string double_buffer(const te::Stage& stage);
  std::string rolling_buffer(const te::Stage& stage);
  std::string set_store_predicate(const te::Stage& stage);
  std::string group(const te::Stage& stage);

  // ---- thread_steps.cpp
  std::string virtual_threads(const te::Stage& stage);
  std::string bind(const te::Stage& stage);
  std::string blocks_and_threads(const te::Stage& stage);
  std::string cooperative_fetch(const te::Stage& stage);
  std::string reduction_over_threads(const te::Stage& stage);
  std::string threads_of_scan(const te::Stage& stage);

  te::Schedule schedule_;
  const ScheduleOptions& options_;
  const std::vector<te::IterVar>& threads_;
  Random random_;
};

}  // namespace tenon::fuzz
