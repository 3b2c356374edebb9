// Evolutionary search among the candidates of one task.
//
//  A round starts from the best measured candidates and from new samples. For several generations, it
//  mutates the candidates that the model prefers. It then returns the unmeasured candidates with the
//  best predictions. Some candidates of a round are neighbours of the fastest measured candidates,
//  with one or two changed decisions, because the model cannot rank such similar programs. The first
//  round only has new samples: half are chosen by prediction, half at random.
#pragma once

#include <map>
#include <unordered_map>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/tune.h"
#include "tune/search/candidate.h"

namespace tenon::tune {

/// The distinct modules of candidates, by hash. Never iterated, because the order is unspecified.
using ModuleSet = std::unordered_map<std::uint64_t, std::vector<tir::IRModule>>;

class Search {
 public:
  /// `seed` must be different for each task.
  Search(const CandidateMaker& maker, std::vector<s_tir::Trace> designs,
         const SearchOptions& options, std::uint64_t seed);

  /// Returns at most `count` new candidates. Nullopt if no new candidate was found in the
  /// configured number of consecutive rounds.
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model);

  /// Records the time of a candidate that next() has returned or that an earlier run has measured.
  /// `seconds` is nullopt if the candidate failed.
  void tell(const Candidate& candidate, std::optional<double> seconds);

 private:
  /// Returns the candidates that are not nullopt, and removes duplicates.
  static std::vector<Candidate> distinct(std::vector<std::optional<Candidate>> made);
  std::vector<Candidate> drawn(std::size_t count);
  std::vector<Candidate> bred(const std::vector<Candidate>& population, int generation);
  /// Returns at most `count` neighbours of the fastest candidates, those with the best predictions.
  std::vector<Candidate> neighbours(std::size_t count, CostModel& model) const;
  void predict(std::vector<Candidate>& candidates, CostModel& model) const;
  std::vector<Candidate> evolved(std::size_t count, CostModel& model);
  /// Reduces the list to `count` candidates. A fraction `at_random` is chosen at random; the others
  /// have the best predictions.
  void choose(std::vector<Candidate>& candidates, std::size_t count, double at_random) const;

  const CandidateMaker& maker_;
  std::vector<s_tir::Trace> designs_;
  SearchOptions options_;
  std::uint64_t seed_;
  std::uint64_t round_ = 0;
  std::uint64_t draws_ = 0;
  int empty_rounds_ = 0;
  ModuleSet given_;
  /// The measured candidates by their time in seconds, fastest first.
  std::multimap<double, Candidate> best_;
};

}  // namespace tenon::tune
