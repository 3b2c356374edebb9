// Source locations of the stages whose values a function's buffers hold, as an annotation of the
// function. Every pass keeps it. Code generators can write it as comments.
//
//   note_stage_lines(func.attrs, {{.buffer = "C", .name = "C.local", .line = "matmul.cpp:14"}});
//   stage_lines(func.attrs)                 // the same
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// The stage whose values the buffers of one name hold, and the source location of the stage.
struct StageLine {
  /// The name of the buffers. Several buffers may share it.
  std::string buffer;
  /// The name of the stage.
  std::string name;
  /// The source location, as "matmul.cpp:14"; empty if it is unknown.
  std::string line;
  /// Number of elements that the stage stores to its first output if it computes each element once.
  /// The initialization and every reduction step count as stores. Absent if unknown.
  std::optional<std::int64_t> stores = std::nullopt;
  /// Whether the stage has a schedule, so that its loops run as scheduled.
  bool is_scheduled = false;

  /// Returns the name and the source location: "C, matmul.cpp:14".
  std::string str() const { return line.empty() ? name : name + ", " + line; }
  friend bool operator==(const StageLine&, const StageLine&) = default;
};

/// Replaces the stage lines of the function.
void note_stage_lines(PrimFunc::Attrs& attrs, const std::vector<StageLine>& lines);
/// Returns the stage lines; empty if the function has none.
std::vector<StageLine> stage_lines(const PrimFunc::Attrs& attrs);

}  // namespace tenon::tir
