// What the iterations of a loop touch (loop_proofs.cpp).
#pragma once

#include <optional>
#include <vector>

#include "lower/access_walk.h"

namespace tenon::lowering {

/// A variable that is defined inside of the loop; without a range where it may be anything.
struct InnerVar {
  tir::Var var;
  std::optional<tir::Range> range;
};

struct Touch {
  AccessProof access;
  /// False: any elements of the buffer.
  bool is_known;
  std::vector<InnerVar> inner;
  std::vector<tir::Expr> guards;
};

/// More of a loop are not looked at.
inline constexpr std::size_t kMostTouches = 256;

/// Up to kMostTouches loads and stores in the body, but of memory that is made inside; of views,
/// with the indices of what they show; of access pointers, any element of the view.
std::vector<Touch> touches_of(const tir::Stmt& body, const WrittenMemory& memory);

}  // namespace tenon::lowering
