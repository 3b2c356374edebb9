#include "tenon/support/element_differs.h"

#include <cstdio>

namespace tenon {

namespace {

std::string text_of(const ElementValue& value) {
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  char text[32];
  // Nine decimal digits distinguish any two float32 values.
  std::snprintf(text, sizeof text, "%.9g", std::get<double>(value));
  return text;
}

}  // namespace

std::string element_differs(std::string_view what, const ElementValue& actual,
                            const ElementValue& expected, std::span<const std::int64_t> index) {
  std::string text(what);
  text += ": element [";
  for (std::size_t n = 0; n < index.size(); ++n) {
    if (n > 0) text += ", ";
    text += std::to_string(index[n]);
  }
  text += "] is ";
  text += text_of(actual);
  text += ", should be ";
  text += text_of(expected);
  return text;
}

}  // namespace tenon
