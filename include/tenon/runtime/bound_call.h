// BoundCall: a call of a compiled function whose arguments are checked once, for kernels so short
// that checking would dominate.
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

/// A call with its arguments. Copies are handles of the same call.
class BoundCall {
 public:
  /// Binds the arguments. RuntimeError if an argument does not match, as for a call. Holds the
  /// function and the arrays; the target of a DLTensor* must stay alive and unchanged as long as a
  /// copy of the call exists.
  template <class... Args>
  explicit BoundCall(const WithLine<Function>& function, const Args&... args)
      : BoundCall(
            function,
            std::span<const Argument>(std::array<Argument, sizeof...(Args)>{Argument(args)...}),
            arrays_of(args...)) {}
  // Moves are copies, so that a call never lacks its arguments.
  BoundCall(const BoundCall&) = default;
  BoundCall& operator=(const BoundCall&) = default;

  /// Calls the function. RuntimeError if it fails. All calls write the same arrays, so threads may
  /// call it concurrently only if this is harmless.
  void operator()(SourceLocation where = SourceLocation::current()) const {
    const std::int32_t status = code_ != nullptr ? code_(values_, codes_, count_) : call();
    if (status != kTenonOk) fail(status, where);
  }

 private:
  /// Slow path of operator(), for code that is not a plain C function.
  std::int32_t call() const;
  [[noreturn]] void fail(std::int32_t status, const SourceLocation& where) const;

  BoundCall(const WithLine<Function>& function, std::span<const Argument> args,
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

  Function function_;
  std::vector<NDArray> arrays_;
  /// Refers to the tensors of `arrays_`.
  std::shared_ptr<const CheckedArguments> args_;
  // Copies of members of `function_` and `args_`, which save an indirection per call.
  TenonPackedFunction code_ = nullptr;
  const TenonValue* values_ = nullptr;
  const std::int32_t* codes_ = nullptr;
  std::int32_t count_ = 0;
};

}  // namespace tenon::runtime
