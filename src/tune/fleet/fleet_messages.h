// What the process that searches and those that measure for it tell each other.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/tune/measure.h"

namespace tenon::tune {

/// From the one that searches.
struct Order {
  enum class Kind : unsigned char { Alive, Task, Build, Run, Drop, End };
  Kind kind = Kind::Alive;
  /// Of Task and Build.
  int task = 0;
  /// Of Build, Run and Drop: one candidate.
  int ticket = 0;
  /// A module: of a Task the one before scheduling.
  std::string script = {};
  /// Of the candidate, as structural_hash has it: what is read must be what was sent.
  std::uint64_t hash = 0;
  std::string target = {};
  MeasureOptions options = {};
  /// Of End: none of the processes was lost.
  bool is_whole = true;
};

/// From those that measure.
struct Report {
  enum class Kind : unsigned char { Alive, Ready, Unable, Built, Ran };
  Kind kind = Kind::Alive;
  int task = 0, ticket = 0;
  /// Of Ready.
  std::string host = {}, processor = {};
  /// Of Unable: why. Of Built: why there is no library, or nothing.
  std::string error = {};
  /// Of Built: the processor's time that it took, linker included.
  double cpu_seconds = 0;
  /// Of Ran.
  Measurement measurement = {};
};

std::string to_text(const Order& order);
std::string to_text(const Report& report);
/// RuntimeError for a text that is none.
Order parse_order(const std::string& text);
Report parse_report(const std::string& text);

}  // namespace tenon::tune
