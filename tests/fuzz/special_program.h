// Random programs over special data: elementwise operations and reductions of random expressions
// (random_expression.h), with reads that conditions and clamps keep inside their tensors. The
// result of each does not depend on the schedule, in any bit but the signs of zeros where `zeros`
// says so.
#pragma once

#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

RandomProgram special_program(Random& random);

}  // namespace tenon::fuzz
