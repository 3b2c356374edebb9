#include <algorithm>

#include "s_tir/step.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Returns the divisors in ascending order by trial division; extents to be tiled are at most
/// kMaxTiledExtent.
std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d <= number / d; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d != number / d) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

constexpr std::int64_t kMaxTiledExtent = std::int64_t{1} << 40;
constexpr int kMaxTileFactors = 64;

/// All lists of n factors of an extent whose last factor does not exceed a limit. They are counted
/// without enumeration, because their number grows polynomially with n.
class Tilings {
 public:
  Tilings(std::int64_t extent, int n, std::int64_t limit)
      : extent_(extent), n_(n), limit_(limit), divisors_(divisors(extent)) {
    for (std::int64_t rest = extent, d = 2; rest > 1; ++d) {
      if (d > rest / d) d = rest;
      if (rest % d == 0) primes_.push_back(d);
      while (rest % d == 0) rest /= d;
    }
  }

  /// Exact for counts up to 2^53.
  double count() const { return count_of(extent_, n_, limit_); }

  /// Draws a list uniformly. Precondition: there is at least one.
  std::vector<std::int64_t> drawn(Rng& dice) const {
    constexpr double kExact = 9007199254740992;
    const double all = count();
    const bool is_exact = all < kExact;
    double point = is_exact ? static_cast<double>(dice.below(static_cast<std::uint64_t>(all))) : 0;
    std::vector<std::int64_t> tile(static_cast<std::size_t>(n_), 1);
    std::int64_t rest = extent_, limit = limit_;
    for (int n = n_; n > 1; --n) {
      if (!is_exact) point = dice.unit() * count_of(rest, n, limit);
      std::int64_t& factor = tile[static_cast<std::size_t>(n - 1)];
      for (const std::int64_t d : divisors_) {
        if (rest % d != 0 || d > limit) continue;
        factor = d;
        const double lists = count_of(rest / d, n - 1, rest);
        if (point < lists) break;
        point -= lists;
      }
      rest /= factor;
      limit = rest;
    }
    tile.front() = rest;
    return tile;
  }

 private:
  /// Returns the number of lists of n factors of the number whose last factor does not exceed the
  /// limit.
  double count_of(std::int64_t number, int n, std::int64_t limit) const {
    if (n == 1) return number <= limit ? 1 : 0;
    if (number > limit) {
      double sum = 0;
      for (const std::int64_t d : divisors_)
        if (d <= limit && number % d == 0) sum += count_of(number / d, n - 1, number);
      return sum;
    }
    // Each prime's exponent is distributed over the n factors independently.
    double result = 1;
    for (const std::int64_t prime : primes_) {
      int exponent = 0;
      for (std::int64_t rest = number; rest % prime == 0; rest /= prime) ++exponent;
      for (int k = 1; k <= exponent; ++k) result = result * (n - 1 + k) / k;
    }
    return result;
  }

  std::int64_t extent_;
  int n_;
  std::int64_t limit_;
  std::vector<std::int64_t> divisors_;
  std::vector<std::int64_t> primes_ = {};
};

/// Repairs a decision that was made for another extent. Factors that do not divide it are replaced
/// by the nearest divisors, innermost first, and the outermost factor becomes the quotient.
std::vector<std::int64_t> repaired(std::vector<std::int64_t> tile, std::int64_t extent) {
  const std::vector<std::int64_t> all = divisors(extent);
  std::int64_t rest = extent;
  for (std::size_t n = tile.size(); n-- > 1;) {
    const std::int64_t wanted = tile[n];
    tile[n] = 1;
    for (const std::int64_t d : all)
      if (d <= wanted && rest % d == 0) tile[n] = d;
    rest /= tile[n];
  }
  tile.front() = rest;
  return tile;
}

}  // namespace

