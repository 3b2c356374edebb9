// Runs a tutorial program as a user would.
//
//   const Outcome run = run_tutorial("09_split", "--emit=asm");
//   EXPECT_EQ(run.status, 0) << run.err;
#pragma once

#include <string>
#include <vector>

struct Outcome {
  /// The exit status; -1 if the program did not exit by itself.
  int status;
  std::string out, err;
};

/// Throws std::runtime_error if the program is not there.
Outcome run_tutorial(const std::string& name, const std::string& options = "");

/// The names of the programs in a folder of the sources, such as "tutorials", sorted.
std::vector<std::string> programs_in(const std::string& folder);
