#include "tenon/tir/literal_text.h"

#include <sstream>
#include <string_view>

namespace tenon::tir {

std::string shortest_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  static constexpr char kHex[] = "0123456789ABCDEF";
  static constexpr std::string_view kSpecial = "\n\t\r\"\\", kEscapes = "ntr\"\\";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kSpecial.find(c); at != kSpecial.npos) {
      result += {'\\', kEscapes[at]};
    } else if (byte < 0x20) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace tenon::tir
