// The schedules of the operator library for processors; see known_programs.h.
#include "known_programs.h"

// The programs stand as they were given, and some name axes that their bodies do not use.
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace tenon::known_programs::t0001 {
using harness::lower;
#include "topi/0001_x86_dense_nopack_0.inc"
}  // namespace tenon::known_programs::t0001
namespace tenon::known_programs::t0005 {
using harness::lower;
#include "topi/0005_x86_dense_nopack_2.inc"
}  // namespace tenon::known_programs::t0005
namespace tenon::known_programs::t0009 {
using harness::lower;
#include "topi/0009_x86_batch_matmul_tn.inc"
}  // namespace tenon::known_programs::t0009
namespace tenon::known_programs::t0013 {
using harness::lower;
#include "topi/0013_x86_conv2d_NCHWc_2.inc"
}  // namespace tenon::known_programs::t0013
namespace tenon::known_programs::t0017 {
using harness::lower;
#include "topi/0017_x86_conv2d_nhwc_s2.inc"
}  // namespace tenon::known_programs::t0017
namespace tenon::known_programs::t0021 {
using harness::lower;
#include "topi/0021_x86_depthwise_NCHWc_2.inc"
}  // namespace tenon::known_programs::t0021
namespace tenon::known_programs::t0025 {
using harness::lower;
#include "topi/0025_x86_conv3d_ndhwc.inc"
}  // namespace tenon::known_programs::t0025
namespace tenon::known_programs::t0029 {
using harness::lower;
#include "topi/0029_x86_conv2d_nchw.inc"
}  // namespace tenon::known_programs::t0029
namespace tenon::known_programs::t0036 {
using harness::lower;
#include "topi/0036_x86_fast_softmax.inc"
}  // namespace tenon::known_programs::t0036
namespace tenon::known_programs::t0040 {
using harness::lower;
#include "topi/0040_x86_argmax.inc"
}  // namespace tenon::known_programs::t0040
namespace tenon::known_programs::t0044 {
using harness::lower;
#include "topi/0044_x86_sum_exp_fused.inc"
}  // namespace tenon::known_programs::t0044
namespace tenon::known_programs::t0048 {
using harness::lower;
#include "topi/0048_x86_avg_pool_exclude.inc"
}  // namespace tenon::known_programs::t0048
namespace tenon::known_programs::t0052 {
using harness::lower;
#include "topi/0052_x86_add_bcast.inc"
}  // namespace tenon::known_programs::t0052
namespace tenon::known_programs::t0056 {
using harness::lower;
#include "topi/0056_x86_strided_slice.inc"
}  // namespace tenon::known_programs::t0056
namespace tenon::known_programs::t0060 {
using harness::lower;
#include "topi/0060_x86_resize_bilinear.inc"
}  // namespace tenon::known_programs::t0060
namespace tenon::known_programs::t0064 {
using harness::lower;
#include "topi/0064_x86_mirror_pad.inc"
}  // namespace tenon::known_programs::t0064
namespace tenon::known_programs::t0069 {
using harness::lower;
#include "topi/0069_x86_flip_stack.inc"
}  // namespace tenon::known_programs::t0069
namespace tenon::known_programs::t0114 {
using harness::lower;
#include "topi/0114_x86_sparse_dense_csr.inc"
}  // namespace tenon::known_programs::t0114
namespace tenon::known_programs::t0119 {
using harness::lower;
#include "topi/0119_arm_conv2d_spatial_pack_1.inc"
}  // namespace tenon::known_programs::t0119
namespace tenon::known_programs::t0125 {
using harness::lower;
#include "topi/0125_arm_depthwise_nchw.inc"
}  // namespace tenon::known_programs::t0125
namespace tenon::known_programs::t0129 {
using harness::lower;
#include "topi/0129_arm_conv2d_transpose.inc"
}  // namespace tenon::known_programs::t0129
namespace tenon::known_programs::t0173 {
using harness::lower;
#include "topi/0173_x86_conv2d_7.inc"
}  // namespace tenon::known_programs::t0173
namespace tenon::known_programs::t0177 {
using harness::lower;
#include "topi/0177_arm_conv2d_56.inc"
}  // namespace tenon::known_programs::t0177

namespace tenon::known_programs {
std::vector<Program> topi_programs_cpu() {
  return {
      {"0001_x86_dense_nopack_0", t0001::run},
      {"0005_x86_dense_nopack_2", t0005::run},
      {"0009_x86_batch_matmul_tn", t0009::run},
      {"0013_x86_conv2d_NCHWc_2", t0013::run},
      {"0017_x86_conv2d_nhwc_s2", t0017::run},
      {"0021_x86_depthwise_NCHWc_2", t0021::run},
      {"0025_x86_conv3d_ndhwc", t0025::run},
      {"0029_x86_conv2d_nchw", t0029::run},
      {"0036_x86_fast_softmax", t0036::run},
      {"0040_x86_argmax", t0040::run},
      {"0044_x86_sum_exp_fused", t0044::run},
      {"0048_x86_avg_pool_exclude", t0048::run},
      {"0052_x86_add_bcast", t0052::run},
      {"0056_x86_strided_slice", t0056::run},
      {"0060_x86_resize_bilinear", t0060::run},
      {"0064_x86_mirror_pad", t0064::run},
      {"0069_x86_flip_stack", t0069::run},
      {"0114_x86_sparse_dense_csr", t0114::run},
      {"0119_arm_conv2d_spatial_pack_1", t0119::run},
      {"0125_arm_depthwise_nchw", t0125::run},
      {"0129_arm_conv2d_transpose", t0129::run},
      {"0173_x86_conv2d_7", t0173::run},
      {"0177_arm_conv2d_56", t0177::run},
  };
}
}  // namespace tenon::known_programs
