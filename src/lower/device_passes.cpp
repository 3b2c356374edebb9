#include "tenon/lower/device_passes.h"

#include <array>

#include "lower/passes/synchronize_threads.h"

namespace tenon::lowering {

namespace {

constexpr std::array kDevice = {
    Pass{
        "synchronize-threads", synchronize_threads, tir::Form::Lowered, tir::Form::Lowered,
        "in the end: whatever moved or merged shared memory after it would need barriers of its own"},
};

}  // namespace

std::span<const Pass> device_passes() { return kDevice; }

}  // namespace tenon::lowering
