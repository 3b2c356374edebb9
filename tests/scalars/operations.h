// Every operator of every type, with operands among which are all special values: what folding,
// interpretation and generated code must agree on bit for bit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/runtime/ndarray.h"
#include "tenon/tir/builder.h"

namespace tenon::testing {

/// An operator with the types of its operands. `apply` builds it without folding.
struct Operation {
  std::string name;
  std::vector<DataType> operands;
  DataType result;
  std::function<tir::Expr(const std::vector<tir::Expr>&)> apply;
  /// The second operand is not 0.
  bool divides = false;
};

std::vector<DataType> all_types();
/// The special values of the type, each once.
std::vector<tir::Expr> special_values(DataType type);
std::vector<Operation> operations_on(DataType type);
/// Conversions to every other type.
std::vector<Operation> conversions_of(DataType type);
/// Tuples of operands: pairs of special values, all of them unless there are many, with third
/// operands among them. Their number is a multiple of 8.
std::vector<std::vector<tir::Expr>> operands_of(const Operation& operation);

/// The constants as elements of an array.
runtime::NDArray array_of(const std::vector<tir::Expr>& constants, DataType type);
/// Index of the first element whose bytes differ, where any NaN equals any other; -1 for none. With
/// `any_zero`, -0.0 equals 0.0.
std::int64_t first_difference(const runtime::NDArray& a, const runtime::NDArray& b, bool any_zero);

}  // namespace tenon::testing
