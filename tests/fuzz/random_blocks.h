// Random block programs as script text.
#pragma once

#include <string>

#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// A function `main` of a few blocks, each of which reads what blocks before it wrote: elementwise
/// maps, transpositions, windows, sums and maxima over rows, products of matrices.
std::string random_block_program(Random& random);

/// Returns the lines inside a `while` that runs them `count` times. `counter` names a buffer of one
/// element, of type int32. The lines, and those that are added, begin with `indent` spaces.
std::string in_while(const std::string& lines, const std::string& counter, int count,
                     std::size_t indent);

}  // namespace tenon::fuzz
