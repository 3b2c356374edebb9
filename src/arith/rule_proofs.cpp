#include "arith/rule_proofs.h"

#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/mix.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

namespace {

bool settle(const Claim& claim, const Facts& facts) {
  switch (claim.relation) {
    case BinaryOp::Ge:
      return can_prove_at_least(claim.e, claim.bound, facts);
    case BinaryOp::Lt:
      return can_prove_below(claim.e, claim.bound, facts);
    case BinaryOp::Eq:
      return can_prove_equal(claim.e, make_int(claim.e.dtype(), claim.bound), facts);
    default:
      internal_error("a rule's condition is of a kind that is not proved");
  }
}

}  // namespace

bool operator==(const Claim& a, const Claim& b) {
  return a.relation == b.relation && a.bound == b.bound && a.known == b.known &&
         structural_equal(a.e, b.e);
}

bool can_prove(BinaryOp relation, const Expr& e, std::int64_t bound, const Facts& facts) {
  Facts::State& state = facts.state();
  const Claim claim{relation, e, bound, state.known_of(e)};
  if (const auto settled = state.proofs.find(claim)) return *settled;
  const ProofMemory::Step step(state.proofs);
  if (!step.is_allowed()) return false;
  const bool holds = settle(claim, facts);
  // A proof that exhausted its budget may succeed in another context, so it is not memoized.
  if (step.is_allowed()) state.proofs.add(claim, holds);
  return holds;
}

// ---- the memo table -----------------------------------------------------------------------------

std::size_t ProofMemory::Hash::operator()(const Claim& claim) const {
  std::size_t result = mix(claim.e.node().hash, static_cast<std::uint64_t>(claim.relation));
  result = mix(result, static_cast<std::uint64_t>(claim.bound));
  return mix(result, claim.known);
}

std::optional<bool> ProofMemory::find(const Claim& claim) const {
  const auto it = claims_.find(claim);
  return it == claims_.end() ? std::nullopt : std::optional(it->second);
}

void ProofMemory::add(const Claim& claim, bool holds) {
  if (claims_.size() >= kMaxClaims) claims_.clear();
  claims_.emplace(claim, holds);
}

ProofMemory::Step::Step(ProofMemory& memory) : memory_(memory) {
  if (memory_.depth_++ == 0) memory_.left_ = kMaxNested;
  --memory_.left_;
}

}  // namespace tenon::arith
