// Whether a user's reducer may be applied in another order: tried on a few small numbers.
#pragma once

#include <optional>
#include <string>

#include "tenon/tir/expr.h"

namespace tenon::te {

/// A case in which `(a . b) . c` and `a . (b . c)` differ, as a sentence's part; nothing if none
/// was found, which is no proof. Components that the reduction takes from constants are those
/// constants. Floats differ where rounding cannot be why.
std::optional<std::string> find_dependence_on_order(const tir::ReduceNode& reduction);

}  // namespace tenon::te
