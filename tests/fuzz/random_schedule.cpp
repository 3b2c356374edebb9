#include "tests/fuzz/random_schedule.h"

#include <array>

#include "tenon/te/freeze.h"
#include "tests/fuzz/fit_for_device.h"
#include "tests/fuzz/schedule_step.h"

namespace tenon::fuzz {

RandomSchedule::RandomSchedule(te::Schedule schedule, ScheduleOptions options)
    : schedule_(std::move(schedule)), options_(std::move(options)) {
  for (const char* tag : {"blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y"})
    threads_.push_back(te::thread_axis(tag));
  if (!options_.for_device) return;
  for (const char* tag : {"blockIdx.z", "threadIdx.z"}) threads_.push_back(te::thread_axis(tag));
}

void RandomSchedule::step(Random random, const char* primitive) {
  attempt([=](ScheduleStep& step, Attempt& attempt) { step.run(attempt, primitive); }, random);
}

void RandomSchedule::schedule_by_topi(Random random, const std::vector<te::Tensor>& outputs,
                                      tir::TargetFacts target) {
  static constexpr std::array<tir::VectorRegisters, 3> kRegisters = {
      {{.bits = 128, .count = 16, .for_sums = 8},
       {.bits = 256, .count = 16, .for_sums = 8},
       {.bits = 512, .count = 32, .for_sums = 16}}};
  target.vector_registers = kRegisters[static_cast<std::size_t>(random.between(0, 2))];
  target.caches.l2 = random.one_in(2) ? 1 << random.between(6, 20) : target.caches.l2;
  target.cores = random.between(1, 4);
  target.tile_products = {};
  attempt(
      [&](ScheduleStep& step, Attempt& attempt) {
        attempt.primitive = "topi::schedule";
        attempt.text = "topi::schedule for registers of " +
                       std::to_string(target.vector_registers.bits) + " bits, L2 of " +
                       std::to_string(target.caches.l2) + " bytes, " +
                       std::to_string(target.cores) + " cores";
        step.noted().schedule_by_topi(outputs, target);
      },
      random);
}

void RandomSchedule::tensorize(Random random) {
  attempt([](ScheduleStep& step, Attempt& attempt) { step.tensorize(attempt); }, random);
}

void RandomSchedule::fit_for_device(Random random) {
  Notes notes;
  for (std::string& done : fuzz::fit_for_device({schedule_, notes}, random))
    attempts_.push_back({.primitive = "rest for a device",
                         .accepted = true,
                         .text = std::move(done),
                         .notes = notes.all()});
}

void RandomSchedule::attempt(const std::function<void(ScheduleStep&, Attempt&)>& apply,
                             Random random) {
  const te::Schedule before = schedule_.copy();
  Attempt attempt;
  Notes notes;
  ScheduleStep step({schedule_, notes}, options_, threads_, random);
  try {
    apply(step, attempt);
    if (attempt.text.empty()) {
      schedule_ = before;  // An intrinsic that found no place may have split for it.
      return;
    }
    schedule_ = step.schedule();
    te::freeze(schedule_);
    // Build refuses what schedules warn of: threads that race.
    const auto& warnings = schedule_.warnings();
    attempt.accepted = warnings.size() == before.warnings().size();
    if (!attempt.accepted) attempt.text = warnings.back();
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    attempt.text = error.what();
  }
  if (!attempt.accepted) schedule_ = before;
  attempt.notes = notes.all();
  attempts_.push_back(std::move(attempt));
}

}  // namespace tenon::fuzz
