#include "tests/common/ways_to_run.h"

#include <set>

#include "tenon/lower/pipeline.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/device_ways.h"
#include "tests/common/run_on_device.h"
#include "tests/common/work.h"
#include "tests/definition/definition.h"

namespace tenon::testing {

namespace {

DLTensor borrow(const tir::HostArray& array, std::vector<std::int64_t>& shape,
                std::vector<std::int64_t>& strides) {
  shape = array.shape;
  strides = array.strides;
  return {.data = array.data,
          .device = {kDLCPU, 0},
          .ndim = static_cast<std::int32_t>(shape.size()),
          .dtype = runtime::to_dlpack(array.dtype),
          .shape = shape.data(),
          .strides = strides.empty() ? nullptr : strides.data(),
          .byte_offset = 0};
}

using Way = std::pair<std::string, tir::PrimFunc>;
using Binds = std::vector<std::pair<te::Tensor, tir::Buffer>>;

tir::PrimFunc exact_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                          const Binds& binds) {
  const te::StageGraph graph = te::freeze(schedule);
  return te::schedule_ops(graph, te::infer_exact_bound(graph), args, {.binds = binds});
}

/// The function after each pass between the printed text and code for a CPU, for registers of
/// several widths. What a pass leaves alone, or an earlier way has as well, is not repeated.
std::vector<Way> after_host_passes(const tir::PrimFunc& lowered, bool fast_math) {
  std::vector<Way> ways;
  std::set<std::string> texts = {tir::print_function(lowered)};
  for (const tir::VectorRegisters registers :
       {tir::VectorRegisters{.bits = 128, .count = 16, .for_sums = 8},
        {.bits = 256, .count = 16, .for_sums = 8},
        {.bits = 512, .count = 32, .for_sums = 16}}) {
    lowering::PassOptions options;
    options.vector_registers = registers;
    options.autotune_loops = true;
    options.verify_each_pass = true;
    options.on_pass = [&](const lowering::PassOptions::PassReport& report) {
      if (report.after.body.same_as(report.before.body)) return;
      if (!texts.insert(tir::print_function(report.after)).second) return;
      ways.emplace_back("after " + std::string(report.pass) + " for registers of " +
                            std::to_string(registers.bits) + " bits",
                        report.after);
    };
    lowering::run_host_pipeline(lowered, options, fast_math);
  }
  return ways;
}

}  // namespace

void run_compiled(const runtime::Function& function, const Arguments& arguments) {
  const std::size_t count = arguments.values.size();
  std::vector<DLTensor> tensors(count);
  std::vector<std::vector<std::int64_t>> shapes(count), strides(count);
  std::vector<runtime::Argument> args;
  for (std::size_t n = 0; n < count; ++n) {
    if (const auto* array = std::get_if<tir::HostArray>(&arguments.values[n])) {
      tensors[n] = borrow(*array, shapes[n], strides[n]);
      args.emplace_back(&tensors[n]);
    } else if (const auto* number = std::get_if<std::int64_t>(&arguments.values[n])) {
      args.emplace_back(*number);
    } else {
      args.emplace_back(std::get<double>(arguments.values[n]));
    }
  }
  function.call(args);
}

std::string against_definition(const std::vector<LowerArgument>& args, const Arguments& arrays,
                               std::int64_t symbol, Zeros zeros) {
  std::vector<TensorMemory> tensors;
  std::map<const tir::ExprNode*, std::variant<std::int64_t, double>> scalars;
  for (std::size_t n = 0, array = 0; n < args.size(); ++n) {
    if (const Var* scalar = std::get_if<Var>(&args[n])) {
      const tir::HostValue& value = arrays.values[n];
      if (const double* real = std::get_if<double>(&value)) scalars[&scalar->node()] = *real;
      continue;
    }
    const Arguments::Array& memory = *arrays.arrays[array++];
    if (const te::Tensor* tensor = std::get_if<te::Tensor>(&args[n]))
      tensors.push_back({*tensor, memory.data(), memory.shape});
  }
  const auto value_of = [&](const Var& var) -> std::variant<std::int64_t, double> {
    const auto found = scalars.find(&var.node());
    return found == scalars.end() ? symbol : found->second;
  };
  return against_definition(tensors, value_of, zeros).wrong;
}

namespace {

void refuse_long(const tir::PrimFunc& func, const WaysToRun& ways, std::optional<double> most) {
  for (const std::int64_t symbol : ways.symbols)
    if (most && work_of(func, symbol) > *most)
      throw RuntimeError("gave up before the start: too much to do");
}

/// Refuses long unrolled loops: every pass of every way takes seconds, and so does each text.
void refuse_long_text(const tir::PrimFunc& lowered, const WaysToRun& ways) {
  constexpr std::size_t kMaxNodes = 100'000;
  if (ways.most_work && tir::node_count(lowered.body) > kMaxNodes)
    throw RuntimeError("gave up before the start: too much to do");
}

/// Passes make a program longer, arithmetic of bfloat16 by integers ten times, and each of the
/// programs is run.
void refuse_long_in_all(const std::vector<Way>& interpreted, const WaysToRun& ways) {
  if (!ways.most_work) return;
  double work = 0;
  for (const std::int64_t symbol : ways.symbols)
    for (const auto& [way, func] : interpreted) work += work_of(func, symbol);
  if (work > 10 * *ways.most_work) throw RuntimeError("gave up before the start: too much to do");
}

}  // namespace

