// Function: a type-erased handle of a compiled function. The arguments, arrays and scalars, are
// checked against the function's specification before each call.
//
//   Function f = mod["matmul"];
//   f(a, b, c);                                   // RuntimeError names the argument that does not match
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

/// An argument of a call, with the line of the call.
template <class T>
struct WithLine {
  // Implicit, so that a call captures the caller's line.
  template <class From>
  requires std::constructible_from<T, const From&> WithLine(
      const From& value, SourceLocation where = SourceLocation::current())
      : value(value), where(where) {}
  T value;
  SourceLocation where;
};

class TimeEvaluator;
struct CheckedArguments;
struct FunctionSpec;
struct PackedCall;

class Function {
 public:
  /// The compiled code; see module_impl.h.
  using PackedCall = runtime::PackedCall;

  /// Makes a function. `keep_alive` owns the code and is held as long as a handle of the function
  /// exists.
  Function(FunctionSpec spec, runtime::PackedCall call,
           std::shared_ptr<const void> keep_alive = nullptr);
  // Moves are copies, so that a handle is never empty.
  Function(const Function&) = default;
  Function& operator=(const Function&) = default;

  const FunctionSpec& spec() const;
  const std::string& name() const;

  /// Calls the function. RuntimeError, before anything is written, for an argument that does not
  /// match, and if the function fails.
  template <class... Args>
  void operator()(const WithLine<Argument>& first, const Args&... rest) const {
    const std::array<Argument, 1 + sizeof...(Args)> list{first.value, Argument(rest)...};
    call(list, first.where);
  }
  void operator()(SourceLocation where = SourceLocation::current()) const { call({}, where); }
  /// Calls the function with a list of arguments. `where` is nullopt if the caller is not a C++
  /// program.
  void call(std::span<const Argument> args,
            std::optional<SourceLocation> where = SourceLocation::current()) const;

  /// Returns a callable that measures the function. RuntimeError for a device that does not exist
  /// and for counts that are not positive.
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

/// Measures a function when called with its arguments: one warm-up call, then `repeat` measurements
/// of `number` calls each. The arguments are checked once. The device is synchronized before the
/// clock is read.
class TimeEvaluator {
 public:
  template <class... Args>
  Timing operator()(const WithLine<Argument>& first, const Args&... rest) const {
    const std::array<Argument, 1 + sizeof...(Args)> list{first.value, Argument(rest)...};
    return evaluate(list, first.where);
  }
  Timing operator()(SourceLocation where = SourceLocation::current()) const {
    return evaluate({}, where);
  }
  /// Measures a call with a list of arguments.
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
