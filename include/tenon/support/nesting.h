// A limit on the nesting of text, which bounds the recursion of parsers and of traversals of the
// parsed programs.
//
//   const NestingLevel level(depth_);
//   if (level.is_too_deep()) syntax_error(token, kTooDeep);
#pragma once

#include <string_view>

namespace tenon {

/// Maximum depth of nested parentheses, operators, lists or statements.
inline constexpr int kMaxNesting = 1000;

inline constexpr const char* kTooDeep = "this is nested more than 1000 levels deep";

/// Counts as one level of nesting during its lifetime.
class NestingLevel {
 public:
  explicit NestingLevel(int& depth) : depth_(depth) { ++depth_; }
  ~NestingLevel() { --depth_; }
  NestingLevel(const NestingLevel&) = delete;
  NestingLevel& operator=(const NestingLevel&) = delete;

  bool is_too_deep() const { return depth_ > kMaxNesting; }

 private:
  int& depth_;
};

/// Whether lists and objects in a JSON text are nested deeper than any that Tenon writes. JSON
/// parsers, and readers of their results, may recurse.
inline bool is_json_too_deep(std::string_view text) {
  constexpr int kMaxLevels = 64;
  int depth = 0;
  bool is_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_string = !is_string;
    if (is_string && c == '\\') ++at;
    if (is_string) continue;
    if ((c == '[' || c == '{') && ++depth > kMaxLevels) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace tenon
