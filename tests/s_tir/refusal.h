// The error of a step of a schedule.
#pragma once

#include <string>

#include "tenon/support/error.h"

namespace tenon::s_tir {

/// The sentence of the ScheduleError; "accepted" without an error.
template <class F>
std::string refusal(F&& step) {
  try {
    step();
  } catch (const ScheduleError& error) {
    return error.sentence();
  }
  return "accepted";
}

}  // namespace tenon::s_tir
