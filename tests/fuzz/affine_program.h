// Random programs in which every index is a sum of multiples of axes, with random loops and places:
// of these the memory of a stage can be exactly the box that is read.
//
//   AffineProgram p = affine_program(17);
//   std::cout << te::bounds_report(p.schedule);
#pragma once

#include <string>

#include "tenon/te/schedule.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

struct AffineProgram {
  te::Schedule schedule;
  /// Inputs and the output.
  std::vector<te::Tensor> arguments;
  /// The primitives that were applied to the schedule, one a line.
  std::string text;
};

/// The same program for the same seed.
AffineProgram affine_program(unsigned seed);

}  // namespace tenon::fuzz
