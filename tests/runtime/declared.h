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

inline NDArray array(NDArray::Shape shape, DataType dtype = Float(32)) {
  return NDArray::zeros(std::move(shape), dtype);
}

}  // namespace tenon::runtime
