// Checks that refuse a program before code is generated. `lower` accepts most of the refused
// programs.
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/lower/checks.h"
#include "tenon/te/graph.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/function.h"

namespace tenon {

/// Throws a ScheduleError with stage, axis, line and remedy for a reduction that runs in parallel
/// or over blocks, and for a thread axis that is bound to two loops of one stage.
void refuse_races(const te::StageGraph& graph);

/// Whether any loop is bound to blocks or threads of a device.
bool runs_on_device(const te::StageGraph& graph);

/// Throws a TargetError with stage, axis and line if any loop is bound to blocks or threads, which
/// a CPU does not have.
void refuse_device_threads(const te::StageGraph& graph);

/// Throws a LowerError, with a remedy, for results that the caller does not receive. Either no
/// output of an operation is an argument, so that its result would be discarded. Or an argument is
/// inlined, so that its array would not be written.
void refuse_unbound_outputs(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                            const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
                            const SourceLocation& where);

/// Throws a LowerError for an argument whose stage computes only a part of its elements. This
/// happens if the tensor is not an output of the schedule and its consumers need only that part.
/// Stages that are attached to a loop of another stage are not checked.
void refuse_partial_arguments(const te::StageGraph& graph, const te::Bounds& bounds,
                              const std::vector<LowerArgument>& args,
                              const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
                              const SourceLocation& where);

/// Whether the function has not been lowered yet: a block program, or loops over multi-dimensional
/// buffers.
bool is_unlowered(const tir::PrimFunc& func);

/// Throws a LowerError with the first violation if the function breaks a rule of its form
/// (tir::Form).
void check_function(const tir::PrimFunc& func, const std::string& name);

// Loops whose iterations are not proved independent.

/// Searches for a parallel or vectorized loop whose iterations are not proved independent, and
/// records the result in an annotation that all passes preserve. Does not search a function that
/// has the annotation. If `racing` is given, the schedule is known to race: `racing` is recorded as
/// the error message, and nothing is searched.
void note_conflicts(tir::PrimFunc& loops, lowering::LoopsToProve which,
                    const std::optional<std::string>& racing = std::nullopt);

/// Throws LowerError with both accesses for a parallel or vectorized loop whose iterations are not
/// proved independent. The recorded result is used if there is one.
void refuse_conflicts(const tir::PrimFunc& func);

}  // namespace tenon
