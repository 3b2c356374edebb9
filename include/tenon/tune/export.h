// A tuned schedule as a program to read and to keep: C++ that makes the same schedule without a
// database, with the tuner's choices as numbers.
#pragma once

#include <string>

#include "tenon/driver/target.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// The steps as statements on a schedule `sch`: "const auto l2 = sch.split(l1[1], {8, 16});". What
/// was sampled stands as the numbers that were drawn.
std::string schedule_text(const s_tir::Trace& trace);

/// A whole program: the module as a script, the schedule as a function, a build for the target and
/// a call with random arrays.
std::string program_text(const tir::IRModule& mod, const s_tir::Trace& trace, const Target& target);

}  // namespace tenon::tune
