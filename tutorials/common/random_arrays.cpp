#include "tutorials/common/random_arrays.h"

#include "tenon/tir/expr.h"

using namespace tenon;

std::vector<runtime::NDArray> random_arrays(const tir::IRModule& mod) {
  std::vector<runtime::NDArray> result;
  for (const tir::BufferParam& array : mod.functions.begin()->second.buffers) {
    runtime::NDArray::Shape shape;
    for (const Expr& extent : array.declared->shape)
      shape.push_back(tir::constant_int(extent).value());
    result.push_back(runtime::NDArray::random(shape, array.declared->dtype));
  }
  return result;
}
