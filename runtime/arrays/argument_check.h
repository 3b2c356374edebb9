// Checks the arguments of a call against the function's specification, and converts them to the
// form that generated code requires (TenonPackedFunction in c_api.h). A call of up to eight valid
// arguments does not allocate memory.
#pragma once

#include <span>

#include "runtime/arrays/argument_checker.h"
#include "runtime/core/inline_list.h"
#include "tenon/runtime/function.h"

namespace tenon::runtime {

/// The arguments of one call. Refers to the memory of the passed arrays.
struct CheckedArguments {
  /// RuntimeError naming function, argument, expected and actual value.
  CheckedArguments(const ArgumentChecker& checker, std::span<const Argument> args);

  InlineList<TenonValue, 8> values;
  InlineList<std::int32_t, 8> codes;
  /// Tensors that had to be rewritten; their number is `rewritten`.
  InlineList<DLTensor, 8> tensors;
  std::size_t rewritten = 0;
  /// Strides that were missing, concatenated; their number is `filled`.
  InlineList<std::int64_t, 32> strides;
  std::size_t filled = 0;
};

}  // namespace tenon::runtime
