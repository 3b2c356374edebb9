// Arguments for trying out a scheduled function: random inputs, and outputs filled with NaN.
//
//   const std::vector<CallArgument> call = make_arguments({A, B, n}, {.values = {{n, 100}}});
//   module["main"].call(as_call(call));
//
// The same arguments and options always give the same inputs.
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/interp/evaluate.h"
#include "tenon/runtime/function.h"

namespace tenon {

/// Options of the generated arguments.
struct ArgumentOptions {
  /// Buffers for tensors, as in LowerOptions. A buffer argument represents the tensor bound to it.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Values of symbolic sizes and strides, and of scalar arguments.
  std::vector<std::pair<tir::Var, std::int64_t>> values = {};
  /// Fills outputs with 0 instead of NaN, for code that accumulates into them.
  bool outputs_start_at_zero = false;
};

struct CallArgument {
  std::string name;
  /// Whether the schedule computes this argument. The array of an output is filled with NaN, or
  /// with an unlikely value if its elements are integers.
  bool is_output = false;
  std::variant<runtime::NDArray, std::int64_t> value;

  /// Returns the array, or null for a scalar.
  const runtime::NDArray* array() const { return std::get_if<runtime::NDArray>(&value); }
};

/// Makes the arguments. LowerError, naming the argument and the variable, if a symbolic size or a
/// scalar has no value.
std::vector<CallArgument> make_arguments(const std::vector<LowerArgument>& args,
                                         const ArgumentOptions& options = {},
                                         SourceLocation where = SourceLocation::current());

/// Returns an array of the kind that an output starts with: filled with NaN, with `true`, or with
/// an unlikely integer, so that missing stores are detected.
runtime::NDArray unwritten_array(const runtime::NDArray::Shape& shape, DataType dtype,
                                 SourceLocation where = SourceLocation::current());

/// Returns the tensors among the arguments; for a buffer, the tensor bound to it.
std::vector<te::Tensor> tensors_among(const std::vector<LowerArgument>& args,
                                      const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds);

/// Returns the arguments for a compiled function. They refer to the arrays of `call`.
std::vector<runtime::Argument> as_call(const std::vector<CallArgument>& call);
/// Returns the arguments for the interpreter. They refer to the arrays of `call`.
std::vector<tir::HostValue> as_host_values(const std::vector<CallArgument>& call);

}  // namespace tenon
