// The steps of tile_registers (passes.h), in their order. Each keeps the operands and the order of
// each element's computation, so results are bit-identical.
#pragma once

#include "lower/cpu/autotuned_loops.h"
#include "tenon/tir/target.h"

namespace tenon::lowering {

/// Unrolls and jams loops, so that the sums of several iterations are in registers together.
tir::Stmt unroll_and_jam(const tir::Stmt& s, AutotunedLoops& autotuned,
                         const tir::VectorRegisters& registers);

/// Moves vectors that a loop or a sequence accumulates into to local memory, which code generators
/// keep in registers.
tir::Stmt promote_accumulators(const tir::Stmt& s, const tir::VectorRegisters& registers);

/// Reorders accumulations into local memory so that statements with common operands are adjacent,
/// if more operands would otherwise be live at once than there are registers.
tir::Stmt schedule_accumulations(const tir::Stmt& s, const tir::VectorRegisters& registers);

}  // namespace tenon::lowering
