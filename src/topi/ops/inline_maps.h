// What a schedule for a device does with the operations that the operator reads.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::gpu {

/// Inlines all that the operations of an operator read and that is a map of elements: padding,
/// transposition, functions of elements. After cache_read, the caches compute what they hold.
/// ScheduleError, with the function, for anything else: it would need threads of its own.
///   inline_maps(s, "schedule_softmax", out, {greatest, sum, power, out.op()}, where);
void inline_maps(const te::Schedule& s, const char* function, const te::Tensor& out,
                 const std::vector<te::Operation>& operations, const SourceLocation& where);

}  // namespace tenon::topi::gpu
