// Random block programs as script text.
#pragma once

#include <string>

#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// A function `main` of a few blocks, each of which reads what blocks before it wrote: elementwise
/// maps, transpositions, windows, sums and maxima over rows, products of matrices.
std::string random_block_program(Random& random);

}  // namespace tenon::fuzz
