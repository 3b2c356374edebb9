// Questions about operations: what makes a step of a scan, which of its axes can be computed in
// part.
//
//   te::scan_fixed_axes(T.op())      // the columns, if no step reads another column
//
// Who reads whom among operations is `op.inputs()`. Of a schedule, a StageGraph says it with what
// the schedule has changed: `reads`, `readers`, and `attach_path` for the loops around a stage.
#pragma once

#include "tenon/te/post_dfs_order.h"

namespace tenon::te {

class StageGraph;

/// The operations that make one step of a scan: those that depend on its state and that an update
/// depends on, and the updates; producers before consumers. TypeError for another kind of
/// operation.
std::vector<Operation> scan_body(const Operation& scan,
                                 SourceLocation where = SourceLocation::current());

/// The spatial axes of a scan along which every element depends on earlier elements of its own
/// coordinate only. They are a fixed point: to compute a part of the space along them, a step needs
/// that part of the steps before it, and no more. Derived from indices that are axes by
/// themselves; any other index counts as reading everything. TypeError for another kind of
/// operation.
std::vector<IterVar> scan_fixed_axes(const Operation& scan,
                                     SourceLocation where = SourceLocation::current());

/// Whether statements see buffers as blocks of memory, as extern operations and tensor intrinsics
/// do. Their arguments are then best compact: a buffer whose extents are variables has a stride for
/// each otherwise.
bool needs_compact_buffers(const StageGraph& graph);
bool needs_compact_buffers(const tir::Stmt& body);

}  // namespace tenon::te
