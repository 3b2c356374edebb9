// Gives every temporary its place and its memory.
//
//   for i { allocate(B, [8]); ...B... }; allocate(C, [8]) { ...C... }
//     =>  allocate(B, [8]) { for i { ...B... }; ...B, as C... }
//
// Place: the top of the function; inside the innermost parallel loop around it, whose iterations
// must not share it; just inside the first thread attribute of a kernel. A size that uses a
// variable defined further inside is replaced by its constant upper bound, else the allocation
// stays inside that definition.
//
// Memory: a buffer whose last use is the statement that first writes another one, element by
// element, hands its memory over (in place); memory that is free is used again by one of similar
// size. Never for `local` and `warp` memory (but in place), small values, several physical
// dimensions.
//
// Types: a buffer that is only accessed by whole aligned vectors of one width becomes one of
// vectors.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc rewrite_storage(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
