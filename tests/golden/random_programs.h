// The random programs of data/random, as functions. Each is included into a namespace of its own,
// where `lower` is that of the harness: what it lowers is remembered, so that it can also be run.
#pragma once

#include <tenon/tenon.h>

#include <iostream>

namespace tenon::random_programs {

/// One call of lower: the schedule as it was then, and its arguments.
struct Lowered {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

struct Program {
  std::string_view name;
  void (*run)();
};

/// What programs have lowered since the last take_lowered().
std::vector<Lowered> take_lowered();

namespace harness {
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {});
}

/// All of them, in order.
std::vector<Program> all_programs();

}  // namespace tenon::random_programs
