// The schedules of the operator library for GPUs; see known_programs.h.
#include "known_programs.h"

// The programs stand as they were given, and some name axes that their bodies do not use.
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace tenon::known_programs::t0073 {
using harness::lower;
#include "topi/0073_cuda_softmax_axis1_4d.inc"
}  // namespace tenon::known_programs::t0073
namespace tenon::known_programs::t0077 {
using harness::lower;
#include "topi/0077_cuda_sum_all.inc"
}  // namespace tenon::known_programs::t0077
namespace tenon::known_programs::t0085 {
using harness::lower;
#include "topi/0085_cuda_max_pool.inc"
}  // namespace tenon::known_programs::t0085
namespace tenon::known_programs::t0089 {
using harness::lower;
#include "topi/0089_cuda_global_avg_pool.inc"
}  // namespace tenon::known_programs::t0089
namespace tenon::known_programs::t0093 {
using harness::lower;
#include "topi/0093_cuda_transpose.inc"
}  // namespace tenon::known_programs::t0093
namespace tenon::known_programs::t0097 {
using harness::lower;
#include "topi/0097_cuda_one_hot.inc"
}  // namespace tenon::known_programs::t0097
namespace tenon::known_programs::t0101 {
using harness::lower;
#include "topi/0101_cuda_layout_transform.inc"
}  // namespace tenon::known_programs::t0101
namespace tenon::known_programs::t0105 {
using harness::lower;
#include "topi/0105_cuda_gather_nd.inc"
}  // namespace tenon::known_programs::t0105
namespace tenon::known_programs::t0110 {
using harness::lower;
#include "topi/0110_cuda_split.inc"
}  // namespace tenon::known_programs::t0110
namespace tenon::known_programs::t0133 {
using harness::lower;
#include "topi/0133_cuda_conv2d_nchw_0.inc"
}  // namespace tenon::known_programs::t0133
namespace tenon::known_programs::t0137 {
using harness::lower;
#include "topi/0137_cuda_conv2d_nchw_4.inc"
}  // namespace tenon::known_programs::t0137
namespace tenon::known_programs::t0143 {
using harness::lower;
#include "topi/0143_cuda_conv2d_transpose.inc"
}  // namespace tenon::known_programs::t0143
namespace tenon::known_programs::t0147 {
using harness::lower;
#include "topi/0147_cuda_deformable_conv2d.inc"
}  // namespace tenon::known_programs::t0147
namespace tenon::known_programs::t0151 {
using harness::lower;
#include "topi/0151_cuda_dense_small.inc"
}  // namespace tenon::known_programs::t0151
namespace tenon::known_programs::t0155 {
using harness::lower;
#include "topi/0155_cuda_conv2d_nhwc.inc"
}  // namespace tenon::known_programs::t0155
namespace tenon::known_programs::t0159 {
using harness::lower;
#include "topi/0159_cuda_sparse_dense_bsr.inc"
}  // namespace tenon::known_programs::t0159
namespace tenon::known_programs::t0164 {
using harness::lower;
#include "topi/0164_mali_depthwise.inc"
}  // namespace tenon::known_programs::t0164
namespace tenon::known_programs::t0169 {
using harness::lower;
#include "topi/0169_bifrost_dense.inc"
}  // namespace tenon::known_programs::t0169
namespace tenon::known_programs::t0181 {
using harness::lower;
#include "topi/0181_cuda_batch_matmul_attention.inc"
}  // namespace tenon::known_programs::t0181
namespace tenon::known_programs::t0185 {
using harness::lower;
#include "topi/0185_mali_conv2d_56.inc"
}  // namespace tenon::known_programs::t0185

namespace tenon::known_programs {
std::vector<Program> topi_programs_gpu() {
  return {
      {"0073_cuda_softmax_axis1_4d", t0073::run},
      {"0077_cuda_sum_all", t0077::run},
      {"0085_cuda_max_pool", t0085::run},
      {"0089_cuda_global_avg_pool", t0089::run},
      {"0093_cuda_transpose", t0093::run},
      {"0097_cuda_one_hot", t0097::run},
      {"0101_cuda_layout_transform", t0101::run},
      {"0105_cuda_gather_nd", t0105::run},
      {"0110_cuda_split", t0110::run},
      {"0133_cuda_conv2d_nchw_0", t0133::run},
      {"0137_cuda_conv2d_nchw_4", t0137::run},
      {"0143_cuda_conv2d_transpose", t0143::run},
      {"0147_cuda_deformable_conv2d", t0147::run},
      {"0151_cuda_dense_small", t0151::run},
      {"0155_cuda_conv2d_nhwc", t0155::run},
      {"0159_cuda_sparse_dense_bsr", t0159::run},
      {"0164_mali_depthwise", t0164::run},
      {"0169_bifrost_dense", t0169::run},
      {"0181_cuda_batch_matmul_attention", t0181::run},
      {"0185_mali_conv2d_56", t0185::run},
  };
}
}  // namespace tenon::known_programs
