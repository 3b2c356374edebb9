// What the tuner tells the worker program, and what that answers: text between two processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tune {

/// An array argument.
struct JobArgument {
  std::string dtype;
  std::vector<std::int64_t> shape;
  /// Of the program before scheduling, so that no candidate decides what is compared.
  bool is_read = false, is_written = false;
};

struct Job {
  std::string library = {};
  std::string function = {};
  std::vector<JobArgument> arguments = {};
  /// The bytes of the written arguments, one after the other: what is compared with, or, of a job
  /// that records, what is written there.
  std::string expected = {};
  bool records = false;
  /// "cuda" or "opencl": arrays are there when the function is called. "cpu": here.
  std::string device = "cpu";
  int threads = 1;
  std::int64_t memory_limit_bytes = 0;
  std::uint64_t seed = 1;
  int number = 1, repeat = 3;
  double min_repeat_ms = 100;
  /// A first call that takes longer is all that is timed; 0: none.
  double slow_seconds = 0;
  double relative_tolerance = 1e-4, absolute_tolerance = 1e-3;
};

struct Answer {
  /// As to_string(Outcome) has it.
  std::string outcome;
  std::vector<double> seconds = {};
  std::string reason = {};
};

std::string to_text(const Job& job);
std::string to_text(const Answer& answer);
/// RuntimeError for a text that is none.
Job parse_job(const std::string& text);
Answer parse_answer(const std::string& text);

/// The descriptor on which the worker answers: its standard output belongs to the candidate.
inline constexpr int kAnswerDescriptor = 3;

}  // namespace tenon::tune
