// Text of values for error messages, and pieces of text.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Returns "[2, 3]".
std::string to_text(std::span<const std::int64_t> values);
/// Returns the shortest text that represents the number.
std::string to_text(double value);
std::string to_text(std::integral auto value) { return std::to_string(value); }

/// Returns the number that the whole text represents; nullopt for any other text.
template <std::integral T>
std::optional<T> parse_number(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return value;
}

/// Removes and returns the text up to the separator, and removes the separator.
std::string_view take_until(std::string_view& text, char separator);

}  // namespace tenon::runtime
