// What a step of a schedule says when it is refused.
#pragma once

#include <string>

#include "tenon/support/error.h"

namespace tenon::s_tir {

/// The sentence of the ScheduleError; "accepted" if there is none.
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
