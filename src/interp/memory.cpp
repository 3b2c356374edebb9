#include "interp/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::interp {

std::shared_ptr<Memory> Memory::allocate(std::int64_t bytes) {
  auto memory = std::make_shared<Memory>();
  // Sets all bits: floats start as NaN, so a missing initialization affects the results.
  memory->own_.assign(static_cast<std::size_t>(bytes), std::byte{0xff});
  memory->data_ = memory->own_.data();
  memory->bytes_ = bytes;
  memory->written_.assign(static_cast<std::size_t>(bytes), std::uint8_t{0});
  return memory;
}

std::shared_ptr<Memory> Memory::borrow(void* data, std::int64_t bytes) {
  auto memory = std::make_shared<Memory>();
  memory->data_ = static_cast<std::byte*>(data);
  memory->bytes_ = bytes;
  return memory;
}

bool Memory::is_written(std::int64_t first, std::int64_t count) const {
  if (written_.empty()) return true;
  for (std::int64_t n = first; n < first + count; ++n)
    if (!written_[static_cast<std::size_t>(n)]) return false;
  return true;
}

void Memory::mark_written(std::int64_t first, std::int64_t count) {
  if (written_.empty()) return;
  for (std::int64_t n = first; n < first + count; ++n) written_[static_cast<std::size_t>(n)] = 1;
}

void Memory::forget(std::int64_t first, std::int64_t count) {
  std::fill_n(data_ + first, count, std::byte{0xff});
  if (written_.empty()) return;
  std::fill_n(written_.begin() + first, count, std::uint8_t{0});
}

Memory::Uses& Memory::uses_of(std::int64_t byte, const User& user) {
  std::vector<Uses>& of_kind = uses_[user.is_block ? 1 : 0];
  of_kind.resize(static_cast<std::size_t>(bytes_));
  Uses& uses = of_kind[static_cast<std::size_t>(byte)];
  if (uses.phase != user.phase) uses = {.phase = user.phase, .writers = {}};
  return uses;
}

bool Memory::note_read(std::int64_t first, std::int64_t count, const User& user) {
  bool is_fine = true;
  for (std::int64_t n = first; n < first + count; ++n) {
    Uses& uses = uses_of(n, user);
    const auto& writers = uses.writers;
    is_fine &=
        writers.empty() || std::find(writers.begin(), writers.end(), user.id) != writers.end();
    std::int64_t& reader = writers.empty() ? uses.reader_before : uses.reader_after;
    reader = reader == kNobody || reader == user.id ? user.id : kSeveral;
  }
  return is_fine;
}

bool Memory::note_write(std::int64_t first, std::int64_t count, const User& user, bool changes) {
  auto is_own = [&](std::int64_t other) { return other == kNobody || other == user.id; };
  bool is_fine = true;
  for (std::int64_t n = first; n < first + count; ++n) {
    Uses& uses = uses_of(n, user);
    const bool is_new =
        std::find(uses.writers.begin(), uses.writers.end(), user.id) == uses.writers.end();
    const bool has_others = uses.writers.size() > (is_new ? 0u : 1u);
    is_fine &= is_own(uses.reader_before);
    is_fine &= !changes || (!has_others && is_own(uses.reader_after));
    if (is_new) uses.writers.push_back(user.id);
  }
  return is_fine;
}

void Layout::make_row_major() {
  strides.assign(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<std::int64_t>(extents[d], 0);
}

namespace {

static_assert(std::endian::native == std::endian::little);

/// Returns the type that memory holds. A bool takes a whole byte.
DataType stored_type(DataType element) { return element.is_bool() ? UInt(8) : element; }

}  // namespace

Scalar read_element(const std::byte* at, DataType element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(element.bytes()));
  return from_bit_pattern(bits, stored_type(element));
}

void write_element(std::byte* at, Scalar value, DataType element) {
  const std::uint64_t bits = bit_pattern(value, stored_type(element));
  std::memcpy(at, &bits, static_cast<std::size_t>(element.bytes()));
}

}  // namespace tenon::interp
