// Reductions of block programs whose iterations are threads: each thread combines its own part, the
// threads reduce together, and each of them stores the total.
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
// So do reductions of tensor expressions whose axes are bound to threads.
#pragma once

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// A block program's body; the same statement where no threads reduce together. LowerError, with
/// block, loop and what would work, where they would have to and cannot: across blocks of threads
/// or virtual threads, with other statements or spatial loops between the loops of the reduction,
/// for what is not `C = C op value` from op's identity, and where only some of the threads would
/// come to the reduction. Where the init stands elsewhere, one of the threads starts from what C
/// holds.
tir::Stmt reduce_across_threads(const tir::Stmt& body);

}  // namespace tenon::lowering
