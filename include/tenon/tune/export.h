// Export of a tuned schedule as C++ source that recreates it without a database, with the sampled
// values as constants.
#pragma once

#include <string>

#include "tenon/driver/target.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// Returns the steps as statements on a schedule `sch`: "const auto l2 = sch.split(l1[1], {8,
/// 16});". Sampled values appear as constants.
std::string schedule_text(const s_tir::Trace& trace);

/// Returns a complete program: the module as a script, the schedule as a function, a build for the
/// target, and a call with random arrays.
std::string program_text(const tir::IRModule& mod, const s_tir::Trace& trace, const Target& target);

}  // namespace tenon::tune
