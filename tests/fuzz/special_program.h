// Random programs over special data: elementwise operations and reductions of random expressions
// (random_expression.h), with reads that conditions and clamps keep inside their tensors. The
// result of each does not depend on the schedule, in any bit but the signs of zeros where `zeros`
// says so.
#pragma once

#include "tests/fuzz/kept.h"
#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

/// Values that are not kept are constants or elements.
RandomProgram special_program(Random& random, Kept& kept);

}  // namespace tenon::fuzz
