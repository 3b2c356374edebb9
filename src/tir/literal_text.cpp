#include "tenon/tir/literal_text.h"

#include <sstream>

namespace tenon::tir {

std::string shortest_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
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
