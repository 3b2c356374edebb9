// The effect of Stage::round_up: elements beyond the end of an axis are computed like others, so
// that full vectors and register tiles need no tail.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

struct Rounding {
  /// Axes whose overrun elements can be computed because their inputs exist: no guard restricts the
  /// loops.
  AxisFlags computed;
  /// Also the axes whose overrun must read as 0, because the inputs do not exist there: the whole
  /// box is set to 0 before the elements inside are computed. Reductions start with such a value
  /// anyway.
  AxisFlags filled;
  bool fills() const { return filled.size() > computed.size(); }
};

/// Determines the rounding from the direct inputs of the stage; rounded inputs have been treated
/// separately.
Rounding rounding_of(StageId stage, const Program& program);

}  // namespace tenon::te
