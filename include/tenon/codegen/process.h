// Runs another program to completion. No shell is involved, so that arguments are passed verbatim.
//
//   auto done = run_process({"cc", "--version"});
//   if (!done) ...                    // there is no such program
//   if (done->status != 0) throw RuntimeError(done->output);
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::codegen {

/// The result of a program.
struct FinishedProcess {
  /// The exit status; -1 if a signal ended the program.
  int status = 0;
  /// The output on stdout and stderr, in the order written.
  std::string output;
};

/// Runs a command whose first word is looked up in PATH. Nullopt if there is no such program or it
/// is not executable. RuntimeError if the process cannot be started. Precondition: `command` is not
/// empty.
std::optional<FinishedProcess> run_process(const std::vector<std::string>& command);

}  // namespace tenon::codegen
