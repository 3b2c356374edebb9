#include "tenon/tooling/step_times.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <ostream>

#include "tenon/lower/pipeline.h"

namespace tenon {

void StepTimes::add(std::string_view step, double seconds) {
  const auto known = std::ranges::find(steps_, step, &std::pair<std::string, double>::first);
  if (known == steps_.end()) {
    steps_.emplace_back(step, seconds);
  } else {
    known->second += seconds;
  }
}

void StepTimes::print(std::ostream& out) const {
  std::vector<std::pair<std::string, double>> sorted = steps_;
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, double>::second);
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
