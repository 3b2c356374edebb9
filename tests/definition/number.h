// Numbers, and the results of operators and intrinsics on them, by definition: integers wrap,
// floats round once to nearest even, max and min propagate NaN, conversions to integers saturate
// (NaN gives 0), shift amounts are taken modulo the width.
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

/// Thrown for results that are undefined or that this evaluator does not know; the text says which.
struct NoOpinion : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The integer modulo 2^bits, in the range of an integer type.
Number wrapped(Whole value, DataType type);
/// The nearest number of a floating type, ties to even.
Number rounded(double value, DataType type);
Number converted(const Number& value, DataType from, DataType to);
/// Both operands are of `type`.
Number combined(tir::BinaryOp op, const Number& a, const Number& b, DataType type);
/// `of` is the type of the first argument.
Number applied(tir::Intrin intrin, const std::vector<Number>& args, DataType of, DataType result);

/// The bits that store a number, and the number that bits store.
std::uint64_t bits_of(const Number& number, DataType type);
Number number_of(std::uint64_t bits, DataType type);
Number element_of(const void* memory, std::int64_t place, DataType type);
/// All NaNs are the same.
enum class Zeros : std::uint8_t { Alike, Signed };
bool same(const Number& a, const Number& b, DataType type, Zeros zeros = Zeros::Alike);
std::string text_of(const Number& number, DataType type);

}  // namespace tenon::testing
