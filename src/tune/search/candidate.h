// Candidates: schedules from a space with all samples drawn and all postprocessors applied.
#pragma once

#include <optional>

#include "tenon/tune/postprocessors.h"
#include "tune/search/random.h"

namespace tenon::tune {

struct Candidate {
  s_tir::Schedule schedule;
  /// Structural hash of the postprocessed module.
  std::uint64_t hash;
  std::optional<double> predicted = std::nullopt;
};

/// Makes candidates from the designs of one task.
class CandidateMaker {
 public:
  CandidateMaker(tir::IRModule mod, Target target, std::vector<Postprocessor> postprocessors)
      : mod_(std::move(mod)),
        target_(std::move(target)),
        postprocessors_(std::move(postprocessors)) {}

  /// Returns the design with new samples. Nullopt if a step or a postprocessor refuses.
  std::optional<Candidate> drawn(const s_tir::Trace& design, std::uint64_t seed) const;
  /// Replays the trace up to enter_postproc with its decisions. Samples without a decision are
  /// drawn.
  std::optional<Candidate> replayed(const s_tir::Trace& trace, std::uint64_t seed = 0) const;

  const tir::IRModule& mod() const { return mod_; }
  const Target& target() const { return target_; }

 private:
  std::optional<Candidate> made(const s_tir::Trace& trace, std::uint64_t seed, bool anew) const;

  tir::IRModule mod_;
  Target target_;
  std::vector<Postprocessor> postprocessors_;
};

/// Returns the steps before enter_postproc.
s_tir::Trace without_postproc(const s_tir::Trace& trace);

}  // namespace tenon::tune
