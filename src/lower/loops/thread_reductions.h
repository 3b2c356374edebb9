// Cross-thread reductions of block programs: each thread reduces its own part, the threads combine
// their partial results, and each of them stores the total.
//
//   for k_0 in 4: for k_1 in threadIdx.x(8): block C: vk = reduce(32, k_0*8 + k_1); init C[vi] = 0
//       C[vi] = C[vi] + A[vi, vk]
//   =>  for k_1 in threadIdx.x(8):
//         block C:
//           normal_reduce_temp0[0] = 0
//           for k_0 in 4: normal_reduce_temp0[0] = normal_reduce_temp0[0] + A[vi, k_0*8 + k_1]
//           reduce_temp0[0] = tvm_thread_allreduce(normal_reduce_temp0[0], k_1)
//           C[vi] = reduce_temp0[0]
//
// Tensor-expression reductions whose axes are bound to threads are lowered to the same form.
#pragma once

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Whether a reduction iterator of the block depends on the variable.
bool is_reduced(const tir::BlockRealize& realize, const tir::Var& var);

/// Rewrites the body of a block program; returns the same statement if there is no cross-thread
/// reduction. If another block has the init, one thread starts from the value of C.
///
/// Throws LowerError for reductions that threads cannot perform together. The message names the
/// block, the loop and an alternative. Such reductions
/// - are across blocks of threads or virtual threads,
/// - have other statements or spatial loops between the reduction loops,
/// - do not have the form `C = C op value` with the identity element as init,
/// - would be reached by only some of the threads.
tir::Stmt reduce_across_threads(const tir::Stmt& body);

}  // namespace tenon::lowering
