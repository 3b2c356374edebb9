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
  return a.relation == b.relation && a.bound == b.bound && a.e.node().hash == b.e.node().hash &&
         structural_equal(a.e, b.e);
}

bool can_prove(const Claim& claim, const Facts& facts) {
  Facts::State& state = facts.state();
  if (const auto known = state.proofs.find(claim, state.version)) return *known;
  const ProofMemory::Step step(state.proofs);
  if (!step.is_allowed()) return false;
  const std::uint64_t version = state.version;
  const bool holds = settle(claim, facts);
  // A proof that was cut short may yet succeed from elsewhere.
  if (step.is_allowed() && version == state.version) state.proofs.add(claim, holds, version);
  return holds;
}

// ---- the memory ---------------------------------------------------------------------------------

std::size_t ProofMemory::Hash::operator()(const Key& key) const {
  const auto relation = static_cast<std::size_t>(key.claim.relation);
  return key.claim.e.node().hash ^
         ((static_cast<std::size_t>(key.claim.bound) * 3 + relation) * 31 + key.version) *
             0x9e3779b97f4a7c15u;
}

std::optional<bool> ProofMemory::find(const Claim& claim, std::uint64_t version) const {
  if (claims_.empty()) return std::nullopt;
  const auto it = claims_.find({claim, version});
  if (it == claims_.end()) return std::nullopt;
  return it->second;
}

void ProofMemory::add(const Claim& claim, bool holds, std::uint64_t version) {
  if (claims_.size() >= kMostClaims) claims_.clear();
  claims_.emplace(Key{claim, version}, holds);
}

ProofMemory::Step::Step(ProofMemory& memory) : memory_(memory) {
  if (memory_.depth_++ == 0) memory_.left_ = kMostNested;
  --memory_.left_;
}

}  // namespace tenon::arith
