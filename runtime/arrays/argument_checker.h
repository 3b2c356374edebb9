// A function's specification in the form used for checking calls: symbols are numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/arrays/array_cache.h"
#include "tenon/runtime/dlpack.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// The checks of a function, shared by all its calls.
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
    /// Set if all extents are constant.
    std::optional<std::int64_t> elements;
    /// The symbol whose value the integer parameter is; -1 for any other parameter.
    int symbol = -1;
  };

  NumberedSize number(const Size& size);
  int find_symbol(const std::string& name) const;

  FunctionSpec spec_;
  std::vector<Param> params_;
  /// The symbols in order of first appearance. A symbol has the minimum of the widths with which it
  /// appears.
  std::vector<Symbol> symbols_;
  /// Total number of dimensions of all arrays.
  std::size_t dimensions_ = 0;
  /// All parameters; empty if one of them is not a known array.
  std::vector<KnownArray> known_arrays_;
};

}  // namespace tenon::runtime
