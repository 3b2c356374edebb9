// Memory of the host.
#pragma once

#include <cstdint>

namespace tenon::runtime {

/// Of arrays and workspaces: two cache lines, and the widest vectors.
inline constexpr std::uint64_t kMemoryAlignment = 128;

/// Memory that std::free takes back; null where there is none. `alignment` is a power of two, at
/// least that of a pointer. Much of it lies on large pages where the system has some: of a matrix
/// whose rows are a page each, every row would else cost a walk through the page tables, which in a
/// virtual machine is several times as long.
void* allocate_aligned(std::uint64_t nbytes, std::uint64_t alignment);

}  // namespace tenon::runtime
