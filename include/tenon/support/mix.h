// Incremental hashing of several values.
#pragma once

#include <cstdint>

namespace tenon {

/// Returns the hash of `seed` followed by `value`: the finalizer of splitmix64 over a running sum.
/// Cheap, and similar values differ in all bits.
inline std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15u + value;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace tenon
