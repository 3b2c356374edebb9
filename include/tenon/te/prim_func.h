// Between tensor expressions and loop programs: operations as a function with their default loops,
// and a function as an operation.
//
//   tir::PrimFunc f = te::create_prim_func({A, C}, {.name = "add_one"});   // C = A + 1, as plain loops
//   te::Tensor D = te::extern_primfunc({B}, f)[0];                          // the same loops on B
#pragma once

#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// The operations that compute the arguments, each as its own loops in order, on multi-dimensional
/// buffers (what schedule_ops gives for the default schedule). An argument that is no placeholder
/// is an output. Throws ScheduleError as schedule_ops does, and TypeError if no argument is
/// computed.
tir::PrimFunc create_prim_func(const std::vector<FunctionArgument>& arguments,
                               const FunctionOptions& options = {},
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
