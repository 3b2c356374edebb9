// Pieces of C text: expressions with the strength of their operators, and lines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/codegen/source_listing.h"

namespace tenon::codegen {

/// The operators of C by strength, the strongest first.
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

/// An expression.
struct Text {
  std::string text;
  Level level = Level::Primary;

  /// As an operand of an operator that binds operands of this level.
  std::string within(Level weakest) const { return level <= weakest ? text : "(" + text + ")"; }
};

/// Operands of the same level stand on the left only: C's operators associate to the left, and sums
/// of floats are not to change their order.
inline Text infix(const Text& a, const std::string& op, const Text& b, Level level) {
  const Level stronger = static_cast<Level>(static_cast<unsigned char>(level) - 1);
  return {a.within(level) + " " + op + " " + b.within(stronger), level};
}
/// Like infix, but what compilers warn of without parentheses has them.
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
  /// The statement, by its line in a listing, that lines from now on are part of; 0: of none, and
  /// nothing is said of it.
  void set_mark(int line) { mark_ = line; }
  int mark() const { return mark_; }
  /// A label: to the left of what is around it.
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
  /// Lines of their own that will stand one step further in.
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
