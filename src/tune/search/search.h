// Evolutionary search among the candidates of one task.
//
// A round starts from the best measured candidates and from new samples, mutates those that the
// model prefers for several generations, and returns the unmeasured ones with the best predictions.
// A fraction of a round are neighbours of the fastest measured candidates, with one or two changed
// decisions; for such similar programs, measurements are more informative than the model. The first
// round has only new samples: half by prediction, half at random.
#pragma once

#include <unordered_map>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/tune.h"
#include "tune/search/candidate.h"

namespace tenon::tune {

class Search {
 public:
  /// `seed` must be specific to this task.
  Search(const CandidateMaker& maker, std::vector<s_tir::Trace> designs,
         const SearchOptions& options, std::uint64_t seed);

  /// Returns at most `count` new candidates. Nullopt after the configured number of consecutive
  /// rounds without any.
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model);

  /// Records the time of a candidate, returned by next() or known from an earlier run. Nullopt: the
  /// candidate failed.
  void tell(const Candidate& candidate, std::optional<double> seconds);

 private:
  struct Measured {
    Candidate candidate;
    double seconds;
  };
  /// A set of distinct candidates.
  class Set {
   public:
    /// Returns false if the candidate is already in the set.
    bool insert(const Candidate& candidate);
    bool contains(const Candidate& candidate) const;

   private:
    /// Modules by hash. Used for look-up only.
    std::unordered_map<std::uint64_t, std::vector<tir::IRModule>> modules_;
  };

  /// Returns the candidates that are not nullopt, without duplicates.
  static std::vector<Candidate> distinct(std::vector<std::optional<Candidate>> made);
  std::vector<Candidate> drawn(std::size_t count);
  std::vector<Candidate> bred(const std::vector<Candidate>& population, int generation);
  /// Returns at most `count` neighbours of the fastest candidates. If there are more, they are
  /// chosen by prediction.
  std::vector<Candidate> neighbours(std::size_t count, CostModel& model) const;
  void predict(std::vector<Candidate>& candidates, CostModel& model) const;
  std::vector<Candidate> evolved(std::size_t count, CostModel& model);
  /// Reduces the list to `count` candidates: the best predictions, and a fraction at random.
  void choose(std::vector<Candidate>& candidates, std::size_t count, double at_random) const;

  const CandidateMaker& maker_;
  std::vector<s_tir::Trace> designs_;
  SearchOptions options_;
  std::uint64_t seed_;
  std::uint64_t round_ = 0;
  std::uint64_t draws_ = 0;
  int empty_rounds_ = 0;
  Set given_;
  /// The measured candidates, fastest first.
  std::vector<Measured> best_;
};

}  // namespace tenon::tune
