#include "tutorials/common/relu_product.h"

#include <tenon/tooling/check.h>

#include <algorithm>
#include <cmath>

using namespace tenon;

ReluProduct::ReluProduct(int size)
    : a(runtime::NDArray::random({size, size}, Float(32), {.seed = 1})),
      b(runtime::NDArray::random({size, size}, Float(32), {.seed = 2})),
      expected(runtime::NDArray::zeros({size, size}, Float(32))) {
  const float *from = a.data<float>(), *with = b.data<float>();
  float* to = expected.data<float>();
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      float sum = 0;
      for (int k = 0; k < size; ++k) sum += from[i * size + k] * with[k * size + j];
      to[i * size + j] = std::max(sum, 0.0f);
    }
}

bool ReluProduct::is_right(const runtime::Function& function) const {
  const auto c = runtime::NDArray::full(expected.shape(), Float(32), NAN);
  function(a, b, c);
  return compare(c, expected, {.relative = 1e-5, .absolute = 1e-5}).fine();
}
