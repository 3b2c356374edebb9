// Mutation: makes a neighbour of a candidate in its space by changing one decision of the trace.
#pragma once

#include <optional>

#include "tenon/s_tir/trace.h"
#include "tune/search/random.h"

namespace tenon::tune {

/// Returns a mutation of the trace, chosen with these probabilities among those that apply: a
/// factor moves between levels of a tile (0.9), a compute location is resampled (0.05), the unroll
/// limit changes (0.03), or the number of parallel jobs changes (0.02). Nullopt if there is nothing
/// to change.
std::optional<s_tir::Trace> mutated(const s_tir::Trace& trace, Random& random);

/// The annotation key of parallelize_vectorize_unroll for the number of parallel jobs.
inline constexpr const char* kParallelKey = "meta_schedule.parallel";
inline constexpr const char* kVectorizeKey = "meta_schedule.vectorize";
inline constexpr const char* kUnrollExplicitKey = "meta_schedule.unroll_explicit";
inline constexpr const char* kUnrollImplicitKey = "meta_schedule.unroll_implicit";
/// Annotation of a cooperative copy: the number of elements that each thread moves at once.
inline constexpr const char* kCooperativeFetchKey = "meta_schedule.cooperative_fetch";
/// Annotation of a block to tensorize: the intrinsic's name.
inline constexpr const char* kIntrinsicKey = "meta_schedule.auto_tensorize";

}  // namespace tenon::tune
