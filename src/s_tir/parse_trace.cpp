#include <algorithm>
#include <charconv>
#include <map>

#include "s_tir/instruction.h"
#include "s_tir/trace_json.h"
#include "s_tir/trace_lexer.h"
#include "s_tir/trace_text.h"
#include "tenon/s_tir/index_map.h"

namespace tenon::s_tir {

namespace {

TraceValue number_value(const Token& token) {
  const std::string& text = token.text;
  const char *begin = text.data() + (text[0] == '+' ? 1 : 0), *end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto result = std::from_chars(begin, end, integer);
      result.ec == std::errc() && result.ptr == end)
    return {integer};
  if (text.find_first_not_of("+-0123456789") == std::string::npos)
    syntax_error(token, "`" + text + "` is not an integer of 64 bits");
  double value = 0;
  if (const auto result = std::from_chars(begin, end, value);
      result.ec == std::errc() && result.ptr == end)
    return {value};
  syntax_error(token, "`" + text + "` is no number");
}

/// The tokens, and the names defined by instructions.
class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(trace_tokens(text)) {}

 protected:
  const Token& token() const { return tokens_[at_]; }
  const Token& peek() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_sign(const char* sign) const {
    return token().kind == Token::Kind::Sign && token().text == sign;
  }
  bool accept(const char* sign) {
    if (!is_sign(sign)) return false;
    take();
    return true;
  }
  [[noreturn]] void refuse(const std::string& expected) const {
    syntax_error(token(), expected + " is expected, not " + shown(token()));
  }
  void expect(const char* sign) {
    if (!accept(sign)) refuse("`" + std::string(sign) + "`");
  }
  Token expect(Token::Kind kind, const char* what) {
    if (token().kind != kind) refuse(what);
    return take();
  }
  void skip_line_ends() {
    while (token().kind == Token::Kind::EndOfLine) take();
  }

  RV define(const Token& name, RV::Kind kind) {
    const RV rv{kind, next_++};
    names_.insert_or_assign(name.text, rv);
    return rv;
  }
  RV used(const Token& name) const {
    const auto entry = names_.find(name.text);
    if (entry == names_.end()) syntax_error(name, "no step above gives `" + name.text + "`");
    return entry->second;
  }

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::map<std::string, RV> names_;
  int next_ = 0;
};

class TextReader : Reader {
 public:
  explicit TextReader(std::string_view text) : Reader(text) {}

  Trace trace() {
    Trace result;
    skip_line_ends();
    header();
    for (skip_line_ends(); token().kind != Token::Kind::End; skip_line_ends()) {
      if (token().kind == Token::Kind::Name && token().text == "pass") {
        take();
      } else {
        result.steps.push_back(line());
      }
      if (token().kind != Token::Kind::EndOfLine)
        syntax_error(token(), "the line should end before " + shown(token()));
    }
    return result;
  }

 private:
  /// Parses def apply_trace(sch: tir.Schedule) -> None:
  void header() {
    if (token().kind != Token::Kind::Name || token().text != "def") return;
    while (token().kind != Token::Kind::EndOfLine) take();
  }

  Instruction line() {
    const Token first = token();
    const std::vector<Token> left = left_side();
    if (const Token schedule = expect(Token::Kind::Name, "`sch`"); schedule.text != "sch")
      syntax_error(schedule, "`sch` is expected, not " + shown(schedule));
    expect(".");
    const Token name = expect(Token::Kind::Name, "a primitive");
    const InstructionInfo* info = find_instruction(name.text);
    if (info == nullptr) syntax_error(name, "no primitive is called `" + name.text + "`");
    Instruction step{info->kind, std::vector<TraceValue>(info->parameters.size()), {}, {}};
    arguments(step, *info);
    for (const Token& output : left)
      step.outputs.push_back(define(output, kind_given(info->gives)));
    if (const auto wrong = complete(step, is_given_)) syntax_error(first, *wrong);
    return step;
  }

  std::vector<Token> left_side() {
    std::vector<Token> names;
    // A line of an instruction without results begins with `sch.`.
    if (token().text == "sch" && peek().text == ".") return names;
    while (!accept("=")) {
      names.push_back(expect(Token::Kind::Name, "a name or `=`"));
      if (!is_sign("=")) expect(",");
    }
    return names;
  }

