#include "tune/search/mutate.h"

#include <utility>

#include "tenon/s_tir/trace_steps.h"

namespace tenon::tune {

namespace {

using s_tir::Instruction;
using s_tir::InstructionKind;
using s_tir::Random;
using s_tir::Trace;
using s_tir::TraceValue;

std::vector<std::int64_t> integers(const TraceValue& value) {
  std::vector<std::int64_t> result;
  if (const auto* list = std::get_if<TraceValue::List>(&value.value))
    for (const TraceValue& item : *list)
      if (const auto* number = std::get_if<std::int64_t>(&item.value)) result.push_back(*number);
  return result;
}

TraceValue list_of(const std::vector<std::int64_t>& values) {
  TraceValue::List list;
  for (const std::int64_t value : values) list.push_back({value});
  return {std::move(list)};
}

/// Returns a random divisor, greater than 1, of a number greater than 1.
std::int64_t some_divisor(std::int64_t number, Random& random) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 2; d <= number / d; ++d)
    if (number % d == 0) {
      divisors.push_back(d);
      if (d != number / d) divisors.push_back(number / d);
    }
  divisors.push_back(number);
  return divisors[random.below(divisors.size())];
}

bool mutate_tile(Instruction& step, Random& random) {
  std::vector<std::int64_t> tile = integers(*step.decision);
  // The arguments of the instruction are: loop, n, max_innermost_factor.
  const auto* limit = std::get_if<std::int64_t>(&step.arguments[2].value);
  if (tile.size() < 2 || !limit) return false;
  constexpr int kTries = 20;
  for (int n = 0; n < kTries; ++n) {
    const std::size_t from = random.below(tile.size()), to = random.below(tile.size());
    if (from == to || tile[from] == 1) continue;
    const std::int64_t factor = some_divisor(tile[from], random);
    if (to == tile.size() - 1 && tile[to] * factor > *limit) continue;
    tile[from] /= factor;
    tile[to] *= factor;
    step.decision = list_of(tile);
    return true;
  }
  return false;
}

bool mutate_categorical(Instruction& step, Random& random) {
  const std::size_t count = std::get<TraceValue::List>(step.arguments[0].value).size();
  const auto* now = std::get_if<std::int64_t>(&step.decision->value);
  if (count < 2 || !now) return false;
  const std::int64_t other = static_cast<std::int64_t>(random.below(count - 1));
  step.decision = TraceValue{other + (other >= *now ? 1 : 0)};
  return true;
}

/// Halves or doubles the number of parallel jobs.
bool mutate_parallel(Instruction& step, Random& random) {
  auto* jobs = std::get_if<std::int64_t>(&step.arguments[2].value);
  if (!jobs) return false;
  constexpr std::int64_t kMaxJobs = std::int64_t{1} << 30;
  const bool is_halved = (random.below(2) == 0 && *jobs > 1) || *jobs > kMaxJobs;
  *jobs = is_halved ? *jobs / 2 : *jobs * 2;
  return true;
}

/// The kinds of steps that mutate, with their likelihoods.
constexpr std::pair<InstructionKind, double> kMutable[] = {
    {InstructionKind::SamplePerfectTile, 0.9},
    {InstructionKind::SampleComputeLocation, 0.05},
    {InstructionKind::SampleCategorical, 0.03},
    {InstructionKind::Annotate, 0.02}};

/// Whether a step of one of these kinds can mutate.
bool is_mutable(const Instruction& step) {
  if (step.kind != InstructionKind::Annotate) return step.decision.has_value();
  const auto* key = std::get_if<std::string>(&step.arguments[1].value);
  return key && *key == kParallelKey;
}

/// Returns false if the step is unchanged.
bool mutate(Instruction& step, Random& random) {
  switch (step.kind) {
    case InstructionKind::SamplePerfectTile:
      return mutate_tile(step, random);
    case InstructionKind::SampleCategorical:
      return mutate_categorical(step, random);
    case InstructionKind::Annotate:
      return mutate_parallel(step, random);
    default:
      step.decision = std::nullopt;  // the replay draws a new sample
      return true;
  }
}

}  // namespace

std::optional<Trace> mutated(const Trace& trace, s_tir::Random& random) {
  std::vector<std::vector<std::size_t>> places;
  std::vector<double> weights;
  double total = 0;
  for (const auto& [kind, likelihood] : kMutable) {
    std::vector<std::size_t>& found = places.emplace_back();
    for (std::size_t n = 0; n < trace.steps.size(); ++n)
      if (trace.steps[n].kind == kind && is_mutable(trace.steps[n])) found.push_back(n);
    weights.push_back(found.empty() ? 0 : likelihood);
    total += weights.back();
  }
  if (total == 0) return std::nullopt;
  const std::vector<std::size_t>& chosen = places[random.weighted(weights)];
  Trace result = trace;
  if (!mutate(result.steps[chosen[random.below(chosen.size())]], random)) return std::nullopt;
  return result;
}

}  // namespace tenon::tune
