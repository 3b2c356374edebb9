#include "runtime/core/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "runtime/core/last_error.h"
#include "tenon/runtime/device_api.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

/// Size of large pages on common processors. With another size, alignment and advice have no
/// effect.
constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;

/// Larger requests fail. Sums of a request, an alignment and a header do not overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

/// Requests large pages for the part of the block that fills whole large pages. The tail stays on
/// small pages, so that no memory is wasted.
void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::uint64_t nbytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, nbytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* allocate_aligned(std::uint64_t nbytes, std::uint64_t alignment) {
  if (nbytes > kMaxBytes) return nullptr;
  const bool is_much = nbytes >= kLargePage;
  if (is_much) alignment = std::max(alignment, kLargePage);
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, std::max(nbytes, alignment)) != 0) return nullptr;
  if (is_much) ask_for_large_pages(memory, nbytes);
  return memory;
}

// ---- workspaces ---------------------------------------------------------------------------------

// Workspaces: temporary memory of generated code. Every thread caches the blocks that were freed on
// it, so that a loop with an allocation in every iteration calls the system only once.

namespace {

/// Maximum number of bytes that a thread caches.
constexpr std::uint64_t kMaxCachedBytes = std::uint64_t{128} << 20;
/// Sizes are rounded up to this granularity, so that similar sizes share blocks.
constexpr std::uint64_t kGranule = 4096;
constexpr std::uint64_t kMagic = 0x74656e6f6e777370;

/// The header of a block, stored directly before the memory that the caller receives.
struct BlockHeader {
  std::uint64_t magic;
  std::uint64_t capacity;
  std::uint64_t alignment;
  void* start;
};
static_assert(sizeof(BlockHeader) <= kMemoryAlignment);

BlockHeader* header_of(void* data) { return static_cast<BlockHeader*>(data) - 1; }

void release(void* data) {
  header_of(data)->magic = 0;
  std::free(header_of(data)->start);
}

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (void* data : free_) release(data);
  }

  void* allocate(std::uint64_t nbytes, std::uint64_t alignment) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const BlockHeader& block = *header_of(*it);
      // Does not use a cached block of more than twice the requested size, which is kept for larger
      // requests.
      if (block.capacity < nbytes || block.capacity / 2 > nbytes || block.alignment < alignment)
        continue;
      if (best == free_.end() || block.capacity <= header_of(*best)->capacity) best = it;
    }
    if (best == free_.end()) return fresh(nbytes, alignment);
    void* data = *best;
    free_.erase(best);
    cached_bytes_ -= header_of(data)->capacity;
    return data;
  }

  void give_back(void* data) {
    const std::uint64_t capacity = header_of(data)->capacity;
    if (capacity > kMaxCachedBytes) return release(data);
    try {
      free_.push_back(data);
    } catch (const std::bad_alloc&) {
      return release(data);  // out of memory for the list: the block is not cached
    }
    cached_bytes_ += capacity;
    while (cached_bytes_ > kMaxCachedBytes) {
      cached_bytes_ -= header_of(free_.front())->capacity;
      release(free_.front());
      free_.erase(free_.begin());
    }
  }

 private:
  static void* fresh(std::uint64_t nbytes, std::uint64_t alignment) {
    void* start = allocate_aligned(nbytes + alignment, alignment);
    if (start == nullptr) return nullptr;
    // The header fits the gap, since the alignment is at least kMemoryAlignment.
    void* data = static_cast<char*>(start) + alignment;
    *header_of(data) = {
        .magic = kMagic, .capacity = nbytes, .alignment = alignment, .start = start};
    return data;
  }

  /// Least recently used first.
  std::vector<void*> free_;
  std::uint64_t cached_bytes_ = 0;
};

Pool& pool_of_this_thread() {
  thread_local Pool pool;
  return pool;
}

void* allocate_on_cpu(std::uint64_t nbytes, std::uint64_t alignment) {
  void* data = nullptr;
  if (nbytes <= kMaxBytes) {
    const std::uint64_t step = std::max(kGranule, alignment);
    data = pool_of_this_thread().allocate(std::max(step, (nbytes + step - 1) / step * step),
                                          alignment);
  }
  if (data == nullptr)
    throw RuntimeError("a workspace of " + std::to_string(nbytes) + " bytes cannot be allocated");
  return data;
}

void* allocate(Device device, std::uint64_t nbytes, std::int32_t alignment) {
  if (alignment < 0 ||
      (alignment != 0 && !std::has_single_bit(static_cast<std::uint32_t>(alignment))))
    throw RuntimeError("the alignment of a workspace is a power of two, got " +
                       std::to_string(alignment));
  const std::uint64_t at_least = std::max<std::uint64_t>(kMemoryAlignment, alignment);
  if (device.type == DeviceType::Cpu) return allocate_on_cpu(nbytes, at_least);
  return device_api(device.type).allocate(device.id, nbytes, at_least);
}

void give_back(Device device, void* data) {
  if (data == nullptr) return;
  if (device.type != DeviceType::Cpu) return device_api(device.type).release(device.id, data);
  if (header_of(data)->magic != kMagic)
    throw RuntimeError("tenon_workspace_free of memory that is not a workspace");
  pool_of_this_thread().give_back(data);
}

}  // namespace

}  // namespace tenon::runtime

void* tenon_workspace_alloc(int32_t device_type, int32_t device_id, uint64_t nbytes,
                            int32_t alignment) {
  using namespace tenon::runtime;
  void* data = nullptr;
  without_exceptions([&] {
    data = allocate({static_cast<DeviceType>(device_type), device_id}, nbytes, alignment);
  });
  return data;
}

int32_t tenon_workspace_free(int32_t device_type, int32_t device_id, void* data) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    give_back({static_cast<DeviceType>(device_type), device_id}, data);
  });
}
