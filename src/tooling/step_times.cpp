#include "tenon/tooling/step_times.h"

#include <algorithm>
#include <iomanip>
#include <ostream>

#include "tenon/lower/pipeline.h"

namespace tenon {

void StepTimes::add(std::string_view step, double seconds) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.step == step; });
  if (row == rows_.end()) {
    rows_.push_back({std::string(step), seconds});
  } else {
    row->seconds += seconds;
  }
}

void StepTimes::print(std::ostream& out) const {
  std::vector<Row> sorted = rows_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  double sum = 0;
  for (const Row& row : sorted) sum += row.seconds;
  auto line = [&](const std::string& name, double seconds) {
    const double share = sum > 0 ? 100 * seconds / sum : 0;
    out << std::left << std::setw(36) << name << std::right << std::fixed << std::setw(12)
        << std::setprecision(3) << 1e3 * seconds << " ms" << std::setw(8) << std::setprecision(1)
        << share << " %\n";
  };
  for (const Row& row : sorted) line(row.step, row.seconds);
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
