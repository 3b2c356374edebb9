// What visits of the two passes gave, so that an expression that is met again under the same facts
// is not simplified again: the copies of an unrolled body, the second round of the rewriter, the
// operands of a difference that decides a comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Its size is fixed: what falls on a place that is taken replaces what was there.
class RewriteMemory {
 public:
  enum class Step : std::uint8_t { Rewrite, Canonical };

  /// The result for this very expression, or `e` where nothing of an equal one was to be
  /// simplified. (What was made of an equal one is not shared: folding knows equal operands by
  /// their handles.)
  std::optional<tir::Expr> find(const tir::Expr& e, Step step, std::uint64_t version) const {
    const std::optional<Entry>& entry = entries_[place_of(e, step, version)];
    if (!entry || entry->version != version || entry->step != step) return std::nullopt;
    if (entry->e.same_as(e)) return entry->result;
    const bool is_settled = entry->result.same_as(entry->e) &&
                            entry->e.node().hash == e.node().hash &&
                            tir::structural_equal(entry->e, e);
    return is_settled ? std::optional(e) : std::nullopt;
  }
  void add(const tir::Expr& e, Step step, std::uint64_t version, const tir::Expr& result) {
    entries_[place_of(e, step, version)] = Entry{e, result, version, step};
  }

 private:
  struct Entry {
    tir::Expr e, result;
    std::uint64_t version;
    Step step;
  };
  static constexpr std::size_t kPlaces = 1 << 9;

  static std::size_t place_of(const tir::Expr& e, Step step, std::uint64_t version) {
    const std::uint64_t mixed =
        (e.node().hash ^ (version * 2 + static_cast<std::uint64_t>(step))) * 0x9e3779b97f4a7c15u;
    return (mixed >> 32) % kPlaces;
  }

  std::vector<std::optional<Entry>> entries_ = std::vector<std::optional<Entry>>(kPlaces);
};

}  // namespace tenon::arith
