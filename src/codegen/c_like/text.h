// Fragments of C text: expressions with their operator precedence, and lines.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/codegen/source_listing.h"

namespace tenon::codegen {

/// Replaces every occurrence of a placeholder in a template.
inline void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by), at += by.size();
}

/// The precedence levels of C, tightest binding first.
enum class Level : unsigned char {
  Primary,
  Unary,
  Product,
  Sum,
  Shift,
  Order,
  Equality,
  BitAnd,
  BitXor,
  BitOr,
  And,
  Or,
  Choice
};

/// The text of a C expression and the precedence of its outermost operator.
struct Text {
  std::string text;
  Level level = Level::Primary;

  /// Returns the text as an operand. It is in parentheses if it binds less tightly than `weakest`.
  std::string within(Level weakest) const { return level <= weakest ? text : "(" + text + ")"; }
};

/// Returns `a op b`. Only the left operand may have the operator's own level without parentheses: C
/// operators associate to the left, and the order of floating-point sums must not change.
inline Text infix(const Text& a, const std::string& op, const Text& b, Level level) {
  const Level stronger = static_cast<Level>(static_cast<unsigned char>(level) - 1);
  return {a.within(level) + " " + op + " " + b.within(stronger), level};
}
/// Like infix, but with the parentheses that avoid compiler warnings.
inline Text infix_bits(const Text& a, const std::string& op, const Text& b, Level level) {
  return {a.within(Level::Unary) + " " + op + " " + b.within(Level::Unary), level};
}
inline Text call(const std::string& function, const std::vector<Text>& args) {
  std::string text = function + "(";
  for (std::size_t n = 0; n < args.size(); ++n) text += (n ? ", " : "") + args[n].text;
  return {text + ")"};
}
inline Text cast_to(const std::string& type, const Text& value) {
  return {"(" + type + ")" + value.within(Level::Unary), Level::Unary};
}

class Lines {
 public:
  void add(const std::string& line) {
    lines_.push_back(line.empty() ? line
                                  : std::string(static_cast<std::size_t>(depth_) * 2, ' ') + line +
                                        (mark_ > 0 ? line_mark(mark_) : ""));
  }
  /// Attributes the following lines to a statement, given by its line in a listing. With 0, they
  /// are not attributed.
  void set_mark(int line) { mark_ = line; }
  int mark() const { return mark_; }
  /// Adds a label, indented less than the surrounding lines.
  void add_label(const std::string& label) {
    lines_.push_back(std::string(static_cast<std::size_t>(depth_ > 0 ? depth_ - 1 : 0) * 2, ' ') +
                     label + ":");
  }
  void add_first(const std::string& line) {
    lines_.insert(lines_.begin(), std::string(static_cast<std::size_t>(depth_) * 2, ' ') + line);
  }
  void add(const Lines& other) {
    lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
  }
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  bool empty() const { return lines_.empty(); }
  /// Returns an empty list of lines with one more level of indentation.
  Lines inner() const {
    Lines result;
    result.depth_ = depth_ + 1;
    result.mark_ = mark_;
    return result;
  }
  std::string text() const {
    std::string result;
    for (const std::string& line : lines_) result += line + "\n";
    return result;
  }

 private:
  std::vector<std::string> lines_;
  int depth_ = 0;
  int mark_ = 0;
};

}  // namespace tenon::codegen
