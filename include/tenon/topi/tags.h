// Tags of the library's operations, with TVM's names.
#pragma once

namespace tenon::topi {

/// Each element depends on the input elements at the same indices.
inline constexpr const char* kElementwise = "elemwise";
/// Elementwise after repeating inputs of extent 1 or of lower rank.
inline constexpr const char* kBroadcast = "broadcast";
/// Each element depends on input elements at other indices, without a reduction.
inline constexpr const char* kInjective = "injective";
/// A reduction by a commutative reducer; kCommReduceIndex if the result is an index.
inline constexpr const char* kCommReduce = "comm_reduce";
inline constexpr const char* kCommReduceIndex = "comm_reduce_idx";

}  // namespace tenon::topi
