// Elementwise arithmetic, comparisons and logic on tensors.
//
//   te::Tensor C = A + B;                             // operators: at least one side is a tensor
//   te::Tensor D = topi::maximum(C, 0.0f);
//   te::Tensor E = topi::add(A, bias, "with_bias");   // {n, 16} and {16}: the bias of every row
//
// Each function declares an operation with axes ax0, ax1, ..., and applies the expression operator
// of the same name to the elements, with its type promotion and errors. The default name is
// "T_<function>". An operation on two tensors has the tag broadcast: shapes are aligned at the last
// dimension, and an input is repeated along a dimension if its extent there is 1 or if it lacks the
// dimension. An operation on a tensor and a scalar has the tag elemwise.
//
// TypeError if no operand is a tensor, and for extents that are neither 1 nor provably equal.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// An operand: a tensor, or a scalar that is combined with every element (an expression, an axis or
/// a literal).
class Term {
 public:
  Term(const Tensor& tensor, SourceLocation where = SourceLocation::current())
      : tensor_(tensor), where_(where) {}
  Term(const tir::Operand& value) : value_(value), where_(value.where()) {}
  template <class T>
  requires std::convertible_to<T, tir::Operand> Term(
      const T& value, SourceLocation where = SourceLocation::current())
      : value_(tir::Operand(value, where)), where_(where) {}

  const Tensor* tensor() const { return tensor_ ? &*tensor_ : nullptr; }
  const tir::Operand* value() const { return value_ ? &*value_ : nullptr; }
  const SourceLocation& where() const { return where_; }

 private:
  // Exactly one of `tensor_` and `value_` is set.
  std::optional<Tensor> tensor_;
  std::optional<tir::Operand> value_;
  SourceLocation where_;
};

Tensor add(const Term& a, const Term& b, Name name = "T_add");
Tensor subtract(const Term& a, const Term& b, Name name = "T_subtract");
Tensor multiply(const Term& a, const Term& b, Name name = "T_multiply");
/// Division of floats, like `/` on expressions.
Tensor divide(const Term& a, const Term& b, Name name = "T_divide");
Tensor floor_divide(const Term& a, const Term& b, Name name = "T_floor_divide");
Tensor floor_mod(const Term& a, const Term& b, Name name = "T_floor_mod");
Tensor trunc_divide(const Term& a, const Term& b, Name name = "T_trunc_divide");
Tensor trunc_mod(const Term& a, const Term& b, Name name = "T_trunc_mod");
Tensor power(const Term& a, const Term& b, Name name = "T_power");
Tensor minimum(const Term& a, const Term& b, Name name = "T_minimum");
Tensor maximum(const Term& a, const Term& b, Name name = "T_maximum");

Tensor less(const Term& a, const Term& b, Name name = "T_less");
Tensor less_equal(const Term& a, const Term& b, Name name = "T_less_equal");
Tensor greater(const Term& a, const Term& b, Name name = "T_greater");
Tensor greater_equal(const Term& a, const Term& b, Name name = "T_greater_equal");
Tensor equal(const Term& a, const Term& b, Name name = "T_equal");
Tensor not_equal(const Term& a, const Term& b, Name name = "T_not_equal");

Tensor logical_and(const Term& a, const Term& b, Name name = "T_logical_and");
Tensor logical_or(const Term& a, const Term& b, Name name = "T_logical_or");
Tensor bitwise_and(const Term& a, const Term& b, Name name = "T_bitwise_and");
Tensor bitwise_or(const Term& a, const Term& b, Name name = "T_bitwise_or");
Tensor bitwise_xor(const Term& a, const Term& b, Name name = "T_bitwise_xor");
Tensor left_shift(const Term& a, const Term& b, Name name = "T_left_shift");
Tensor right_shift(const Term& a, const Term& b, Name name = "T_right_shift");

/// Repeats the tensor to a larger shape.
Tensor broadcast_to(const Tensor& x, std::vector<te::Expr> shape, Name name = "T_broadcast_to",
                    SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

// Operators on tensors, in the namespace where argument-dependent lookup finds them. Comparison and
// logical operators are omitted because they would look like comparisons of handles.
namespace tenon::te {

/// A tensor operand with its source line.
struct TensorOperand {
  TensorOperand(const Tensor& tensor, SourceLocation where = SourceLocation::current())
      : tensor(tensor), where(where) {}
  Tensor tensor;
  SourceLocation where;
};

Tensor operator+(const TensorOperand& a, const TensorOperand& b);
Tensor operator+(const TensorOperand& a, const Operand& b);
Tensor operator+(const Operand& a, const TensorOperand& b);
Tensor operator-(const TensorOperand& a, const TensorOperand& b);
Tensor operator-(const TensorOperand& a, const Operand& b);
Tensor operator-(const Operand& a, const TensorOperand& b);
Tensor operator*(const TensorOperand& a, const TensorOperand& b);
Tensor operator*(const TensorOperand& a, const Operand& b);
Tensor operator*(const Operand& a, const TensorOperand& b);
Tensor operator/(const TensorOperand& a, const TensorOperand& b);
Tensor operator/(const TensorOperand& a, const Operand& b);
Tensor operator/(const Operand& a, const TensorOperand& b);
Tensor operator-(const TensorOperand& a);

}  // namespace tenon::te
