// Memory between pages that nobody may touch: an access outside ends the test.
//
//   GuardedMemory memory(64);
//   float* last = memory.end<float>() - 16;      // ends where the forbidden page begins
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace tenon::codegen::testing {

class GuardedMemory {
 public:
  GuardedMemory() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ =
        static_cast<char*>(mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (mprotect(base_ + page_, page_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~GuardedMemory() { munmap(base_, 3 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// A page that ends there may be touched.
  template <class T>
  T* end() const {
    return reinterpret_cast<T*>(base_ + 2 * page_);
  }
  template <class T>
  T* begin() const {
    return reinterpret_cast<T*>(base_ + page_);
  }

 private:
  std::size_t page_;
  char* base_;
};

/// A compact tensor of rank 1 on borrowed memory.
struct BorrowedTensor {
  BorrowedTensor(void* data, DLDataType dtype, std::int64_t extent) : shape(extent) {
    tensor = {.data = data,
              .device = {kDLCPU, 0},
              .ndim = 1,
              .dtype = dtype,
              .shape = &shape,
              .strides = &stride,
              .byte_offset = 0};
  }
  BorrowedTensor(const BorrowedTensor&) = delete;
  std::int64_t shape, stride = 1;
  DLTensor tensor;
};

}  // namespace tenon::codegen::testing
