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
