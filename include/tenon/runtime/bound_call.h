// BoundCall: a call of a compiled function whose arguments were checked once, for kernels that take
// no longer than a check of their arguments.
//
//   const runtime::BoundCall add(module["add"], a, b, c);      // checked here
//   for (int step = 0; step < 1000; ++step) add();
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <vector>

#include "tenon/runtime/function.h"

namespace tenon::runtime {

/// The function of a bound call, which knows where the call was bound.
struct BoundFunction {
  // Implicit: this is the conversion of BoundCall's first argument.
  BoundFunction(Function function, SourceLocation where = SourceLocation::current())
      : function(std::move(function)), where(where) {}
  Function function;
  SourceLocation where;
};

/// A call with its arguments. A copy is a handle of the same call.
class BoundCall {
 public:
  /// Throws RuntimeError as a call of the function does for arguments that do not fit. Holds the
  /// function and the arrays; what a DLTensor* points to must live and stay as it is until the last
  /// copy of the call is gone.
  template <class... Args>
  explicit BoundCall(const BoundFunction& function, const Args&... args)
      : BoundCall(
            function,
            std::span<const Argument>(std::array<Argument, sizeof...(Args)>{Argument(args)...}),
            arrays_of(args...)) {}

  /// Throws RuntimeError when the function fails. Threads may call it at once where what it writes
  /// lets them.
  void operator()(SourceLocation where = SourceLocation::current()) const;

 private:
  struct State;

  BoundCall(const BoundFunction& function, std::span<const Argument> args,
            std::vector<NDArray> arrays);

  template <class... Args>
  static std::vector<NDArray> arrays_of(const Args&... args) {
    std::vector<NDArray> arrays;
    [[maybe_unused]] const auto keep = [&]<class T>(const T& arg) {
      if constexpr (std::same_as<T, NDArray>) arrays.push_back(arg);
    };
    (keep(args), ...);
    return arrays;
  }

  std::shared_ptr<const State> state_;
};

}  // namespace tenon::runtime
