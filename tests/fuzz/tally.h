// The results of a run, and their summary.
#pragma once

#include <iosfwd>
#include <map>

#include "tests/fuzz/worker.h"

namespace tenon::fuzz {

/// The sentence without names and numbers, so that like ones count together.
std::string kind_of(const std::string& sentence);

class Tally {
 public:
  void add(const Job& job, const Outcome& outcome);

  int cases() const { return cases_; }
  int findings() const { return findings_; }
  /// How many findings of its kind there have been, this one included.
  int count_of(const Outcome& finding) const;
  static std::string kind_of_finding(const Outcome& outcome);

  void print_summary(std::ostream& out, double seconds) const;
  /// Why schedules were refused, and how often.
  void print_refusals(std::ostream& out) const;
  /// How often each step was tried on each kind of operation, and accepted.
  void print_steps(std::ostream& out) const;
  const Coverage& coverage() const { return coverage_; }

 private:
  struct Count {
    int tried = 0, accepted = 0;
  };
  struct Finding {
    int count = 0;
    std::vector<unsigned> seeds;
  };

  int cases_ = 0, refused_ = 0, findings_ = 0;
  struct Phase {
    double seconds = 0, slowest = 0;
    unsigned slowest_seed = 0;
  };
  std::map<std::string, Phase> phases_;
  std::map<std::string, int> refusals_;
  std::map<std::string, Finding> found_;
  std::map<std::string, std::array<Count, kStageKinds>> steps_;
  Coverage coverage_;
};

}  // namespace tenon::fuzz
