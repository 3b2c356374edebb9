#include "tests/fuzz/random_case.h"

#include <cstring>
#include <sstream>

#include "tests/common/arguments.h"
#include "tests/fuzz/random_program.h"

namespace tenon::fuzz {

namespace {

/// Tries random primitives on random stages. A refused one (ScheduleError) leaves the schedule as it was.
class RandomSchedule {
 public:
  RandomSchedule(te::Schedule schedule, std::vector<te::Tensor> outputs)
      : schedule_(std::move(schedule)), outputs_(std::move(outputs)) {}

  std::vector<std::string> steps;

  void step(Random random) {
    random_ = &random;
    const std::vector<te::Stage> stages = computed_stages();
    const te::Stage stage = random.pick(stages);
    try {
      const std::string done = apply(stage);
      if (!done.empty()) steps.push_back("s[" + stage.name() + "]." + done);
    } catch (const ScheduleError&) {
      // Refused: the generator does not know all rules of legality, and need not.
    } catch (const TypeError&) {
    }
  }

 private:
  te::Schedule schedule_;
  std::vector<te::Tensor> outputs_;
  Random* random_ = nullptr;

  std::vector<te::Stage> computed_stages() const {
    std::vector<te::Stage> stages;
    for (const te::Stage& s : schedule_.stages())
      if (s.op().as<te::Compute>()) stages.push_back(s);
    return stages;
  }

  te::IterVar leaf(const te::Stage& stage) { return random_->pick(stage.leaf_iter_vars()); }

  std::string apply(const te::Stage& stage) {
    switch (random_->between(0, 15)) {
      case 0:
      case 1:
      case 2:
        return split(stage);
      case 3:
        return fuse(stage);
      case 4:
        return reorder(stage);
      case 5:
      case 6:
        return compute_at(stage);
      case 7:
        stage.compute_inline();
        return "compute_inline()";
      case 8:
        return vectorize(stage);
      case 9:
        return mark(stage);
      case 10:
        return cache_read(stage);
      case 11:
        return cache_write(stage);
      case 12:
        return rfactor(stage);
      case 13:
        return align(stage);
      case 14:
        return tile(stage);
      default:
        return storage(stage);
    }
  }

  std::string split(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    const int factor = random_->between(1, 9);
    if (random_->one_in(3)) {
      stage.split_by_nparts(axis, factor);
      return "split_by_nparts(" + axis.name() + ", " + std::to_string(factor) + ")";
    }
    stage.split(axis, factor);
    return "split(" + axis.name() + ", " + std::to_string(factor) + ")";
  }

  std::string tile(const te::Stage& stage) {
    if (stage.leaf_iter_vars().size() < 2) return "";
    const te::IterVar x = leaf(stage), y = leaf(stage);
    const int xf = random_->between(1, 6), yf = random_->between(1, 6);
    if (x.same_as(y)) return "";
    stage.tile(x, y, xf, yf);
    return "tile(" + x.name() + ", " + y.name() + ", " + std::to_string(xf) + ", " + std::to_string(yf) + ")";
  }

  std::string fuse(const te::Stage& stage) {
    const auto& leaves = stage.leaf_iter_vars();
    if (leaves.size() < 2) return "";
    const auto n = static_cast<std::size_t>(random_->between(0, static_cast<int>(leaves.size()) - 2));
    const te::IterVar a = leaves[n], b = leaves[n + 1];
    stage.fuse(a, b);
    return "fuse(" + a.name() + ", " + b.name() + ")";
  }

  std::string reorder(const te::Stage& stage) {
    std::vector<te::IterVar> order = stage.leaf_iter_vars();
    for (std::size_t n = order.size(); n > 1; --n)
      std::swap(order[n - 1], order[static_cast<std::size_t>(random_->between(0, static_cast<int>(n) - 1))]);
    stage.reorder(order);
    std::string names;
    for (const te::IterVar& axis : order) names += (names.empty() ? "" : ", ") + axis.name();
    return "reorder({" + names + "})";
  }

  std::string compute_at(const te::Stage& stage) {
    const te::Stage parent = random_->pick(computed_stages());
    const te::IterVar axis = leaf(parent);
    stage.compute_at(parent, axis);
    return "compute_at(s[" + parent.name() + "], " + axis.name() + ")";
  }

  std::string vectorize(const te::Stage& stage) {
    const te::IterVar axis = stage.leaf_iter_vars().back();
    stage.vectorize(axis);
    return "vectorize(" + axis.name() + ")";
  }

  std::string mark(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    switch (random_->between(0, 2)) {
      case 0:
        stage.unroll(axis);
        return "unroll(" + axis.name() + ")";
      case 1:
        stage.pragma(axis, "auto_unroll_max_step", 8);
        return "pragma(" + axis.name() + ", auto_unroll_max_step, 8)";
      default:
        break;
    }
    if (axis.kind() == tir::IterKind::Reduce) return "";
    stage.parallel(axis);
    return "parallel(" + axis.name() + ")";
  }

  std::string cache_read(const te::Stage& stage) {
    const std::vector<te::Tensor>& inputs = stage.op().inputs();
    if (inputs.empty()) return "";
    const te::Tensor read = random_->pick(inputs);
    const char* scope = random_->one_in(2) ? "local" : "global";
    schedule_.cache_read(read, scope, {stage.op()});
    return "cache_read(" + read.name() + ", " + scope + ")";
  }

  std::string cache_write(const te::Stage& stage) {
    const char* scope = random_->one_in(2) ? "local" : "global";
    schedule_.cache_write(stage.op().output(0), scope);
    return std::string("cache_write(") + scope + ")";
  }

