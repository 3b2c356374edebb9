#include "tenon/s_tir/trace.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <set>

#include "s_tir/instruction.h"
#include "tenon/s_tir/index_map.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/support/nesting.h"
#include "tenon/tir/token_stream.h"

namespace tenon::s_tir {

// ---- text ---------------------------------------------------------------------------------------

TraceValue::TraceValue() = default;
TraceValue::TraceValue(Variant v) : value(std::move(v)) {}
TraceValue::TraceValue(const TraceValue& other) = default;
TraceValue::TraceValue(TraceValue&& other) noexcept = default;
TraceValue& TraceValue::operator=(const TraceValue& other) = default;
TraceValue& TraceValue::operator=(TraceValue&& other) noexcept = default;
TraceValue::~TraceValue() = default;
bool operator==(const TraceValue& a, const TraceValue& b) { return a.value == b.value; }

Trace::Trace() = default;
Trace::Trace(const Trace& other) = default;
Trace::Trace(Trace&& other) noexcept = default;
Trace& Trace::operator=(const Trace& other) = default;
Trace& Trace::operator=(Trace&& other) noexcept = default;
Trace::~Trace() = default;
bool operator==(const Trace& a, const Trace& b) { return a.steps == b.steps; }

std::string rv_name(RV rv) {
  return "blv"[static_cast<std::size_t>(rv.kind)] + std::to_string(rv.number);
}

namespace {

/// The numbers of random variables in text, in the order of their definitions: b0, l1, v2.
using RVNumbers = std::map<int, int>;

std::string define(RV rv, RVNumbers& numbers) {
  const auto [entry, is_new] = numbers.try_emplace(rv.number, static_cast<int>(numbers.size()));
  return rv_name({rv.kind, entry->second});
}
/// Throws InternalError for a variable that no earlier step has defined.
std::string name_of(RV rv, const RVNumbers& numbers) {
  const auto entry = numbers.find(rv.number);
  internal_check(entry != numbers.end(), "a trace uses what none of its steps gives");
  return rv_name({rv.kind, entry->second});
}

/// Maximum nesting of lists in a parsed value. Valid arguments have at most two levels.
constexpr int kMaxNestedLists = 16;

/// Returns text that reproduces the finite double exactly. It always has a fraction or an exponent,
/// because a number without them is an integer.
std::string number_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  const std::string text = buffer;
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string trace_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string value_text(const TraceValue& value, const RVNumbers& numbers);

std::string list_text(const TraceValue::List& list, const RVNumbers& numbers) {
  std::string result;
  for (const TraceValue& value : list)
    result += (result.empty() ? "" : ", ") + value_text(value, numbers);
  return result;
}

/// Returns the value in Python syntax.
std::string value_text(const TraceValue& value, const RVNumbers& numbers) {
  return match(
      value.value, [](std::monostate) { return std::string("None"); },
      [](bool flag) { return std::string(flag ? "True" : "False"); },
      [](std::int64_t number) { return std::to_string(number); },
      [](double number) { return number_text(number); },
      [](const std::string& text) { return trace_string(text); },
      [&](const RV& rv) { return name_of(rv, numbers); },
      [&](const TraceValue::List& list) { return "[" + list_text(list, numbers) + "]"; });
}

std::string call_text(const Instruction& step, const InstructionInfo& info,
                      const RVNumbers& numbers, TraceStyle style) {
  std::string text = "sch." + std::string(info.name) + "(";
  const char* separator = "";
  const auto add = [&](const std::string& argument) {
    text += separator + argument;
    separator = ", ";
  };
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const Parameter& parameter = info.parameters[n];
    const TraceValue& value = step.arguments[n];
    const bool is_v09 = style == TraceStyle::V09;
    // TVM 0.9 text omits arguments that were added later, if they have their default.
    if (is_v09 && value == absent_value(parameter)) continue;
    const auto* list = std::get_if<TraceValue::List>(&value.value);
    if (const auto* map = std::get_if<std::string>(&value.value); map && parameter.is_index_map) {
      add(std::string(parameter.name) + "=" + IndexMap::parse(*map).text(!is_v09));
    } else if (parameter.positional && list) {
      add(list_text(*list, numbers));
    } else if (parameter.positional) {
      add(value_text(value, numbers));
    } else {
      const bool has_later_name = !is_v09 && !parameter.later_name.empty();
      add(std::string(has_later_name ? parameter.later_name : parameter.name) + "=" +
          value_text(value, numbers));
    }
  }
  if (step.decision) add("decision=" + value_text(*step.decision, numbers));
  return text + ")";
}

std::string line_text(const Instruction& step, RVNumbers& numbers, TraceStyle style) {
  const InstructionInfo& info = info_of(step.kind);
  const std::string call = call_text(step, info, numbers, style);
  std::string left;
  for (const RV& rv : step.outputs) left += (left.empty() ? "" : ", ") + define(rv, numbers);
  if (left.empty()) return call;
  const bool is_list_of_one = gives_list(step.kind) && step.outputs.size() == 1;
  return left + (is_list_of_one ? ", = " : " = ") + call;
}

template <class F>
void for_each_use(const TraceValue& value, F&& f) {
  if (const RV* rv = std::get_if<RV>(&value.value)) f(*rv);
  if (const auto* list = std::get_if<TraceValue::List>(&value.value))
    for (const TraceValue& element : *list) for_each_use(element, f);
}

}  // namespace

