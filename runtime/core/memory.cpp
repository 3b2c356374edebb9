#include "runtime/core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace tenon::runtime {

namespace {

/// Size of large pages on common processors. With another size, alignment and advice have no
/// effect.
constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;

/// Requests large pages for the part of the block that fills whole large pages. The tail stays on
/// small pages, so that no memory is wasted.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::uint64_t nbytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, nbytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* allocate_aligned(std::uint64_t nbytes, std::uint64_t alignment) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
  if (nbytes > kMaxBytes) return nullptr;
  const bool is_much = nbytes >= kLargePage;
  if (is_much) alignment = std::max(alignment, kLargePage);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max(nbytes, alignment)) != 0) return nullptr;
  if (is_much) ask_for_large_pages(memory, nbytes);
  return memory;
}

}  // namespace tenon::runtime
