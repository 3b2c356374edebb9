#include "tenon/tooling/check.h"

#include <algorithm>
#include <cmath>

#include "tenon/driver/build.h"
#include "tenon/driver/checks.h"
#include "tenon/lower/pipeline.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/walk.h"
#include "tenon/tooling/on_device.h"

namespace tenon {

namespace {

using runtime::NDArray;

/// Returns the operations whose outputs are among the arguments, without duplicates.
std::vector<te::Operation> computed(const std::vector<LowerArgument>& args,
                                    const ArgumentOptions& options) {
  std::vector<te::Operation> ops;
  for (const te::Tensor& tensor : tensors_among(args, options.binds)) {
    const te::Operation op = tensor.op();
    const bool is_known =
        std::any_of(ops.begin(), ops.end(), [&](const te::Operation& o) { return o.same_as(op); });
    if (!op.as<te::Placeholder>() && !is_known) ops.push_back(op);
  }
  return ops;
}

void interpret(const tir::IRModule& module, const std::vector<CallArgument>& call,
               const lowering::PassOptions& passes) {
  const tir::PrimFunc synchronized = lowering::run_passes(
      lowering::device_passes(), module.functions.begin()->second, {.passes = passes});
  tir::evaluate(synchronized, as_host_values(call), {.check_races = true});
}

bool calls_c_functions(const tir::IRModule& module) {
  return tir::any_node(module.functions.begin()->second.body, [](const tir::Call& call) {
    return std::holds_alternative<tir::ExternCallee>(call.callee);
  });
}

/// Returns the expected values of all arguments after the run, from each available source: the
/// interpreter with the default schedule, and the user's reference.
std::vector<std::vector<CallArgument>> truths_of(const std::vector<LowerArgument>& args,
                                                 const CheckOptions& options,
                                                 const SourceLocation& where) {
  ArgumentOptions arguments = options.arguments;
  arguments.outputs_start_at_zero = false;
  const std::vector<te::Operation> outputs = computed(args, arguments);
  if (outputs.empty()) throw LowerError("check: no argument is computed by the schedule", where);
  const te::Schedule plain = te::create_schedule(outputs, where);
  const tir::IRModule module = lower(plain, args, {.binds = arguments.binds}, where);

  std::vector<std::vector<CallArgument>> truths;
  if (!calls_c_functions(module))
    interpret(module, truths.emplace_back(make_arguments(args, arguments, where)), {});
  if (options.reference) {
    std::vector<NDArray> arrays;
    for (const CallArgument& arg : truths.emplace_back(make_arguments(args, arguments, where)))
      if (arg.array()) arrays.push_back(*arg.array());
    options.reference(arrays);
  }
  if (truths.empty())
    throw LowerError(
        "check: the program calls C functions, which the interpreter cannot run; give a reference",
        where);
  return truths;
}

NDArray compact(const NDArray& array) { return array.is_compact() ? array : array.copy_to(cpu(0)); }

/// Returns an element of a compact array as a double. The value is exact, except for integers above
/// 2^53.
double element(const NDArray& array, std::int64_t n) {
  const DLTensor& tensor = array.dl_tensor();
  const auto read = [&]<class T>(T) {
    const char* data = static_cast<const char*>(tensor.data) + tensor.byte_offset;
    return static_cast<double>(reinterpret_cast<const T*>(data)[n]);
  };
  const DataType dtype = array.dtype().element();
  if (dtype.is_bfloat()) return read(BFloat16());
  if (dtype.is_float()) {
    if (dtype.bits == 16) return read(Float16());
    return dtype.bits == 32 ? read(float()) : read(double());
  }
  switch (dtype.bytes()) {
    case 1:
      return dtype.is_int() ? read(std::int8_t()) : read(std::uint8_t());
    case 2:
      return dtype.is_int() ? read(std::int16_t()) : read(std::uint16_t());
    case 4:
      return dtype.is_int() ? read(std::int32_t()) : read(std::uint32_t());
    default:
      return dtype.is_int() ? read(std::int64_t()) : read(std::uint64_t());
  }
}

}  // namespace

Comparison compare(const NDArray& actual, const NDArray& expected, Tolerance tolerance,
                   SourceLocation where) {
  if (actual.shape() != expected.shape() || !(actual.dtype() == expected.dtype()))
    throw RuntimeError("compare: " + describe(actual) + " beside " + describe(expected), where);
  if (!actual.dtype().is_floating()) tolerance = {.relative = 0, .absolute = 0};
  const NDArray a = compact(actual), e = compact(expected);
  Comparison result{.elements = actual.num_elements() * actual.dtype().lanes};
  for (std::int64_t n = 0; n < result.elements; ++n) {
    const double x = element(a, n), y = element(e, n);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::abs(x - y);
    const bool right = error <= tolerance.absolute + tolerance.relative * std::abs(y);
    if (!right) ++result.wrong;
    if (!(error <= result.largest_error)) result.largest_error = error;
  }
  return result;
}

bool binds_threads(const te::Schedule& schedule, SourceLocation where) {
  return runs_on_device(te::freeze(schedule, where));
}

namespace {

/// Runs the schedule on the arguments. Returns true if the interpreter ran it, and false if
/// compiled code ran.
bool run(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
         const CheckOptions& options, const std::vector<CallArgument>& call,
         const SourceLocation& where) {
  const auto& binds = options.arguments.binds;
  const BuildOptions how{.binds = binds, .passes = options.passes, .on_step = options.on_step};
  const te::StageGraph graph = te::freeze(schedule, where);
  if (options.target.facts().is_gpu() || !runs_on_device(graph)) {
    run_main(build(schedule, args, options.target, how, where), options.target, call, where);
    return false;
  }
  refuse_races(graph);
  refuse_unbound_outputs(graph, args, binds, where);
  interpret(lower(schedule, args, how, where), call, options.passes);
  return true;
}

void note_worst(CheckReport& report, const CallArgument& actual, const CallArgument& expected,
                const Tolerance& tolerance, const SourceLocation& where) {
  // Inputs are compared without tolerance, because they must be unchanged.
  const Comparison compared = compare(*actual.array(), *expected.array(),
                                      actual.is_output ? tolerance : Tolerance{0, 0}, where);
  if (!actual.is_output && compared.fine()) return;
  const bool is_worse =
      compared.wrong > report.worst.wrong ||
      (compared.wrong == report.worst.wrong && compared.largest_error > report.worst.largest_error);
  if (!report.argument.empty() && !is_worse) return;
  report.worst = compared;
  report.argument = actual.name;
}

}  // namespace

CheckReport check_schedule(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                           const CheckOptions& options, SourceLocation where) {
  const std::vector<CallArgument> actual = make_arguments(args, options.arguments, where);
  CheckReport report{.interpreted = run(schedule, args, options, actual, where)};
  for (const std::vector<CallArgument>& expected : truths_of(args, options, where))
    for (std::size_t n = 0; n < actual.size(); ++n)
      if (actual[n].array()) note_worst(report, actual[n], expected[n], options.tolerance, where);
  return report;
}

}  // namespace tenon
