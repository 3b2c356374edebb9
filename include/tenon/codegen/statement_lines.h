// The line of a listing (tir/listing.h) at which each statement begins, for machine code that
// records the statement of each instruction.
#pragma once

#include <unordered_map>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// Maps statements to lines, counted from 1. Must not be iterated: the keys are addresses.
using StatementLines = std::unordered_map<const tir::StmtNode*, int>;

}  // namespace tenon::codegen
