// The init and the updates of a reduction as blocks of their own.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// The place of the new block: before a loop around the reduction, or in the init of a block
/// around it. The names are those of TVM 0.9.
enum class InitPlace : bool { BeforeLoop, InOuterInit };

struct SeparateInit {
  /// The init's block under copies of the loops that determine its elements.
  tir::Stmt nest;
  BlockId id;
  /// The reduction without its init. It also reads what it writes.
  tir::Block update;
};

/// Separates the init of `block`, which is block `n` of the program or a part of it. `values` and
/// `conditions` are its iterators' values and its predicate, and `loops` are the loops around it
/// that the init also leaves. Throws if the init depends on what exists only inside of the block.
SeparateInit separate_init(const Caller& caller, const Program& program, int n, InitPlace place,
                           const tir::Block& block, const std::vector<tir::Expr>& values,
                           const std::vector<tir::Expr>& conditions, const std::vector<int>& loops);

}  // namespace tenon::s_tir
