// The pragmas that some step or code generator looks at. Users give keys as text; any other key is
// printed and has no effect.
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
  /// For code generators of devices that have such cores.
  TensorCore,
  /// How many blocks of a kernel are to run on a multiprocessor at once: registers are shared out
  /// so that they can.
  BlocksPerMultiprocessor,
  /// Vectors are stored past the caches, where the processor can: what is written is more than
  /// these hold, or is not read soon.
  StreamStores,
  /// Products of neighbours are added up by the processor's instructions for that, where it has
  /// some: sums of bfloat16 then in its order, and subnormal factors may count as zeros.
  DotProducts,
  /// What is divided by something that a loop does not change may be multiplied by its reciprocal:
  /// up to two units in the last place from the quotient.
  AllowReciprocals,
  /// Promises that no iteration of the parallel or vectorized loops in the statement accesses an
  /// element that another iteration writes. `build` does not prove it for these loops; loops inside
  /// of them are not covered.
  IndependentIterations,
};

/// "auto_unroll_max_step"
std::string_view to_string(PragmaKey key);
std::optional<PragmaKey> find_pragma_key(std::string_view text);
/// "auto_unroll_max_step, unroll_explicit, ...": all of them.
std::string pragma_keys_text();
/// "; did you mean `unroll_explicit`?", or nothing if no key is similar.
std::string similar_pragma_key(std::string_view text);

/// Whether the statement is the pragma.
bool is_pragma(const Attr& attr, PragmaKey key);

}  // namespace tenon::tir
