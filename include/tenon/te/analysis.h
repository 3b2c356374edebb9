// Queries on operations, in particular on scans.
//
//   te::scan_fixed_axes(T.op())      // the columns, if no step reads another column
//
// `op.inputs()` lists the tensors that an operation reads. For the dependences in a schedule,
// including the effect of its primitives, use a StageGraph: `reads`, `readers`, and `attach_path`
// for the loops around a stage.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::te {

class StageGraph;

/// Returns the operations that compute one step of a scan: the updates, and every operation on a
/// path from the state to an update. Producers precede consumers. TypeError unless `scan` is a
/// scan.
std::vector<Operation> scan_body(const Operation& scan,
                                 SourceLocation where = SourceLocation::current());

/// Returns the spatial axes of a scan along which an element depends only on elements of earlier
/// steps with the same coordinate. The scan can be computed in parts along these axes, because a
/// part of one step needs only the same part of the earlier steps. Only indices that are plain axes
/// are recognized. Any other index is assumed to read the whole dimension. TypeError unless `scan`
/// is a scan.
std::vector<IterVar> scan_fixed_axes(const Operation& scan,
                                     SourceLocation where = SourceLocation::current());

/// Whether a statement accesses whole buffers as memory blocks, as extern operations and tensor
/// intrinsics do. Callers then declare the arguments compact. A buffer with variable extents
/// otherwise gets a stride variable per dimension.
bool needs_compact_buffers(const StageGraph& graph);
bool needs_compact_buffers(const tir::Stmt& body);

}  // namespace tenon::te
