// Functions that are declared and not compiled, for tests of what is checked before they run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tenon/runtime/function.h"
#include "tenon/runtime/module_impl.h"

namespace tenon::runtime {

inline ArraySpec floats(std::vector<Size> shape, Access access = Access::Read) {
  return {.dtype = Float(32), .shape = std::move(shape), .access = access};
}

inline Function make(
    std::string name, std::vector<ParamSpec> params,
    Function::PackedCall call = [](auto...) -> std::int32_t {
      ADD_FAILURE() << "the function ran";
      return 0;
    }) {
  return Function({.name = name, .symbol = name, .params = std::move(params)}, std::move(call));
}

inline std::int32_t succeed(const TenonValue*, const std::int32_t*, std::int32_t) {
  return kTenonOk;
}

/// Keeps the strides that its first argument, an array, has.
inline Function::PackedCall keep_strides(std::vector<std::int64_t>& strides) {
  return [&strides](const TenonValue* values, const std::int32_t*, std::int32_t) {
    const auto* given = static_cast<const DLTensor*>(values[0].p);
    strides.assign(given->strides, given->strides + given->ndim);
    return std::int32_t{kTenonOk};
  };
}

inline NDArray array(NDArray::Shape shape, DataType dtype = Float(32)) {
  return NDArray::zeros(std::move(shape), dtype);
}

}  // namespace tenon::runtime
