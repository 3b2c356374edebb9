// Runs a program under a time limit. The program answers on a separate pipe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tune {

struct EndedChild {
  /// The text that it has written to descriptor kAnswerDescriptor.
  std::string answer;
  /// Whether the program was killed at the time limit.
  bool timed_out = false;
  /// The signal that ended the program, unless it was killed at the time limit.
  std::optional<int> signal = std::nullopt;
  /// The exit status, if no signal ended it.
  int status = 0;
};

/// Runs the program at the path `command[0]`. It gets its own process group, so that a terminal's
/// Ctrl-C does not reach it. Throws RuntimeError if it cannot be started.
EndedChild run_child(const std::vector<std::string>& command, std::chrono::duration<double> limit);

}  // namespace tenon::tune
