// Inlining by what operations do, for schedules of graphs that a program made.
//
//   te::Schedule s = te::create_schedule({D});       // B = A + 1, C = exp(B), D = sum of C
//   te::auto_inline_elementwise(s);                  // B and C are written where they are read
//
// Each call inlines, in the order of the stages, those of its kind that no primitive has touched
// (no loop changed, no attachment, scope or group, and neither made nor rewritten by a cache or an
// rfactor) and that nothing needs as they are: outputs, what an extern operation, a scan or a
// tensor intrinsic reads, what is prefetched, and stages that others are computed in stay. It
// returns the operations that it inlined. Inlining repeats work where an operation has several
// readers or is read more than once per element: as in the reference, that is the caller's choice.
// Where it would make more than 65536 operations of a stage, the operation stays; so what a call
// inlines never keeps a schedule from being lowered.
#pragma once

#include "tenon/te/schedule.h"

namespace tenon::te {

/// One output, no reduction, no effects, and every read is at all of its axes in order.
bool is_elementwise(const Operation& op);
/// One output, no reduction, no effects, and every read is at some of its axes in order, or at
/// constants where the input has extent 1. Every elementwise operation is one.
bool is_broadcast(const Operation& op);
/// One output, no reduction, no effects: every element is an expression of elements of the inputs.
bool is_injective(const Operation& op);

/// Whether no primitive has touched the stage: no loop changed, no attachment, scope or group, and
/// neither made nor rewritten by a cache or an rfactor.
bool is_untouched(const Stage& stage);

std::vector<Operation> auto_inline_elementwise(const Schedule& schedule,
                                               SourceLocation where = SourceLocation::current());
std::vector<Operation> auto_inline_broadcast(const Schedule& schedule,
                                             SourceLocation where = SourceLocation::current());
std::vector<Operation> auto_inline_injective(const Schedule& schedule,
                                             SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
