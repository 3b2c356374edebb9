// Arrays between inaccessible guard pages. An access far out of bounds ends the program with a
// signal, and writes close to the array are detected.
#pragma once

#include "tenon/runtime/ndarray.h"

namespace tenon::tune {

class FencedArray {
 public:
  /// Copies the array. The copy ends at a guard page, up to the alignment of arrays (128 bytes).
  explicit FencedArray(const runtime::NDArray& values);
  ~FencedArray();
  FencedArray(const FencedArray&) = delete;
  FencedArray& operator=(const FencedArray&) = delete;

  const runtime::NDArray& array() const { return array_; }
  /// Whether the bytes between the array and the guard pages are unchanged.
  bool is_intact() const;

 private:
  struct Memory {
    unsigned char* begin;  // the first guard page
    std::size_t size;      // including both guard pages
    unsigned char* data;
    std::size_t bytes;
  };
  static Memory allocated(std::size_t bytes);

  Memory memory_;
  runtime::NDArray array_;
};

}  // namespace tenon::tune
