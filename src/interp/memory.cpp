#include "interp/memory.h"

#include <algorithm>
#include <cstring>

#include "tenon/support/float16.h"

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

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

std::int64_t load_integer(const std::byte* at, DataType t) {
  const bool is_signed = t.is_int();
  switch (t.bytes()) {
    case 1:
      return is_signed ? load<std::int8_t>(at) : load<std::uint8_t>(at);
    case 2:
      return is_signed ? load<std::int16_t>(at) : load<std::uint16_t>(at);
    case 4:
      return is_signed ? load<std::int32_t>(at) : std::int64_t{load<std::uint32_t>(at)};
    default:
      return load<std::int64_t>(at);
  }
}

}  // namespace

Scalar read_element(const std::byte* at, DataType t) {
  if (t.is_bfloat())
    return floating(static_cast<double>(BFloat16::from_bits(load<std::uint16_t>(at))));
  if (!t.is_float()) return integer(load_integer(at, t));
  if (t.bits == 64) return floating(load<double>(at));
  if (t.bits == 32) return floating(static_cast<double>(load<float>(at)));
  return floating(static_cast<double>(Float16::from_bits(load<std::uint16_t>(at))));
}

void write_element(std::byte* at, Scalar value, DataType t) {
  if (t.is_bfloat()) return store(at, BFloat16(value.d).bits);
  if (t.is_float()) {
    if (t.bits == 64) return store(at, value.d);
    if (t.bits == 32) return store(at, static_cast<float>(value.d));
    return store(at, Float16(value.d).bits);
  }
  switch (t.bytes()) {
    case 1:
      return store(at, static_cast<std::uint8_t>(value.i));
    case 2:
      return store(at, static_cast<std::uint16_t>(value.i));
    case 4:
      return store(at, static_cast<std::uint32_t>(value.i));
    default:
      return store(at, value.i);
  }
}

}  // namespace tenon::interp
