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

/// Whether every instance in `inner` is provably in `outer`. Both sets are conditions on the
/// iterators of `block` and on the variables of the loops `outside`. The iterators' domains are
/// assumed not to be empty.
bool contains_instances(const InstanceSet& outer, const InstanceSet& inner, const tir::Block& block,
                        const std::vector<LoopDomain>& outside);

/// Returns the instances that run the init of a reduction: those in which all reduction iterators
/// are at their minimum. The result has conditions on the other iterators only.
InstanceSet beginnings(const InstanceSet& instances, const tir::Block& block);

/// Inverts the map: returns each of its sources, in the order of `map.marks`, as an expression of
/// `values`. A source is nullopt if the values do not determine it.
std::vector<std::optional<tir::Expr>> invert(const IterMap& map,
                                             const std::vector<tir::Expr>& values);

/// Returns the values of a block's iterators for which `indices` equal `at`. Each index must be an
/// iterator or a digit of an iterator. Nullopt if the indices do not determine all iterators.
std::optional<tir::VarMap> iterators_at(const tir::Block& block,
                                        const std::vector<tir::Expr>& indices,
                                        const std::vector<tir::Expr>& at,
                                        const arith::Facts& facts);

}  // namespace tenon::s_tir
