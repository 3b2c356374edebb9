// Tables of enumerators and their printed names.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tenon/support/error.h"

namespace tenon::tir {

template <class Enum, std::size_t kSize>
using NameTable = std::array<std::pair<Enum, std::string_view>, kSize>;

/// Whether the rows of a table are in the order of the enumerators in their member `key`.
template <class Table, class Key>
constexpr bool is_in_order(const Table& table, Key key) {
  for (std::size_t n = 0; n < table.size(); ++n)
    if (static_cast<std::size_t>(table[n].*key) != n) return false;
  return true;
}

/// Returns the name of a value. InternalError with the message `otherwise` if it has no name.
template <class Enum, std::size_t kSize>
std::string_view name_in(const NameTable<Enum, kSize>& table, Enum value, const char* otherwise) {
  for (const auto& [each, name] : table)
    if (each == value) return name;
  internal_error(otherwise);
}

/// Returns the value with this name; nullopt if it does not exist.
template <class Enum, std::size_t kSize>
std::optional<Enum> find_in(const NameTable<Enum, kSize>& table, std::string_view text) {
  for (const auto& [value, name] : table)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace tenon::tir
