// A verifier for each form of the IR. It collects all violations instead of throwing the first.
//
// In every form:
// - Every variable is defined exactly once, before its uses. Definitions are parameters, shapes of
//   parameters, loops, lets, allocations and thread axes.
// - Operands have matching types, and conditions are Bool. Intrinsics are called with the number
//   and types of arguments that they take.
// - Only the last index of an access is a vector.
// - A buffer is accessed with its rank, inside its Realize or Allocate; a stored value has its
//   element type.
//
// Form::Blocks: each iterator of a block is spatial, reduction, scan or opaque, has a domain, and
// is bound in every realization. A loop has a thread if and only if its kind is ThreadBinding. An
// init uses no reduction iterator.
//
// Form::MultiDimensional (after schedule_ops): no ProducerLoad, Reduce or block.
//
// Form::Flat (after flatten_storage): no Realize, BufferView or Prefetch; one index per physical
// dimension.
//
// Form::Lowered (the end of the pipeline): also no VirtualThread and no Vectorized or Unrolled
// loop, except unrolled loops that the user keeps explicitly.
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// A violated rule and its location.
struct Violation {
  std::string what;
  /// The offending expression, or the first line of the offending statement, as text.
  std::string where;
  /// The variable, if the violation is a use outside its definition.
  std::optional<Var> undefined = std::nullopt;
};

/// Returns all violations of the form; empty if the function is well-formed.
std::vector<Violation> verify(const PrimFunc& func, Form form);

}  // namespace tenon::tir
