// What Stage::round_up allows: elements behind the end of an axis that are computed like others, so
// that whole vectors and register tiles need no rest of their own.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

struct Rounding {
  /// Axes behind whose end everything that is read exists: no guard keeps their loops within.
  AxisFlags computed;
  /// Those, and the axes behind whose end elements are 0, for what they would read does not exist:
  /// all elements are, before those within are computed. Reductions begin with such a value anyway.
  AxisFlags filled;
  bool fills() const { return filled.size() > computed.size(); }
};

/// Looks at what the stage reads itself, not further: what is rounded up is so by itself.
Rounding rounding_of(StageId stage, const Program& program);

}  // namespace tenon::te
