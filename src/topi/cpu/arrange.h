// The schedules of topi/cpu.h, of stages that may be some of many: what of a schedule a tensor is
// computed with is arranged, the other stages stay as they are.
#pragma once

#include "tenon/topi/cpu.h"
#include "topi/cpu/request.h"

namespace tenon::topi::cpu {

using te::Schedule;

void arrange_matmul(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_elementwise(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// False, and nothing is changed, if others read what it is computed from.
bool arrange_winograd(const Schedule& s, const Request& request, const TargetFacts& target);

// These look first whether the tensor is what they are for: false if not, and nothing is changed.
bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_rows(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_reduction(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_running_sums(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_transpose(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// Matmul, dense or batch_matmul; a convolution; windows of each channel.
bool is_core(const Tensor& x);
/// conv2d_nchw, group_conv2d_nchw, conv2d_nhwc.
bool is_convolution(const Tensor& x);
/// conv2d_winograd_nchw.
bool is_winograd(const Tensor& x);
/// depthwise_conv2d_nchw, and the reductions of pooling.
bool is_windowed(const Tensor& x);

}  // namespace tenon::topi::cpu
