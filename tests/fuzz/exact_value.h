// Values of random programs whose arithmetic loses nothing: integers wrap around the same in any
// order, floats are multiples of a power of two that are small enough.
#pragma once

#include <tenon/tenon.h>

namespace tenon::fuzz {

/// |value| < 2^high, and value is a multiple of 2^low. Of integers, which may wrap: high is that of
/// the type.
struct Magnitude {
  int high = 0;
  int low = 0;
};

struct ExactValue {
  Expr value;
  Magnitude magnitude;
};

/// Of inputs that testing::make_arguments makes.
Magnitude magnitude_of_inputs(DataType type);
Magnitude magnitude_of(int constant);
/// Of values about which nothing is known.
Magnitude magnitude_of_any(DataType type);
/// Holds for values of either.
Magnitude joined(Magnitude a, Magnitude b);
Magnitude sum_of(Magnitude each, int count);
/// Whether the type holds every such value. Always, for integers.
bool is_exact(DataType type, Magnitude magnitude);

ExactValue exact_constant(DataType type, int constant);
/// Clamped first where the type could not hold the value.
ExactValue exact_cast(DataType type, const ExactValue& e);

enum class ExactOperation {
  Add,
  Subtract,
  Multiply,
  Maximum,
  Select,
  DivideOrMinimum,
  ModuloOrMaximum
};
inline constexpr int kExactOperations = 7;
/// The maximum where the operation would not be exact.
ExactValue combine(ExactOperation operation, const ExactValue& a, const ExactValue& b);

}  // namespace tenon::fuzz
