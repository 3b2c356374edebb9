#include "tests/fuzz/random_case.h"

#include <sstream>

#include "tests/common/ways_to_run.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/random_schedule.h"

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

constexpr int kMaxSteps = 14, kMaxIntrinsics = 2;

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
  std::vector<LowerArgument> args;
  if (program.size) args.emplace_back(*program.size);
  args.insert(args.end(), program.inputs.begin(), program.inputs.end());
  args.insert(args.end(), outputs.begin(), outputs.end());

  RandomSchedule schedule(te::create_schedule(outputs));
  const int changes = random.between(1, kMaxSteps);
  const int steps = changes + random.between(0, kMaxIntrinsics);
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
  return {seed,  schedule.schedule(), std::move(args), program.text, schedule.steps(),
          steps, schedule.refusals()};
}

Verdict check(const Case& c, const CheckOptions& options) {
  testing::WaysToRun ways;
  ways.compile = options.compile;
  ways.symbols = {7};
  if (std::holds_alternative<Var>(c.args.front())) ways.symbols = {1, 7, 12};
  ways.tolerance = 0;
  try {
    return {.wrong = testing::compare_with_default(c.schedule, c.args, ways)};
  } catch (const ScheduleError& error) {
    return {.refused = error.what()};
  } catch (const LowerError& error) {
    return {.refused = error.what()};
  } catch (const std::exception& error) {
    return {.wrong = std::string("error: ") + error.what()};
  }
}

Case shrink(const Case& failing, const CheckOptions& options) {
  std::vector<bool> keep(static_cast<std::size_t>(failing.tried), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < keep.size(); ++n) {
      if (!keep[n]) continue;
      keep[n] = false;
      if (check(make_case(failing.seed, keep), options).wrong.empty()) {
        keep[n] = true;
      } else {
        changed = true;
      }
    }
  }
  return make_case(failing.seed, keep);
}

}  // namespace tenon::fuzz
