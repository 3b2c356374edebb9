// The messages between the process that searches and its workers.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// A message from the process that searches.
struct Order {
  enum class Kind : unsigned char { Alive, Task, Build, Run, Drop, End };
  Kind kind = Kind::Alive;
  /// For Task and Build.
  int task = 0;
  /// For Build, Run and Drop: the candidate.
  int ticket = 0;
  /// A module as a script. For Task, the unscheduled module.
  std::string script = {};
  /// The candidate's structural_hash, to detect transmission errors.
  std::uint64_t hash = 0;
  std::string target = {};
  MeasureOptions options = {};
  /// For End: whether no worker was lost.
  bool is_whole = true;
};

/// A message from a worker.
struct Report {
  enum class Kind : unsigned char { Alive, Ready, Unable, Built, Ran };
  Kind kind = Kind::Alive;
  int task = 0, ticket = 0;
  /// For Ready: the worker's host and processor.
  std::string host = {}, processor = {};
  /// For Unable, the reason. For Built, the error; empty on success.
  std::string error = {};
  /// For Built: the CPU time of the build, including the linker.
  double cpu_seconds = 0;
  /// For Ran: the outcome of the candidate's run.
  Measurement measurement = {};
};

std::string to_text(const Order& order);
std::string to_text(const Report& report);
/// Throw RuntimeError for malformed text.
Order parse_order(const std::string& text);
Report parse_report(const std::string& text);

}  // namespace tenon::tune
