// Values of the interpreter, and its memory: bytes with a layout, checked at every access.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tenon/interp/scalar.h"

namespace tenon::interp {

/// A scalar or a vector: one number per lane.
class Value {
 public:
  Value(Scalar one) : one_(one) {}
  explicit Value(std::vector<Scalar> lanes) : one_(lanes.front()), lanes_(std::move(lanes)) {}
  std::size_t size() const { return lanes_.empty() ? 1 : lanes_.size(); }
  Scalar operator[](std::size_t lane) const { return lanes_.empty() ? one_ : lanes_[lane]; }
  std::int64_t integer() const { return one_.i; }

 private:
  Scalar one_;
  std::vector<Scalar> lanes_;
};

/// An agent that accesses memory concurrently with others of its kind: a thread of a block until
/// the next barrier, or a block of a launch until the launch ends.
struct User {
  bool is_block;
  std::int64_t id;
  /// The number of preceding barriers or launches. Accesses of earlier phases have completed.
  std::int64_t phase;
};

/// The bytes behind a data pointer: owned, or borrowed from the caller.
class Memory {
 public:
  static std::shared_ptr<Memory> allocate(std::int64_t bytes);
  static std::shared_ptr<Memory> borrow(void* data, std::int64_t bytes);

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Whether the bytes have been written; reads of unwritten elements are rejected. Borrowed memory
  /// counts as written.
  bool is_written(std::int64_t first, std::int64_t count) const;
  void mark_written(std::int64_t first, std::int64_t count);
  /// Marks the bytes as undefined until they are written again.
  void forget(std::int64_t first, std::int64_t count);

  /// Record a read or write by a user. Return false if the result depends on the order of the users
  /// of this kind within the phase. This is the case if the user
  ///   - reads a byte that only other users have written,
  ///   - writes a byte that another user has read before the first write, or
  ///   - changes a byte that another user has written or read.
  /// Users that all write the same value do not race.
  bool note_read(std::int64_t first, std::int64_t count, const User& user);
  bool note_write(std::int64_t first, std::int64_t count, const User& user, bool changes);

 private:
  static constexpr std::int64_t kNobody = -1, kSeveral = -2;
  struct Uses {
    std::int64_t phase = -1;
    std::vector<std::int64_t> writers;
    /// The user that read the byte before the first write of the phase, and the user that read it
    /// after that write. kNobody means that no user did, kSeveral that more than one did.
    std::int64_t reader_before = kNobody, reader_after = kNobody;
  };
  Uses& uses_of(std::int64_t byte, const User& user);

  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::uint8_t> written_;
  /// The uses of each byte by threads and by blocks. Empty until the first use is recorded.
  std::array<std::vector<Uses>, 2> uses_;
};

/// A view of memory by indices: element offset = base + sum((index - min) * stride).
struct Layout {
  std::int64_t base = 0;
  std::vector<std::int64_t> mins;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;

  /// Sets the strides of a compact row-major array.
  void make_row_major();
};

Scalar read_element(const std::byte* at, DataType element);
void write_element(std::byte* at, Scalar value, DataType element);

}  // namespace tenon::interp
