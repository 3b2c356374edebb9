#include "tests/fuzz/random_schedule.h"

#include "tenon/te/freeze.h"
#include "tests/fuzz/fit_for_device.h"
#include "tests/fuzz/schedule_step.h"

namespace tenon::fuzz {

const char* name_of(StageKind kind) {
  switch (kind) {
    case StageKind::Elementwise:
      return "element";
    case StageKind::SeveralOutputs:
      return "several";
    case StageKind::Reduction:
      return "reduction";
    case StageKind::Tuple:
      return "tuple";
    case StageKind::Copy:
      return "copy";
    case StageKind::Factored:
      return "factored";
    case StageKind::Scan:
      break;
  }
  return "scan";
}

RandomSchedule::RandomSchedule(te::Schedule schedule, ScheduleOptions options)
    : schedule_(std::move(schedule)), options_(std::move(options)) {
  for (const char* tag : {"blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y"})
    threads_.push_back(te::thread_axis(tag));
  if (!options_.for_device) return;
  for (const char* tag : {"blockIdx.z", "threadIdx.z"}) threads_.push_back(te::thread_axis(tag));
}

void RandomSchedule::step(Random random) {
  attempt([&](Attempt& a) { ScheduleStep(schedule_, options_, threads_, random).run(a); });
}

void RandomSchedule::tensorize(Random random) {
  attempt([&](Attempt& a) { ScheduleStep(schedule_, options_, threads_, random).tensorize(a); });
}

void RandomSchedule::fit_for_device(Random random) {
  for (std::string& done : fuzz::fit_for_device(schedule_, random))
    attempts_.push_back(
        {.primitive = "rest for a device", .accepted = true, .text = std::move(done)});
}

void RandomSchedule::attempt(const std::function<void(Attempt&)>& apply) {
  const te::Schedule before = schedule_.copy();
  Attempt attempt;
  try {
    apply(attempt);
    if (attempt.text.empty()) {
      schedule_ = before;  // An intrinsic that found no place may have split for it.
      return;
    }
    te::freeze(schedule_);
    // What is warned of is refused by build: threads that race.
    const auto& warnings = schedule_.warnings();
    attempt.accepted = warnings.size() == before.warnings().size();
    if (!attempt.accepted) attempt.text = warnings.back();
    attempts_.push_back(attempt);
    if (attempt.accepted) return;
    schedule_ = before;
    return;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    attempt.text = error.what();
  }
  attempts_.push_back(std::move(attempt));
  schedule_ = before;
}

}  // namespace tenon::fuzz
