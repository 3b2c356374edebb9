// Another program, run to its end: no shell, so that no argument means anything but itself.
//
//   auto done = run_process({"cc", "--version"});
//   if (!done) ...                    // there is no such program
//   if (done->status != 0) throw RuntimeError(done->output);
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::codegen {

/// How a program ended.
struct FinishedProcess {
  /// What it exited with; -1 if a signal ended it.
  int status = 0;
  /// What it wrote to its standard output and standard error, in the order written.
  std::string output;
};

/// The first word is the program, looked up in PATH. nullopt if there is none of that name, or none
/// that may be run. Throws RuntimeError if the system starts no processes. Precondition: there is
/// at least one word.
std::optional<FinishedProcess> run_process(const std::vector<std::string>& command);

}  // namespace tenon::codegen
