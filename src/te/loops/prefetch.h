// Prefetching: fetches, before a loop's body, the elements that the body reads some iterations
// later.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

/// Returns the body preceded by a Prefetch of the region of `buffer` that it reads in iteration
/// `loop + offset`; the body alone if it does not read the buffer or if the region is unknown.
Stmt with_prefetch(const tir::Buffer& buffer, const Var& loop, const Expr& offset,
                   const Stmt& body);

}  // namespace tenon::te