std::string Trace::text(TraceStyle style) const {
  std::string text;
  if (style == TraceStyle::V17)
    text = "# from tvm import tir\ndef apply_trace(sch: tir.Schedule) -> None:\n";
  const std::string indent = style == TraceStyle::V17 ? "  " : "";
  if (steps.empty()) return text + (style == TraceStyle::V17 ? "  pass" : "");
  RVNumbers numbers;
  for (const Instruction& step : steps) text += indent + line_text(step, numbers, style) + "\n";
  text.pop_back();
  return text;
}

Trace Trace::simplified(bool remove_postproc) const {
  auto end = steps.end();
  if (remove_postproc)
    end = std::ranges::find_if(
        steps, [](const Instruction& step) { return step.kind == InstructionKind::EnterPostproc; });
  std::set<int> used;
  Trace result;
  for (auto step = std::make_reverse_iterator(end); step != steps.rend(); ++step) {
    const bool is_used =
        std::ranges::any_of(step->outputs, [&](const RV& rv) { return used.contains(rv.number); });
    if (info_of(step->kind).is_pure && !is_used) continue;
    for (const TraceValue& argument : step->arguments)
      for_each_use(argument, [&](const RV& rv) { used.insert(rv.number); });
    result.steps.push_back(*step);
  }
  std::ranges::reverse(result.steps);
  return result;
}

std::ostream& operator<<(std::ostream& out, const Trace& trace) { return out << trace.text(); }

// ---- parsing ------------------------------------------------------------------------------------

namespace {

using tir::described, tir::syntax_error, tir::Token;

/// Parses a number. `sign` is the sign that precedes the token.
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
    // Parses the header `def apply_trace(sch: tir.Schedule) -> None:`.
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
  /// The variables that earlier instructions have defined, by name.
  std::map<std::string, RV> names_;
  int next_ = 0;
  std::vector<bool> is_given_;
  /// Nesting depth of the list that is being parsed.
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
    // A line that assigns no results begins with `sch.`.
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

  /// Parses a positional argument. Consecutive loops form one list argument of `fuse` or `reorder`.
  /// Any other argument belongs to the parameter at the same position in the table.
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

