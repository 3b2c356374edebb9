// The closed set of intrinsics that a Call may name, with their printed names and effects.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::tir {

/// Enumerators are spelled as they print: `@tir.exp(x, dtype=float32)`.
// NOLINTBEGIN(readability-identifier-naming)
enum class Intrin : std::uint8_t {
  // Mathematics on floats, lane-wise. Rounding of the last digit is the target's.
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
  // Bits.
  popcount,
  clz,
  shift_left,
  shift_right,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  bitwise_not,
  // Fixed point: q_multiply_shift(x, y, q, s) = round(x * y * 2^(-q-s)...) of int32.
  q_multiply_shift,
  // dp4a(a, b, c) = c + the products of neighbours that fill its bits: four of int8 or uint8, which
  // wrap in int32 or uint32; two of bfloat16 in float32, subnormal numbers perhaps as zeros.
  dp4a,
  // Choice: if_then_else(c, a, b) evaluates one side only; likely(c) is c, with a hint that it
  // mostly holds.
  if_then_else,
  likely,
  // reinterpret(x): the same bits as another type of the same width.
  reinterpret,
  // Addresses. access_ptr(type_annotation, data, offset, extent, mask): mask 1 reads, 2 writes, 3
  // both.
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
  // Threads.
  tvm_thread_allreduce,
  tvm_storage_sync,
  tvm_warp_shuffle,
  tvm_warp_shuffle_up,
  tvm_warp_shuffle_down,
  tvm_warp_activemask,
  thread_return,
  // Devices. launch_kernel(name, blockIdx.x, .y, .z, threadIdx.x, .y, .z, bytes of dynamic shared
  // memory, arguments of the kernel...) by the host: extents are integers, 1 of a tag that is not
  // bound; nothing happens where one of them is 0.
  launch_kernel,
  // Copies to shared memory that go on while the thread does: ptx_cp_async(to, from, bytes) begins
  // one, ptx_commit_group() ends a group of them, ptx_wait_group(n) waits until at most n groups of
  // this thread are under way. Addresses are tvm_access_ptr. What is being copied has no value.
  ptx_cp_async,
  ptx_commit_group,
  ptx_wait_group,
  // Tensor cores: all threads of a warp together. A fragment is memory of scope wmma.*, in tiles;
  // `index` counts them. Shapes (m, n, k) are those of the product.
  // (fragment, m, n, k, index, address, elements from row to row, "row_major" or "col_major")
  tvm_load_matrix_sync,
  tvm_store_matrix_sync,
  // (fragment, m, n, k, index, value of all elements)
  tvm_fill_fragment,
  // d = a b + c, each a fragment and an index: (d, index, a, index, b, index, c, index)
  tvm_mma_sync,
  // LLVM intrinsics by name: (name, number of signature arguments, arguments...).
  call_llvm_intrin,
  call_llvm_pure_intrin,
  // ret(value): leaves the function.
  ret
};
// NOLINTEND(readability-identifier-naming)

/// What evaluating a call may do.
enum class Effect : std::uint8_t {
  Pure,        // depends on its arguments only
  ReadState,   // may read memory
  UpdateState  // may write memory or do anything else
};

/// The name in texts; the intrinsic of a name, nullopt if there is none; what a call of it may do.
std::string_view to_string(Intrin intrin);
std::optional<Intrin> find_intrin(std::string_view name);
Effect effect_of(Intrin intrin);

}  // namespace tenon::tir

namespace tenon::intrin {
using enum tenon::tir::Intrin;
}  // namespace tenon::intrin
