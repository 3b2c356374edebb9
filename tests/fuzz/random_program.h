// Random programs: a few small operations, every access inside its tensor, every result exact
// unless a tolerance is given: sums and products of floats only where no bit is lost, so that the
// order of a reduction does not show.
#pragma once

#include <tenon/tenon.h>

#include "tests/common/special_numbers.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

struct RandomProgram {
  /// The symbolic size, where there is one: any number from the least on.
  std::optional<Var> size;
  int least_size = 1;
  /// Every output of every operation among `stages`.
  std::vector<te::Tensor> inputs, stages;
  /// One sentence each.
  std::vector<std::string> text;
  /// How far elements may be from those of another schedule; 0: not at all.
  double tolerance = 0;
  /// The elements of the inputs, and whether results are compared with the signs of their zeros.
  testing::Data data = testing::Data::Small;
  testing::Zeros zeros = testing::Zeros::Alike;
  /// The ingredients.
  Notes notes;
};

/// Data: Small or Unordered.
RandomProgram random_program(Random& random, testing::Data data = testing::Data::Small);

}  // namespace tenon::fuzz
