// Checks a call's arguments against the function's specification, and brings them into the form
// that generated code may rely on (TenonPackedFunction in c_api.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tenon/runtime/function.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// Refers to the memory of the arrays that were passed.
struct CheckedArguments {
  std::vector<TenonValue> values;
  std::vector<std::int32_t> codes;
  /// Tensors that had to be rewritten, and the strides that they lacked.
  std::vector<DLTensor> tensors;
  std::vector<std::vector<std::int64_t>> strides;
};

class ArgumentChecker {
 public:
  explicit ArgumentChecker(FunctionSpec spec);

  const FunctionSpec& spec() const { return spec_; }

  /// Throws RuntimeError that names function, argument, what was expected and what was given.
  CheckedArguments check(std::span<const Argument> args) const;

 private:
  friend class CallCheck;

  /// A Size whose symbol is a number.
  struct NumberedSize {
    enum class Kind { Constant, Symbol, Any } kind;
    std::int64_t value;  // the constant, or the index in symbols_
  };
  struct Param {
    std::vector<NumberedSize> shape;
    std::vector<NumberedSize> strides;
    /// The symbol that an integer parameter is the value of; -1 for none.
    int symbol = -1;
  };

  NumberedSize number(const Size& size);
  int find_symbol(const std::string& name) const;

  FunctionSpec spec_;
  std::vector<Param> params_;
  /// In the order of their first appearance, with the least of the widths that they appear with.
  std::vector<Symbol> symbols_;
};

}  // namespace tenon::runtime