std::string compare_with(const te::Schedule& expected, const te::Schedule& schedule,
                         const std::vector<LowerArgument>& args, const WaysToRun& ways) {
  auto enter = [&](const char* phase) {
    if (ways.on_phase) ways.on_phase(phase);
  };
  enter("lowering");
  const tir::PrimFunc truth = lower_to_loops(expected, args);
  refuse_long(truth, ways, ways.most_work);
  const Binds& binds = ways.build.binds;
  const lowering::PassOptions strict{.verify_each_pass = true};
  BuildOptions how = ways.build;
  how.passes.verify_each_pass = true;
  if (ways.most_work || ways.most_compiled_work)
    refuse_long(lower_to_loops(schedule, args, {.binds = binds}), ways,
                ways.interpret ? ways.most_work : ways.most_compiled_work);
  std::vector<Way> interpreted;
  std::vector<DeviceWay> on_devices;
  if (ways.interpret) {
    interpreted.emplace_back("loops", lower_to_loops(schedule, args, {.binds = binds}));
    for (bool simple_mode : {true, false}) {
      // TVM 0.9 text drops zeros that are added, and the payload of NaN.
      if (simple_mode && ways.data == Data::Special) continue;
      const tir::IRModule module =
          lower(schedule, args, {.simple_mode = simple_mode, .binds = binds, .passes = strict});
      interpreted.emplace_back(simple_mode ? "lowered, simple" : "lowered",
                               module.functions.at("main"));
    }
    const tir::PrimFunc lowered = interpreted.back().second;
    refuse_long_text(lowered, ways);
    on_devices = ways_on_devices(lowered);
    const tir::PrimFunc exact = exact_loops(schedule, args, binds);
    if (tir::print_function(exact) != tir::print_function(interpreted.front().second)) {
      interpreted.emplace_back("exact bounds, lowered",
                               lower(exact, {.passes = strict}).functions.at("main"));
      interpreted.emplace_back("exact bounds", exact);
    }
    // No build runs those on threads: what they keep for a processor would be each thread's own.
    if (!has_threads(lowered))
      for (Way& way : after_host_passes(lowered, ways.build.fast_math))
        interpreted.push_back(std::move(way));
    refuse_long_in_all(interpreted, ways);
  }
  enter("building");
  std::vector<std::pair<std::string, runtime::Function>> compiled;
  const auto compile_for = [&](const char* way, const Target& target) {
    compiled.emplace_back(way, build(schedule, args, target, how)[ways.build.name]);
  };
  if (ways.compile) compile_for("compiled", ways.target);
  const bool is_c = ways.target.facts().kind == tir::TargetKind::C;
  if (ways.compile && ways.compile_c && !is_c) compile_for("compiled as C", Target("c"));

  std::optional<runtime::Function> on_device;
  Device device = opencl(0);
  if (ways.device_target) {
    if (ways.device_target->facts().kind == tir::TargetKind::Cuda) device = cuda(0);
    on_device = build(schedule, args, *ways.device_target, how)[ways.build.name];
  } else if (ways.run_on_device) {
    on_device = built_for(device, schedule, args, how);
  }

  for (std::int64_t symbol : ways.symbols) {
    enter("interpreting");
    const Arguments right = make_arguments(args, {.symbol = symbol, .data = ways.data});
    tir::evaluate(truth, right.values,
                  {.check_uninitialized = true, .call_extern = ways.call_extern});
    if (const std::string wrong = against_definition(args, right, symbol, ways.zeros);
        !wrong.empty())
      return "the interpreter, symbol " + std::to_string(symbol) + ": " + wrong;
    const auto fresh = [&] {
      return make_arguments(args, {.symbol = symbol, .data = ways.data, .binds = binds});
    };
    auto compare = [&](const std::string& way, const Arguments& actual) -> std::string {
      const std::string difference = first_difference(right, actual, ways.tolerance, ways.zeros);
      if (difference.empty()) return "";
      return way + ", symbol " + std::to_string(symbol) + ": " + difference;
    };
    for (const auto& [way, func] : interpreted) {
      const Arguments actual = fresh();
      tir::evaluate(func, actual.values,
                    {.call_extern = ways.call_extern, .step_limit = ways.step_limit});
      if (std::string wrong = compare(way, actual); !wrong.empty()) return wrong;
    }
    for (const DeviceWay& way : on_devices) {
      const Arguments threaded = fresh();
      tir::evaluate(way.func, threaded.values,
                    {.check_races = way.has_barriers,
                     .call_extern = ways.call_extern,
                     .step_limit = ways.step_limit});
      if (std::string wrong = compare(way.name, threaded); !wrong.empty()) return wrong;
    }
    if (on_device) {
      enter("running");
      const Arguments actual = fresh();
      run_on_device(*on_device, actual, device);
      if (std::string wrong = compare("on " + device.str(), actual); !wrong.empty()) return wrong;
    }
    if (compiled.empty()) continue;
    enter("running");
    for (const auto& [way, function] : compiled) {
      const Arguments actual = fresh();
      run_compiled(function, actual);
      if (std::string wrong = compare(way, actual); !wrong.empty()) return wrong;
    }
  }
  return "";
}

te::Schedule default_schedule(const std::vector<LowerArgument>& args) {
  std::vector<te::Tensor> outputs;
  for (const LowerArgument& arg : args)
    if (const te::Tensor* tensor = std::get_if<te::Tensor>(&arg);
        tensor && !tensor->op().as<te::Placeholder>())
      outputs.push_back(*tensor);
  return te::create_schedule(outputs);
}

std::string compare_with_default(const te::Schedule& schedule,
                                 const std::vector<LowerArgument>& args, const WaysToRun& ways) {
  return compare_with(default_schedule(args), schedule, args, ways);
}

}  // namespace tenon::testing
