// How far what a function gives is from what it should.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>

#include "tenon/runtime/ndarray.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen::testing {

/// Errors of `got` in the place of `exact`, in units in the last place of T: infinite where one is
/// infinite or NaN and the other is not, and for a zero of the wrong sign. Exact is of a wider
/// type.
template <class T, class Exact>
double error_of(T got, Exact exact) {
  using Limits = std::numeric_limits<T>;
  const auto rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) == std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : INFINITY;
  if (std::signbit(got) != std::signbit(rounded)) return INFINITY;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent, Limits::min_exponent) - Limits::digits;
  return static_cast<double>(std::abs(got - exact) / std::ldexp(Exact(1), last));
}

/// A function beside the same one of a wider type, whose errors do not count.
template <class Exact>
struct KnownFunction {
  const char* name;
  tir::Expr (*here)(const tir::Operand&);
  Exact (*exact)(Exact);
  /// In units in the last place of the result; what the header says.
  double error;
  /// The range of arguments in which the function varies most.
  double least = -INFINITY, greatest = INFINITY;
};

template <class Exact>
std::ostream& operator<<(std::ostream& out, const KnownFunction<Exact>& f) {
  return out << f.name;
}

/// Errors of no more than `error`.
template <class T, class Exact>
void expect_near(const KnownFunction<Exact>& f, const runtime::NDArray& input,
                 const runtime::NDArray& output, double error) {
  for (std::int64_t n = 0; n < input.num_elements(); ++n) {
    const T x = input.data<T>()[n], y = output.data<T>()[n];
    ASSERT_LE(error_of(y, f.exact(x)), error) << f.name << "(" << x << ") = " << y;
  }
}

/// Checks that a function gives the same bits for values one by one and for several at once.
template <class T>
void expect_same_bits(const runtime::NDArray& one, const runtime::NDArray& many,
                      const runtime::NDArray& input, const char* name) {
  for (std::int64_t n = 0; n < input.num_elements(); ++n) {
    const T x = one.data<T>()[n], y = many.data<T>()[n];
    if (std::isnan(x) && std::isnan(y)) continue;
    ASSERT_EQ(std::memcmp(&x, &y, sizeof x), 0) << name << "(" << input.data<T>()[n] << ")";
  }
}

}  // namespace tenon::codegen::testing
