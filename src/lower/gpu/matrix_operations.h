// What the threads of a warp do together on tensor cores: which calls that is, and what must hold
// of them in a kernel.
//
//   attr threadIdx.x = 32 {                                             one warp for each y
//     @tir.tvm_load_matrix_sync(a, 16, 16, 16, 0, &A[y * 256], 16, "row_major")
//     @tir.tvm_mma_sync(c, 0, a, 0, b, 0, c, 0)
//   }
#pragma once

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The call, if it loads, fills, multiplies or stores fragments; null for others.
const tir::Call* matrix_operation(const tir::Expr& e);
/// The data pointer of what such a call writes.
const tir::Expr& written_by(const tir::Call& call);

/// LowerError, with the fragment, where the target has no tensor cores or none for the type and
/// shape, where it is not a whole warp that comes to an operation, where its threads may find
/// different arguments, where an address is not aligned as matrices must be, and where fragments
/// are read or written in another way.
void check_matrix_operations(const tir::PrimFunc& kernel, const tir::TargetFacts& target);

}  // namespace tenon::lowering
