#include "tests/fuzz/random_case.h"

#include <sstream>

#include "tenon/tooling/check.h"
#include "tests/common/ways_to_run.h"
#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

namespace {

std::vector<te::Tensor> outputs_of(const RandomProgram& program) {
  auto reads = [](const te::Operation& reader, const te::Operation& op) {
    for (const te::Tensor& input : reader.inputs())
      if (input.op().same_as(op)) return true;
    return false;
  };
  std::vector<te::Tensor> outputs;
  for (const te::Tensor& t : program.stages) {
    bool is_read = false;
    for (const te::Tensor& reader : program.stages) is_read |= reads(reader.op(), t.op());
    if (!is_read) outputs.push_back(t);
  }
  return outputs;
}

/// Of a schedule that is refused as a whole, too.
bool has_threads(const te::Schedule& schedule) {
  try {
    return binds_threads(schedule);
  } catch (const Error&) {
    return true;
  }
}

constexpr int kFewSteps = 5, kMaxSteps = 14, kMaxIntrinsics = 2;
constexpr std::int64_t kStepLimit = 1'000'000;
/// A few seconds: the interpreter evaluates some ten million expressions in one, in several ways.
constexpr double kMostWork = 2e7, kMostCompiledWork = 5e9;

Target random_target(Random& random) {
  static const std::vector<const char*> kProcessors = {"x86-64", "x86-64-v2", "x86-64-v3"};
  const bool other = random.one_in(6);
  if (!other || Target("llvm").facts().triple.find("x86_64") == std::string::npos)
    return Target("llvm");
  return Target("llvm -mcpu=" + std::string(random.pick(kProcessors)));
}

BuildOptions random_build(Random& random) {
  BuildOptions options;
  options.opt_level = random.one_in(2) ? 3 : random.between(0, 3);
  options.fast_math = random.one_in(10);
  options.passes.disable_storage_rewrite = random.one_in(16);
  options.passes.disable_cse = random.one_in(16);
  options.passes.disable_vectorize = random.one_in(24);
  options.passes.noalias = !random.one_in(16);
  static const std::vector<int> kRegisterBits = {0, 128, 256, 512};
  if (random.one_in(10))
    options.passes.vector_registers = tir::VectorRegisters{
        .bits = random.pick(kRegisterBits), .count = 16, .for_sums = random.between(0, 12)};
  if (random.one_in(16)) options.passes.double_buffer_split = random.between(1, 3);
  if (random.one_in(12))
    options.passes.unroll = {.auto_max_step = random.between(4, 64),
                             .explicit_unroll = !random.one_in(4)};
  if (random.one_in(4)) options.bounds = Bounds::Exact;
  options.instrument_bounds = random.one_in(10);
  return options;
}

std::string text_of(const Target& target, const BuildOptions& options) {
  std::ostringstream out;
  out << "build for " << target.str() << " at opt_level " << options.opt_level;
  const auto& passes = options.passes;
  if (options.bounds == Bounds::Exact) out << ", exact bounds";
  if (options.instrument_bounds) out << ", instrument_bounds";
  if (options.fast_math) out << ", fast_math";
  if (passes.disable_storage_rewrite) out << ", disable_storage_rewrite";
  if (passes.disable_cse) out << ", disable_cse";
  if (passes.disable_vectorize) out << ", disable_vectorize";
  if (!passes.noalias) out << ", noalias off";
  if (passes.vector_registers)
    out << ", registers of " << passes.vector_registers->bits << " bits, "
        << passes.vector_registers->for_sums << " for sums";
  if (passes.double_buffer_split != 1)
    out << ", double_buffer_split " << passes.double_buffer_split;
  if (passes.unroll.auto_max_step != 0)
    out << ", unroll to " << passes.unroll.auto_max_step
        << (passes.unroll.explicit_unroll ? "" : ", not explicit");
  return out.str();
}

}  // namespace

std::string Case::describe() const {
  std::ostringstream out;
  out << "seed " << seed << "\n";
  for (const std::string& line : program) out << "  " << line << "\n";
  for (const Attempt& attempt : attempts)
    if (attempt.accepted) out << "  " << attempt.text << "\n";
  out << "  " << (has_threads ? "on threads of a device" : text_of(target, build)) << "\n";
  return out.str();
}

