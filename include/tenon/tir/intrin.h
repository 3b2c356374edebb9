// The closed set of intrinsics that a Call may name, with their printed names and effects.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::tir {

/// Intrinsics. Enumerators are spelled as they print: `@tir.exp(x, dtype=float32)`.
// NOLINTBEGIN(readability-identifier-naming)
enum class Intrin : std::uint8_t {
  // Float math, lane-wise. Accuracy in the last digit depends on the target.
  exp,
  exp2,
  exp10,
  log,
  log2,
  log10,
  log1p,
  sqrt,
  rsqrt,
  pow,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  asin,
  acos,
  atan,
  atan2,
  asinh,
  acosh,
  atanh,
  erf,
  sigmoid,
  floor,
  ceil,
  round,
  trunc,
  nearbyint,
  fabs,
  fmod,
  fma,
  hypot,
  copysign,
  nextafter,
  ldexp,
  isnan,
  isinf,
  isfinite,
  // Bit operations on integers.
  popcount,
  clz,
  shift_left,
  shift_right,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_not,
  // Fixed-point multiplication of int32: q_multiply_shift(x, y, q, s) = round(x * y * 2^(-q-s)...).
  q_multiply_shift,
  // Dot products: dp4a(a, b, c) is `c` plus the products of the elements packed in `a` and `b`.
  // Four int8 or uint8 elements accumulate in int32 or uint32 and wrap; two bfloat16 elements
  // accumulate in float32, where subnormals may count as zero.
  dp4a,
  // Choice. if_then_else(c, a, b) evaluates only one of `a` and `b`. likely(c) is `c` with the hint
  // that it is usually true.
  if_then_else,
  likely,
  // reinterpret(x): the bits of `x` as another type of the same width.
  reinterpret,
  // Addresses. In tvm_access_ptr(type_annotation, data, offset, extent, mask), `mask` is 1 for
  // reads, 2 for writes, 3 for both.
  address_of,
  tvm_access_ptr,
  type_annotation,
  handle_add_byte_offset,
  isnullptr,
  // Packed arguments and calls.
  tvm_stack_make_array,
  tvm_stack_make_shape,
  tvm_call_packed,
  tvm_tuple,
  // prefetch(address, rw, locality, cache_type).
  prefetch,
  // Synchronization and communication between threads.
  tvm_thread_allreduce,
  tvm_storage_sync,
  tvm_warp_shuffle,
  tvm_warp_shuffle_up,
  tvm_warp_shuffle_down,
  tvm_warp_activemask,
  thread_return,
  // Kernel launches by the host: launch_kernel(name, blockIdx.x, .y, .z, threadIdx.x, .y, .z, bytes
  // of dynamic shared memory, kernel arguments...). Each extent is an integer, 1 for an unbound
  // tag. A launch with an extent of 0 has no effect.
  launch_kernel,
  // Asynchronous copies to shared memory. ptx_cp_async(to, from, bytes) starts a copy,
  // ptx_commit_group() closes a group of copies, and ptx_wait_group(n) waits until at most n groups
  // of this thread are pending. Addresses are tvm_access_ptr calls. The destination is undefined
  // until the copy has completed.
  ptx_cp_async,
  ptx_commit_group,
  ptx_wait_group,
  // Tensor-core operations, executed by all threads of a warp together, or by one thread of a CPU
  // with tile registers. A fragment is memory of a wmma.* scope, divided into tiles that `index`
  // counts. (m, n, k) is the shape of the product. Arguments: (fragment, m, n, k, index, address,
  // row pitch in elements, layout). The layout is "row_major", "col_major", or for a second factor
  // "vnni": element (k, j) is at [k / g, j * g + k % g] with g elements in 32 bits.
  tvm_load_matrix_sync,
  tvm_store_matrix_sync,
  // Arguments: (fragment, m, n, k, index, value of all elements).
  tvm_fill_fragment,
  // d = a * b + c. Arguments: (d, index, a, index, b, index, c, index).
  tvm_mma_sync,
  // LLVM intrinsics by name. Arguments: (name, a number, arguments of the intrinsic...). The number
  // is TVM's count of signature arguments and is ignored.
  call_llvm_intrin,
  call_llvm_pure_intrin,
  // ret(value): returns from the function.
  ret
};
// NOLINTEND(readability-identifier-naming)

/// The side effects of evaluating a call.
enum class Effect : std::uint8_t {
  Pure,        // depends only on its arguments
  ReadState,   // may read memory
  UpdateState  // may write memory or have any other effect
};

/// Returns the printed name.
std::string_view to_string(Intrin intrin);
/// Returns the intrinsic with this name; nullopt for an unknown one.
std::optional<Intrin> find_intrin(std::string_view name);
/// Returns the effect of a call of the intrinsic.
Effect effect_of(Intrin intrin);

}  // namespace tenon::tir

namespace tenon::intrin {
using enum tenon::tir::Intrin;
}  // namespace tenon::intrin
