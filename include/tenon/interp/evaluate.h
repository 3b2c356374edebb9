// The reference interpreter: runs a function of any form on host arrays, following the semantics in
// the node comments. It favours simplicity over speed, because compiled code is compared with it.
//
//   evaluate(func, {array_of(a), array_of(b)});
//
// Vectors are evaluated lane by lane, and parallel loops in order. The threads of a block run in
// lockstep: all threads execute a statement before any executes the next, as if a barrier
// (tvm_storage_sync) followed every statement. RuntimeError, naming buffer and index, for an access
// outside the buffer and, with `check_uninitialized`, for reading an element that was never
// written.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "tenon/tir/expr.h"
#include "tenon/tir/function.h"

namespace tenon::tir {

/// An array argument. The memory is borrowed. Row-major unless strides (in elements) are given.
struct HostArray {
  void* data;
  DataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};
};

/// An argument: an array, an integer or a float.
using HostValue = std::variant<HostArray, std::int64_t, double>;

/// An access to one buffer element, as reported to `on_access`.
struct Access {
  const BufferNode* buffer;
  std::span<const std::int64_t> indices;
  bool is_write;
  /// The load that reads the element. Null for writes, and for reads that are not loads.
  const Load* load = nullptr;
  /// The identity of the memory. `realization` differs for each execution of the definition of a
  /// multi-dimensional buffer. `copy` differs for threads that do not share the memory.
  std::int64_t realization = 0, copy = 0;
  /// The index range of the allocated memory. Empty for flat buffers.
  std::span<const std::int64_t> mins = {}, extents = {};
};

/// An access to shared memory by all threads of a warp, for the analysis of bank conflicts.
struct WarpAccess {
  const BufferNode* buffer;
  bool is_write;
  /// Bytes that each thread accesses at once. A contiguous vector is one access; the lanes of any
  /// other vector are separate accesses.
  int bytes;
  /// Degree of the bank conflict: the maximum number of words that one of the 32 four-byte banks
  /// must deliver one after another. 1: no conflict. Threads that access the same word share one
  /// delivery. 8-byte accesses are counted per half warp, 16-byte accesses per quarter warp.
  int ways;
};

/// Checks and callbacks of the interpreter. All are optional.
struct EvaluateOptions {
  bool check_uninitialized = false;
  /// Throws if the result could depend on the order in which threads run:
  /// - Two threads of a block access the same element of shared memory without a barrier
  ///   (tvm_storage_sync) between the accesses, and at least one access is a write. Exception:
  ///   before that, each of the two threads has itself written the same value to the element.
  /// - Two blocks of a launch access the same element and at least one access is a write. No
  ///   barrier can order blocks.
  /// - Not all threads reach a barrier.
  bool check_races = false;
  std::function<void(const Access&)> on_access = {};
  std::function<void(const WarpAccess&)> on_warp_access = {};
  /// Implements the C functions that `call_extern` calls, selected by `name`. Pointer arguments are
  /// passed as addresses.
  std::function<double(const std::string& name, std::span<const HostValue> args)> call_extern = {};
  /// Maximum number of statements to execute before a RuntimeError; 0: no limit.
  std::int64_t step_limit = 0;
};

void evaluate(const PrimFunc& func, std::span<const HostValue> args,
              const EvaluateOptions& options = {});

/// Returns the value of an expression without variables or loads.
std::variant<std::int64_t, double> evaluate(const Expr& e);
/// Returns the value of an integer expression. `value_of` supplies the values of its variables.
std::int64_t evaluate_int(const Expr& e, const std::function<std::int64_t(const Var&)>& value_of);

}  // namespace tenon::tir
