// A computation compared with the description of a tensor intrinsic.
#pragma once

#include "s_tir/context.h"
#include "tenon/s_tir/tensor_intrin.h"

namespace tenon::s_tir {

/// Where a buffer of the description lies: element (i...) of it is element base + (0..., i...).
struct MatchedBuffer {
  tir::Buffer target;
  std::vector<tir::Expr> base;
};

/// For each parameter of the description, in order, where it lies in the buffers of the statement;
/// refuses with the first statements that differ. The bases use no variable that the statement
/// defines.
std::vector<MatchedBuffer> match_description(const Caller& caller, const tir::PrimFunc& description,
                                             const tir::Stmt& computation,
                                             const arith::Facts& facts);

}  // namespace tenon::s_tir
