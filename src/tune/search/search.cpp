#include "tune/search/search.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tenon/tune/measure.h"
#include "tune/measure/parallel_for.h"
#include "tune/search/mutate.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

/// The purposes of random numbers. Each purpose has its own stream.
constexpr std::uint64_t kDraw = 0, kBreed = 1, kExplore = 2, kNeighbours = 3;

double prediction(const Candidate& candidate) { return candidate.predicted.value_or(0); }

/// Returns the probability, up to a common factor, with which each candidate is selected as a
/// parent. It is positive for all candidates and highest for the best prediction. It depends only
/// on differences between predictions, because their absolute values have no meaning.
std::vector<double> likelihoods(const std::vector<Candidate>& population) {
  const double low = prediction(*std::ranges::min_element(population, {}, prediction)),
               high = prediction(*std::ranges::max_element(population, {}, prediction));
  std::vector<double> result;
  for (const Candidate& candidate : population)
    result.push_back(high > low ? (prediction(candidate) - low) / (high - low) + 0.01 : 1);
  return result;
}

bool contains(const ModuleSet& set, const Candidate& candidate) {
  const auto entry = set.find(candidate.hash);
  return entry != set.end() && std::ranges::any_of(entry->second, [&](const tir::IRModule& mod) {
           return is_same_structure(mod, candidate.schedule.mod());
         });
}

/// Returns false if the candidate is already in the set.
bool insert(ModuleSet& set, const Candidate& candidate) {
  if (contains(set, candidate)) return false;
  set[candidate.hash].push_back(candidate.schedule.mod());
  return true;
}

}  // namespace

Search::Search(const CandidateMaker& maker, std::vector<s_tir::Trace> designs,
               const SearchOptions& options, std::uint64_t seed)
    : maker_(maker), designs_(std::move(designs)), options_(options), seed_(seed) {
  internal_check(!designs_.empty(), "a space without designs");
  if (options_.workers <= 0) options_.workers = physical_cores();
}

std::vector<Candidate> Search::distinct(std::vector<std::optional<Candidate>> made) {
  std::vector<Candidate> result;
  ModuleSet seen;
  for (std::optional<Candidate>& candidate : made)
    if (candidate && insert(seen, *candidate)) result.push_back(std::move(*candidate));
  return result;
}

std::vector<Candidate> Search::drawn(std::size_t count) {
  std::vector<std::optional<Candidate>> made(count);
  parallel_for(count, options_.workers, [&](std::size_t n) {
    Random random = Random::stream(seed_, {kDraw, draws_ + n});
    const s_tir::Trace& design = designs_[random.below(designs_.size())];
    made[n] = maker_.drawn(design, random.next());
  });
  draws_ += count;
  return distinct(std::move(made));
}

std::vector<Candidate> Search::bred(const std::vector<Candidate>& population, int generation) {
  const std::vector<double> weights = likelihoods(population);
  std::vector<std::optional<Candidate>> made(population.size());
  parallel_for(population.size(), options_.workers, [&](std::size_t n) {
    Random random =
        Random::stream(seed_, {kBreed, round_, static_cast<std::uint64_t>(generation), n});
    const Candidate& parent = population[random.weighted(weights)];
    if (random.unit() >= options_.mutation_probability) {
      made[n] = parent;
      return;
    }
    constexpr int kTries = 5;
    for (int t = 0; t < kTries && !made[n]; ++t) {
      const auto trace = mutated(without_postproc(parent.schedule.trace()), random);
      if (trace) made[n] = maker_.replayed(*trace, random.next());
    }
  });
  return distinct(std::move(made));
}

std::vector<Candidate> Search::neighbours(std::size_t count, CostModel& model) const {
  constexpr std::size_t kFastest = 4, kForEach = 4;
  std::vector<std::optional<Candidate>> made(kForEach * count);
  parallel_for(made.size(), options_.workers, [&](std::size_t n) {
    Random random = Random::stream(seed_, {kNeighbours, round_, n});
    const std::size_t rank = random.below(std::min(kFastest, best_.size()));
    const Candidate& fast = std::next(best_.begin(), static_cast<std::ptrdiff_t>(rank))->second;
    std::optional<s_tir::Trace> trace = without_postproc(fast.schedule.trace());
    for (std::uint64_t changes = 1 + random.below(2); changes > 0 && trace; --changes)
      trace = mutated(*trace, random);
    if (trace) made[n] = maker_.replayed(*trace, random.next());
  });
  std::vector<Candidate> result = distinct(std::move(made));
  std::erase_if(result, [&](const Candidate& candidate) { return contains(given_, candidate); });
  if (!result.empty()) predict(result, model);
  choose(result, count, 0);
  return result;
}

