// Checks the arguments of a call against the function's specification, and converts them to the
// form that generated code requires (TenonPackedFunction in c_api.h). A call of up to eight valid
// arguments does not allocate memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/inline_list.h"
#include "tenon/runtime/dlpack.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// An array of constant extents with at least one element, compact, in host memory.
struct KnownArray {
  DLDataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::uintptr_t bytes;
  /// Required alignment in bytes, a power of two.
  std::uintptr_t alignment;
  bool is_written;
};

// A function's specification in the form used for checking calls: symbols are numbers.

/// The checks of a function, shared by all its calls.
class ArgumentChecker {
 public:
  explicit ArgumentChecker(FunctionSpec spec);

  const FunctionSpec& spec() const { return spec_; }

 private:
  friend class CallCheck;
  friend struct CheckedArguments;

  struct Param {
    /// The symbol of each extent and of each stride; -1 for a constant.
    std::vector<int> shape, strides;
    DLDataType dtype = {};
    /// The number of elements; nullopt unless all extents are constant.
    std::optional<std::int64_t> elements;
    /// The symbol whose value the integer parameter is; -1 for any other parameter.
    int symbol = -1;
  };

  /// Returns the number of each symbol, -1 for other sizes. Adds new symbols to symbols_.
  std::vector<int> symbols_of(const std::vector<Size>& sizes);
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

// Checks the arguments of one call and converts them to the form that generated code requires.

/// The arguments of one call. Refers to the memory of the passed arrays.
struct CheckedArguments {
  /// Checks and converts the arguments. Throws RuntimeError if an argument does not match. The
  /// message names the function, the argument, and the expected and the actual value.
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
