#include "tenon/runtime/function.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/core/argument_check.h"
#include "runtime/core/last_error.h"
#include "runtime/core/text.h"
#include "tenon/runtime/bound_call.h"
#include "tenon/runtime/device_api.h"
#include "tenon/runtime/module_impl.h"

namespace tenon::runtime {

namespace {

[[noreturn]] void throw_call_error(const std::string& message,
                                   const std::optional<SourceLocation>& where) {
  if (where) throw RuntimeError(message, *where);
  throw RuntimeError(message);
}

constexpr int kMaxCalls = 1'000'000'000;

/// Returns the number of calls for the next measurement. The previous one, of `number` calls, took
/// `seconds`, which is less than the required minimum `least`.
int larger_number(int number, double seconds, double least) {
  // One more call than the measured rate predicts. At least a geometric step, so that the search
  // ends soon even if the prediction is bad.
  const double predicted = seconds > 0 ? least / (seconds / number) + 1 : 0;
  const double wanted = std::max(predicted, number * 1.618 + 1);
  return static_cast<int>(std::min<double>(wanted, kMaxCalls));
}

}  // namespace

/// The state behind a Function's handle.
struct Function::State {
  ArgumentChecker checker;
  PackedCall call;
  std::shared_ptr<const void> keep_alive;

  std::int32_t status_of(const CheckedArguments& args) const {
    return call(args.values.data(), args.codes.data(),
                static_cast<std::int32_t>(args.values.size()));
  }

  /// Throws the RuntimeError for a status, with the message that the code left.
  [[noreturn]] void fail(std::int32_t status, const std::optional<SourceLocation>& where) const {
    const std::string message = tenon_last_error();
    clear_last_error();
    throw_call_error(
        "`" + checker.spec().name + "` failed: " +
            (message.empty() ? "status " + std::to_string(status) + " without a message" : message),
        where);
  }

  /// Runs the code. Throws RuntimeError if it fails, with the caller's line if `where` is set.
  void run(const CheckedArguments& args, const std::optional<SourceLocation>& where) const {
    clear_last_error();
    if (const std::int32_t status = status_of(args); status != kTenonOk) fail(status, where);
  }
};

Function::Function(FunctionSpec spec, PackedCall call, std::shared_ptr<const void> keep_alive)
    : state_(std::make_shared<const State>(
          State{ArgumentChecker(std::move(spec)), std::move(call), std::move(keep_alive)})) {}

const FunctionSpec& Function::spec() const { return state_->checker.spec(); }

const std::string& Function::name() const { return spec().name; }

CheckedArguments Function::check(std::span<const Argument> args,
                                 const std::optional<SourceLocation>& where) const {
  try {
    return CheckedArguments(state_->checker, args);
  } catch (const RuntimeError& error) {
    throw_call_error(error.what(), where);
  }
}

void Function::call(std::span<const Argument> args, std::optional<SourceLocation> where) const {
  state_->run(check(args, where), where);
}

TimeEvaluator Function::time_evaluator(Device device, TimeOptions options,
                                       SourceLocation where) const {
  auto refuse = [&](const std::string& what) {
    throw RuntimeError("time_evaluator of `" + name() + "`: " + what, where);
  };
  if (options.number < 1) refuse("number must be positive, got " + std::to_string(options.number));
  if (options.repeat < 1) refuse("repeat must be positive, got " + std::to_string(options.repeat));
  if (!(options.min_repeat_ms >= 0 && options.min_repeat_ms < 1e12))
    refuse("min_repeat_ms must be a time, got " + to_text(options.min_repeat_ms));
  if (std::string missing = device.why_missing(); !missing.empty()) refuse(missing);
  return TimeEvaluator(*this, device, options);
}

Timing TimeEvaluator::evaluate(std::span<const Argument> args, SourceLocation where) const {
  const CheckedArguments checked = function_.check(args, where);
  const Function::State& code = *function_.state_;
  DeviceApi& api = device_api(device_.type);
  auto seconds_of = [&](int number) {
    return api.seconds_of(device_.id, [&] {
      for (int i = 0; i < number; ++i) code.run(checked, where);
    });
  };

  code.run(checked, where);
  const double least = options_.min_repeat_ms / 1e3;
  int number = options_.number;
  std::vector<double> results;
  for (int repeat = 0; repeat < options_.repeat; ++repeat) {
    double seconds = seconds_of(number);
    while (seconds < least && number < kMaxCalls) {
      number = larger_number(number, seconds, least);
      seconds = seconds_of(number);
    }
    results.push_back(seconds / number);
  }
  return Timing::of(std::move(results));
}

// ---- calls whose arguments are bound ------------------------------------------------------------

BoundCall::BoundCall(const WithLine<Function>& function, std::span<const Argument> args,
                     std::vector<NDArray> arrays)
    : function_(function.value),
      arrays_(std::move(arrays)),
      args_(new CheckedArguments(function_.check(args, function.where))),
      values_(args_->values.data()),
      codes_(args_->codes.data()),
      count_(static_cast<std::int32_t>(args_->values.size())) {
  if (const auto* code = function_.state_->call.target<TenonPackedFunction>()) code_ = *code;
}

std::int32_t BoundCall::call() const { return function_.state_->status_of(*args_); }

void BoundCall::fail(std::int32_t status, const SourceLocation& where) const {
  function_.state_->fail(status, where);
}

}  // namespace tenon::runtime
