// Random primitives on random stages of a schedule. The generator does not know all rules of
// legality, and need not: a primitive that is refused, at once or when the schedule with it is
// frozen, is taken back.
//
//   RandomSchedule s(te::create_schedule(C), {.with_threads = true});
//   s.step(Random(1));
//   lower(s.schedule(), args);
#pragma once

#include <tenon/tenon.h>

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// One step that was tried on a stage: a primitive, or a few that are used together.
struct Attempt {
  std::string primitive;
  StageKind kind = StageKind::Elementwise;
  bool accepted = false;
  /// The step that was done, or why it was refused.
  std::string text;
  /// The primitives that were called.
  std::vector<Note> notes = {};
};

struct ScheduleOptions {
  /// Threads of a device too, so that the program runs in the interpreter only.
  bool with_threads = false;
  /// Nothing that only a processor has a use for.
  bool for_device = false;
  std::optional<Var> size = {};
  /// Nothing is split by a size that may be 0.
  int least_size = 1;
  /// Results are compared with a tolerance, so that quotients may be products.
  bool is_inexact = false;
  std::vector<te::Tensor> inputs = {};
};

class ScheduleStep;

class RandomSchedule {
 public:
  RandomSchedule(te::Schedule schedule, ScheduleOptions options = {});

  /// One primitive on one stage, by chance or by its name.
  void step(Random random, const char* primitive = nullptr);
  /// Before the other steps: topi::schedule for a processor like the target, with other vector
  /// registers, caches and numbers of cores.
  void schedule_by_topi(Random random, const std::vector<te::Tensor>& outputs,
                        tir::TargetFacts target);
  /// An intrinsic for some iterations of a stage. After the other steps: a stage with an intrinsic
  /// takes no more.
  void tensorize(Random random);
  /// After all other steps: what they left to the host gets threads, and memory that a launch can
  /// have (fit_for_device.h).
  void fit_for_device(Random random);

  const te::Schedule& schedule() const { return schedule_; }
  /// Leaving out those that found nothing to do.
  const std::vector<Attempt>& attempts() const { return attempts_; }

 private:
  void attempt(const std::function<void(ScheduleStep&, Attempt&)>& apply, Random random);

  te::Schedule schedule_;
  ScheduleOptions options_;
  /// blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, and for a device blockIdx.z, threadIdx.z:
  /// the same ones for all stages.
  std::vector<te::IterVar> threads_;
  std::vector<Attempt> attempts_;
};

}  // namespace tenon::fuzz
