// Random primitives on random stages of a schedule. The generator does not know all rules of
// legality, and need not: a primitive that is refused, at once or when the schedule with it is
// frozen, is taken back.
//
//   RandomSchedule s(te::create_schedule(C));
//   s.step(Random(1));
//   lower(s.schedule(), args);
#pragma once

#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

class RandomSchedule {
 public:
  explicit RandomSchedule(te::Schedule schedule) : schedule_(std::move(schedule)) {}

  void step(Random random);
  /// An intrinsic for some iterations of a stage. After the other steps: a stage with an intrinsic
  /// takes no more.
  void tensorize(Random random);

  const te::Schedule& schedule() const { return schedule_; }
  /// The primitives that were applied.
  const std::vector<std::string>& steps() const { return steps_; }
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  /// What is applied, in words; none for nothing.
  void attempt(const std::function<std::string()>& apply);

  te::Schedule schedule_;
  std::vector<std::string> steps_, refusals_;
};

}  // namespace tenon::fuzz
