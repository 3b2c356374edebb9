// Inlining of an operator's inputs in schedules for devices.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::topi::gpu {

/// Inlines all elementwise or injective producers of an operator's operations: padding,
/// transposition, functions of elements. Stages of cache_read then compute the elements that they
/// store. Throws ScheduleError, with the function, for any other producer, which would need its own
/// threads.
///   inline_maps(s, "schedule_softmax", out, {greatest, sum, power, out.op()}, where);
void inline_maps(const te::Schedule& s, const char* function, const te::Tensor& out,
                 const std::vector<te::Operation>& operations, const SourceLocation& where);

}  // namespace tenon::topi::gpu
