// Conversion between tensor expressions and loop programs: operations to a function with their
// default loops, and a function to an operation.
//
//   tir::PrimFunc f = te::create_prim_func({A, C}, {.name = "add_one"});   // C = A + 1, as a block
//   te::Tensor D = te::extern_primfunc({B}, f)[0];                          // the same on B
#pragma once

#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// Options of create_prim_func.
struct PrimFuncOptions {
  Name name = "main";
  /// Buffers for tensors, in place of compact ones.
  std::vector<std::pair<Tensor, tir::Buffer>> binds = {};
  /// Whether to make a block program. False: the loops that schedule_ops makes for the default
  /// schedule.
  bool blocks = true;
};

/// Makes a function that computes `arguments`. Arguments that are not placeholders are outputs.
/// Each operation becomes a block in loops `i0, i1, ...`, whose iterators have the names of the
/// operation's axes. An extern operation becomes a block around its statements. Throws the
/// ScheduleErrors of schedule_ops. TypeError if all arguments are placeholders. Scans and
/// operations of tensor intrinsics have no blocks; they are a TypeError if `blocks` is true.
tir::PrimFunc create_prim_func(const std::vector<FunctionArgument>& arguments,
                               const PrimFuncOptions& options = {},
                               SourceLocation where = SourceLocation::current());

/// Makes an extern operation whose body is the body of `func`. The first parameters of `func` are
/// bound to `inputs`; the others are the outputs, which are returned. Variables in the parameter
/// shapes take their values from the shapes of the inputs. TypeError if a parameter is not an
/// array, if there are fewer parameters than inputs or no output, if an input has another type,
/// rank or an incompatible shape, if the inputs do not determine an output's shape, or if the
/// buffers of the body are already flat.
std::vector<Tensor> extern_primfunc(const std::vector<Tensor>& inputs, const tir::PrimFunc& func,
                                    Name name = "extern_primfunc",
                                    SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
