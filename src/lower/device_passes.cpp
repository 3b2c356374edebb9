#include "tenon/lower/device_passes.h"

#include <array>

#include "lower/passes/hoist_thread_axes.h"
#include "lower/passes/lower_intrinsics.h"
#include "lower/passes/lower_thread_allreduce.h"
#include "lower/passes/synchronize_threads.h"
#include "lower/passes/widen_index_types.h"

namespace tenon::lowering {

namespace {

constexpr std::array kDevice = {
    Pass{"hoist-thread-axes", hoist_thread_axes, tir::Form::Lowered, tir::Form::Lowered,
         "first: what follows knows which threads there are, and who takes part in what"},
    Pass{"lower-thread-allreduce", lower_thread_allreduce, tir::Form::Lowered, tir::Form::Lowered,
         "before barriers are placed, which its steps in shared memory need"},
    Pass{
        "synchronize-threads", synchronize_threads, tir::Form::Lowered, tir::Form::Lowered,
        "in the end: whatever moved or merged shared memory after it would need barriers of its own"},
};

constexpr std::array kKernel = {
    Pass{"lower-intrinsics", lower_intrinsics, tir::Form::Lowered, tir::Form::Lowered,
         "what is left to the code generator: no intrinsic that is a composition of others"},
    Pass{"widen-index-types", widen_index_types, tir::Form::Lowered, tir::Form::Lowered,
         "after the proofs of the others, for which indices are whole numbers of any size"},
};

}  // namespace

std::span<const Pass> device_passes() { return kDevice; }

std::span<const Pass> kernel_passes() { return kKernel; }

}  // namespace tenon::lowering
