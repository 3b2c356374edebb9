// Checks a call's arguments against the function's specification, and brings them into the form
// that generated code may rely on (TenonPackedFunction in c_api.h). A call of up to eight arguments
// that fit allocates nothing.
#pragma once

#include <span>

#include "runtime/arrays/argument_checker.h"
#include "runtime/core/inline_list.h"
#include "tenon/runtime/function.h"

namespace tenon::runtime {

/// The arguments of one call. Refers to the memory of the arrays that were passed.
struct CheckedArguments {
  /// Throws RuntimeError that names function, argument, what was expected and what was given.
  CheckedArguments(const ArgumentChecker& checker, std::span<const Argument> args);

  InlineList<TenonValue, 8> values;
  InlineList<std::int32_t, 8> codes;
  /// Tensors that had to be rewritten: so many as `rewritten`.
  InlineList<DLTensor, 8> tensors;
  std::size_t rewritten = 0;
  /// The strides that some of them lacked, one after the other: so many as `filled`.
  InlineList<std::int64_t, 32> strides;
  std::size_t filled = 0;
};

}  // namespace tenon::runtime