  void arguments(Instruction& step, const InstructionInfo& info) {
    is_given_.assign(info.parameters.size(), false);
    expect("(");
    while (!accept(")")) {
      if (token().kind == Token::Kind::Name && peek().kind == Token::Kind::Sign &&
          peek().text == "=")
        named_argument(step, info);
      else
        positional_argument(step, info);
      if (!is_sign(")")) expect(",");
    }
  }

  void named_argument(Instruction& step, const InstructionInfo& info) {
    const Token name = take();
    expect("=");
    if (name.text == "decision" && info.has_decision) {
      step.decision = value();
      return;
    }
    for (std::size_t n = 0; n < info.parameters.size(); ++n) {
      const Parameter& parameter = info.parameters[n];
      if (name.text != parameter.name && name.text != parameter.later_name) continue;
      step.arguments[n] = value();
      is_given_[n] = true;
      return;
    }
    syntax_error(name, std::string(info.name) + " has no argument `" + name.text + "`");
  }

  /// Parses a positional argument. Consecutive loops form one argument; other positions are those
  /// of the table.
  void positional_argument(Instruction& step, const InstructionInfo& info) {
    const Token at = token();
    TraceValue given = value();
    const bool takes_list =
        info.kind == InstructionKind::Fuse || info.kind == InstructionKind::Reorder;
    if (takes_list && !std::holds_alternative<TraceValue::List>(given.value)) {
      if (!is_given_[0]) step.arguments[0] = TraceValue{TraceValue::List{}};
      is_given_[0] = true;
      auto* loops = std::get_if<TraceValue::List>(&step.arguments[0].value);
      if (!loops)
        syntax_error(at, std::string(info.name) + " takes its loops one by one or as one list");
      loops->push_back(std::move(given));
      return;
    }
    const auto position = std::find(is_given_.begin(), is_given_.end(), false);
    if (position == is_given_.end())
      syntax_error(at, std::string(info.name) + " has no further argument");
    step.arguments[position - is_given_.begin()] = std::move(given);
    *position = true;
  }

  TraceValue value() {
    if (accept("[") || is_sign("(")) return list();
    const Token item = take();
    if (item.kind == Token::Kind::String) return {item.text};
    if (item.kind == Token::Kind::Number) return number_value(item);
    if (item.kind != Token::Kind::Name)
      syntax_error(item, "a value is expected, not " + shown(item));
    if (item.text == "None") return {};
    if (item.text == "lambda") return index_map(item);
    if (item.text == "True" || item.text == "False") return {item.text == "True"};
    return {used(item)};
  }

  /// Parses lambda i, j: (j, i), up to the closing parenthesis.
  TraceValue index_map(const Token& keyword) {
    std::string text = "lambda ";
    bool is_body = false;
    for (int depth = 0; !is_body || depth > 0;) {
      const bool ends = token().kind == Token::Kind::EndOfLine || token().kind == Token::Kind::End;
      if (ends) syntax_error(token(), "the index map has no end");
      is_body = is_body || is_sign("(");
      depth += is_sign("(") ? 1 : is_sign(")") ? -1 : 0;
      const bool is_division = is_sign("/") && text.ends_with("/ ");
      if (is_division) text.pop_back();
      text += take().text + " ";
    }
    try {
      return {IndexMap::parse(text).text()};
    } catch (const TypeError& error) {
      syntax_error(keyword, error.sentence());
    }
  }

  TraceValue list() {
    const bool is_tuple = accept("(");
    const char* end = is_tuple ? ")" : "]";
    if (++depth_ > kMaxNestedLists) syntax_error(token(), "lists are nested too deep");
    TraceValue::List items;
    while (!accept(end)) {
      items.push_back(value());
      if (!is_sign(end)) expect(",");
    }
    --depth_;
    return {std::move(items)};
  }

  std::vector<bool> is_given_;
  /// Number of open lists.
  int depth_ = 0;
};

}  // namespace

Trace parse_trace(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '[') return parse_json_trace(text);
  return TextReader(text).trace();
}

}  // namespace tenon::s_tir
