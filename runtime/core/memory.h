// Host memory.
#pragma once

#include <cstdint>

namespace tenon::runtime {

/// Alignment of arrays and workspaces: two cache lines, and the widest vectors.
inline constexpr std::uint64_t kMemoryAlignment = 128;

/// Allocates memory for std::free; null on failure. `alignment` is a power of two, at least that of
/// a pointer. Large blocks use large pages if available. Otherwise, a matrix with one row per page
/// would need a page-table walk per row, which is several times slower in a virtual machine.
void* allocate_aligned(std::uint64_t nbytes, std::uint64_t alignment);

}  // namespace tenon::runtime
