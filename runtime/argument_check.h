// Checks a call's arguments against the function's specification, and brings them into the form
// that generated code may rely on (TenonPackedFunction in c_api.h). A call of up to eight arguments
// that fit allocates nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/inline_list.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// What all calls of a function are checked against.
class ArgumentChecker {
 public:
  explicit ArgumentChecker(FunctionSpec spec);

  const FunctionSpec& spec() const { return spec_; }

 private:
  friend class CallCheck;
  friend struct CheckedArguments;

  /// A Size whose symbol is a number.
  struct NumberedSize {
    enum class Kind { Constant, Symbol, Any } kind;
    std::int64_t value;  // the constant, or the index in symbols_
  };
  struct Param {
    std::vector<NumberedSize> shape;
    std::vector<NumberedSize> strides;
    DLDataType dtype = {};
    /// The symbol that an integer parameter is the value of; -1 for none.
    int symbol = -1;
  };

  NumberedSize number(const Size& size);
  int find_symbol(const std::string& name) const;

  FunctionSpec spec_;
  std::vector<Param> params_;
  /// In the order of their first appearance, with the least of the widths that they appear with.
  std::vector<Symbol> symbols_;
  /// Of all arrays together.
  std::size_t dimensions_ = 0;
};

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
