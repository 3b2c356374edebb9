#include "arith/rule_proofs.h"

#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

namespace {

bool settle(const Claim& claim, const Facts& facts) {
  switch (claim.relation) {
    case Claim::Relation::AtLeast:
      return can_prove_at_least(claim.e, claim.bound, facts);
    case Claim::Relation::Below:
      return can_prove_below(claim.e, claim.bound, facts);
    case Claim::Relation::Equal:
      return can_prove_equal(claim.e, make_int(claim.e.dtype(), claim.bound), facts);
  }
  return false;
}

}  // namespace

bool operator==(const Claim& a, const Claim& b) {
  return a.relation == b.relation && a.bound == b.bound && structural_equal(a.e, b.e);
}

bool can_prove(const Claim& claim, const Facts& facts) {
  Facts::State& state = facts.state();
  const std::uint64_t known = state.known_of(claim.e);
  if (const auto settled = state.proofs.find(claim, known)) return *settled;
  const ProofMemory::Step step(state.proofs);
  if (!step.is_allowed()) return false;
  const bool holds = settle(claim, facts);
  // A proof that exhausted its budget may succeed in another context, so it is not memoized.
  if (step.is_allowed()) state.proofs.add(claim, holds, known);
  return holds;
}

// ---- the memo table -----------------------------------------------------------------------------

std::size_t ProofMemory::Hash::operator()(const Key& key) const {
  const auto relation = static_cast<std::size_t>(key.claim.relation);
  return key.claim.e.node().hash ^
         ((static_cast<std::size_t>(key.claim.bound) * 3 + relation) * 31 + key.known) *
             0x9e3779b97f4a7c15u;
}

std::optional<bool> ProofMemory::find(const Claim& claim, std::uint64_t known) const {
  if (claims_.empty()) return std::nullopt;
  const auto it = claims_.find({claim, known});
  if (it == claims_.end()) return std::nullopt;
  return it->second;
}

void ProofMemory::add(const Claim& claim, bool holds, std::uint64_t known) {
  if (claims_.size() >= kMaxClaims) claims_.clear();
  claims_.emplace(Key{claim, known}, holds);
}

ProofMemory::Step::Step(ProofMemory& memory) : memory_(memory) {
  if (memory_.depth_++ == 0) memory_.left_ = kMaxNested;
  --memory_.left_;
}

}  // namespace tenon::arith
