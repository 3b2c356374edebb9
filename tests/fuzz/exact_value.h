// Values of random programs, and how exactly they are known. Integers wrap, in any order alike.
// Floats are multiples of a power of two that are small enough, so that arithmetic loses nothing,
// until a function such as exp makes them inexact: then only continuous operations follow, and
// results are compared with a tolerance. NaN, infinities and zeros may be among them: a sum or a
// product has the same NaN or infinity in any order.
#pragma once

#include <tenon/tenon.h>

#include "tenon/tir/expr.h"

namespace tenon::fuzz {

/// |value| < 2^high, and value is a multiple of 2^low unless it is inexact. For integers, which may
/// have wrapped, `high` is the number of bits.
struct Magnitude {
  int high = 0;
  int low = 0;
  bool exact = true;
};

struct ExactValue {
  Expr value;
  Magnitude magnitude;
};

/// The magnitude of inputs that testing::make_arguments makes of small or unordered data.
Magnitude magnitude_of_inputs(DataType type);
Magnitude magnitude_of(int constant);
/// The computed magnitude of a float; an integer of the type may have any value.
Magnitude in_type(DataType type, Magnitude computed);
/// The magnitude of values about which nothing is known.
Magnitude magnitude_of_any(DataType type);
/// Holds for values of either.
Magnitude joined(Magnitude a, Magnitude b);
Magnitude sum_of(Magnitude each, int count);
Magnitude product_of(Magnitude a, Magnitude b);
Magnitude inexact(int high);
/// Whether the type holds every such value, or for inexact ones, holds them well. Always, for
/// integers.
bool is_held(DataType type, Magnitude magnitude);
/// How far two computations of such a value may be apart; 0 for exact ones.
double tolerance_of(DataType type, Magnitude magnitude);

ExactValue exact_constant(DataType type, int constant);
/// Clamped first where the type could not hold the value. Precondition: an inexact value stays
/// floating.
ExactValue exact_cast(DataType type, const ExactValue& e);
enum class ExactOperation {
  Add,
  Subtract,
  Multiply,
  Maximum,
  Select,
  DivideOrMinimum,
  ModuloOrMaximum,
  BitsOrMinimum,
};
inline constexpr int kExactOperations = 8;
/// The maximum where the operation would not be exact. Of Bool: one of and, or, unequal.
ExactValue combine(ExactOperation operation, const ExactValue& a, const ExactValue& b);

enum class Function { Exp, Tanh, Sigmoid, Log, Sqrt, Rsqrt, Erf, Divide };
inline constexpr int kFunctions = 8;
/// Applies the function to a floating value, which is first moved to where the function is
/// well-conditioned; Divide takes both.
ExactValue apply(Function function, const ExactValue& a, const ExactValue& b);

}  // namespace tenon::fuzz
