// Values of the interpreter and what the operators do to them, one lane at a time.
#pragma once

#include <span>
#include <string>

#include "tenon/tir/expr.h"

namespace tenon::tir::evaluation {

/// One lane: integers and pointers in `i` (a uint64 as its bit pattern), floats in `d`.
union Scalar {
  std::int64_t i;
  double d;
};

inline Scalar integer(std::int64_t value) { return Scalar{.i = value}; }
inline Scalar floating(double value) { return Scalar{.d = value}; }

/// A scalar or a vector of lanes.
class Value {
 public:
  Value(Scalar one) : one_(one) {}
  explicit Value(std::vector<Scalar> lanes) : one_(lanes.front()), lanes_(std::move(lanes)) {}
  std::size_t size() const { return lanes_.empty() ? 1 : lanes_.size(); }
  Scalar operator[](std::size_t lane) const { return lanes_.empty() ? one_ : lanes_[lane]; }
  std::int64_t integer() const { return one_.i; }

 private:
  Scalar one_;
  std::vector<Scalar> lanes_;
};

/// The value as an element of the type can hold it: integers wrapped, floats rounded to nearest
/// even.
Scalar fit(Scalar value, DataType element);

/// Operands of type `element`. Division by zero is a RuntimeError.
Scalar apply(BinaryOp op, Scalar a, Scalar b, DataType element);
Scalar convert(Scalar value, DataType from, DataType to);
/// Mathematics and bits. `element` is the type of the first argument, `result` of the call.
Scalar apply(Intrin intrin, std::span<const Scalar> args, DataType element, DataType result);

}  // namespace tenon::tir::evaluation
