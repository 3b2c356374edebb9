// The instances of a block that run: what its loops, bindings and predicate make run, which may be
// a part of the declared domain.
//
//   for i in serial(8): block: vi = spatial(16, i)      // instances 0 <= vi < 8
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/s_tir/program.h"

namespace tenon::s_tir {

/// The conditions under which an instance runs, as a conjunction about the block's iterators and
/// variables outside of the block's loops.
using InstanceSet = std::vector<tir::Expr>;

/// The instances of a block that run in one iteration of the loops outside of node `top`, which is
/// around the block. Nullopt if they cannot be expressed.
std::optional<InstanceSet> instances_of(const Program& program, int block, int top);

/// Whether every instance of `inner` is provably one of `outer`. Both are about the iterators of
/// one block and the variables of the loops outside.
bool contains_instances(const InstanceSet& outer, const InstanceSet& inner, const tir::Block& block,
                        const std::vector<LoopDomain>& outside);

/// The instances that begin a sum: those in which the iterators that reduce have their least value,
/// as conditions on the others.
InstanceSet beginnings(const InstanceSet& instances, const tir::Block& block);

/// The loop variables as expressions of the values that a map was found for, by mark; nullopt for
/// loops that the values do not determine.
std::vector<std::optional<tir::Expr>> invert(const IterMap& map,
                                             const std::vector<tir::Expr>& values);

}  // namespace tenon::s_tir
