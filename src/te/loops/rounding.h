// What Stage::round_up allows: elements behind the end of an axis that are computed like others, so
// that whole vectors and register tiles need no rest of their own.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

struct Rounding {
  /// Axes behind whose end everything that is read exists: no guard keeps their loops within.
  AxisFlags computed;
  /// Axes behind whose end elements are 0, for what they would read does not exist: all elements
  /// are, before those within are computed. Never of reductions, which begin with such a value.
  AxisFlags filled;
  bool fills() const { return filled.size() > 0; }
};

Rounding rounding_of(StageId stage, const Program& program);

}  // namespace tenon::te
