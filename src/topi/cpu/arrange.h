// The schedules of topi/cpu.h as parts of larger schedules. Each function schedules the stages that
// compute one tensor and leaves all other stages unchanged.
#pragma once

#include "tenon/topi/cpu.h"
#include "topi/cpu/request.h"

namespace tenon::topi::cpu {

using te::Schedule;

void arrange_matmul(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target);
void arrange_elementwise(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// Schedules a Winograd convolution. Returns false, and changes nothing, if other stages read the
/// intermediate tensors.
bool arrange_winograd(const Schedule& s, const Request& request, const TargetFacts& target);

// These functions return false and change nothing if their schedule does not apply to the tensor.
bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_rows(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_reduction(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_running_sums(const Schedule& s, const Tensor& out, const TargetFacts& target);
bool arrange_transpose(const Schedule& s, const Tensor& out, const TargetFacts& target);

/// Whether `x` needs another schedule than that of elementwise maps: it is the result of an
/// operator on rows, or of maps applied to the result of an operator.
bool has_own_schedule(const Schedule& s, const Tensor& x);
/// Whether `x` is a matmul, dense or batch_matmul, a convolution, or an operator on the windows of
/// each channel.
bool is_core(const Tensor& x);
/// Whether `x` is a conv2d_winograd_nchw or conv2d_winograd_nhwc.
bool is_winograd(const Tensor& x);

}  // namespace tenon::topi::cpu
