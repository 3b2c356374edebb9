// A verifier for each form of the IR. Violations are collected, not thrown one by one.
//
// Always: every variable is defined once and before use (parameters, shapes of parameters, loops,
// lets, allocations, thread axes); operands have matching types; a Bool where a condition stands; a
// vector index only last; buffers are accessed with their rank inside their Realize or Allocate; a
// store's value has the buffer's element type. Form::Blocks: every block has a domain for each of
// its iterators, which are spatial, reductions, scans or opaque, and a value in each realization; a
// loop names a thread if it is bound to one; an init uses no reduction iterator.
// Form::MultiDimensional: after schedule_ops; no ProducerLoad, no Reduce, no blocks. Form::Flat:
// after flatten_storage; no Realize, BufferView or Prefetch; one index per physical dimension.
// Form::Lowered: the end of the pipeline; also no Vectorized or Unrolled loop (but for explicitly
// kept unrolls), no VirtualThread.
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// A rule that is broken, and where.
struct Violation {
  std::string what;
  /// The offending expression or statement's first line, printed.
  std::string where;
  /// The variable that is used where it is not defined, if that is the fault.
  std::optional<Var> undefined = std::nullopt;
};

/// All that is wrong of the function in that form; nothing if it is well-formed.
std::vector<Violation> verify(const PrimFunc& func, Form form);

}  // namespace tenon::tir
