// The check that the tutorials on max(A B, 0) share.
//
//   const ReluProduct product(128);
//   product.is_right(build(mod, Target("llvm"))["mm_relu"])
#pragma once

#include <tenon/tenon.h>

/// Random matrices, and the result that plain C++ computes from them.
struct ReluProduct {
  explicit ReluProduct(int size);

  /// Whether a function of A, B and C stores the expected result in C.
  bool is_right(const tenon::runtime::Function& function) const;

  tenon::runtime::NDArray a, b, expected;
};
