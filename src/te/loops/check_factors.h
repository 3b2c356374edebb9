// Checks of symbolic split factors, whose values are known only at run time.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

/// Returns the statement preceded by checks that every non-constant factor and number of parts is
/// positive; loops with other values would not terminate correctly. Without such factors, returns
/// the statement itself.
Stmt check_factors(const Program& program, Stmt body);

}  // namespace tenon::te
