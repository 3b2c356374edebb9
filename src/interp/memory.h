// Memory of the interpreter: bytes with a layout, checked at every access.
#pragma once

#include <memory>

#include "interp/value.h"

namespace tenon::interp {

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
  /// The bytes have no value until they are written again.
  void forget(std::int64_t first, std::int64_t count);

  /// Note that a thread reads or writes the bytes, of memory that a block shares, between two
  /// barriers that have this number. False if the result depends on which thread comes first: if
  /// another one has written a byte since the last barrier and this one has not, or this one
  /// changes what another one uses. Threads that all write the same value do not race.
  bool note_read(std::int64_t first, std::int64_t count, std::int64_t thread, std::int64_t barrier);
  bool note_write(std::int64_t first, std::int64_t count, std::int64_t thread, bool changes,
                  std::int64_t barrier);

 private:
  static constexpr std::int64_t kNobody = -1, kSeveral = -2;
  struct Uses {
    std::int64_t barrier = -1;
    std::vector<std::int64_t> writers;
    /// Readers of what was there before, and of what they themselves have written.
    std::int64_t reader_before = kNobody, reader_after = kNobody;
  };
  Uses& uses_of(std::int64_t byte, std::int64_t barrier);

  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::uint8_t> written_;
  /// Per byte; empty as long as nobody asks.
  std::vector<Uses> uses_;
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

}  // namespace tenon::interp
