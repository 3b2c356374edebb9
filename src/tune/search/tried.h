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

}  // namespace tenon::tune
