#include <algorithm>
#include <charconv>
#include <map>

#include "s_tir/instruction.h"
#include "s_tir/trace_lexer.h"
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
  double value = 0;
  if (const auto result = std::from_chars(begin, end, value);
      result.ec == std::errc() && result.ptr == end)
    return {value};
  syntax_error(token, "`" + text + "` is no number");
}

/// What both forms share: tokens, and the names that instructions have given.
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
  void expect(const char* sign) {
    if (!accept(sign))
      syntax_error(token(), "`" + std::string(sign) + "` is expected, not " + shown(token()));
  }
  Token expect(Token::Kind kind, const char* what) {
    if (token().kind != kind)
      syntax_error(token(), std::string(what) + " is expected, not " + shown(token()));
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

/// Positions given and kinds of outputs are right, flags are flags, and what may be absent has a
/// value.
void complete(Instruction& step, std::vector<bool>& is_given, const Token& at) {
  const InstructionInfo& info = info_of(step.kind);
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const Parameter& parameter = info.parameters[n];
    TraceValue& value = step.arguments[n];
    if (!is_given[n]) {
      // Flags were not always there.
      if (!parameter.is_new && !parameter.is_bool)
        syntax_error(at, std::string(info.name) + ": argument `" + std::string(parameter.name) +
                             "` is missing");
      value = parameter.is_new    ? absent_value(parameter)
              : parameter.is_bool ? TraceValue{parameter.name == "preserve_unit_iters"}
                                  : value;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value.value); integer && parameter.is_bool)
      value = TraceValue{*integer != 0};
  }
  const bool gives_one = info.gives != Gives::Nothing && !gives_list(info.gives);
  if (info.gives == Gives::Nothing ? !step.outputs.empty() : gives_one && step.outputs.size() != 1)
    syntax_error(at, std::string(info.name) + " gives " + (gives_one ? "one thing" : "nothing") +
                         ", and " + std::to_string(step.outputs.size()) + " are named");
}

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
  /// def apply_trace(sch: tir.Schedule) -> None:
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
    complete(step, is_given_, first);
    return step;
  }

  std::vector<Token> left_side() {
    std::vector<Token> names;
    // A line that gives nothing begins with the schedule itself.
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

  /// Loops one by one are one argument; other positions are those of the table.
  void positional_argument(Instruction& step, const InstructionInfo& info) {
    const Token at = token();
    TraceValue given = value();
    const bool takes_list =
        info.kind == InstructionKind::Fuse || info.kind == InstructionKind::Reorder;
    if (takes_list && !std::holds_alternative<TraceValue::List>(given.value)) {
      if (!is_given_[0]) step.arguments[0] = TraceValue{TraceValue::List{}};
      is_given_[0] = true;
      std::get<TraceValue::List>(step.arguments[0].value).push_back(std::move(given));
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

  /// lambda i, j: (j, i), up to the parenthesis that closes.
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
    TraceValue::List items;
    while (!accept(end)) {
      items.push_back(value());
      if (!is_sign(end)) expect(",");
    }
    return {std::move(items)};
  }

  std::vector<bool> is_given_;
};

class JsonReader : Reader {
 public:
  explicit JsonReader(std::string_view text) : Reader(text) {}

  Trace trace() {
    Trace result;
    begin();
    each([&] { result.steps.push_back(instruction()); });
    next();
    each([&] {
      begin();
      const Token at = expect(Token::Kind::Number, "the position of a step");
      const TraceValue number = number_value(at);
      const auto* position = std::get_if<std::int64_t>(&number.value);
      if (!position || *position < 0 || *position >= static_cast<std::int64_t>(result.steps.size()))
        syntax_error(at, "there is no step " + at.text);
      next();
      result.steps[static_cast<std::size_t>(*position)].decision = value(false);
      finish();
    });
    finish();
    if (token().kind != Token::Kind::End) syntax_error(token(), "the trace should end here");
    return result;
  }

 private:
  void begin() { skip_line_ends(), expect("["), skip_line_ends(); }
  void next() { skip_line_ends(), expect(","), skip_line_ends(); }
  void finish() { skip_line_ends(), expect("]"), skip_line_ends(); }
  template <class F>
  void each(F&& item) {
    begin();
    for (bool is_first = true; !is_sign("]"); is_first = false) {
      if (!is_first) next();
      item();
    }
    finish();
  }

  Instruction instruction() {
    const Token first = token();
    begin();
    const Token name = expect(Token::Kind::String, "the kind of a step");
    const InstructionInfo* info = find_json_instruction(name.text);
    if (info == nullptr) syntax_error(name, "no step is called `" + name.text + "`");
    Instruction step{info->kind, std::vector<TraceValue>(info->parameters.size()), {}, {}};
    std::vector<bool> is_given(info->parameters.size(), false);
    next();
    distribute(step, *info, Passed::Input, is_given);
    next();
    distribute(step, *info, Passed::Attribute, is_given);
    next();
    each([&] {
      step.outputs.push_back(
          define(expect(Token::Kind::String, "a name"), kind_given(info->gives)));
    });
    finish();
    complete(step, is_given, first);
    return step;
  }

  /// In the order of the parameters; a list among the inputs stands for itself, element by element.
  void distribute(Instruction& step, const InstructionInfo& info, Passed passed,
                  std::vector<bool>& is_given) {
    TraceValue::List items;
    const Token at = token();
    each([&] { items.push_back(value(passed == Passed::Input)); });
    auto item = items.begin();
    for (std::size_t n = 0; n < info.parameters.size(); ++n) {
      const Parameter& parameter = info.parameters[n];
      if (parameter.passed != passed) continue;
      const bool is_list = passed == Passed::Input &&
                           (parameter.name == "loops" || parameter.name == "ordered_loops" ||
                            parameter.name == "factors");
      if (is_list) {
        step.arguments[n] = TraceValue{TraceValue::List(item, items.end())};
        item = items.end();
        is_given[n] = true;
      } else if (item != items.end()) {
        step.arguments[n] = *item++;
        is_given[n] = true;
      }
    }
    if (item != items.end()) syntax_error(at, std::string(info.name) + " has no further argument");
  }

  TraceValue value(bool is_input) {
    skip_line_ends();
    if (is_sign("[")) {
      TraceValue::List items;
      each([&] { items.push_back(value(is_input)); });
      return {std::move(items)};
    }
    const Token item = take();
    if (item.kind == Token::Kind::Number) return number_value(item);
    if (item.kind == Token::Kind::Name && (item.text == "true" || item.text == "false"))
      return {item.text == "true"};
    if (item.kind == Token::Kind::Name && (item.text == "null" || item.text == "None")) return {};
    if (item.kind != Token::Kind::String)
      syntax_error(item, "a value is expected, not " + shown(item));
    if (item.text == "None") return {};
    if (!is_input) return {item.text};
    const std::string& text = item.text;
    // A text among the inputs has quotes of its own, and what they escape.
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      return {trace_tokens(text).front().text};
    return {used(item)};
  }
};

}  // namespace

Trace parse_trace(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '[') return JsonReader(text).trace();
  return TextReader(text).trace();
}

}  // namespace tenon::s_tir
