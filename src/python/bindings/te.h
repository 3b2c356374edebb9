// The binding of tenon/te: operations, reductions, schedules.
#pragma once

#include "bindings/arguments.h"
#include "tenon/te/operation.h"
#include "tenon/te/schedule.h"

namespace tenon::python {

void bind_operations(PyModule& te);
void bind_externs(PyModule& te);
void bind_schedules(PyModule& te);

/// Axes of an operation, indexed as a sequence or, as in C++, called with a number.
struct Axes {
  std::vector<tir::IterVar> items;
};

/// The positional parameters of a Python function.
struct Parameters {
  /// Names of the positional parameters; nullopt if they cannot be read.
  std::optional<std::vector<std::string>> names = std::nullopt;
  /// The name of `*args`, which takes any number of arguments; "" without such a parameter.
  std::string variadic = "";

  static Parameters of(nb::handle function);
  /// Returns one axis name per dimension; an empty list without names.
  std::vector<std::string> axis_names(std::size_t rank) const;
  /// TypeError, with the user's line, if the function does not take `count` variables.
  void check_count(std::size_t count, const std::string& what) const;
};

/// An operation as users write it: itself, or one of its tensors.
using OperationLike = std::variant<te::Tensor, te::Operation>;
te::Operation to_operation(const OperationLike& operation);
std::vector<te::Operation> to_operations(const OneOrMore<OperationLike>& operations);

/// Returns a list, or its only item.
template <class T>
nb::object one_or_list(const std::vector<T>& items, bool is_list) {
  return is_list ? nb::cast(items) : nb::cast(items.front());
}

/// Calls a Python function with variables as its arguments.
nb::object call_with(const nb::callable& function, std::span<const tir::Var> vars);

/// The expressions that a Python body returned: one, or a list or tuple of them.
struct BodyResult {
  std::vector<tir::Expr> exprs;
  bool is_list = false;
};
/// TypeError, with the user's line, for other results.
BodyResult body_result(nb::handle result, const std::string& what);

}  // namespace tenon::python
