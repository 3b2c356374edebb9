// A part of a tensor as a buffer of a tensor intrinsic: how their dimensions go together, and
// whether the buffer as it was declared can stand for that part of memory.
#pragma once

#include "te/intrinsics/match_intrin.h"
#include "te/loops/program.h"

namespace tenon::te {

struct IntrinView {
  /// The declared one, where the intrinsic's dimensions are the last of the region; else one with
  /// as many dimensions as the region, of which those that the intrinsic does not have are 1.
  tir::Buffer buffer;
  Tensor tensor;
  std::vector<Range> region;
  DimPairs dims;

  /// The buffer's index for the intrinsic's index.
  std::vector<Expr> index(const std::vector<Expr>& theirs) const;
  /// The tensor's index for it.
  std::vector<Expr> index_of_tensor(const std::vector<Expr>& theirs) const;
};

/// The view, where `declared` has the intrinsic's dimensions. Variables that this decides are put
/// into `values`.
IntrinView make_intrin_view(const tir::Buffer& declared, const Tensor& tensor,
                            std::vector<Range> region, DimPairs dims, tir::VarMap& values);

/// Code on the declared buffer, on the view's.
Stmt on_view(const Stmt& code, const tir::Buffer& declared, const IntrinView& view);

/// Why the buffer cannot stand for the region, and what would work; nullopt if nothing is known
/// against it.
std::optional<std::string> misfit(const IntrinView& view, const Program& program);

}  // namespace tenon::te
