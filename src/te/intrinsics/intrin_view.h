// A part of a tensor as a buffer of a tensor intrinsic: the pairing of their dimensions, and
// whether the declared buffer can represent that memory.
#pragma once

#include "te/intrinsics/match_intrin.h"
#include "te/loops/program.h"

namespace tenon::te {

struct IntrinView {
  /// The declared buffer if the intrinsic's dimensions are the last ones of the region; otherwise a
  /// buffer with the region's rank, with extent 1 in dimensions that the intrinsic does not have.
  tir::Buffer buffer;
  Tensor tensor;
  std::vector<Range> region;
  DimPairs dims;

  /// Converts an index of the intrinsic to an index of the buffer.
  std::vector<Expr> index(const std::vector<Expr>& theirs) const;
  /// Converts an index of the intrinsic to an index of the tensor.
  std::vector<Expr> index_of_tensor(const std::vector<Expr>& theirs) const;
};

/// Makes the view of a buffer declared with the intrinsic's dimensions. Adds the variables that
/// this determines to `values`.
IntrinView make_intrin_view(const tir::Buffer& declared, const Tensor& tensor,
                            std::vector<Range> region, DimPairs dims, tir::VarMap& values);

/// Rewrites code on the declared buffer to use the view's buffer.
Stmt on_view(const Stmt& code, const tir::Buffer& declared, const IntrinView& view);

/// Returns why the buffer cannot represent the region, with a remedy; nullopt if no obstacle is
/// known.
std::optional<std::string> misfit(const IntrinView& view, const Program& program);

}  // namespace tenon::te