Case make_case(unsigned seed, const std::vector<bool>& keep, bool for_device) {
  Random random(seed);
  const RandomProgram program = random_program(random, {.for_device = for_device});
  const std::vector<te::Tensor> outputs = outputs_of(program);
  std::vector<LowerArgument> args;
  if (program.size) args.emplace_back(*program.size);
  args.insert(args.end(), program.inputs.begin(), program.inputs.end());
  args.insert(args.end(), outputs.begin(), outputs.end());

  const bool with_threads = random.one_in(5) || for_device;
  RandomSchedule schedule(te::create_schedule(outputs), {.with_threads = with_threads,
                                                         .for_device = for_device,
                                                         .size = program.size,
                                                         .inputs = program.inputs});
  const int changes = random.between(1, random.one_in(2) ? kFewSteps : kMaxSteps);
  const int steps = changes + (random.one_in(3) ? random.between(1, kMaxIntrinsics) : 0);
  const Target target = random_target(random);
  const BuildOptions build = random_build(random);
  for (int n = 0; n < steps; ++n) {
    const bool kept =
        static_cast<std::size_t>(n) >= keep.size() || keep[static_cast<std::size_t>(n)];
    // Each step has its own numbers, so that leaving one out does not change what the others would
    // like to do.
    if (!kept) continue;
    const Random own(seed * 1000003u + static_cast<unsigned>(n));
    if (n < changes) {
      schedule.step(own);
    } else {
      schedule.tensorize(own);
    }
  }
  if (for_device) schedule.fit_for_device(Random(seed * 1000003u + 999u));
  return {.seed = seed,
          .schedule = schedule.schedule(),
          .args = std::move(args),
          .program = program.text,
          .attempts = schedule.attempts(),
          .tried = steps,
          .tolerance = program.tolerance,
          .has_threads = with_threads && has_threads(schedule.schedule()),
          .target = target,
          .build = build};
}

Verdict check(const Case& c, const CheckOptions& options) {
  testing::WaysToRun ways;
  ways.compile = options.compile && !c.has_threads;
  ways.compile_c = false;
  ways.interpret = options.interpret || !ways.compile;
  ways.symbols = {7};
  if (std::holds_alternative<Var>(c.args.front())) ways.symbols = {1, 7, 17};
  ways.tolerance = c.tolerance;
  ways.step_limit = kStepLimit;
  ways.most_work = kMostWork;
  ways.most_compiled_work = kMostCompiledWork;
  ways.build = c.build;
  ways.target = options.target.value_or(c.target);
  ways.on_phase = options.on_phase;
  if (options.target && options.target->facts().is_gpu()) {
    ways.compile = false;
    ways.interpret = options.interpret;
    ways.device_target = options.target;
  } else {
    ways.run_on_device = false;
  }
  try {
    return {.wrong = testing::compare_with_default(c.schedule, c.args, ways)};
  } catch (const ScheduleError& error) {
    return {.refused = error.what()};
  } catch (const BoundError& error) {
    return {.refused = error.what()};
  } catch (const LowerError& error) {
    return {.refused = error.what()};
  } catch (const RuntimeError& error) {
    // A producer that is computed again and again in loops inside of loops.
    const std::string_view what = error.what();
    // Or more threads, of a size that only the call knows.
    const bool is_long =
        what.find("gave up") != what.npos || what.find("the target has at most") != what.npos;
    if (is_long) return {.refused = error.what()};
    return {.wrong = std::string("error: ") + error.what()};
  } catch (const std::exception& error) {
    return {.wrong = std::string("error: ") + error.what()};
  }
}

std::vector<bool> shrink(int steps, std::chrono::seconds time,
                         const std::function<bool(const std::vector<bool>& keep)>& fails) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::vector<bool> keep(static_cast<std::size_t>(steps), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = keep.size(); n-- > 0;) {
      if (!keep[n]) continue;
      if (std::chrono::steady_clock::now() >= end) return keep;
      keep[n] = false;
      if (fails(keep)) {
        changed = true;
      } else {
        keep[n] = true;
      }
    }
  }
  return keep;
}

}  // namespace tenon::fuzz
