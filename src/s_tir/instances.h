// The instances of a block that are executed, according to its loops, bindings and predicate. They
// may be fewer than the domain declares.
//
//   for i in serial(8): block: vi = spatial(16, i)      // instances 0 <= vi < 8
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/arith/facts.h"
#include "tenon/s_tir/program.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

/// The conditions under which an instance runs: a conjunction on the block's iterators and on
/// variables from outside the block's loops.
using InstanceSet = std::vector<tir::Expr>;

/// Returns the instances of a block that run in one iteration of the loops outside `top`, an
/// ancestor of the block. Nullopt if they cannot be expressed.
std::optional<InstanceSet> instances_of(const Program& program, int block, int top);

/// Whether every instance in `inner` is provably in `outer`. Both refer to the iterators of one
/// block, whose domains are assumed not to be empty, and the variables of the loops outside.
bool contains_instances(const InstanceSet& outer, const InstanceSet& inner, const tir::Block& block,
                        const std::vector<LoopDomain>& outside);

/// Returns the instances that run the init of a sum: those whose reduction iterators are at their
/// minimum, as conditions on the other iterators.
InstanceSet beginnings(const InstanceSet& instances, const tir::Block& block);

/// Returns the sources of the map, by mark, as expressions of the map's values. Nullopt for sources
/// that the values do not determine.
std::vector<std::optional<tir::Expr>> invert(const IterMap& map,
                                             const std::vector<tir::Expr>& values);

/// Returns the values of a block's iterators for which its indices equal `at`. Indices must be
/// iterators or digits of them. Nullopt if the indices do not determine all iterators.
std::optional<tir::VarMap> iterators_at(const tir::Block& block,
                                        const std::vector<tir::Expr>& indices,
                                        const std::vector<tir::Expr>& at,
                                        const arith::Facts& facts);

}  // namespace tenon::s_tir
