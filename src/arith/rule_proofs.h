// The proofs that conditions of rules ask for. A proof rewrites an expression, and the rules that
// this tries ask for proofs again: each claim is settled once as long as the facts stay as they
// are, and what one proof may start is limited, so that the cost of nested minima and the like does
// not double with every level.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tenon/tir/expr.h"

namespace tenon::arith {

class Facts;

/// `e >= bound`, `e < bound` or `e == bound`.
struct Claim {
  enum class Relation : std::uint8_t { AtLeast, Below, Equal };
  Relation relation;
  tir::Expr e;
  std::int64_t bound;

  friend bool operator==(const Claim& a, const Claim& b);
};

/// Whether the claim surely holds; false means "not proved".
bool can_prove(const Claim& claim, const Facts& facts);

class ProofMemory {
 public:
  /// Proofs that one proof may start, those that these start among them. The known tables need 60
  /// at most.
  static constexpr int kMaxNested = 300;

  std::optional<bool> find(const Claim& claim, std::uint64_t known) const;
  void add(const Claim& claim, bool holds, std::uint64_t known);

  /// Whether the proof under way has started all that it may.
  bool is_cut_short() const { return depth_ > 0 && left_ < 0; }

  /// One proof under way.
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
  /// With what was known of the claim's variables (Facts::State::known_of).
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
