// What the tutorials on max(A B, 0) as a block program share: checking its numbers.
//
//   const ReluProduct product(128);
//   product.is_right(build(mod, Target("llvm"))["mm_relu"])
#pragma once

#include <tenon/tenon.h>

/// Random matrices, and what plain C++ makes of them.
struct ReluProduct {
  explicit ReluProduct(int size);

  /// Whether a function of A, B and the result computes that.
  bool is_right(const tenon::runtime::Function& function) const;

  tenon::runtime::NDArray a, b, expected;
};
