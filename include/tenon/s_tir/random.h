// Independent streams of random numbers (SplitMix64; Steele, Lea, Flood 2014), which are equal on
// every machine. For example, the samples of candidate 17 of round 3 of a tuner do not depend on
// the thread or the time at which they are drawn.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tenon/support/mix.h"

namespace tenon::s_tir {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}
  /// Returns the generator with this state, which is not derived from a seed.
  static Random with_state(std::uint64_t state) {
    Random result(0);
    result.state_ = state;
    return result;
  }
  /// Returns the stream that belongs to a path of numbers: Random::stream(seed, {task, round,
  /// index}).
  static Random stream(std::uint64_t seed, std::initializer_list<std::uint64_t> path) {
    std::uint64_t state = mixed(seed);
    for (const std::uint64_t step : path) state = mixed(state ^ mixed(step + kStep));
    return Random(state);
  }

  std::uint64_t next() { return mixed(state_ += kStep); }
  /// Returns a uniformly distributed number in [0, n). Precondition: n > 0.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = ~std::uint64_t{0} / n * n;
    for (;;)
      if (const std::uint64_t drawn = next(); drawn < limit) return drawn % n;
  }
  /// Returns a uniformly distributed number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Returns a random index. Its probability is proportional to its weight. Precondition: the sum
  /// of the weights is positive.
  std::size_t weighted(const std::vector<double>& weights) {
    double total = 0;
    for (const double weight : weights) total += weight;
    double point = unit() * total;
    for (std::size_t n = 0; n + 1 < weights.size(); ++n) {
      if (point < weights[n]) return n;
      point -= weights[n];
    }
    return weights.size() - 1;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;
  /// Returns the finalizer of SplitMix64 for `z`, to which mix adds kStep.
  static std::uint64_t mixed(std::uint64_t z) { return mix(z - kStep, 0); }

  std::uint64_t state_;
};

}  // namespace tenon::s_tir
