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

  /// Notes that a thread uses the bytes, of memory that a block shares, between two barriers that
  /// have this number. False if another thread has used one of them since the last barrier, and one
  /// of the two writes.
  bool note_use(std::int64_t first, std::int64_t count, std::int64_t thread, bool is_write,
                std::int64_t barrier);

 private:
  static constexpr std::int64_t kNobody = -1, kSeveral = -2;
  struct LastUse {
    std::int64_t barrier = -1;
    std::int64_t writer = kNobody;
    std::int64_t reader = kNobody;
  };
  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::uint8_t> written_;
  /// Per byte; empty as long as nobody asks.
  std::vector<LastUse> uses_;
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
