// Which line of a listing (tir/listing.h) each statement begins on, for machine code that says what
// it computes.
#pragma once

#include <unordered_map>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// Lines count from 1. Look up only: the order is that of addresses.
using StatementLines = std::unordered_map<const tir::StmtNode*, int>;

}  // namespace tenon::codegen
