#include "tenon/tooling/step_times.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <ostream>

#include "tenon/lower/pipeline.h"

namespace tenon {

void add_step(StepTimes& times, std::string_view step, double seconds) {
  const auto known = std::ranges::find(times, step, &StepTimes::value_type::first);
  if (known == times.end()) {
    times.emplace_back(step, seconds);
  } else {
    known->second += seconds;
  }
}

void print_steps(std::ostream& out, const StepTimes& times) {
  StepTimes sorted = times;
  std::ranges::stable_sort(sorted, std::greater(), &StepTimes::value_type::second);
  double sum = 0;
  for (const auto& [step, seconds] : sorted) sum += seconds;
  auto line = [&](const std::string& name, double seconds) {
    const double share = sum > 0 ? 100 * seconds / sum : 0;
    out << std::left << std::setw(36) << name << std::right << std::fixed << std::setw(12)
        << std::setprecision(3) << 1e3 * seconds << " ms" << std::setw(8) << std::setprecision(1)
        << share << " %\n";
  };
  for (const auto& [step, seconds] : sorted) line(step, seconds);
  line("all steps", sum);
}

bool is_step_of_llvm(std::string_view step) {
  return step == "optimize-llvm" || step == "generate-code" || step == "load";
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const auto passes : {lowering::lowering_passes(), lowering::fast_math_passes(),
                            lowering::host_passes(), lowering::device_passes()})
    for (const lowering::Pass& pass : passes) names.emplace_back(pass.name);
  return names;
}

}  // namespace tenon
