#include <algorithm>
#include <charconv>
#include <map>

#include "s_tir/instruction.h"
#include "s_tir/trace_text.h"
#include "tenon/s_tir/index_map.h"
#include "tenon/tir/token_stream.h"

namespace tenon::s_tir {

namespace {

using tir::described, tir::syntax_error, tir::Token;

/// Parses a number, which `sign` precedes.
TraceValue number_value(const Token& token, const std::string& sign) {
  const std::string text = (sign == "-" ? sign : "") + token.text;
  const char *begin = text.data(), *end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto result = std::from_chars(begin, end, integer);
      result.ec == std::errc() && result.ptr == end)
    return {integer};
  if (text.find_first_of(".e") == std::string::npos)
    syntax_error(token, "`" + text + "` is not an integer of 64 bits");
  double value = 0;
  if (const auto result = std::from_chars(begin, end, value);
      result.ec == std::errc() && result.ptr == end)
    return {value};
  syntax_error(token, "`" + text + "` is not a number");
}

class TextReader {
 public:
  explicit TextReader(std::string_view text) : in_(tir::Dialect::Trace, text) {}

  Trace trace() {
    Trace result;
    // def apply_trace(sch: tir.Schedule) -> None:
    if (in_.accept_name("def"))
      while (!in_.is(Token::Kind::Newline)) in_.take();
    in_.accept(Token::Kind::Newline);
    while (!in_.is(Token::Kind::End)) {
      if (!in_.accept_name("pass")) result.steps.push_back(line());
      in_.expect_end_of_line();
    }
    return result;
  }

 private:
  tir::TokenStream in_;
  /// The names defined by instructions.
  std::map<std::string, RV> names_;
  int next_ = 0;
  std::vector<bool> is_given_;
  /// Number of open lists.
  int depth_ = 0;

  Instruction line() {
    const Token& first = in_.peek();
    const std::vector<Token> left = left_side();
    in_.expect_name("sch"), in_.expect(".");
    const Token& name = in_.expect(Token::Kind::Name, "a primitive");
    const InstructionInfo* info = find_instruction(name.text);
    if (info == nullptr) syntax_error(name, "no primitive is called `" + name.text + "`");
    Instruction step{info->kind, std::vector<TraceValue>(info->parameters.size()), {}, {}};
    is_given_.assign(info->parameters.size(), false);
    in_.expect("(");
    in_.items(")", [&] {
      if (in_.is(Token::Kind::Name) && in_.is_sign("=", 1))
        named_argument(step, *info);
      else
        positional_argument(step, *info);
    });
    for (const Token& output : left) {
      const RV rv{kind_given(info->gives), next_++};
      names_.insert_or_assign(output.text, rv);
      step.outputs.push_back(rv);
    }
    if (const auto wrong = complete(step, is_given_)) syntax_error(first, *wrong);
    return step;
  }

  std::vector<Token> left_side() {
    std::vector<Token> names;
    // A line of an instruction without results begins with `sch.`.
    if (!in_.is_name("sch") || !in_.is_sign(".", 1))
      in_.items("=", [&] { names.push_back(in_.expect(Token::Kind::Name, "a name or `=`")); });
    return names;
  }

  void named_argument(Instruction& step, const InstructionInfo& info) {
    const Token& name = in_.take();
    in_.take();
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

  /// Parses a positional argument. Consecutive loops form one argument. All other arguments are at
  /// their positions in the table.
  void positional_argument(Instruction& step, const InstructionInfo& info) {
    const Token& at = in_.peek();
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
    const auto position = std::ranges::find(is_given_, false);
    if (position == is_given_.end())
      syntax_error(at, std::string(info.name) + " has no further argument");
    step.arguments[position - is_given_.begin()] = std::move(given);
    *position = true;
  }

  TraceValue value() {
    if (in_.is_sign("[") || in_.is_sign("(")) return list();
    const Token& item = in_.take();
    if (item.kind == Token::Kind::String) return {item.text};
    if (item.kind == Token::Kind::Number) return number_value(item, "");
    if (item.kind == Token::Kind::Sign && (item.text == "-" || item.text == "+"))
      return number_value(in_.expect(Token::Kind::Number, "a number"), item.text);
    if (item.kind != Token::Kind::Name)
      syntax_error(item, "expected a value, got " + described(item));
    if (item.text == "None") return {};
    if (item.text == "lambda") return index_map(item);
    if (item.text == "True" || item.text == "False") return {item.text == "True"};
    const auto entry = names_.find(item.text);
    if (entry == names_.end()) syntax_error(item, "no step above gives `" + item.text + "`");
    return {entry->second};
  }

  /// Parses lambda i, j: (j, i), up to the closing parenthesis.
  TraceValue index_map(const Token& keyword) {
    std::string text = "lambda ";
    bool is_body = false;
    for (int depth = 0; !is_body || depth > 0;) {
      if (in_.is(Token::Kind::Newline) || in_.is(Token::Kind::End))
        syntax_error(in_.peek(), "the index map has no end");
      is_body = is_body || in_.is_sign("(");
      depth += in_.is_sign("(") ? 1 : in_.is_sign(")") ? -1 : 0;
      text += in_.take().text + " ";
    }
    try {
      return {IndexMap::parse(text).text()};
    } catch (const TypeError& error) {
      syntax_error(keyword, error.sentence());
    }
  }

  TraceValue list() {
    if (++depth_ > kMaxNestedLists) syntax_error(in_.peek(), "lists are nested too deep");
    TraceValue::List items;
    in_.items(in_.open_list(), [&] { items.push_back(value()); });
    --depth_;
    return {std::move(items)};
  }
};

}  // namespace

Trace parse_trace(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '[') return parse_json_trace(text);
  return TextReader(text).trace();
}

}  // namespace tenon::s_tir
