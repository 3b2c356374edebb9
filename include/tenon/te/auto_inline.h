// Automatic inlining of operations by their kind, for schedules of generated graphs.
//
//   te::Schedule s = te::create_schedule({D});       // B = A + 1, C = exp(B), D = sum of C
//   te::auto_inline_elementwise(s);                  // B and C are written where they are read
//
// Each function inlines the stages of one kind that no primitive has touched (see is_untouched) and
// returns the inlined operations in stage order. It keeps outputs, stages that other stages are
// attached to, prefetched stages, and operands of extern operations, scans and tensor intrinsics.
//
// Inlining repeats work if an operation has several readers or is read more than once per element.
// As in TVM 0.9, the caller is responsible for that. An operation is not inlined if that would
// expand a stage to more than 65536 operations, so that the schedule can always be lowered.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::te {

/// Whether the operation has one output, no reduction and no side effects, and reads every input at
/// all of its own axes, in order.
bool is_elementwise(const Operation& op);
/// Whether the operation has one output, no reduction and no side effects, and indexes every input
/// by a subset of its own axes, in order. An input dimension of extent 1 may be indexed by a
/// constant. Elementwise operations meet these conditions.
bool is_broadcast(const Operation& op);
/// Whether the operation has one output, no reduction and no side effects, so that every element is
/// an expression of input elements.
bool is_injective(const Operation& op);

/// Whether no primitive has been applied to the stage: its loops, attachment, scope and group are
/// the defaults, and no cache or rfactor has created or rewritten it.
bool is_untouched(const Stage& stage);

std::vector<Operation> auto_inline_elementwise(const Schedule& schedule,
                                               SourceLocation where = SourceLocation::current());
std::vector<Operation> auto_inline_broadcast(const Schedule& schedule,
                                             SourceLocation where = SourceLocation::current());
std::vector<Operation> auto_inline_injective(const Schedule& schedule,
                                             SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
