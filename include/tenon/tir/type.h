// Closed sets that types and loops are made of: storage scopes, pointer types, thread tags, loop
// and axis kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/support/data_type.h"
#include "tenon/support/error.h"

namespace tenon::tir {

/// Where a buffer lives. `Warp` is spread over the lanes of a warp; the Wmma scopes are tensor-core
/// fragments.
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

/// "global", "shared", "shared.dyn", "warp", "local", "wmma.matrix_a", ...
std::string_view to_string(StorageScope scope);
/// nullopt for a text that names no scope.
std::optional<StorageScope> find_storage_scope(std::string_view text);
/// Throws ScheduleError that lists the known scopes.
StorageScope parse_storage_scope(std::string_view text,
                                 SourceLocation where = SourceLocation::current());

/// The type of a data pointer. Pointers of a function's parameters carry no scope and print as
/// `Pointer(float32)`.
struct PointerType {
  DataType element;
  std::optional<StorageScope> scope;
  friend bool operator==(const PointerType&, const PointerType&) = default;
};

/// A level of the launch hierarchy: "blockIdx.x", "threadIdx.z", "vthread", "vthread.y", "cthread".
struct ThreadTag {
  /// blockIdx, threadIdx, or a virtual thread.
  enum class Level : std::uint8_t { BlockIdx, ThreadIdx, VThread, CThread };
  Level level;
  /// 0, 1, 2 for x, y, z; absent where the tag has no dimension ("vthread").
  std::optional<int> dim;

  /// Throws ScheduleError that lists the known tags.
  static ThreadTag parse(std::string_view text, SourceLocation where = SourceLocation::current());
  std::string str() const;
  bool is_block() const { return level == Level::BlockIdx; }
  bool is_thread() const { return level == Level::ThreadIdx; }
  bool is_virtual() const { return level == Level::VThread || level == Level::CThread; }
  friend bool operator==(const ThreadTag&, const ThreadTag&) = default;
};

/// How the iterations of a loop are executed. ThreadBinding: by the threads of a launch dimension
/// (LoopTraits in block.h says which); only in block programs.
enum class ForKind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, ThreadBinding };

/// Facts about a body that are no control flow of their own.
enum class AttrKind : std::uint8_t {
  ThreadExtent,        // subject: the thread IterVar; value: its extent; body runs once per thread
  VirtualThread,       // subject: the vthread IterVar; value: its extent
  Pragma,              // subject: the axis; key: the user's; value: the user's
  ReduceScope,         // subject: the reducer
  ExternScope,         // subject: 0; the body came from an extern operation
  DoubleBufferWrite,   // subject: the data pointer; the body fills the next copy
  RollingBufferScope,  // subject: the buffer
  BufferBound,  // subject: the data pointer; value: its number of elements (bound instrumentation)
};

/// What an iteration variable stands for.
enum class IterKind : std::uint8_t {
  DataParallel,  // iterations are independent
  ThreadIndex,   // bound to the launch hierarchy
  Reduce,        // carries a commutative reduction
  Ordered,       // iterations in order (scan)
  Opaque,        // may not be transformed
  Unrolled,
  Vectorized,
  Parallelized,
  Tensorized
};

/// "DataPar", "ThreadIndex", "CommReduce", "Ordered", "Opaque", "Unrolled", ... as printed.
std::string_view to_string(IterKind kind);

}  // namespace tenon::tir
