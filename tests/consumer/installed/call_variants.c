/* Checks a library with code for three processors: it runs the code whose features the running
 * processor has. The program is linked with --wrap, so that the library's calls of each code
 * come here first. */
#include <stdio.h>

#include "matrices.h"
#include "tensors.h"

typedef int32_t Packed(const TenonValue*, const int32_t*, int32_t);
Packed __real_matrices0_product_packed, __real_matrices1_product_packed,
    __real_matrices2_product_packed;
Packed __wrap_matrices0_product_packed, __wrap_matrices1_product_packed,
    __wrap_matrices2_product_packed;

static int calls[3];

int32_t __wrap_matrices0_product_packed(const TenonValue* args, const int32_t* codes, int32_t n) {
  ++calls[0];
  return __real_matrices0_product_packed(args, codes, n);
}

int32_t __wrap_matrices1_product_packed(const TenonValue* args, const int32_t* codes, int32_t n) {
  ++calls[1];
  return __real_matrices1_product_packed(args, codes, n);
}

int32_t __wrap_matrices2_product_packed(const TenonValue* args, const int32_t* codes, int32_t n) {
  ++calls[2];
  return __real_matrices2_product_packed(args, codes, n);
}

static float a[64][32], b[32][48], c[64][48];

int main(void) {
  int64_t of_a[2] = {64, 32}, of_b[2] = {32, 48}, of_c[2] = {64, 48};
  DLTensor A = tensor_of(a[0], of_a, 2), B = tensor_of(b[0], of_b, 2), C = tensor_of(c[0], of_c, 2);
  /* The processor's features as the compiler of this program reports them. */
  const int best = !__builtin_cpu_supports("x86-64-v3") ? 0
                   : !__builtin_cpu_supports("xop")     ? 1
                                                        : 2;
  int i;
  a[3][5] = 2;
  b[5][7] = 4;
  for (i = 0; i < 3; ++i)
    if (product(&A, &B, &C) != kTenonOk) {
      fprintf(stderr, "%s\n", tenon_last_error());
      return 1;
    }
  printf("%d calls for x86-64, %d for x86-64-v3, %d for XOP\n", calls[0], calls[1], calls[2]);
  if (c[3][7] != 8) return 2;
  return calls[best] == 3 && calls[0] + calls[1] + calls[2] == 3 ? 0 : 3;
}
