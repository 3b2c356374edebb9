// What operations of the library say of themselves, in their tags; the reference's words.
#pragma once

namespace tenon::topi {

/// Every element from the elements at its own indices.
inline constexpr const char* kElementwise = "elemwise";
/// Elementwise after inputs of extent 1, or of fewer dimensions, have been repeated.
inline constexpr const char* kBroadcast = "broadcast";
/// Every element from elements elsewhere, without a reduction.
inline constexpr const char* kInjective = "injective";
/// A reduction by a commutative reducer; kCommReduceIndex if its result is an index.
inline constexpr const char* kCommReduce = "comm_reduce";
inline constexpr const char* kCommReduceIndex = "comm_reduce_idx";

}  // namespace tenon::topi
