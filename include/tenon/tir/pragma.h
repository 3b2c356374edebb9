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
  /// Number of blocks of a kernel that should be resident on a multiprocessor; limits the registers
  /// per thread accordingly.
  BlocksPerMultiprocessor,
  /// Stores vectors with non-temporal instructions where the processor has them. For data that
  /// exceeds the caches or is not read soon.
  StreamStores,
  /// Prefetches, on CPUs, the part of each buffer that the next iteration of the loop reads, if
  /// these parts follow each other: for packed matrices that come from memory.
  PrefetchPanels,
  /// Uses the processor's dot-product instructions. The order of bfloat16 sums is then the
  /// instruction's, and subnormal factors may count as zeros.
  DotProducts,
  /// Allows a division by a loop-invariant value to become a multiplication by its reciprocal. The
  /// result differs from the quotient by at most two units in the last place.
  AllowReciprocals,
  /// Promises that no iteration of the parallel or vectorized loops in the statement accesses an
  /// element that another iteration writes. `build` skips the proof for these loops, but not for
  /// loops nested in them.
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

}  // namespace tenon::tir
