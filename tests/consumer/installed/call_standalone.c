/* Calls kernels of a library that has all that they need in itself. */
#include <stdio.h>

#include "own_matrices.h"
#include "tensors.h"

static float a[64][32], b[32][48], c[64][48];

int main(void) {
  int64_t of_a[2] = {64, 32}, of_b[2] = {32, 48}, of_c[2] = {64, 48};
  DLTensor A = tensor_of(a[0], of_a, 2), B = tensor_of(b[0], of_b, 2), C = tensor_of(c[0], of_c, 2);
  int i, j, k, run;
  for (i = 0; i < 64; ++i)
    for (k = 0; k < 32; ++k) a[i][k] = (float)((i + k) % 5);
  for (k = 0; k < 32; ++k)
    for (j = 0; j < 48; ++j) b[k][j] = (float)((k * j) % 3);
  for (run = 0; run < 1000; ++run) {
    for (i = 0; i < 64; ++i)
      for (j = 0; j < 48; ++j) c[i][j] = -1;
    if (product(&A, &B, &C) != kTenonOk) {
      fprintf(stderr, "%s\n", tenon_last_error());
      return 1;
    }
    for (i = 0; i < 64; ++i)
      for (j = 0; j < 48; ++j) {
        float sum = 0;
        for (k = 0; k < 32; ++k) sum += a[i][k] * b[k][j];
        if (c[i][j] != sum) return 2;
      }
  }
  /* Another number of dimensions is refused. */
  A.ndim = 1;
  return product(&A, &B, &C) == kTenonOk ? 3 : 0;
}
