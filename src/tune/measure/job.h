// The text protocol between the tuner and the worker program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tune {

/// An array argument.
struct JobArgument {
  std::string dtype;
  std::vector<std::int64_t> shape;
  /// The accesses of the unscheduled program. They do not depend on the candidate, which therefore
  /// cannot influence what is compared.
  bool is_read = false, is_written = false;
};

struct Job {
  /// The file of the compiled candidate: a shared library if its name ends in `.so`, else bytes of
  /// codegen::Artifact::stored.
  std::string code = {};
  /// The CPU that the code is for, which launches the kernels of a device.
  std::string target = {};
  std::string function = {};
  std::vector<JobArgument> arguments = {};
  /// The file of the expected bytes of the written arguments, concatenated. A job with `records`
  /// writes this file.
  std::string expected = {};
  bool records = false;
  /// "cuda" or "opencl": arrays are on this device when the function is called. "cpu": they are in
  /// host memory.
  std::string device = "cpu";
  int threads = 1;
  std::int64_t memory_limit_bytes = 0;
  std::uint64_t seed = 1;
  int number = 1, repeat = 3;
  double min_repeat_ms = 100;
  /// If the first call takes longer, no other calls are timed. 0: no limit.
  double slow_seconds = 0;
  double relative_tolerance = 1e-4, absolute_tolerance = 1e-3;
};

struct Answer {
  /// The text of to_string(Outcome).
  std::string outcome;
  std::vector<double> seconds = {};
  std::string reason = {};
};

std::string to_text(const Job& job);
std::string to_text(const Answer& answer);
/// Throw RuntimeError for malformed text.
Job parse_job(const std::string& text);
Answer parse_answer(const std::string& text);

/// The descriptor that the worker writes its answer to, because the candidate may write to standard
/// output.
inline constexpr int kAnswerDescriptor = 3;

}  // namespace tenon::tune
