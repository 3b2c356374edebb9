// Numbers and what operators and functions make of them, by their definition.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::testing {

__extension__ typedef __int128 Whole;

/// An integer or bool in `whole`, a float in `real`.
struct Number {
  Whole whole = 0;
  double real = 0;
  static Number of(Whole whole) { return {whole, 0}; }
};

/// The text says what is undefined, or not known here.
struct NoOpinion : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An integer in a type of integers, by wrapping.
Number wrapped(Whole value, DataType type);
/// The nearest number of a floating type, of two the even one.
Number rounded(double value, DataType type);
Number converted(const Number& value, DataType from, DataType to);
/// Operands of one type.
Number combined(tir::BinaryOp op, const Number& a, const Number& b, DataType type);
/// Of arguments of which the first has the type `of`.
Number applied(tir::Intrin intrin, const std::vector<Number>& args, DataType of, DataType result);

Number element_of(const void* memory, std::int64_t place, DataType type);
/// NaN is NaN.
bool same(const Number& a, const Number& b, DataType type);
std::string text_of(const Number& number, DataType type);

}  // namespace tenon::testing
