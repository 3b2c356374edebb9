#include "tenon/lower/device_passes.h"

#include <array>

#include "lower/passes/hoist_thread_axes.h"
#include "lower/passes/inject_async_copies.h"
#include "lower/passes/lower_intrinsics.h"
#include "lower/passes/lower_thread_allreduce.h"
#include "lower/passes/lower_warp_memory.h"
#include "lower/passes/split_wide_vectors.h"
#include "lower/passes/synchronize_threads.h"
#include "lower/passes/widen_index_types.h"

namespace tenon::lowering {

namespace {

constexpr std::array kDevice = {
    Pass{"hoist-thread-axes", hoist_thread_axes, tir::Form::Lowered, tir::Form::Lowered,
         "first: what follows knows which threads there are, and who takes part in what"},
    Pass{
        "lower-warp-memory", lower_warp_memory, tir::Form::Lowered, tir::Form::Lowered,
        "after all threads of a block are known, since each warp has its part; before barriers are "
        "placed, for the threads of a warp share it"},
    Pass{"lower-thread-allreduce", lower_thread_allreduce, tir::Form::Lowered, tir::Form::Lowered,
         "before barriers are placed, which its steps in shared memory need"},
    Pass{
        "synchronize-threads", synchronize_threads, tir::Form::Lowered, tir::Form::Lowered,
        "in the end: whatever moved or merged shared memory after it would need barriers of its own"},
};

/// With one more.
constexpr std::array kDeviceThatCopies = {
    kDevice[0], kDevice[1], kDevice[2],
    Pass{
        "inject-async-copies", inject_async_copies, tir::Form::Lowered, tir::Form::Lowered,
        "after memory is shared as it will be; before barriers are placed, since it brings its own"},
    kDevice[3]};
static_assert(kDevice.size() == 4);

/// Kernels need few of the passes for a CPU (pipeline.cpp): their lanes are threads, so that no
/// loop becomes a loop of vectors, and what a thread keeps in registers its schedule says
/// (cache_write).
constexpr std::array kKernel = {
    Pass{
        "split-wide-vectors", split_wide_vectors, tir::Form::Lowered, tir::Form::Lowered,
        "first, so that what follows sees no vector much wider than the 128 bits that a device loads"},
    Pass{"lower-intrinsics", lower_intrinsics, tir::Form::Lowered, tir::Form::Lowered,
         "what is left to the code generator: no intrinsic that is a composition of others"},
    Pass{"widen-index-types", widen_index_types, tir::Form::Lowered, tir::Form::Lowered,
         "after the proofs of the others, for which indices are whole numbers of any size"},
};

}  // namespace

std::span<const Pass> device_passes(bool has_async_copies) {
  if (has_async_copies) return kDeviceThatCopies;
  return kDevice;
}

std::span<const Pass> kernel_passes() { return kKernel; }

PassOptions options_of_kernels(PassOptions options) {
  options.vector_registers = tir::VectorRegisters{.bits = 128, .count = 64, .for_sums = 0};
  return options;
}

}  // namespace tenon::lowering
