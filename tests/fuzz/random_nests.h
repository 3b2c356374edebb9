// Random block programs whose dependences, domains and conditions are not those of a graph of
// operations: blocks overwrite what they and others read, loops are triangular, empty, or begin
// near the end of int32, block domains are larger than what runs and begin elsewhere than at 0,
// predicates hold for some iterations only, statements outside of blocks store, `while` loops
// repeat nests.
#pragma once

#include <string>

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/kept.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// The script of a function `main`. Every parameter is a buffer, and every element that is read was
/// written or is a parameter's.
/// Nests that are not kept are left out.
std::string random_nest_program(Random& random, Notes& notes, Kept& kept);

}  // namespace tenon::fuzz
