// Execution of optional schedule steps, which may fail.
#pragma once

#include <optional>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// Returns a copy of the schedule after the steps. Nullopt if one of them throws ScheduleError.
template <class Steps>
std::optional<s_tir::Schedule> tried(const s_tir::Schedule& sch, const Steps& steps) {
  s_tir::Schedule own = sch;
  try {
    steps(own);
  } catch (const ScheduleError&) {
    return std::nullopt;
  }
  return own;
}

/// Applies the steps to the schedule. If one of them throws ScheduleError, returns false and leaves
/// the schedule unchanged.
template <class Steps>
bool replaced(s_tir::Schedule& sch, const Steps& steps) {
  std::optional<s_tir::Schedule> done = tried(sch, steps);
  if (done) sch = std::move(*done);
  return done.has_value();
}

}  // namespace tenon::tune
