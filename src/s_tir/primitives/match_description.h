// Comparison of a computation with the description of a tensor intrinsic.
#pragma once

#include "s_tir/context.h"
#include "tenon/s_tir/tensor_intrin.h"

namespace tenon::s_tir {

/// The location of a description's buffer in the target: its element (i...) is element base +
/// (0..., i...) of the target.
struct MatchedBuffer {
  tir::Buffer target;
  std::vector<tir::Expr> base;
};

/// Returns, for each parameter of the description, its location in the buffers of the computation.
/// Throws with the first pair of statements that differ. The bases do not use variables that the
/// computation defines.
std::vector<MatchedBuffer> match_description(const Caller& caller, const tir::PrimFunc& description,
                                             const tir::Stmt& computation,
                                             const arith::Facts& facts);

}  // namespace tenon::s_tir
