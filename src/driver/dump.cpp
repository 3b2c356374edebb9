#include "tenon/driver/dump.h"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace tenon {

void PassTimes::add(std::string_view step, std::chrono::nanoseconds time) {
  auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.pass == step; });
  if (row == rows_.end()) {
    rows_.push_back({std::string(step), time});
  } else {
    row->time += time;
  }
}

void PassTimes::print(std::ostream& out) const {
  std::vector<Row> sorted = rows_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.time > b.time; });
  std::chrono::nanoseconds total{0};
  auto line = [&](const std::string& name, std::chrono::nanoseconds time) {
    out << std::left << std::setw(36) << name << std::right << std::setw(12) << std::fixed
        << std::setprecision(3) << std::chrono::duration<double, std::milli>(time).count() << " ms\n";
  };
  for (const Row& row : sorted) line(row.pass, row.time), total += row.time;
  line("all passes", total);
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const lowering::Pass& pass : lowering::lowering_passes()) names.emplace_back(pass.name);
  for (const lowering::Pass& pass : lowering::host_passes()) names.emplace_back(pass.name);
  return names;
}

}  // namespace tenon
