// The text protocol between the tuner and the worker program that runs a candidate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// An array argument.
struct JobArgument {
  std::string dtype;
  std::vector<std::int64_t> shape;
  /// Whether the unscheduled program reads and writes the array. The candidate's own accesses are
  /// not used, so that it cannot influence which results are compared.
  bool is_read = false, is_written = false;
};

struct Job {
  /// The file with the compiled candidate. It is a shared library if its name ends in `.so`.
  /// Otherwise it contains the bytes of codegen::Artifact::stored.
  std::string code = {};
  /// The CPU target of the code. For a device program, this CPU launches the kernels.
  std::string target = {};
  std::string function = {};
  std::vector<JobArgument> arguments = {};
  /// The file with the expected bytes of all written arguments, concatenated. A job with `records`
  /// writes this file; other jobs read it.
  std::string expected = {};
  bool records = false;
  /// The device of the arrays when the function is called: "cuda", "opencl", or "cpu" for host
  /// memory.
  std::string device = "cpu";
  int threads = 1;
  std::int64_t memory_limit_bytes = 0;
  std::uint64_t seed = 1;
  int number = 1, repeat = 3;
  double min_repeat_ms = 100;
  /// A candidate whose first call takes longer than this is not timed any further. 0: no limit.
  double slow_seconds = 0;
  double relative_tolerance = 1e-4, absolute_tolerance = 1e-3;
};

std::string to_text(const Job& job);
std::string to_text(const Measurement& answer);
/// Parse the text. Throw RuntimeError if it is malformed. An answer with an unknown outcome counts
/// as a crash.
Job parse_job(const std::string& text);
Measurement parse_answer(const std::string& text);

/// The descriptor to which the worker writes its answer. Standard output is not used, because the
/// candidate may write to it.
inline constexpr int kAnswerDescriptor = 3;

}  // namespace tenon::tune
