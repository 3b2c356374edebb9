#include "runtime/core/text.h"

#include <algorithm>

namespace tenon::runtime {

std::string to_text(std::span<const std::int64_t> values) {
  std::string text = "[";
  for (std::int64_t value : values) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(value);
  }
  return text + "]";
}

std::string to_text(double value) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end);
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t length = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return piece;
}

}  // namespace tenon::runtime
