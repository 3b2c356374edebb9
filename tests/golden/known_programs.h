// The programs of data/random and data/topi, as functions. Each is included into a namespace of its
// own, where `lower` is that of the harness: what it lowers is remembered, so that it can also be
// run.
#pragma once

#include <tenon/tenon.h>

#include <iostream>

#include "tenon/s_tir/program.h"

namespace tenon::known_programs {

/// One call of lower: the schedule as it was then, and its arguments.
struct Lowered {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

struct Program {
  /// The name of its files, without the extension.
  std::string_view name;
  void (*run)();
};

namespace harness {
tir::IRModule lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {});
}

/// All of a folder, in order.
std::vector<Program> random_programs();
std::vector<Program> topi_programs();

/// Returns what the program prints, in the form of `normalized`; an error as a line of its own.
std::string printed_by(const Program& program);
/// Returns what the program lowers; errors pass through.
std::vector<Lowered> lowered_by(const Program& program);
/// The text beside the program, `data/<folder>/<name>.txt`, without blank lines and trailing
/// spaces.
std::string text_of(std::string_view folder, const Program& program);

}  // namespace tenon::known_programs
