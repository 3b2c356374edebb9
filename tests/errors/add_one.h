// A tensor intrinsic that has its code with it, so that the interpreter can run it as well.
#pragma once

#include <tenon/tenon.h>

#include "tenon/tir/stmt.h"

namespace tenon::testing {

/// to[x] = from[x] + 1 of n floats, wherever they lie.
inline te::TensorIntrin add_one(int n) {
  te::Tensor from = te::placeholder({n}, "from");
  te::Tensor to = te::compute(
      {n}, {"x"}, [&](Var x) { return from(x) + 1.0f; }, "to");
  auto view = [](const te::Tensor& tensor) {
    return tir::decl_buffer(
        tensor.shape(), tensor.dtype(),
        {.name = tensor.name(), .strides = {Var("stride")}, .offset_factor = 1});
  };
  auto body = [n](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
    tir::IRBuilder ib;
    ib.for_range(0, n, "x", [&](Var x) {
      ib.emit(tir::make_store(outs[0], tir::make_load(ins[0], {x}) + 1.0f, {x}));
    });
    return te::TensorIntrinBody{.body = ib.get()};
  };
  return te::decl_tensor_intrin(to.op(), body, {.binds = {{from, view(from)}, {to, view(to)}}});
}

}  // namespace tenon::testing
