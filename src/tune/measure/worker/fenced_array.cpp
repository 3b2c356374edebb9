#include "tune/measure/worker/fenced_array.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tenon::tune {

namespace {

/// The fill byte around arrays. It is unlikely in results: it belongs neither to zero nor to NaN.
constexpr unsigned char kUntouched = 0xA5;
constexpr std::size_t kAlignment = 128;

std::size_t rounded_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t bytes_of(const runtime::NDArray& array) {
  return static_cast<std::size_t>(array.num_elements()) *
         static_cast<std::size_t>(array.dtype().bytes());
}

}  // namespace

FencedArray::Memory FencedArray::allocated(std::size_t bytes) {
  const std::size_t inner = rounded_up(std::max<std::size_t>(bytes, 1), page());
  Memory memory{nullptr, inner + 2 * page(), nullptr, bytes};
  void* begin =
      mmap(nullptr, memory.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    throw RuntimeError("no memory for an array of " + std::to_string(bytes) + " bytes");
  memory.begin = static_cast<unsigned char*>(begin);
  unsigned char* end = memory.begin + page() + inner;
  memory.data = end - rounded_up(std::max<std::size_t>(bytes, 1), kAlignment);
  std::memset(memory.begin + page(), kUntouched, inner);
  if (mprotect(memory.begin, page(), PROT_NONE) != 0 || mprotect(end, page(), PROT_NONE) != 0)
    throw RuntimeError("an array cannot get guard pages");
  return memory;
}

FencedArray::FencedArray(const runtime::NDArray& values)
    : memory_(allocated(bytes_of(values))),
      array_(runtime::NDArray::wrap(static_cast<void*>(memory_.data), values.shape(),
                                    {.dtype = values.dtype()})) {
  values.copy_to(array_);
}

FencedArray::~FencedArray() { munmap(memory_.begin, memory_.size); }

bool FencedArray::is_intact() const {
  const auto untouched = [](const unsigned char* from, const unsigned char* to) {
    return std::all_of(from, to, [](unsigned char byte) { return byte == kUntouched; });
  };
  return untouched(memory_.begin + page(), memory_.data) &&
         untouched(memory_.data + memory_.bytes, memory_.begin + memory_.size - page());
}

}  // namespace tenon::tune
