// Arrays between pages that nobody may touch: code that reads or writes far beside its array ends
// with a signal, and what it writes close beside shows.
#pragma once

#include "tenon/runtime/ndarray.h"

namespace tenon::tune {

class FencedArray {
 public:
  /// A copy of the array. Its end lies at the fence, up to the alignment that arrays have (128
  /// bytes).
  explicit FencedArray(const runtime::NDArray& values);
  ~FencedArray();
  FencedArray(const FencedArray&) = delete;
  FencedArray& operator=(const FencedArray&) = delete;

  const runtime::NDArray& array() const { return array_; }
  /// Whether the bytes between array and fences are as they were.
  bool is_intact() const;

 private:
  struct Memory {
    unsigned char* begin;  // the fence before
    std::size_t size;      // with both fences
    unsigned char* data;
    std::size_t bytes;
  };
  static Memory allocated(std::size_t bytes);

  Memory memory_;
  runtime::NDArray array_;
};

}  // namespace tenon::tune
