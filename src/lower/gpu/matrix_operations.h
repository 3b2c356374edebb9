// Warp-level tensor-core operations: recognition of the calls, and their legality in a kernel.
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

/// Returns the call if it loads, fills, multiplies or stores fragments; nullptr otherwise.
const tir::Call* matrix_operation(const tir::Expr& e);
/// Returns the data pointer that a matrix operation (see matrix_operation) writes.
const tir::Expr& written_by(const tir::Call& call);

/// Throws LowerError, with the fragment, if
/// - the target has no tensor cores, or none for the type and shape,
/// - only a part of a warp reaches an operation, or its threads may compute different arguments,
/// - an address is not aligned as matrices require,
/// - fragments are accessed by other operations.
void check_matrix_operations(const tir::PrimFunc& kernel, const tir::TargetFacts& target);

}  // namespace tenon::lowering
