/* Arrays of a C program as kernels take them. */
#pragma once

#include <tenon/runtime/dlpack.h>

/* A view of float32 elements in row-major order, with as many dimensions as the shape has. */
static DLTensor tensor_of(float* data, int64_t* shape, int32_t ndim) {
  DLTensor tensor = {0};
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = ndim;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}
