// A program that is run under a time limit and answers on a pipe of its own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tune {

struct EndedChild {
  /// What it wrote to descriptor kAnswerDescriptor.
  std::string answer;
  /// It was still running at the limit, and was killed.
  bool timed_out = false;
  /// The signal that ended it, where none of ours did.
  std::optional<int> signal = std::nullopt;
  /// Where no signal ended it.
  int status = 0;
};

/// The first word is the path of the program. It runs in a process group of its own, so that a
/// terminal's Ctrl-C does not reach it. RuntimeError: it cannot be started.
EndedChild run_child(const std::vector<std::string>& command, std::chrono::duration<double> limit);

}  // namespace tenon::tune
