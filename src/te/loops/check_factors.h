// Factors of splits that only the caller of the function knows.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

/// The statement behind checks that every factor and number of parts which is no constant is
/// positive: loops made with another one would run wild. Without such factors, the statement
/// itself.
Stmt check_factors(const Program& program, Stmt body);

}  // namespace tenon::te
