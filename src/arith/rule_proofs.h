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

/// The claim `e >= bound`, `e < bound` or `e == bound`.
struct Claim {
  enum class Relation : std::uint8_t { AtLeast, Below, Equal };
  Relation relation;
  tir::Expr e;
  std::int64_t bound;

  friend bool operator==(const Claim& a, const Claim& b);
};

/// Whether the claim provably holds. False means "not proved".
bool can_prove(const Claim& claim, const Facts& facts);

class ProofMemory {
 public:
  /// Maximum number of proofs that one proof may start, including nested ones. The golden tables
  /// need at most 60.
  static constexpr int kMaxNested = 300;

  std::optional<bool> find(const Claim& claim, std::uint64_t known) const;
  void add(const Claim& claim, bool holds, std::uint64_t known);

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
  /// A claim with the facts about its variables (Facts::State::known_of).
  struct Key {
    Claim claim;
    std::uint64_t known;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static constexpr std::size_t kMaxClaims = 1 << 14;

  std::unordered_map<Key, bool, Hash> claims_;
  int depth_ = 0;
  int left_ = 0;
};

}  // namespace tenon::arith
