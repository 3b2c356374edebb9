// The messages between the searching process and its workers.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// A message from the searching process to a worker.
struct Order {
  enum class Kind : unsigned char { Alive, Task, Build, Run, Drop, End };
  Kind kind = Kind::Alive;
  /// The number of the task, for Task, Build and Run.
  int task = 0;
  /// The number of the candidate, for Build, Run and Drop.
  int ticket = 0;
  /// A module as a script: the unscheduled module for Task, the candidate for Build.
  std::string script = {};
  /// The candidate's structural_hash, to detect transmission errors.
  std::uint64_t hash = 0;
  std::string target = {};
  MeasureOptions options = {};
  /// Whether no worker was lost, for End.
  bool is_whole = true;
};

/// A message from a worker.
struct Report {
  enum class Kind : unsigned char { Alive, Ready, Unable, Built, Ran };
  Kind kind = Kind::Alive;
  int task = 0, ticket = 0;
  /// The worker's host and processor, for Ready.
  std::string host = {}, processor = {};
  /// For Unable, the reason. For Built, the error of the build; empty on success.
  std::string error = {};
  /// The CPU time of the build, including the linker, for Built.
  double cpu_seconds = 0;
  /// The result of running the candidate, for Ran.
  Measurement measurement = {};
};

std::string to_text(const Order& order);
std::string to_text(const Report& report);
/// Parse a message. Throw RuntimeError if the text is malformed.
Order parse_order(const std::string& text);
Report parse_report(const std::string& text);

}  // namespace tenon::tune
