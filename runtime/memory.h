// Memory of the host.
#pragma once

#include <cstdint>

namespace tenon::runtime {

/// Of arrays and workspaces: two cache lines, and the widest vectors.
inline constexpr std::uint64_t kMemoryAlignment = 128;

}  // namespace tenon::runtime
