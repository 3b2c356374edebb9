// Evolutionary search among the candidates of one task.
//
// A round starts from the best that were measured and from programs drawn anew, changes decisions
// of what the model likes for some generations, and gives the unmeasured ones that it likes most.
// A share of it differs in one decision or two from the fastest that were measured: among those,
// which are much alike, measuring tells more than a model does. The first round, before anything is
// known, is drawn only: half of it is what the model guesses to be fast, the rest is spread.
#pragma once

#include <unordered_map>

#include "tenon/tune/cost_model.h"
#include "tenon/tune/tune.h"
#include "tune/search/candidate.h"

namespace tenon::tune {

class Search {
 public:
  /// `seed`: of this task alone.
  Search(const CandidateMaker& maker, std::vector<s_tir::Trace> designs,
         const SearchOptions& options, std::uint64_t seed);

  /// At most so many candidates that were not given before; nullopt when as many rounds as the
  /// options say were empty.
  std::optional<std::vector<Candidate>> next(std::size_t count, CostModel& model);

  /// What was measured of a candidate: of `next`, or known from before. No time: it failed.
  void tell(const Candidate& candidate, std::optional<double> seconds);

 private:
  struct Measured {
    Candidate candidate;
    double seconds;
  };
  /// Candidates of which no two are equal.
  class Set {
   public:
    /// False: it was there.
    bool insert(const Candidate& candidate);
    bool contains(const Candidate& candidate) const;

   private:
    /// Looked up only.
    std::unordered_map<std::uint64_t, std::vector<tir::IRModule>> modules_;
  };

  /// Those that were made, each once.
  static std::vector<Candidate> distinct(std::vector<std::optional<Candidate>> made);
  std::vector<Candidate> drawn(std::size_t count);
  std::vector<Candidate> bred(const std::vector<Candidate>& population, int generation);
  /// At most so many that differ little from the fastest, of more of them those that the model
  /// likes.
  std::vector<Candidate> neighbours(std::size_t count, CostModel& model) const;
  void predict(std::vector<Candidate>& candidates, CostModel& model) const;
  std::vector<Candidate> evolved(std::size_t count, CostModel& model);
  /// Leaves so many: the likeliest, and a share of them at random.
  void choose(std::vector<Candidate>& candidates, std::size_t count, double at_random) const;

  const CandidateMaker& maker_;
  std::vector<s_tir::Trace> designs_;
  SearchOptions options_;
  std::uint64_t seed_;
  std::uint64_t round_ = 0;
  std::uint64_t draws_ = 0;
  int empty_rounds_ = 0;
  Set given_;
  /// The fastest first.
  std::vector<Measured> best_;
};

}  // namespace tenon::tune
