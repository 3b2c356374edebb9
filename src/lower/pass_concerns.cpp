#include "lower/pass_concerns.h"

#include <algorithm>

namespace tenon::lowering {

using namespace tir;

bool has_guard_or_division(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::Order) || contains(func.body, Content::FloorDiv) ||
         contains<Not>(func.body);
}

bool has_bfloat16(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::BFloat16) ||
         std::ranges::any_of(func.params,
                             [](const Var& param) { return param.dtype().is_bfloat(); }) ||
         std::ranges::any_of(func.buffers, [](const BufferParam& array) {
           return array.buffer->dtype.is_bfloat();
         });
}

bool may_unroll(const PrimFunc& func, const PassOptions& options) {
  return contains(func.body, ForKind::Unrolled) || contains(func.body, AttrKind::Pragma) ||
         contains(func.body, Content::EmptyLoop) || options.unroll.auto_max_step > 0 ||
         options.unroll.auto_max_extent > 0;
}

bool has_double_buffer(const PrimFunc& func, const PassOptions&) {
  return contains(func.body, Content::DoubleBuffer) ||
         contains(func.body, AttrKind::DoubleBufferWrite);
}

}  // namespace tenon::lowering
