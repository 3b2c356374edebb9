// Constant bounds: the minimum and maximum value of an integer expression.
//
//   const_bound(i * 16 + j, facts) == ConstBound{0, 127}     // i:[0,8), j:[0,16)
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/tir/handles.h"

namespace tenon::arith {

class Facts;

/// Inclusive bounds; an absent end is infinite. Without other facts, an int32 variable has the
/// bounds of its type and an int64 variable has none. An expression that wraps (wraps.h) and may
/// overflow has the bounds of its type.
struct ConstBound {
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
  static ConstBound everything() { return {}; }
  static ConstBound exactly(std::int64_t v) { return {v, v}; }
  bool is_at_least(std::int64_t v) const { return min && *min >= v; }
  bool is_at_most(std::int64_t v) const { return max && *max <= v; }
  bool is_below(std::int64_t v) const { return max && *max < v; }
  friend bool operator==(const ConstBound&, const ConstBound&) = default;
};

ConstBound const_bound(const tir::Expr& e, const Facts& facts);

}  // namespace tenon::arith
