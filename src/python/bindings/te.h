// The bindings of tenon/te: operations, reductions and schedules.
#pragma once

#include "bindings/arguments.h"
#include "tenon/te/operation.h"
#include "tenon/te/schedule.h"

namespace tenon::python {

void bind_operations(PyModule& te);
void bind_externs(PyModule& te);
void bind_schedules(PyModule& te);

/// The axes of an operation. Python can index them like a sequence or, as in C++, call them with a
/// number.
struct Axes {
  std::vector<tir::IterVar> items;
};

/// The positional parameters of a Python function.
struct Parameters {
  /// The names of the positional parameters. Nullopt if they cannot be determined.
  std::optional<std::vector<std::string>> names = std::nullopt;
  /// The name of the parameter `*args`. Empty if the function has no such parameter.
  std::string variadic = "";

  static Parameters of(nb::handle function);
  /// Returns one axis name per dimension. Returns an empty list if the names cannot be determined.
  std::vector<std::string> axis_names(std::size_t rank) const;
  /// Throws TypeError, with the user's line, unless the function can be called with `count`
  /// arguments.
  void check_count(std::size_t count, const std::string& what) const;
};

/// An operation as users can give it: an Operation, or one of its tensors.
using OperationLike = std::variant<te::Tensor, te::Operation>;
te::Operation to_operation(const OperationLike& operation);
std::vector<te::Operation> to_operations(const OneOrMore<OperationLike>& operations);

/// Returns a Python list of the items or, unless `is_list`, the only item.
template <class T>
nb::object one_or_list(const std::vector<T>& items, bool is_list) {
  return is_list ? nb::cast(items) : nb::cast(items.front());
}

/// Calls a Python function with variables as its arguments.
nb::object call_with(const nb::callable& function, std::span<const tir::Var> vars);

/// Returns the expressions that a Python function returned, and whether it returned a list or tuple
/// of them, not a single expression. Throws TypeError, with the user's line, for any other result.
std::pair<std::vector<tir::Expr>, bool> body_result(nb::handle result, const std::string& what);

}  // namespace tenon::python
