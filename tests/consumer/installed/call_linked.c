/* Calls a kernel that is linked into the program, by its C header. */
#include "scale.h"

#include <stdio.h>

#include "tensors.h"

int main(void) {
  float a[5] = {1, 2, 3, 4, 5}, b[5] = {0};
  int64_t length = 5;
  DLTensor A = tensor_of(a, &length, 1), B = tensor_of(b, &length, 1);
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
