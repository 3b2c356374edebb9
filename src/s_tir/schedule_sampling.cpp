#include <algorithm>

#include "s_tir/step.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Ascending.
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

/// All lists of n factors of the extent whose last is at most the limit; `tail`: the last ones so
/// far, the last of all first.
void tilings(std::int64_t extent, int n, std::int64_t limit, std::vector<std::int64_t>& tail,
             std::vector<std::vector<std::int64_t>>& result) {
  if (n == 1) {
    if (tail.empty() && extent > limit) return;
    result.emplace_back(tail.rbegin(), tail.rend());
    result.back().insert(result.back().begin(), extent);
    return;
  }
  for (const std::int64_t factor : divisors(extent)) {
    if (tail.empty() && factor > limit) break;
    tail.push_back(factor);
    tilings(extent / factor, n - 1, limit, tail, result);
    tail.pop_back();
  }
}

/// A decision made for another extent: factors that no longer divide become the nearest that do,
/// from the innermost outwards, and the outermost takes the rest.
std::vector<std::int64_t> repaired(std::vector<std::int64_t> tile, std::int64_t extent) {
  std::int64_t rest = extent;
  for (std::size_t n = tile.size(); n-- > 1;) {
    std::int64_t factor = std::max<std::int64_t>(1, std::min(tile[n], rest));
    while (rest % factor != 0) --factor;
    tile[n] = factor;
    rest /= factor;
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
  if (options.n < 1) refuse(step.caller(), "n is " + std::to_string(options.n) + ", not 1 or more");
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
  } else if (options.decision) {
    tile = repaired(*options.decision, *extent);
  } else {
    std::vector<std::vector<std::int64_t>> all;
    std::vector<std::int64_t> tail;
    tilings(*extent, options.n, options.max_innermost_factor, tail, all);
    if (all.empty())
      refuse(step.caller(), describe(place.program, place.n) + " cannot be tiled with one factor " +
                                "of at most " + std::to_string(options.max_innermost_factor));
    tile = all[step.dice().below(all.size())];
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
  for (const std::int64_t candidate : candidates) values.push_back({candidate});
  for (const double weight : probs) weights.push_back({weight});
  step.with_value({std::move(values)}).with_value({std::move(weights)});
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
  // The loops of a consumer below which the block can be computed.
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
