// Between tensor expressions and loop programs: operations as a function with their default loops,
// and a function as an operation.
//
//   tir::PrimFunc f = te::create_prim_func({A, C}, {.name = "add_one"});   // C = A + 1, as a block
//   te::Tensor D = te::extern_primfunc({B}, f)[0];                          // the same on B
#pragma once

#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// How a function is made of operations.
struct PrimFuncOptions {
  Name name = "main";
  /// Buffers for tensors, in place of compact ones.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  /// False: loops without blocks, what schedule_ops gives for the default schedule.
  bool blocks = true;
};

/// The operations that compute the arguments, in order. An argument that is no placeholder is an
/// output. Each operation is a block in loops `i0, i1, ...` over its axes, whose names the block's
/// iterators have; an extern operation is a block around its statements. Throws ScheduleError as
/// schedule_ops does, and TypeError if no argument is computed, and for scans and operations of
/// tensor intrinsics, which only loops without blocks can be.
tir::PrimFunc create_prim_func(const std::vector<FunctionArgument>& arguments,
                               const PrimFuncOptions& options = {},
                               SourceLocation where = SourceLocation::current());

/// An extern operation whose body is the function's: its first parameters are the inputs, in order,
/// the others the outputs, which are returned. Variables in the shapes of its parameters take the
/// values that the inputs' shapes give them. TypeError: a parameter that is no array; fewer
/// parameters than inputs, or no output; an input of another type or rank, or whose shape cannot be
/// that of the parameter; an output whose shape the inputs leave open; a body whose buffers are
/// flat already.
std::vector<Tensor> extern_primfunc(const std::vector<Tensor>& inputs, const tir::PrimFunc& func,
                                    Name name = "extern_primfunc",
                                    SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
