// Constant bounds: the least and greatest value that an integer expression can take.
//
//   const_bound(i * 16 + j, facts) == ConstBound{0, 127}     // i:[0,8), j:[0,16)
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/tir/handles.h"

namespace tenon::arith {

class Facts;

/// Inclusive; an absent end is infinite. An int32 variable of which nothing is known has its type's
/// bounds, an int64 one none. What wraps (wraps.h) and may overflow
/// has the bounds of its type.
struct ConstBound {
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  /// Nothing is known; a single value; whether the value surely is at least, at most, or below `v`.
  static ConstBound everything() { return {}; }
  static ConstBound exactly(std::int64_t v) { return {v, v}; }
  bool is_at_least(std::int64_t v) const { return min && *min >= v; }
  bool is_at_most(std::int64_t v) const { return max && *max <= v; }
  bool is_below(std::int64_t v) const { return max && *max < v; }
  friend bool operator==(const ConstBound&, const ConstBound&) = default;
};

ConstBound const_bound(const tir::Expr& e, const Facts& facts);

}  // namespace tenon::arith
