// Prefetching: fetch in front of a loop's body what the body will read some iterations later.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// The body behind a Prefetch of the region of `buffer` that it reads in iteration `loop + offset`;
/// the body alone if it reads nothing of the buffer, or something of which no box is known.
Stmt with_prefetch(const tir::Buffer& buffer, const Var& loop, const Expr& offset,
                   const Stmt& body);

}  // namespace tenon::te
