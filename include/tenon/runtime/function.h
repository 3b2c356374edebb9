// Function: a compiled function behind a cheap, type-erased handle. Arguments are arrays and
// scalars; they are checked against the function's specification before it runs.
//
//   Function f = mod["matmul"];
//   f(a, b, c);                                   // RuntimeError names the argument that does not fit
//   Timing t = f.time_evaluator(cpu(0), {.number = 10, .repeat = 3})(a, b, c);
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <string>

#include "tenon/runtime/c_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/timing.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

/// One argument of a call, as passed. It refers to arrays, so it lives no longer than the call's
/// expression.
class Argument {
 public:
  // Implicit: these are the conversions of a call's arguments.
  Argument(const NDArray& array) : Argument(&array.dl_tensor()) {}
  Argument(const DLTensor* tensor) : code_(tensor == nullptr ? kTenonNull : kTenonTensor) {
    value_.p = const_cast<DLTensor*>(tensor);
  }
  template <std::integral T>
  Argument(T value) : code_(std::is_unsigned_v<T> ? kTenonUInt : kTenonInt) {
    value_.i = static_cast<std::int64_t>(value);
  }
  template <std::floating_point T>
  Argument(T value) : code_(kTenonFloat) {
    value_.f = static_cast<double>(value);
  }
  Argument(Float16 value) : Argument(static_cast<double>(value)) {}
  Argument(BFloat16 value) : Argument(static_cast<double>(value)) {}
  /// An opaque pointer; of type void* to the letter, so that a pointer to an array is no handle by
  /// accident.
  template <class T>
  requires std::is_void_v<T> Argument(T* handle) : code_(kTenonHandle) {
    value_.p = const_cast<void*>(static_cast<const void*>(handle));
  }
  Argument(std::nullptr_t) : code_(kTenonNull) { value_.p = nullptr; }
  Argument(TenonValue value, std::int32_t type_code)
      : value_(value),
        code_(type_code == kTenonTensor && value.p == nullptr ? std::int32_t{kTenonNull}
                                                              : type_code) {}

  const TenonValue& value() const { return value_; }
  /// A TenonTypeCode.
  std::int32_t code() const { return code_; }

 private:
  TenonValue value_;
  std::int32_t code_;
};

/// The first argument of a call, which knows where the call stands.
struct FirstArgument {
  template <class T>
  requires std::constructible_from<Argument, const T&> FirstArgument(
      const T& value, SourceLocation where = SourceLocation::current())
      : argument(value), where(where) {}
  Argument argument;
  SourceLocation where;
};

class TimeEvaluator;
struct CheckedArguments;
struct FunctionSpec;
struct PackedCall;

class Function {
 public:
  /// What it calls: see module_impl.h.
  using PackedCall = runtime::PackedCall;

  /// `keep_alive` is held as long as a handle of the function lives: what owns the code.
  Function(FunctionSpec spec, runtime::PackedCall call,
           std::shared_ptr<const void> keep_alive = nullptr);
  // Moving copies, so that a handle is never empty.
  Function(const Function&) = default;
  Function& operator=(const Function&) = default;

  const FunctionSpec& spec() const;
  const std::string& name() const;

  /// Throws RuntimeError for arguments that do not fit, before anything is written, and when the
  /// function fails.
  template <class... Args>
  void operator()(const FirstArgument& first, const Args&... rest) const {
    const std::array<Argument, 1 + sizeof...(Args)> list{first.argument, Argument(rest)...};
    call(list, first.where);
  }
  void operator()(SourceLocation where = SourceLocation::current()) const { call({}, where); }
  /// Without a place where no C++ program calls.
  void call(std::span<const Argument> args,
            std::optional<SourceLocation> where = SourceLocation::current()) const;

  /// Throws RuntimeError for a device that does not exist or counts that are not positive.
  TimeEvaluator time_evaluator(Device device, TimeOptions options = {},
                               SourceLocation where = SourceLocation::current()) const;

 private:
  friend class BoundCall;
  friend class TimeEvaluator;
  struct State;

  CheckedArguments check(std::span<const Argument> args,
                         const std::optional<SourceLocation>& where) const;

  std::shared_ptr<const State> state_;
};

/// Called with the function's arguments, measures it: one call to warm up, then `repeat` times
/// `number` calls. Arguments are checked once, before. Waits for the device before it reads the
/// clock.
class TimeEvaluator {
 public:
  template <class... Args>
  Timing operator()(const FirstArgument& first, const Args&... rest) const {
    const std::array<Argument, 1 + sizeof...(Args)> list{first.argument, Argument(rest)...};
    return evaluate(list, first.where);
  }
  Timing operator()(SourceLocation where = SourceLocation::current()) const {
    return evaluate({}, where);
  }
  /// As calling it with these arguments.
  Timing evaluate(std::span<const Argument> args,
                  SourceLocation where = SourceLocation::current()) const;

 private:
  friend class Function;
  TimeEvaluator(Function function, Device device, TimeOptions options)
      : function_(std::move(function)), device_(device), options_(options) {}

  Function function_;
  Device device_;
  TimeOptions options_;
};

}  // namespace tenon::runtime
