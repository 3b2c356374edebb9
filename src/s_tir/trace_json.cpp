#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "s_tir/instruction.h"
#include "s_tir/trace_text.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/support/nesting.h"

namespace tenon::s_tir {

namespace {

using Json = nlohmann::json;

// ---- writing ------------------------------------------------------------------------------------

Json json_of(const TraceValue& value, const RVNames& names) {
  return match(
      value.value, [](std::monostate) { return Json("None"); },
      [](bool flag) { return Json(flag ? 1 : 0); },
      [](std::int64_t number) { return Json(number); }, [](double number) { return Json(number); },
      [](const std::string& text) { return Json(text); },
      [&](const RV& rv) { return Json(names.use(rv)); },
      [&](const TraceValue::List& list) {
        Json items = Json::array();
        for (const TraceValue& item : list) items.push_back(json_of(item, names));
        return items;
      });
}

/// Returns JSON with invalid UTF-8 replaced.
std::string plain(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns JSON formatted as by Python, with a space after each comma.
std::string text_of(const Json& value) {
  if (value.is_number_float() && std::isfinite(value.get<double>())) {
    const std::string text = number_text(value.get<double>());
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  if (!value.is_array()) return plain(value);
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : ", ") + text_of(item);
  return "[" + text + "]";
}

void add_argument(Json& inputs, Json& attributes, const Parameter& parameter,
                  const TraceValue& value, const RVNames& names) {
  if (parameter.passed == Passed::Attribute) {
    attributes.push_back(json_of(value, names));
  } else if (const auto* text = std::get_if<std::string>(&value.value)) {
    // Inputs are mostly names of variables, so a string input is quoted once more.
    inputs.push_back(plain(Json(*text)));
  } else if (const bool* flag = std::get_if<bool>(&value.value)) {
    // Options are numbers in JSON. Annotation values are inputs, whose bools keep their type.
    inputs.push_back(*flag);
  } else if (const auto* list = std::get_if<TraceValue::List>(&value.value)) {
    for (const TraceValue& item : *list) inputs.push_back(json_of(item, names));
  } else {
    inputs.push_back(json_of(value, names));
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
    for (const Json& entry : whole[1]) decision(entry);
    return std::move(result_);
  }

 private:
  Trace result_;
  std::map<std::string, RV> names_;
  int next_ = 0;
  /// The number of the current step, from 1.
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
    distribute(json[1], Passed::Input, step, is_given);
    distribute(json[2], Passed::Attribute, step, is_given);
    for (const Json& output : json[3]) {
      if (!output.is_string()) error("its results must be names");
      const RV rv{kind_given(info->gives), next_++};
      names_.insert_or_assign(output.get<std::string>(), rv);
      step.outputs.push_back(rv);
    }
    if (const auto wrong = complete(step, is_given)) error(*wrong);
    return step;
  }

  /// Assigns values to parameters in order. A list among the inputs is expanded.
  void distribute(const Json& list, Passed passed, Instruction& step, std::vector<bool>& is_given) {
    const InstructionInfo& info = info_of(step.kind);
    TraceValue::List items;
    for (const Json& item : list) items.push_back(value(item, passed == Passed::Input));
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
    if (text == "None") return {};
    return is_input ? input(text) : TraceValue{text};
  }

  /// Returns a name, or the string that the text quotes.
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
    result_.steps[static_cast<std::size_t>(position)].decision = value(json[1], false);
  }
};

}  // namespace

std::string Trace::json() const {
  RVNames names;
  Json instructions = Json::array(), decisions = Json::array();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Instruction& step = steps[at];
    const InstructionInfo& info = info_of(step.kind);
    Json inputs = Json::array(), attributes = Json::array(), outputs = Json::array();
    for (std::size_t n = 0; n < info.parameters.size(); ++n) {
      const Parameter& parameter = info.parameters[n];
      if (parameter.is_new && step.arguments[n] == absent_value(parameter)) continue;
      add_argument(inputs, attributes, parameter, step.arguments[n], names);
    }
    for (const RV& rv : step.outputs) outputs.push_back(names.define(rv));
    instructions.push_back(Json::array({std::string(info.json_name), inputs, attributes, outputs}));
    if (step.decision) decisions.push_back(Json::array({at, json_of(*step.decision, names)}));
  }
  return text_of(Json::array({instructions, decisions}));
}

Trace parse_json_trace(std::string_view text) {
  if (is_json_too_deep(text)) throw TypeError("trace: lists are nested too deep");
  Json whole;
  try {
    whole = Json::parse(text);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 3: ..."
    const std::string what = error.what();
    throw TypeError("trace: " + what.substr(std::min(what.find("] ") + 2, what.size())));
  }
  return JsonReader().trace(whole);
}

}  // namespace tenon::s_tir
