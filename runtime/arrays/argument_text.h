// Views of tensors for checks, and text of arguments for messages.
#pragma once

#include <span>
#include <string>

#include "tenon/runtime/function.h"

namespace tenon::runtime {

inline std::span<const std::int64_t> shape_of(const DLTensor& tensor) {
  return {tensor.shape, static_cast<std::size_t>(tensor.ndim)};
}
/// Returns the strides. Precondition: the tensor has strides.
inline std::span<const std::int64_t> strides_of(const DLTensor& tensor) {
  return {tensor.strides, static_cast<std::size_t>(tensor.ndim)};
}
inline Device device_of(const DLTensor& tensor) {
  return {static_cast<DeviceType>(tensor.device.device_type), tensor.device.device_id};
}

inline bool has_type(DLDataType given, DLDataType wanted) {
  if (given.code == wanted.code && given.bits == wanted.bits && given.lanes == wanted.lanes)
    return true;
  // Before DLPack had a code for bool, bools were passed as unsigned integers of one bit.
  return wanted.code == kDLBool && given.code == kDLUInt && given.bits == 1 &&
         given.lanes == wanted.lanes;
}

/// Returns "float32[4, 3]", "the integer 5", "null".
std::string describe_given(const Argument& arg);

}  // namespace tenon::runtime