  /// Parses an index map, `lambda i, j: (j, i)`, up to the closing parenthesis.
  TraceValue index_map(const Token& keyword) {
    std::string text = "lambda ";
    bool is_body = false;
    for (int depth = 0; !is_body || depth > 0;) {
      if (in_.is(Token::Kind::Newline) || in_.is(Token::Kind::End))
        syntax_error(in_.peek(), "the index map has no end");
      is_body = is_body || in_.is_sign("(");
      depth += in_.is_sign("(") ? 1 : in_.is_sign(")") ? -1 : 0;
      const Token& token = in_.take();
      text += (token.kind == Token::Kind::String ? described(token) : token.text) + " ";
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

// ---- JSON ---------------------------------------------------------------------------------------

namespace {

using Json = nlohmann::json;

// ---- writing ------------------------------------------------------------------------------------

Json json_of(const TraceValue& value, const RVNumbers& numbers) {
  return match(
      value.value, [](std::monostate) { return Json("None"); },
      [](bool flag) { return Json(flag ? 1 : 0); },
      [](std::int64_t number) { return Json(number); }, [](double number) { return Json(number); },
      [](const std::string& text) { return Json(text); },
      [&](const RV& rv) { return Json(name_of(rv, numbers)); },
      [&](const TraceValue::List& list) {
        Json items = Json::array();
        for (const TraceValue& item : list) items.push_back(json_of(item, numbers));
        return items;
      });
}

/// Returns the text of a JSON value, with invalid UTF-8 replaced.
std::string plain(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns JSON text formatted as by Python, with a space after each comma.
std::string text_of(const Json& value) {
  if (value.is_number_float() && std::isfinite(value.get<double>()))
    return number_text(value.get<double>());
  if (!value.is_array()) return plain(value);
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + text_of(item);
  return "[" + text + "]";
}

void add_argument(Json& inputs, Json& attributes, const Parameter& parameter,
                  const TraceValue& value, const RVNumbers& numbers) {
  if (parameter.is_attribute) {
    attributes.push_back(json_of(value, numbers));
  } else if (const auto* text = std::get_if<std::string>(&value.value)) {
    // An unquoted input is the name of a variable, so a string gets an additional pair of quotes.
    inputs.push_back(plain(Json(*text)));
  } else if (const bool* flag = std::get_if<bool>(&value.value)) {
    // Flags of instructions are numbers in JSON. Values of annotations are inputs, in which bools
    // keep their type.
    inputs.push_back(*flag);
  } else if (const auto* list = std::get_if<TraceValue::List>(&value.value)) {
    for (const TraceValue& item : *list) inputs.push_back(json_of(item, numbers));
  } else {
    inputs.push_back(json_of(value, numbers));
  }
}

// ---- reading ------------------------------------------------------------------------------------

class JsonReader {
 public:
  Trace trace(const Json& whole) {
    if (!whole.is_array() || whole.size() != 2 || !whole[0].is_array() || !whole[1].is_array())
      error("a list of two lists is expected, the steps and the decisions");
    for (const Json& step : whole[0]) {
      ++step_;
      result_.steps.push_back(instruction(step));
    }
    step_ = 0;
    names_.clear();  // a decision consists of numbers
    for (const Json& entry : whole[1]) decision(entry);
    return std::move(result_);
  }

 private:
  Trace result_;
  std::map<std::string, RV> names_;
  int next_ = 0;
  /// The number of the current step, counted from 1.
  int step_ = 0;

  [[noreturn]] void error(const std::string& what) const {
    throw TypeError((step_ > 0 ? "trace, step " + std::to_string(step_) : "trace") + ": " + what);
  }

  Instruction instruction(const Json& json) {
    const bool is_step = json.is_array() && json.size() == 4 && json[0].is_string() &&
                         json[1].is_array() && json[2].is_array() && json[3].is_array();
    if (!is_step) error("its kind and lists of inputs, attributes and outputs are expected");
    const std::string name = json[0].get<std::string>();
    const InstructionInfo* info = find_json_instruction(name);
    if (!info) error("no step is called `" + name + "`");
    Instruction step{info->kind, std::vector<TraceValue>(info->parameters.size()), {}, {}};
    std::vector<bool> is_given(info->parameters.size(), false);
    distribute(json[1], /*are_attributes=*/false, step, is_given);
    distribute(json[2], /*are_attributes=*/true, step, is_given);
    for (const Json& output : json[3]) {
      if (!output.is_string()) error("its results must be names");
      const RV rv{kind_given(info->gives), next_++};
      names_.insert_or_assign(output.get<std::string>(), rv);
      step.outputs.push_back(rv);
    }
    if (const auto wrong = complete(step, is_given)) error(*wrong);
    return step;
  }

  /// Assigns the values of a JSON list to the parameters in order: to the attributes or to the
  /// inputs. A list argument is stored as separate inputs.
  void distribute(const Json& list, bool are_attributes, Instruction& step,
                  std::vector<bool>& is_given) {
    const InstructionInfo& info = info_of(step.kind);
    TraceValue::List items;
    for (const Json& item : list) items.push_back(value(item, !are_attributes));
    auto item = items.begin();
    for (std::size_t n = 0; n < info.parameters.size(); ++n) {
      const Parameter& parameter = info.parameters[n];
      if (parameter.is_attribute != are_attributes) continue;
      const bool is_list =
          !are_attributes && (parameter.name == "loops" || parameter.name == "ordered_loops" ||
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
    if (item != items.end()) error(std::string(info.name) + " has no further argument");
  }

  TraceValue value(const Json& json, bool is_input, int depth = 0) const {
    if (json.is_array()) {
      if (depth == kMaxNestedLists) error("lists are nested too deep");
      TraceValue::List items;
      for (const Json& item : json) items.push_back(value(item, is_input, depth + 1));
      return {std::move(items)};
    }
    if (json.is_null()) return {};
    if (json.is_boolean()) return {json.get<bool>()};
    if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>()))
      error(json.dump() + " is not an integer of 64 bits");
    if (json.is_number_integer()) return {json.get<std::int64_t>()};
    if (json.is_number_float()) return {json.get<double>()};
    if (!json.is_string()) error("a value is expected, not " + plain(json));
    const std::string text = json.get<std::string>();
    // Only input strings have an additional pair of quotes, and only inputs may be None.
    if (!is_input) return {text};
    return text == "None" ? TraceValue{} : input(text);
  }

  /// Returns the variable of this name or, if the text is quoted, the string.
  TraceValue input(const std::string& text) const {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      const Json own = Json::parse(text, nullptr, false);
      return {own.is_string() ? own.get<std::string>() : text.substr(1, text.size() - 2)};
    }
    const auto name = names_.find(text);
    if (name == names_.end()) error("no step before gives `" + text + "`");
    return {name->second};
  }

  void decision(const Json& json) {
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_integer())
      error("a decision must be the position of a step and the sampled value");
    const auto position = json[0].get<std::int64_t>();
    if (position < 0 || position >= static_cast<std::int64_t>(result_.steps.size()))
      error("a decision is for step " + std::to_string(position) + ", which does not exist");
    Instruction& step = result_.steps[static_cast<std::size_t>(position)];
    if (!info_of(step.kind).has_decision)
      error("a decision is for step " + std::to_string(position) + ", which makes none");
    step.decision = value(json[1], true);
  }
};

/// Parses a trace in JSON, as Trace::json writes it. Throws TypeError for any other text. The
/// message has the line and column if the JSON is invalid, otherwise the number of the step.
Trace parse_json_trace(std::string_view text) {
  if (is_json_too_deep(text)) throw TypeError("trace: lists are nested too deep");
  Json whole;
  try {
    whole = Json::parse(text);
  } catch (const Json::exception& error) {
    // The message has the form "[json.exception.parse_error.101] parse error at line 1, column 3:
    // ...".
    const std::string what = error.what();
    throw TypeError("trace: " + what.substr(std::min(what.find("] ") + 2, what.size())));
  }
  return JsonReader().trace(whole);
}

}  // namespace

std::string Trace::json() const {
  RVNumbers numbers;
  Json instructions = Json::array(), decisions = Json::array();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Instruction& step = steps[at];
    const InstructionInfo& info = info_of(step.kind);
    Json inputs = Json::array(), attributes = Json::array(), outputs = Json::array();
    for (std::size_t n = 0; n < info.parameters.size(); ++n) {
      const Parameter& parameter = info.parameters[n];
      if (step.arguments[n] == absent_value(parameter)) continue;
      add_argument(inputs, attributes, parameter, step.arguments[n], numbers);
    }
    for (const RV& rv : step.outputs) outputs.push_back(define(rv, numbers));
    instructions.push_back(Json::array({std::string(info.json_name), inputs, attributes, outputs}));
    if (step.decision) decisions.push_back(Json::array({at, json_of(*step.decision, numbers)}));
  }
  return text_of(Json::array({instructions, decisions}));
}

Trace parse_trace(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '[') return parse_json_trace(text);
  return TextReader(text).trace();
}

}  // namespace tenon::s_tir
