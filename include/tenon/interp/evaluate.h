// The reference interpreter: runs a function of any form (multi-dimensional or flat) on host
// arrays, as the node comments define it. Slow and obvious: the truth that compiled code is
// compared with.
//
//   evaluate(func, {array_of(a), array_of(b)});
//
// Vectors are evaluated lane by lane, parallel loops in order. Thread axes: bodies with
// thread_extent run all threads of a block in lock step: all execute a statement before the next
// one starts, as if a barrier (tvm_storage_sync) stood between any two. Reading an element never
// written (optional: `check_uninitialized`), or outside its buffer, is a RuntimeError that names
// the buffer and the index.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "tenon/tir/expr.h"
#include "tenon/tir/function.h"

namespace tenon::tir {

/// An array argument: borrowed memory, row-major unless strides (in elements) are given.
struct HostArray {
  void* data;
  DataType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides = {};
};

/// An argument: an array, an integer or a float.
using HostValue = std::variant<HostArray, std::int64_t, double>;

/// One access of a buffer, for checks of bounds.
struct Access {
  const BufferNode* buffer;
  std::span<const std::int64_t> indices;
  bool is_write;
  /// The load that reads; null for writes, and for reads of another kind.
  const Load* load = nullptr;
  /// Which memory: every time that the program comes to where a multi-dimensional buffer is made,
  /// it is another one, and so is each copy that threads have of it.
  std::int64_t realization = 0, copy = 0;
  /// The indices that the memory has room for. Empty for flat buffers.
  std::span<const std::int64_t> mins = {}, extents = {};
};

/// One access of shared memory by the threads of a warp together, for checks of bank conflicts.
struct WarpAccess {
  const BufferNode* buffer;
  bool is_write;
  /// Bytes that each thread moves: a contiguous vector in one access, other lanes each in their
  /// own.
  int bytes;
  /// Of the 32 banks of 4 bytes: the most words that one of them must give one after another.
  /// Threads that name the same word share it. Accesses of 8 bytes are those of half warps, of 16
  /// bytes those of quarter warps. 1: no conflict.
  int ways;
};

/// What the interpreter watches for; nothing of it need be given.
struct EvaluateOptions {
  bool check_uninitialized = false;
  /// Refuses what real threads might do in another order: two threads of a block that use an
  /// element of memory that they share, one of them writing, with no barrier (tvm_storage_sync)
  /// between, unless each of them has first written it itself, with the same value; two blocks of a
  /// launch that do so, which no barrier orders; and barriers that not all threads come to. A
  /// program without any of them gives the same results however its threads are interleaved.
  bool check_races = false;
  std::function<void(const Access&)> on_access = {};
  std::function<void(const WarpAccess&)> on_warp_access = {};
  /// C functions that `call_extern` may reach, by name: given the evaluated arguments (pointers as
  /// addresses).
  std::function<double(const std::string& name, std::span<const HostValue> args)> call_extern = {};
  /// Iterations after which the evaluation gives up with a RuntimeError; 0: never.
  std::int64_t step_limit = 0;
};

void evaluate(const PrimFunc& func, std::span<const HostValue> args,
              const EvaluateOptions& options = {});

/// The value of an expression without variables or loads: an integer or a floating value.
std::variant<std::int64_t, double> evaluate(const Expr& e);
/// With integer values for its variables.
std::int64_t evaluate_int(const Expr& e, const std::function<std::int64_t(const Var&)>& value_of);

}  // namespace tenon::tir
