// What to call a scheduled function with to see what it does: random inputs, outputs that start as
// NaN.
//
//   const std::vector<CallArgument> call = make_arguments({A, B, n}, {.values = {{n, 100}}});
//   module["main"].call(as_call(call));
//
// The same arguments and options give the same inputs every time.
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/interp/evaluate.h"
#include "tenon/runtime/function.h"

namespace tenon {

/// What arguments are made with.
struct ArgumentOptions {
  /// As lower takes them: an argument that is a buffer stands for the tensor that it is bound to.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Values of the symbolic sizes and strides, and of arguments that are scalars.
  std::vector<std::pair<tir::Var, std::int64_t>> values = {};
  /// For code that adds to what it finds.
  bool outputs_start_at_zero = false;
};

struct CallArgument {
  std::string name;
  /// Computed by the schedule. Starts as NaN, integers as a value that is no likely result.
  bool is_output = false;
  std::variant<runtime::NDArray, std::int64_t> value;

  /// Null if it is a scalar.
  const runtime::NDArray* array() const { return std::get_if<runtime::NDArray>(&value); }
};

/// Throws LowerError, naming argument and variable, for a size or a scalar that has no value.
std::vector<CallArgument> make_arguments(const std::vector<LowerArgument>& args,
                                         const ArgumentOptions& options = {},
                                         SourceLocation where = SourceLocation::current());

/// The tensors among the arguments, a buffer being the tensor that it is bound to.
std::vector<te::Tensor> tensors_among(const std::vector<LowerArgument>& args,
                                      const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds);

/// For a compiled function; refers to the arrays of `call`.
std::vector<runtime::Argument> as_call(const std::vector<CallArgument>& call);
/// For the interpreter; refers to the arrays of `call`.
std::vector<tir::HostValue> as_host_values(const std::vector<CallArgument>& call);

}  // namespace tenon
