#include "runtime/core/text.h"

#include <charconv>

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

}  // namespace tenon::runtime
