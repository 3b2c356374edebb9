// Where the user declared the stages whose values a function's buffers hold, as a note of the
// function. It stays with the function through all passes; code generators write it as comments on
// request.
//
//   note_stage_lines(func.attrs, {{.buffer = "C.local", .line = "C.local, matmul.cpp:14"}});
//   stage_lines(func.attrs)                 // the same
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// What buffers of one name hold, and where that was declared.
struct StageLine {
  /// The name of buffers. Several may have it.
  std::string buffer;
  /// The stage's name and the place in the user's program.
  std::string line;
  /// How many elements are stored, of the first output, where each is computed once: initialised,
  /// and updated by every step of a reduction. Absent where that is not known.
  std::optional<std::int64_t> stores = std::nullopt;
  /// Whether a schedule arranged the loops, which then run as it says.
  bool is_scheduled = false;

  friend bool operator==(const StageLine&, const StageLine&) = default;
};

/// Instead of those noted before.
void note_stage_lines(PrimFunc::Attrs& attrs, const std::vector<StageLine>& lines);
/// Empty where nobody has noted any.
std::vector<StageLine> stage_lines(const PrimFunc::Attrs& attrs);

}  // namespace tenon::tir
