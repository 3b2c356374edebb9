// Whether a statement fills memory before reading it, so that each of its executions may have a
// private copy (array privatization: Tu, Padua, "Automatic array privatization", 1993).
#pragma once

#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Whether the elements of the memory or its address are used.
bool mentions_memory(const tir::Stmt& s, const tir::Var& data);
bool mentions_memory(const tir::Expr& e, const tir::Var& data);

/// Returns the size in elements; nullopt if it is not constant or not positive.
std::optional<std::int64_t> constant_elements(const tir::Allocate& memory);

/// Whether the memory is only loaded from and stored to, as elements of its own type.
bool has_plain_uses(const tir::Allocate& memory);

/// Whether the statement stores every element of the memory before it loads any. The analysis
/// simulates each iteration, so it returns false for large memory and for symbolic extents.
/// Precondition: the memory has plain uses.
bool fills_first(const tir::Stmt& s, const tir::Allocate& memory);

}  // namespace tenon::lowering
