#include "tune/search/candidate.h"

#include <algorithm>

#include "tenon/s_tir/trace_steps.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

s_tir::Trace without_postproc(const s_tir::Trace& trace) {
  s_tir::Trace result;
  result.steps.assign(trace.steps.begin(),
                      std::ranges::find(trace.steps, s_tir::InstructionKind::EnterPostproc,
                                        &s_tir::Instruction::kind));
  return result;
}

std::optional<Candidate> CandidateMaker::made(const s_tir::Trace& trace, std::uint64_t seed,
                                              bool anew) const {
  try {
    s_tir::Schedule sch(mod_, {.seed = seed});
    sch.apply_trace(trace, {.draw_anew = anew});
    sch.enter_postproc();
    for (const Postprocessor& post : postprocessors_) post.apply(sch, target_);
    const std::uint64_t hash = structural_hash(sch.mod());
    return Candidate{std::move(sch), hash};
  } catch (const ScheduleError&) {
    return std::nullopt;
  }
}

std::optional<Candidate> CandidateMaker::drawn(const s_tir::Trace& design,
                                               std::uint64_t seed) const {
  return made(design, seed, true);
}

std::optional<Candidate> CandidateMaker::replayed(const s_tir::Trace& trace,
                                                  std::uint64_t seed) const {
  return made(without_postproc(trace), seed, false);
}

}  // namespace tenon::tune
