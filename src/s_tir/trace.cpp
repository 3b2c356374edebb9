#include "tenon/s_tir/trace.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <set>

#include "s_tir/instruction.h"
#include "s_tir/trace_text.h"
#include "tenon/s_tir/index_map.h"

namespace tenon::s_tir {

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

std::string RVNames::define(RV rv) {
  const auto [entry, is_new] = numbers_.try_emplace(rv.number, static_cast<int>(numbers_.size()));
  return rv_name({rv.kind, entry->second});
}

std::string RVNames::use(RV rv) const {
  const auto entry = numbers_.find(rv.number);
  internal_check(entry != numbers_.end(), "a trace uses what none of its steps gives");
  return rv_name({rv.kind, entry->second});
}

std::string number_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  return buffer;
}

namespace {

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

/// Prints one value in Python syntax.
class ValueWriter {
 public:
  explicit ValueWriter(const RVNames& names) : names_(names) {}

  std::string operator()(const TraceValue& value) const { return std::visit(*this, value.value); }
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return trace_string(value); }
  std::string operator()(const RV& rv) const { return names_.use(rv); }
  std::string operator()(const TraceValue::List& list) const { return "[" + joined(list) + "]"; }

  std::string joined(const TraceValue::List& list) const {
    std::string result;
    for (const TraceValue& value : list) {
      if (!result.empty()) result += ", ";
      result += (*this)(value);
    }
    return result;
  }

 private:
  const RVNames& names_;
};

std::string call_text(const Instruction& step, const InstructionInfo& info, const RVNames& names,
                      TraceStyle style) {
  const ValueWriter write(names);
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
    // The 0.9.0 form lacks the newer arguments; they are omitted if they have their default.
    if (is_v09 && parameter.is_new && value == absent_value(parameter)) continue;
    const auto* list = std::get_if<TraceValue::List>(&value.value);
    if (const auto* map = std::get_if<std::string>(&value.value); map && parameter.is_index_map) {
      add(std::string(parameter.name) + "=" + IndexMap::parse(*map).text(!is_v09));
    } else if (parameter.positional && list) {
      add(write.joined(*list));
    } else if (parameter.positional) {
      add(write(value));
    } else {
      const bool has_later_name = !is_v09 && !parameter.later_name.empty();
      add(std::string(has_later_name ? parameter.later_name : parameter.name) + "=" + write(value));
    }
  }
  if (step.decision) add("decision=" + write(*step.decision));
  return text + ")";
}

std::string line_text(const Instruction& step, RVNames& names, TraceStyle style) {
  const InstructionInfo& info = info_of(step.kind);
  const std::string call = call_text(step, info, names, style);
  std::string left;
  for (const RV& rv : step.outputs) {
    if (!left.empty()) left += ", ";
    left += names.define(rv);
  }
  if (left.empty()) return call;
  const bool is_list_of_one = gives_list(info.gives) && step.outputs.size() == 1;
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
  RVNames names;
  for (const Instruction& step : steps) text += indent + line_text(step, names, style) + "\n";
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

}  // namespace tenon::s_tir
