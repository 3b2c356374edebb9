#include "tenon/codegen/source_listing.h"

#include <charconv>

namespace tenon::codegen {

namespace {

constexpr std::string_view kMark = " //@";

SourceLine listed(std::string_view text) {
  const std::size_t at = text.rfind(kMark);
  if (at == std::string_view::npos) return {std::string(text), 0};
  int line = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data() + at + kMark.size(), end, line);
  if (error != std::errc() || read != end) return {std::string(text), 0};
  return {std::string(text.substr(0, at)), line};
}

}  // namespace

std::string line_mark(int line) { return std::string(kMark) + std::to_string(line); }

std::vector<SourceLine> list_source(std::string_view text) {
  std::vector<SourceLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(listed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace tenon::codegen
