// Neighbours of a candidate in its space: its trace with one decision changed.
#pragma once

#include <optional>

#include "tenon/s_tir/trace.h"
#include "tune/search/random.h"

namespace tenon::tune {

/// One of, as likely as the numbers say, where the trace has such decisions: a factor moved from
/// one level of a tile to another (0.9), a place of computation drawn anew (0.05), another way to
/// unroll (0.03), another number of parallel jobs (0.02). nullopt: nothing can be changed.
std::optional<s_tir::Trace> mutated(const s_tir::Trace& trace, Random& random);

/// The key under which parallelize_vectorize_unroll notes how many jobs may run in parallel.
inline constexpr const char* kParallelKey = "meta_schedule.parallel";
inline constexpr const char* kVectorizeKey = "meta_schedule.vectorize";
inline constexpr const char* kUnrollExplicitKey = "meta_schedule.unroll_explicit";
inline constexpr const char* kUnrollImplicitKey = "meta_schedule.unroll_implicit";
/// At a copy that the threads of a block make together: how many elements each moves at once.
inline constexpr const char* kCooperativeFetchKey = "meta_schedule.cooperative_fetch";
/// At a block that an intrinsic is to compute: its name.
inline constexpr const char* kIntrinsicKey = "meta_schedule.auto_tensorize";

}  // namespace tenon::tune
