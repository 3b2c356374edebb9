#include "tests/fuzz/random_case.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "tenon/tir/walk.h"
#include "tenon/tooling/check.h"
#include "tests/common/ways_to_run.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/rewrite_check.h"
#include "tests/fuzz/special_program.h"

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

/// Whether threads are bound; true also for a schedule that is refused as a whole.
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
constexpr double kMaxWork = 2e7, kMaxCompiledWork = 5e9;

/// One in `one_in` is an older processor than this one.
Target random_target(Random& random, int one_in, Notes& notes) {
  static const std::vector<const char*> kProcessors = {"x86-64", "x86-64-v2", "x86-64-v3"};
  const bool other = random.one_in(one_in);
  if (!other || Target("llvm").facts().triple.find("x86_64") == std::string::npos) {
    notes.feature("target", "this processor");
    return Target("llvm");
  }
  const char* processor = random.pick(kProcessors);
  notes.feature("target", processor);
  return Target("llvm -mcpu=" + std::string(processor));
}

BuildOptions random_build(Random& random, testing::Data data, Notes& notes) {
  const auto one_in = [&](int n, const char* option) {
    const bool chosen = random.one_in(n);
    if (chosen) notes.feature("build", option);
    return chosen;
  };
  BuildOptions options;
  options.passes.verify_each_pass = true;
  options.opt_level = random.one_in(2) ? 3 : random.between(0, 3);
  notes.feature("opt_level", std::to_string(options.opt_level));
  // It assumes that there is no NaN and no infinity.
  options.fast_math = data == testing::Data::Small && one_in(10, "fast_math");
  if (one_in(3, "autotune_loops")) options.autotune_loops = true;
  options.passes.disable_storage_rewrite = one_in(16, "disable_storage_rewrite");
  options.passes.disable_cse = one_in(16, "disable_cse");
  options.passes.disable_vectorize = one_in(24, "disable_vectorize");
  options.passes.noalias = !one_in(16, "noalias off");
  // With 0 bits, vectors keep their lanes, and LLVM takes minutes for masked accesses of dozens.
  static const std::vector<int> kRegisterBits = {128, 256, 512};
  if (one_in(10, "vector registers"))
    options.passes.vector_registers = tir::VectorRegisters{
        .bits = random.pick(kRegisterBits), .count = 16, .for_sums = random.between(0, 12)};
  if (one_in(16, "double_buffer_split"))
    options.passes.double_buffer_split = 1 << random.between(0, 2);
  if (one_in(12, "auto_max_step"))
    options.passes.unroll = {.auto_max_step = random.between(4, 64),
                             .explicit_unroll = !one_in(4, "explicit_unroll off")};
  if (one_in(4, "bounds exact")) options.bounds = Bounds::Exact;
  options.instrument_bounds = one_in(10, "instrument_bounds");
  options.check_intrinsics = one_in(12, "check_intrinsics");
  if (one_in(16, "argument_alignment")) options.argument_alignment = 64;
  options.passes.partition.constant_loops = !one_in(12, "partition.constant_loops off");
  return options;
}

/// Buffers for some of the arrays whose rows lie apart, by so many elements as the call says.
void choose_arrays(Random& random, const te::Schedule& schedule,
                   const std::vector<LowerArgument>& args, BuildOptions& build, Notes& notes) {
  if (!random.one_in(8)) return notes.feature("array", "compact");
  for (const LowerArgument& arg : args) {
    const te::Tensor* tensor = std::get_if<te::Tensor>(&arg);
    if (!tensor || tensor->ndim() < 2 || random.one_in(3)) continue;
    const auto is_of_tensor = [&](const te::Stage& stage) {
      return stage.op().same_as(tensor->op());
    };
    if (!std::ranges::any_of(schedule.stages(), is_of_tensor)) continue;
    std::vector<Expr> strides;
    for (int d = 0; d + 1 < tensor->ndim(); ++d)
      strides.push_back(te::var("stride" + std::to_string(d)));
    strides.push_back(1);
    notes.feature("array", "rows apart");
    build.binds.emplace_back(*tensor,
                             tir::decl_buffer(tensor->shape(), tensor->dtype(),
                                              {.name = tensor->name(), .strides = strides}));
  }
}

