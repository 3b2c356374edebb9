#include "tests/bench/common/medians.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "tenon/runtime/threads.h"
#include "tenon/support/progress.h"

namespace tenon::bench {

namespace {

/// Threads of a library spin for a while after a call, in case there is another one: OpenBLAS's for
/// some 20 ms. Until they sleep, they take a core from whoever has the next turn.
constexpr std::chrono::milliseconds kUntilOthersSleep{40};

double seconds_of(const Contest& contest, std::int64_t calls) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t n = 0; n < calls; ++n) contest.run();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

/// How many calls take so many seconds, by the fastest of several batches, because other programs
/// interrupt some.
std::int64_t calls_in(double seconds, const Contest& contest) {
  constexpr int kBatches = 3;
  double of_a_call = std::numeric_limits<double>::infinity();
  std::int64_t calls = 1;
  for (int batch = 0; batch < kBatches;) {
    const double time = seconds_of(contest, calls);
    of_a_call = std::min(of_a_call, time / static_cast<double>(calls));
    if (of_a_call * static_cast<double>(calls) < seconds / 4)
      calls *= 2;
    else
      ++batch;
  }
  return std::max<std::int64_t>(1, std::llround(seconds / of_a_call));
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::map<std::string, double> medians_of(const std::vector<Contest>& contests, int turns,
                                         double turn_seconds) {
  std::vector<std::int64_t> calls;
  for (const Contest& contest : contests) calls.push_back(calls_in(turn_seconds, contest));
  std::vector<std::size_t> order(contests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random;
  std::vector<std::vector<double>> times(contests.size());
  Progress progress({.what = "turns", .total = std::ssize(contests) * turns});
  for (int turn = 0; turn < turns; ++turn) {
    std::ranges::shuffle(order, random);
    for (const std::size_t n : order) {
      if (runtime::num_threads() > 1) std::this_thread::sleep_for(kUntilOthersSleep);
      times[n].push_back(seconds_of(contests[n], calls[n]) / static_cast<double>(calls[n]));
      progress.add(1);
    }
  }
  std::map<std::string, double> medians;
  for (std::size_t n = 0; n < contests.size(); ++n)
    medians[contests[n].name] = median_of(std::move(times[n]));
  return medians;
}

}  // namespace tenon::bench
