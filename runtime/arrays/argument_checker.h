// A function's specification as its calls are checked against it: symbols are numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/arrays/array_cache.h"
#include "tenon/runtime/dlpack.h"
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
    /// Where all extents are constant.
    std::optional<std::int64_t> elements;
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
  /// All parameters; empty if one of them is something else.
  std::vector<KnownArray> known_arrays_;
};

}  // namespace tenon::runtime