void Search::predict(std::vector<Candidate>& candidates, CostModel& model) const {
  std::vector<tir::IRModule> mods;
  for (const Candidate& candidate : candidates) mods.push_back(candidate.schedule.mod());
  const std::vector<double> predictions = model.predict(mods);
  for (std::size_t n = 0; n < candidates.size(); ++n) candidates[n].predicted = predictions[n];
}

std::vector<Candidate> Search::evolved(std::size_t count, CostModel& model) {
  const std::size_t size =
      std::max<std::size_t>(static_cast<std::size_t>(options_.population), count);
  std::vector<Candidate> population;
  const auto kept =
      static_cast<std::size_t>(std::llround(options_.share_of_best * static_cast<double>(size)));
  for (const auto& [seconds, candidate] : best_) {
    if (population.size() == kept) break;
    population.push_back(candidate);
  }
  std::vector<Candidate> fresh = drawn(size - population.size());
  const auto near = static_cast<std::size_t>(std::llround(
      std::clamp(options_.share_of_neighbours, 0.0, 1.0) * static_cast<double>(count)));
  std::vector<Candidate> result = neighbours(near, model), unmeasured;
  ModuleSet seen;
  for (const Candidate& candidate : result) insert(seen, candidate);
  const auto collect = [&](const std::vector<Candidate>& candidates) {
    for (const Candidate& candidate : candidates)
      if (!contains(given_, candidate) && insert(seen, candidate)) unmeasured.push_back(candidate);
  };
  population.insert(population.end(), fresh.begin(), fresh.end());
  if (population.empty()) return result;
  predict(population, model);
  collect(population);
  for (int generation = 0; generation < options_.generations; ++generation) {
    std::vector<Candidate> children = bred(population, generation);
    if (children.empty()) break;
    predict(children, model);
    collect(children);
    population = std::move(children);
  }
  // A fraction of the candidates is chosen at random (epsilon-greedy), so that the model also
  // learns from candidates that it would reject.
  choose(unmeasured, count - result.size(), options_.epsilon);
  result.insert(result.end(), unmeasured.begin(), unmeasured.end());
  return result;
}

void Search::choose(std::vector<Candidate>& candidates, std::size_t count, double at_random) const {
  std::ranges::stable_sort(candidates, std::greater(), prediction);
  Random random = Random::stream(seed_, {kExplore, round_});
  const auto exploring =
      static_cast<std::size_t>(std::ceil(at_random * static_cast<double>(count)));
  std::size_t chosen = count > exploring ? count - exploring : 0;
  for (; chosen < std::min(count, candidates.size()); ++chosen)
    std::swap(candidates[chosen], candidates[chosen + random.below(candidates.size() - chosen)]);
  if (candidates.size() > count)
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end());
}

std::optional<std::vector<Candidate>> Search::next(std::size_t count, CostModel& model) {
  std::vector<Candidate> result;
  if (best_.empty()) {
    const std::size_t size =
        std::max<std::size_t>(static_cast<std::size_t>(options_.population), 2 * count);
    result = drawn(size);
    std::erase_if(result, [&](const Candidate& candidate) { return contains(given_, candidate); });
    if (!result.empty()) predict(result, model);
    // The first round has no measurements, so the model is inaccurate. It learns most from diverse
    // candidates.
    constexpr double kAtRandom = 0.5;
    if (result.size() > count) choose(result, count, kAtRandom);
  } else {
    result = evolved(count, model);
  }
  ++round_;
  for (const Candidate& candidate : result) insert(given_, candidate);
  empty_rounds_ = result.empty() ? empty_rounds_ + 1 : 0;
  if (empty_rounds_ >= options_.empty_rounds_before_stop) return std::nullopt;
  return result;
}

void Search::tell(const Candidate& candidate, std::optional<double> seconds) {
  insert(given_, candidate);
  if (seconds) best_.emplace(*seconds, candidate);
}

}  // namespace tenon::tune
