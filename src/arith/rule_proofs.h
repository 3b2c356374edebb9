// Proofs of rule conditions. A proof rewrites an expression, and the rules tried for it request
// proofs in turn. Each claim is therefore memoized while the facts are unchanged, and the number of
// proofs that one proof may start is limited. Without this the cost doubles with each level of
// nested minima.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tenon/tir/expr.h"

namespace tenon::arith {

class Facts;

/// Whether `e relation bound` provably holds, where the relation is Ge, Lt or Eq. False means "not
/// proved".
bool can_prove(tir::BinaryOp relation, const tir::Expr& e, std::int64_t bound, const Facts& facts);

/// A claim `e relation bound`.
struct Claim {
  tir::BinaryOp relation;
  tir::Expr e;
  std::int64_t bound;
  /// A fingerprint of the facts about the variables of `e` (Facts::State::known_of).
  std::uint64_t known;

  friend bool operator==(const Claim& a, const Claim& b);
};

class ProofMemory {
 public:
  /// Maximum number of proofs that one proof may start, including nested ones. The golden tables
  /// need at most 60.
  static constexpr int kMaxNested = 300;

  std::optional<bool> find(const Claim& claim) const;
  void add(const Claim& claim, bool holds);

  /// Whether the current proof has exhausted its budget.
  bool is_cut_short() const { return depth_ > 0 && left_ < 0; }

  /// A proof in progress.
  class Step {
   public:
    explicit Step(ProofMemory& memory);
    ~Step() { --memory_.depth_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    bool is_allowed() const { return memory_.left_ >= 0; }

   private:
    ProofMemory& memory_;
  };

 private:
  struct Hash {
    std::size_t operator()(const Claim& claim) const;
  };
  static constexpr std::size_t kMaxClaims = 1 << 14;

  std::unordered_map<Claim, bool, Hash> claims_;
  int depth_ = 0;
  int left_ = 0;
};

}  // namespace tenon::arith
