// Tensors and arguments as a check sees them and as its messages write them.
#pragma once

#include <span>
#include <string>

#include "tenon/runtime/function.h"

namespace tenon::runtime {

std::span<const std::int64_t> shape_of(const DLTensor& tensor);
/// Of a tensor that has strides.
std::span<const std::int64_t> strides_of(const DLTensor& tensor);
Device device_of(const DLTensor& tensor);

bool has_type(DLDataType given, DLDataType wanted);

/// "float32[4, 3]", "the integer 5", "null".
std::string describe_given(const Argument& arg);

}  // namespace tenon::runtime
