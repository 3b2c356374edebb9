// The pragmas that a pass or code generator interprets. Users give keys as strings. Any other key
// is printed and has no effect.
//
//   if (is_pragma(attr, PragmaKey::DebugSkipRegion)) return make_nop();
#pragma once

#include <optional>
#include <string_view>

#include "tenon/tir/stmt.h"

namespace tenon::tir {

enum class PragmaKey : std::uint8_t {
  AutoUnrollMaxStep,
  UnrollExplicit,
  ImportLlvm,
  ImportC,
  ParallelLaunchPoint,
  ParallelStridePattern,
  ParallelBarrierWhenFinish,
  DebugSkipRegion,
  LoopPartitionHint,
  /// Requests tensor cores. Read by code generators for devices that have them.
  TensorCore,
  /// Number of blocks of a kernel that should reside on a multiprocessor at once. Limits the
  /// registers per thread accordingly.
  BlocksPerMultiprocessor,
  /// Stores vectors with non-temporal instructions if the processor has them. Intended for data
  /// that exceeds the caches or is not read soon.
  StreamStores,
  /// Prefetches, on CPUs, the part of each buffer that the next iteration of the loop reads, if the
  /// parts of successive iterations are adjacent in memory. Intended for packed matrices that
  /// exceed the caches.
  PrefetchPanels,
  /// Uses the processor's dot-product instructions. These determine the order in which bfloat16
  /// products are added, and may treat subnormal factors as zeros.
  DotProducts,
  /// Allows replacing a division by a loop-invariant value by a multiplication by its reciprocal.
  /// The result differs from the quotient by at most two units in the last place.
  AllowReciprocals,
  /// Promises that the outermost loops in the statement have independent iterations if they are
  /// parallel or vectorized: no iteration accesses an element that another iteration writes.
  /// `build` skips the proof for these loops. It still proves loops nested in them.
  IndependentIterations,
};

/// Returns the key as text: "auto_unroll_max_step".
std::string_view to_string(PragmaKey key);
std::optional<PragmaKey> find_pragma_key(std::string_view text);
/// Returns all keys: "auto_unroll_max_step, unroll_explicit, ...".
std::string pragma_keys_text();
/// Returns "; did you mean `unroll_explicit`?", or "" if no key is similar.
std::string similar_pragma_key(std::string_view text);

/// Whether the attribute is the pragma with this key.
bool is_pragma(const Attr& attr, PragmaKey key);
/// Whether a pragma in `body` imports source code (import_c, import_llvm).
bool imports_source(const Stmt& body);

}  // namespace tenon::tir
