// Candidates: schedules of a space with all samples drawn and all post-processors done.
#pragma once

#include <optional>

#include "tenon/tune/postprocessors.h"
#include "tune/search/random.h"

namespace tenon::tune {

struct Candidate {
  s_tir::Schedule schedule;
  /// Of the module after the post-processors: programs that are equal have equal ones.
  std::uint64_t hash;
  std::optional<double> predicted = std::nullopt;
};

/// What makes candidates of the designs of one task.
class CandidateMaker {
 public:
  CandidateMaker(tir::IRModule mod, Target target, std::vector<Postprocessor> postprocessors)
      : mod_(std::move(mod)),
        target_(std::move(target)),
        postprocessors_(std::move(postprocessors)) {}

  /// The trace with its samples drawn anew; nullopt: a step or a post-processor refuses.
  std::optional<Candidate> drawn(const s_tir::Trace& design, std::uint64_t seed) const;
  /// The trace as it decides, up to enter_postproc; samples without a decision are drawn.
  std::optional<Candidate> replayed(const s_tir::Trace& trace, std::uint64_t seed = 0) const;

  const tir::IRModule& mod() const { return mod_; }
  const Target& target() const { return target_; }

 private:
  std::optional<Candidate> made(const s_tir::Trace& trace, std::uint64_t seed, bool anew) const;

  tir::IRModule mod_;
  Target target_;
  std::vector<Postprocessor> postprocessors_;
};

/// The steps in front of enter_postproc.
s_tir::Trace without_postproc(const s_tir::Trace& trace);

}  // namespace tenon::tune
