#include "tenon/tir/literal_text.h"

#include <sstream>

namespace tenon::tir {

std::string integer_text(std::int64_t value, DataType type) {
  if (type.is_bool()) return value != 0 ? "True" : "False";
  const bool big = type.is_uint() && type.bits == 64;
  std::string digits =
      big ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  if (type == Int(32)) return digits;
  return digits + (type.is_uint() ? "u" : "i") + std::to_string(type.bits);
}

std::string shortest_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string floating_text(double value, DataType type) {
  return shortest_text(value) + (type.is_bfloat() ? "bf" : "f") + std::to_string(type.bits);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      default:
        if (byte < 0x20) {
          result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        } else {
          result += c;
        }
    }
  }
  return result + "\"";
}

}  // namespace tenon::tir