  std::string rfactor(const te::Stage& stage) {
    const te::IterVar axis = leaf(stage);
    const int place = random_->between(0, 1);
    schedule_.rfactor(stage.op().output(0), axis, place);
    return "rfactor(" + axis.name() + ", " + std::to_string(place) + ")";
  }

  std::string align(const te::Stage& stage) {
    const te::IterVar axis = random_->pick(stage.op().axis());
    const int factor = random_->between(1, 8), offset = random_->between(0, factor - 1);
    stage.storage_align(axis, factor, offset);
    return "storage_align(" + axis.name() + ", " + std::to_string(factor) + ", " + std::to_string(offset) +
           ")";
  }

  std::string storage(const te::Stage& stage) {
    if (random_->one_in(3)) {
      stage.double_buffer();
      return "double_buffer()";
    }
    const char* scope = random_->one_in(2) ? "local" : "shared";
    stage.set_scope(scope);
    return std::string("set_scope(") + scope + ")";
  }
};

std::vector<te::Tensor> outputs_of(const RandomProgram& program) {
  std::vector<te::Tensor> outputs;
  for (const te::Tensor& t : program.stages) {
    bool is_read = false;
    for (const te::Tensor& reader : program.stages)
      for (const te::Tensor& input : reader.op().inputs()) is_read |= input.same_as(t);
    if (!is_read) outputs.push_back(t);
  }
  return outputs;
}

constexpr int kMaxSteps = 14;

}  // namespace

std::string Case::describe() const {
  std::ostringstream out;
  out << "seed " << seed << "\n";
  for (const std::string& line : program) out << "  " << line << "\n";
  for (const std::string& line : steps) out << "  " << line << "\n";
  return out.str();
}

Case make_case(unsigned seed, const std::vector<bool>& keep) {
  Random random(seed);
  const RandomProgram program = random_program(random);
  const std::vector<te::Tensor> outputs = outputs_of(program);
  const te::Schedule plain = te::create_schedule(outputs);
  const te::Schedule edited = te::create_schedule(outputs);
  RandomSchedule schedule(edited, outputs);
  const int steps = random.between(1, kMaxSteps);
  for (int n = 0; n < steps; ++n) {
    const bool kept = static_cast<std::size_t>(n) >= keep.size() || keep[static_cast<std::size_t>(n)];
    // Each step has its own numbers, so that leaving one out does not change what the others would like to
    // do.
    if (kept) schedule.step(Random(seed * 1000003u + static_cast<unsigned>(n)));
  }
  std::vector<LowerArgument> args(program.inputs.begin(), program.inputs.end());
  args.insert(args.end(), outputs.begin(), outputs.end());
  return {seed, plain, edited, std::move(args), program.text, schedule.steps, steps};
}

namespace {

using testing::Arguments;
using testing::first_difference;
using testing::make_arguments;

std::string run_compiled(const Case& c, const Arguments& expected) {
  const runtime::Module module =
      build(c.schedule, c.args, Target("llvm"), {.name = "fuzzed", .opt_level = 1});
  std::vector<runtime::NDArray> arrays;
  std::vector<runtime::Argument> args;
  const Arguments inputs = make_arguments(c.args);
  for (const auto& array : inputs.arrays) {
    runtime::NDArray device = runtime::NDArray::empty(array->shape, array->dtype, cpu(0));
    std::memcpy(device.dl_tensor().data, array->bytes.data(), array->bytes.size() - testing::kGuard);
    arrays.push_back(device);
  }
  for (const runtime::NDArray& array : arrays) args.emplace_back(array);
  module["fuzzed"].call(args);
  for (std::size_t n = 0; n < arrays.size(); ++n)
    std::memcpy(inputs.arrays[n]->bytes.data(), arrays[n].dl_tensor().data,
                inputs.arrays[n]->bytes.size() - testing::kGuard);
  return first_difference(expected, inputs);
}

/// The result of each way to run the case.
std::string compare_all(const Case& c, const CheckOptions& options) {
  const Arguments expected = make_arguments(c.args);
  tir::evaluate(lower_to_loops(c.default_schedule, c.args), expected.values, {.check_uninitialized = true});
  auto run = [&](const char* way, const tir::PrimFunc& func) -> std::string {
    const Arguments actual = make_arguments(c.args);
    tir::evaluate(func, actual.values, {.step_limit = 50'000'000});
    const std::string difference = first_difference(expected, actual);
    return difference.empty() ? "" : std::string(way) + ": " + difference;
  };
  if (auto wrong = run("loops", lower_to_loops(c.schedule, c.args)); !wrong.empty()) return wrong;
  for (bool simple_mode : {true, false}) {
    const tir::IRModule module = lower(c.schedule, c.args, {.simple_mode = simple_mode});
    const char* way = simple_mode ? "lowered, simple" : "lowered";
    if (auto wrong = run(way, module.functions.at("main")); !wrong.empty()) return wrong;
  }
  if (!options.compile) return "";
  const std::string wrong = run_compiled(c, expected);
  return wrong.empty() ? "" : "compiled: " + wrong;
}

}  // namespace

std::string check(const Case& c, const CheckOptions& options) {
  try {
    return compare_all(c, options);
  } catch (const ScheduleError&) {
    return "";
  } catch (const BoundError&) {
    return "";
  } catch (const std::exception& error) {
    return std::string("error: ") + error.what();
  }
}

Case shrink(const Case& failing, const CheckOptions& options) {
  std::vector<bool> keep(static_cast<std::size_t>(failing.tried), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < keep.size(); ++n) {
      if (!keep[n]) continue;
      keep[n] = false;
      if (check(make_case(failing.seed, keep), options).empty()) {
        keep[n] = true;
      } else {
        changed = true;
      }
    }
  }
  return make_case(failing.seed, keep);
}

}  // namespace tenon::fuzz