std::vector<ExprRV> Schedule::sample_perfect_tile(LoopRV loop, const PerfectTileOptions& options,
                                                  Where where) {
  Step step(own(), InstructionKind::SamplePerfectTile, "sample_perfect_tile", where);
  step.with(RV(loop)).with(options.n).with(options.max_innermost_factor);
  const Step::Place place = step.loop(loop);
  const std::optional<std::int64_t> extent = constant_int(place.program.loop(place.n).extent);
  if (options.n < 1 || options.n > kMaxTileFactors)
    refuse(step.caller(),
           "n is " + std::to_string(options.n) + ", not 1 to " + std::to_string(kMaxTileFactors));
  if (options.max_innermost_factor < 1)
    refuse(step.caller(), "max_innermost_factor is " +
                              std::to_string(options.max_innermost_factor) + ", not 1 or more");
  std::vector<std::int64_t> tile;
  if (options.decision && options.decision->size() != static_cast<std::size_t>(options.n))
    refuse(step.caller(), "the decision has " + std::to_string(options.decision->size()) +
                              " factors, and n is " + std::to_string(options.n));
  if (!extent) {
    refuse(step.caller(), describe(place.program, place.n) +
                              " has no constant extent, so that it has no factors to draw");
  } else if (*extent < 1 || *extent > kMaxTiledExtent) {
    refuse(step.caller(), describe(place.program, place.n) + " has " + std::to_string(*extent) +
                              " iterations; factors are drawn for 1 to 2^40");
  } else if (options.decision) {
    tile = repaired(*options.decision, *extent);
  } else {
    const Tilings all(*extent, options.n, options.max_innermost_factor);
    if (all.count() == 0)
      refuse(step.caller(), describe(place.program, place.n) + " cannot be tiled with one factor " +
                                "of at most " + std::to_string(options.max_innermost_factor));
    tile = all.drawn(step.dice());
  }
  TraceValue::List decision;
  std::vector<ExprRV> result;
  for (const std::int64_t factor : tile) {
    decision.push_back({factor});
    result.push_back(step.give_number(factor));
  }
  step.decide({std::move(decision)});
  step.record();
  return result;
}

ExprRV Schedule::sample_categorical(const std::vector<std::int64_t>& candidates,
                                    const std::vector<double>& probs,
                                    const CategoricalOptions& options, Where where) {
  Step step(own(), InstructionKind::SampleCategorical, "sample_categorical", where);
  TraceValue::List values, weights;
  for (const std::int64_t candidate : candidates) values.emplace_back(candidate);
  for (const double weight : probs) weights.emplace_back(weight);
  step.with(std::move(values)).with(std::move(weights));
  if (candidates.empty() || candidates.size() != probs.size())
    refuse(step.caller(), std::to_string(candidates.size()) + " candidates and " +
                              std::to_string(probs.size()) + " probabilities are given");
  double total = 0;
  for (const double weight : probs) {
    if (!(weight >= 0)) refuse(step.caller(), "a probability is negative");
    total += weight;
  }
  if (!(total > 0)) refuse(step.caller(), "all probabilities are zero");
  const int count = static_cast<int>(candidates.size());
  int index = 0;
  if (options.decision && *options.decision >= 0 && *options.decision < count) {
    index = *options.decision;
  } else {
    double point = step.dice().unit() * total;
    while (index + 1 < count && point >= probs[static_cast<std::size_t>(index)])
      point -= probs[static_cast<std::size_t>(index++)];
  }
  step.decide({std::int64_t{index}});
  const ExprRV result = step.give_number(candidates[static_cast<std::size_t>(index)]);
  step.record();
  return result;
}

LoopRV Schedule::sample_compute_location(BlockRV block, const ComputeLocationOptions& options,
                                         Where where) {
  Step step(own(), InstructionKind::SampleComputeLocation, "sample_compute_location", where);
  step.with(RV(block));
  const Step::Place place = step.block(block);
  // The loops of a consumer that are possible compute locations.
  std::vector<int> locations;
  const std::vector<int> readers = consumers(place.program, place.n);
  if (!readers.empty())
    for (const int loop : place.program.loops_of(readers.front())) {
      try {
        s_tir::compute_at(place.program, place.n, loop, {}, where);
        locations.push_back(loop);
      } catch (const ScheduleError&) {
        continue;
      }
    }
  const int count = static_cast<int>(locations.size());
  int index = options.decision.value_or(-1);
  if (!options.decision || index < -2 || index >= count)
    index = static_cast<int>(step.dice().below(static_cast<std::uint64_t>(count) + 1)) - 1;
  step.decide({std::int64_t{index}});
  const LoopRV result =
      index < 0
          ? LoopRV(step.give(RV::Kind::Loop, index == -1 ? NoLoop::Root : NoLoop::Inline).number)
          : step.give_loop(place.function, place.program.loop(locations[index]).var);
  step.record();
  return result;
}

}  // namespace tenon::s_tir
