// Mutation of a candidate: changes one decision of its trace, so that it becomes a neighbour in the
// search space.
#pragma once

#include <optional>

#include "tenon/s_tir/random.h"
#include "tenon/s_tir/trace.h"

namespace tenon::tune {

/// Returns a mutation of the trace; nullopt if no mutation applies. The kind of mutation is chosen
/// with these probabilities, among the applicable ones: a factor moves between levels of a tile
/// (0.9), a compute location is resampled (0.05), the unroll limit changes (0.03), the number of
/// parallel jobs changes (0.02).
std::optional<s_tir::Trace> mutated(const s_tir::Trace& trace, s_tir::Random& random);

/// The annotation key with which parallelize_vectorize_unroll requests a number of parallel jobs.
inline constexpr const char* kParallelKey = "meta_schedule.parallel";
inline constexpr const char* kVectorizeKey = "meta_schedule.vectorize";
inline constexpr const char* kUnrollExplicitKey = "meta_schedule.unroll_explicit";
inline constexpr const char* kUnrollImplicitKey = "meta_schedule.unroll_implicit";
/// The annotation key on a cooperative copy for the number of elements that each thread copies at
/// once.
inline constexpr const char* kCooperativeFetchKey = "meta_schedule.cooperative_fetch";
/// The annotation key on a block to tensorize. The value is the name of the intrinsic.
inline constexpr const char* kIntrinsicKey = "meta_schedule.auto_tensorize";

}  // namespace tenon::tune