std::string text_of(const Target& target, const BuildOptions& options) {
  std::ostringstream out;
  out << "build for " << target.str() << " at opt_level " << options.opt_level;
  const auto& passes = options.passes;
  if (options.bounds == Bounds::Exact) out << ", exact bounds";
  if (options.instrument_bounds) out << ", instrument_bounds";
  if (options.check_intrinsics) out << ", check_intrinsics";
  if (options.argument_alignment != 0) out << ", arrays aligned to " << options.argument_alignment;
  if (!passes.partition.constant_loops) out << ", constant loops not partitioned";
  for (const auto& [tensor, buffer] : options.binds)
    out << ", rows of " << tensor.name() << " apart";
  if (options.fast_math) out << ", fast_math";
  if (options.autotune_loops.value_or(false)) out << ", autotune_loops";
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

Case make_case(unsigned seed, const std::vector<bool>& keep, bool for_device, Programs programs) {
  Random random(seed);
  Kept kept(keep);
  const RandomProgram program =
      programs == Programs::Special
          ? special_program(random, kept)
          : random_program(random, programs == Programs::Small ? testing::Data::Small
                                                               : testing::Data::Unordered);
  const std::vector<te::Tensor> outputs = outputs_of(program);
  std::vector<LowerArgument> args;
  if (program.size) args.emplace_back(*program.size);
  args.insert(args.end(), program.inputs.begin(), program.inputs.end());
  args.insert(args.end(), outputs.begin(), outputs.end());

  const bool with_threads = random.one_in(5) || for_device;
  // A product with a reciprocal differs from a quotient at the ends of a type.
  const bool is_inexact = program.tolerance > 0 && program.data == testing::Data::Small;
  RandomSchedule schedule(te::create_schedule(outputs), {.with_threads = with_threads,
                                                         .for_device = for_device,
                                                         .size = program.size,
                                                         .least_size = program.least_size,
                                                         .is_inexact = is_inexact,
                                                         .inputs = program.inputs});
  const int changes = random.between(1, random.one_in(2) ? kFewSteps : kMaxSteps);
  const int steps = changes + (random.one_in(3) ? random.between(1, kMaxIntrinsics) : 0);
  Notes notes = program.notes;
  const Target target = random_target(random, programs == Programs::Special ? 2 : 6, notes);
  BuildOptions build = random_build(random, program.data, notes);
  choose_arrays(random, schedule.schedule(), args, build, notes);
  if (!with_threads && random.one_in(8) && kept.next())
    schedule.schedule_by_topi(Random(seed * 1000003u + 998u), outputs, target.facts());
  for (int n = 0; n < steps; ++n) {
    // Each step has its own numbers, so that leaving one out does not change what the others would
    // like to do.
    if (!kept.next()) continue;
    const Random own(seed * 1000003u + static_cast<unsigned>(n));
    if (n < changes) {
      schedule.step(own);
    } else {
      schedule.tensorize(own);
    }
  }
  // Values are the same inline and at root, by lanes and one by one, of constants and of data.
  if (programs == Programs::Special) {
    const auto n = static_cast<unsigned>(steps);
    static constexpr std::array kFirst = {"compute_inline", "compute_inline", "split and vectorize",
                                          "unroll"};
    for (unsigned k = 0; k < kFirst.size(); ++k)
      if (random.one_in(3) && kept.next())
        schedule.step(Random(seed * 1000003u + n + k), kFirst[k]);
  }
  if (for_device) schedule.fit_for_device(Random(seed * 1000003u + 999u));
  const bool on_threads = with_threads && has_threads(schedule.schedule());
  notes.feature("threads", on_threads ? "of a device" : "none");
  return {.seed = seed,
          .schedule = schedule.schedule(),
          .args = std::move(args),
          .program = program.text,
          .attempts = schedule.attempts(),
          .parts = kept.count(),
          .tolerance = program.tolerance,
          .has_threads = on_threads,
          .data = program.data,
          .zeros = program.zeros,
          .target = target,
          .build = build,
          .least_size = program.least_size,
          .stages = program.stages,
          .notes = notes.all()};
}

namespace {

/// Whether zeros are compared with their signs, and GCC 12 may compute one with the wrong sign: it
/// negates fma(a, b, c) as fma(-a, b, -c).
bool has_signed_fma(const Case& c) {
  bool found = false;
  for (const te::Tensor& stage : c.stages)
    if (stage.op().as<te::Compute>())
      for (const Expr& e : stage.op().body())
        tir::walk(e, [&](const tir::Call& call) { found = found || call.is(tir::Intrin::fma); });
  return found && c.zeros == testing::Zeros::Signed;
}

}  // namespace

Verdict check(const Case& c, const CheckOptions& options) {
  testing::WaysToRun ways;
  ways.compile = options.compile && !c.has_threads;
  // A C compiler takes longer than all else.
  constexpr unsigned kOneInC = 12;
  ways.compile_c = c.data == testing::Data::Special && c.seed % kOneInC == 0 && !has_signed_fma(c);
  ways.interpret = options.interpret || !ways.compile;
  ways.symbols = {7};
  if (std::holds_alternative<Var>(c.args.front())) ways.symbols = {1, 7, 17};
  if (c.least_size == 0) ways.symbols.insert(ways.symbols.begin(), 0);
  ways.tolerance = c.tolerance;
  ways.data = c.data;
  ways.zeros = c.zeros;
  ways.step_limit = kStepLimit;
  ways.most_work = kMaxWork;
  ways.most_compiled_work = kMaxCompiledWork;
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
    if (options.on_phase) options.on_phase("rewriting");
    if (std::string wrong =
            check_rewrites(c.args, c.stages, Random(c.seed),
                           {.data = c.data, .zeros = c.zeros, .tolerance = c.tolerance});
        !wrong.empty())
      return {.wrong = std::move(wrong)};
    return {.wrong = testing::compare_with_default(c.schedule, c.args, ways)};
  } catch (const ScheduleError& error) {
    return {.refused = error.what()};
  } catch (const BoundError& error) {
    return {.refused = error.what()};
  } catch (const LowerError& error) {
    return {.refused = error.what()};
  } catch (const RuntimeError& error) {
    const std::string_view what = error.what();
    static constexpr std::array kReasons = {
        // A producer that is computed again and again in loops inside of loops.
        "gave up",
        // More threads, of a size that only the call knows.
        "the target has at most",
        // Strides that an intrinsic declares, and memory of which only the call knows them.
        "but the memory bound to it has"};
    for (const std::string_view reason : kReasons)
      if (what.find(reason) != what.npos) return {.refused = error.what()};
    return {.wrong = std::string("error: ") + error.what()};
  } catch (const std::exception& error) {
    return {.wrong = std::string("error: ") + error.what()};
  }
}

std::vector<bool> shrink(int parts, std::chrono::seconds time,
                         const std::function<bool(const std::vector<bool>& keep)>& fails) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::vector<bool> keep(static_cast<std::size_t>(parts), true);
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
