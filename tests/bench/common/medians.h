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

/// Seconds of a call, by name. In each of `turns` rounds all are timed once, in random order, each
/// with calls for about `turn_seconds`.
std::map<std::string, double> medians_of(const std::vector<Contest>& contests, int turns,
                                         double turn_seconds = 0.05);

}  // namespace tenon::bench
