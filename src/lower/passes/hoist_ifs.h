// Moves conditions out of the loops that they do not depend on.
//
//   for i { for j { for k { if (i < n) S } } }   =>   for i { if (i < n) { for j { for k { S } } } }
//
// A pure condition moves up over every loop whose variable it does not use, down to the innermost
// one that it does use, or out of all loops. It stays where it mentions the axis of an attribute
// around it, and it does not pass a sequence of statements, an attribute of an axis, an assertion,
// the definition of a variable that it uses, or the `else` of another condition. With an `else` of
// its own the loops are copied. Simplification and removal of no-ops follow.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc hoist_ifs(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
