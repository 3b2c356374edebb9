// Memory of the interpreter: bytes with a layout, checked at every access.
#pragma once

#include <memory>

#include "tir/evaluate/scalar.h"

namespace tenon::tir::evaluation {

/// The bytes behind a data pointer: owned, or borrowed from the caller.
class Memory {
 public:
  static std::shared_ptr<Memory> allocate(std::int64_t bytes);
  static std::shared_ptr<Memory> borrow(void* data, std::int64_t bytes);

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Reads before a write are refused where asked for; borrowed memory counts as written.
  bool is_written(std::int64_t first, std::int64_t count) const;
  void mark_written(std::int64_t first, std::int64_t count);

 private:
  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::uint8_t> written_;
};

/// A view of memory by indices: element offset = base + sum((index - min) * stride).
struct Layout {
  std::int64_t base = 0;
  std::vector<std::int64_t> mins;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

Scalar read_element(const std::byte* at, DataType element);
void write_element(std::byte* at, Scalar value, DataType element);

}  // namespace tenon::tir::evaluation
