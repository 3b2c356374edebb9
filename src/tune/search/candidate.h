// A candidate: a schedule from the search space whose samples have been drawn and to which all
// postprocessors have been applied.
#pragma once

#include <optional>

#include "tenon/s_tir/random.h"
#include "tenon/tune/postprocessors.h"

namespace tenon::tune {

using s_tir::Random;

struct Candidate {
  s_tir::Schedule schedule;
  /// The structural hash of the module after postprocessing.
  std::uint64_t hash;
  std::optional<double> predicted = std::nullopt;
};

/// Makes candidates from the designs of one task. A design is a trace whose samples are still to be
/// drawn.
class CandidateMaker {
 public:
  CandidateMaker(tir::IRModule mod, Target target, std::vector<Postprocessor> postprocessors)
      : mod_(std::move(mod)),
        target_(std::move(target)),
        postprocessors_(std::move(postprocessors)) {}

  /// Returns the candidate that a design gives with newly drawn samples. Nullopt if a step or a
  /// postprocessor fails.
  std::optional<Candidate> drawn(const s_tir::Trace& design, std::uint64_t seed) const;
  /// Returns the candidate that the trace describes. Replays the steps before enter_postproc with
  /// their recorded decisions, and draws the samples that have no decision. Nullopt if a step or a
  /// postprocessor fails.
  std::optional<Candidate> replayed(const s_tir::Trace& trace, std::uint64_t seed = 0) const;

 private:
  std::optional<Candidate> made(const s_tir::Trace& trace, std::uint64_t seed, bool anew) const;

  tir::IRModule mod_;
  Target target_;
  std::vector<Postprocessor> postprocessors_;
};

/// Returns the steps of the trace before enter_postproc.
s_tir::Trace without_postproc(const s_tir::Trace& trace);

}  // namespace tenon::tune
