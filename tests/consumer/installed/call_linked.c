/* Calls a kernel that is linked into the program, by its C header. */
#include "scale.h"

#include <stdio.h>

static DLTensor vector(float* data, int64_t* length) {
  DLTensor tensor = {0};
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = length;
  return tensor;
}

int main(void) {
  float a[5] = {1, 2, 3, 4, 5}, b[5] = {0};
  int64_t length = 5;
  DLTensor A = vector(a, &length), B = vector(b, &length);
  if (scale(&A, &B) != kTenonOk) {
    fprintf(stderr, "%s\n", tenon_last_error());
    return 1;
  }
  for (int i = 0; i < 5; ++i)
    if (b[i] != 2 * a[i]) return 1;
  /* Another number of dimensions is refused. */
  A.ndim = 0;
  return scale(&A, &B) == kTenonOk;
}
