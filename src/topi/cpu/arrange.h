// Variants of the schedules of topi/cpu.h for schedules that may contain other stages. Each
// arranges the stages that compute its tensor and leaves the others unchanged.
#pragma once

#include "tenon/topi/cpu.h"
#include "topi/cpu/request.h"

namespace tenon::topi::cpu {

using te::Schedule;

void arrange_matmul(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_elementwise(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// Arranges a Winograd convolution. Returns false, and changes nothing, if other stages read the
/// intermediate tensors.
bool arrange_winograd(const Schedule& s, const Request& request, const TargetFacts& target);

// Arrange the tensor if the schedule applies to it. Otherwise they return false and change nothing.
bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_rows(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_reduction(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_running_sums(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_transpose(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// Whether `x` is the result of an operator on rows, or a map of an operator's elements, so that
/// another schedule than that of maps applies to it.
bool has_own_schedule(const Schedule& s, const Tensor& x);
/// Whether `x` is a matmul, dense or batch_matmul, a convolution, or an operator on the windows of
/// each channel.
bool is_core(const Tensor& x);
/// Whether `x` is a conv2d_winograd_nchw or conv2d_winograd_nhwc.
bool is_winograd(const Tensor& x);
/// Whether `x` is a depthwise convolution or the reduction of a pooling.
bool is_windowed(const Tensor& x);

}  // namespace tenon::topi::cpu
