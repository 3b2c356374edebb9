// Calls of primitives as the records of refusals write them.
#pragma once

#include <optional>
#include <string>

#include "tenon/s_tir/schedule.h"

namespace tenon::s_tir {

/// Calls "compute_at(X, Y#1, preserve_unit_loops=True)", where Y#1 is loop 1 around block Y. The
/// sentence if it is refused.
std::optional<std::string> refusal_of(Schedule& sch, const std::string& call);

}  // namespace tenon::s_tir
