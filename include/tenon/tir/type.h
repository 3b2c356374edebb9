// Enumerations used by types and loops: storage scopes, pointer types, thread tags, loop and axis
// kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/support/data_type.h"
#include "tenon/support/error.h"

namespace tenon::tir {

/// The memory that a buffer is in. `Warp` is distributed over the lanes of a warp. The Wmma scopes
/// are tensor-core fragments.
enum class StorageScope : std::uint8_t {
  Global,
  Shared,
  SharedDyn,
  Warp,
  Local,
  WmmaMatrixA,
  WmmaMatrixB,
  WmmaAccumulator
};

/// Returns "global", "shared", "shared.dyn", "warp", "local", "wmma.matrix_a", ...
std::string_view to_string(StorageScope scope);
/// Returns the scope with this name; nullopt if it does not exist.
std::optional<StorageScope> find_storage_scope(std::string_view text);
/// Returns "`sharedd` is not a storage scope; the scopes are global, shared, ...; did you mean
/// `shared`?"
std::string no_such_scope(std::string_view text);
/// Returns the scope with this name. ScheduleError, listing the scopes, if it does not exist.
StorageScope parse_storage_scope(std::string_view text,
                                 SourceLocation where = SourceLocation::current());

/// The type of a data pointer. The pointers of function parameters have no scope and print as
/// `Pointer(float32)`.
struct PointerType {
  DataType element;
  std::optional<StorageScope> scope;
  friend bool operator==(const PointerType&, const PointerType&) = default;
};

/// A level of the launch hierarchy: "blockIdx.x", "threadIdx.z", "vthread", "vthread.y", "cthread".
struct ThreadTag {
  /// The kind of level. VThread and CThread are virtual threads.
  enum class Level : std::uint8_t { BlockIdx, ThreadIdx, VThread, CThread };
  Level level;
  /// 0, 1, 2 for x, y, z; absent for a tag without a dimension ("vthread").
  std::optional<int> dim;

  /// Parses a tag. ScheduleError, listing the tags, if it is unknown.
  static ThreadTag parse(std::string_view text, SourceLocation where = SourceLocation::current());
  std::string str() const;
  bool is_block() const { return level == Level::BlockIdx; }
  bool is_thread() const { return level == Level::ThreadIdx; }
  bool is_virtual() const { return level == Level::VThread || level == Level::CThread; }
  friend bool operator==(const ThreadTag&, const ThreadTag&) = default;
};

/// The execution order of a loop's iterations. ThreadBinding distributes them over the launch
/// dimension in LoopTraits::thread (block.h); it occurs only in block programs.
enum class ForKind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, ThreadBinding };

/// Kinds of attributes of a body.
enum class AttrKind : std::uint8_t {
  ThreadExtent,        // subject: the thread IterVar; value: its extent; body runs once per thread
  VirtualThread,       // subject: the vthread IterVar; value: its extent
  Pragma,              // subject: the axis; key and value: given by the user
  ReduceScope,         // subject: the reducer
  ExternScope,         // no subject (0); the body comes from an extern operation
  DoubleBufferWrite,   // subject: the data pointer; the body fills the next copy
  RollingBufferScope,  // subject: the buffer
  BufferBound,  // subject: the data pointer; value: its number of elements (bound instrumentation)
};

/// The meaning of an iteration variable.
enum class IterKind : std::uint8_t {
  DataParallel,  // iterations are independent
  ThreadIndex,   // bound to a block or thread index
  Reduce,        // a commutative reduction
  Ordered,       // iterations run in order (scan)
  Opaque,        // must not be transformed
  Unrolled,
  Vectorized,
  Parallelized,
  Tensorized
};

/// Returns the printed name: "DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque",
/// "Unrolled", ...
std::string_view to_string(IterKind kind);
/// Returns the kind with this printed name; nullopt if it does not exist.
std::optional<IterKind> find_iter_kind(std::string_view text);

}  // namespace tenon::tir
