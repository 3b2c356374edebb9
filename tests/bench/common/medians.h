// Medians of functions that are timed in turns, so that all of them meet the same moments of a
// shared machine.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::bench {

struct Contest {
  std::string name;
  std::function<void()> run;
};

/// Seconds of a call, by name. Google Benchmark times each in so many turns of at least 50 ms, in
/// random order.
std::map<std::string, double> medians_of(const std::vector<Contest>& contests, int turns);

}  // namespace tenon::bench
