#include "tenon/tune/export.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "tenon/driver/target.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/trace_steps.h"
#include "tenon/support/match.h"
#include "tenon/tir/block.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"

namespace tenon::tune {

namespace {

using s_tir::Instruction;
using s_tir::InstructionKind;
using s_tir::RV;
using s_tir::TraceValue;

/// Writes the steps of a trace as C++ statements.
class Writer {
 public:
  std::string text;

  void step(const Instruction& step) {
    if (step.kind == InstructionKind::SamplePerfectTile ||
        step.kind == InstructionKind::SampleCategorical)
      return note_decision(step);
    const std::string call = std::string(s_tir::name_of(step.kind)) + arguments_of(step);
    text += "  " + (step.outputs.empty() ? "" : "const auto " + named(step) + " = ") + "sch." +
            call + ";\n";
  }

 private:
  /// Returns the name of the variable that holds the results of the step. Also names each result,
  /// for use in later steps.
  std::string named(const Instruction& step) {
    const RV first = step.outputs.front();
    const std::string name = (first.kind == RV::Kind::Block ? "b" : "l") + std::to_string(count_++);
    const bool is_list = s_tir::gives_list(step.kind);
    for (std::size_t n = 0; n < step.outputs.size(); ++n)
      names_[step.outputs[n].number] = is_list ? name + "[" + std::to_string(n) + "]" : name;
    return name;
  }

  std::string value(const TraceValue& own) const {
    return match(
        own.value, [](std::monostate) -> std::string { return "std::nullopt"; },
        [](bool flag) -> std::string { return flag ? "true" : "false"; },
        [](std::int64_t number) { return std::to_string(number); },
        [](double number) {
          char digits[32];
          std::snprintf(digits, sizeof digits, "%.17g", number);
          return std::string(digits);
        },
        [](const std::string& words) { return tir::quoted(words); },
        [&](const RV& rv) {
          const auto name = names_.find(rv.number);
          if (name != names_.end()) return name->second;
          throw ScheduleError("the trace uses a sample that has no decision");
        },
        [&](const TraceValue::List& list) {
          std::string items;
          for (const TraceValue& item : list) items += (items.empty() ? "" : ", ") + value(item);
          return "{" + items + "}";
        });
  }
  std::string argument(const Instruction& step, std::size_t n) const {
    return value(step.arguments[n]);
  }
  /// Returns the text of the first `count` arguments and of the options, in parentheses.
  std::string arguments(const Instruction& step, std::size_t count,
                        const std::vector<std::string>& options = {}) const {
    std::string items, fields;
    for (std::size_t n = 0; n < count; ++n) items += (n == 0 ? "" : ", ") + argument(step, n);
    for (const std::string& option : options) fields += (fields.empty() ? "" : ", ") + option;
    return "(" + items + (fields.empty() ? "" : ", {" + fields + "}") + ")";
  }
  bool is(const Instruction& step, std::size_t n, bool flag) const {
    const bool* own = std::get_if<bool>(&step.arguments[n].value);
    return own && *own == flag;
  }

  std::string compute_at(const Instruction& step) const {
    std::vector<std::string> options;
    if (is(step, 2, true)) options.emplace_back(".preserve_unit_loops = true");
    if (argument(step, 3) != "-1") options.push_back(".index = " + argument(step, 3));
    return arguments(step, 2, options);
  }
  std::string split(const Instruction& step) const {
    std::vector<std::string> options;
    if (is(step, 2, false)) options.emplace_back(".preserve_unit_iters = false");
    if (is(step, 3, true)) options.emplace_back(".disable_predication = true");
    return arguments(step, 2, options);
  }
  std::string annotate(const Instruction& step) const {
    // Writes the integer type explicitly, because an int could also be converted to bool.
    const bool is_number = std::holds_alternative<std::int64_t>(step.arguments[2].value) ||
                           std::holds_alternative<RV>(step.arguments[2].value);
    const bool is_text = std::holds_alternative<std::string>(step.arguments[2].value);
    const std::string own = argument(step, 2);
    return "(" + argument(step, 0) + ", " + argument(step, 1) + ", " +
           (is_number ? "std::int64_t{" + own + "}"
            : is_text ? "std::string(" + own + ")"
                      : own) +
           ")";
  }
  /// Records the decision of a sampling step. Later steps use the number instead of the step's
  /// result.
  void note_decision(const Instruction& step) {
    if (!step.decision) return;
    if (step.kind == InstructionKind::SampleCategorical) {
      const auto* index = std::get_if<std::int64_t>(&step.decision->value);
      const auto* candidates = std::get_if<TraceValue::List>(&step.arguments[0].value);
      const bool is_there =
          index && candidates && *index >= 0 && std::cmp_less(*index, candidates->size());
      if (!is_there) throw ScheduleError("sample_categorical: the decision is not a candidate");
      names_[step.outputs.front().number] = value((*candidates)[static_cast<std::size_t>(*index)]);
      return;
    }
    const auto* factors = std::get_if<TraceValue::List>(&step.decision->value);
    if (!factors || factors->size() != step.outputs.size())
      throw ScheduleError(
          "sample_perfect_tile: the decision has not one factor for each name that the step gives");
    for (std::size_t n = 0; n < factors->size(); ++n)
      names_[step.outputs[n].number] = value((*factors)[n]);
  }

  /// Returns the arguments in parentheses, with optional arguments as an options aggregate.
  std::string arguments_of(const Instruction& step) const {
    using Kind = InstructionKind;
    switch (step.kind) {
      case Kind::SampleComputeLocation:
        return "(" + argument(step, 0) +
               (step.decision ? ", {.decision = " + value(*step.decision) + "}" : "") + ")";
      case Kind::Fuse:
        return "(" + argument(step, 0) +
               (is(step, 1, false) ? ", {.preserve_unit_iters = false}" : "") + ")";
      case Kind::Split:
        return split(step);
      case Kind::ComputeAt:
      case Kind::ReverseComputeAt:
        return compute_at(step);
      case Kind::StorageAlign:
        return arguments(step, 1,
                         {".buffer_index = " + argument(step, 1), ".axis = " + argument(step, 2),
                          ".factor = " + argument(step, 3), ".offset = " + argument(step, 4)});
      case Kind::Blockize:
      case Kind::Tensorize:
        // The last argument, preserve_unit_iters, is not one of the C++ method.
        return arguments(step, step.arguments.size() - 1);
      case Kind::TransformLayout:
        return "(" + argument(step, 0) + ", " + argument(step, 1) + ", " + argument(step, 2) +
               ", s_tir::IndexMap::parse(" + argument(step, 3) + "))";
      case Kind::TransformBlockLayout:
        return "(" + argument(step, 0) + ", s_tir::IndexMap::parse(" + argument(step, 1) + "))";
      case Kind::Annotate:
        return annotate(step);
      default:
        return arguments(step, step.arguments.size());
    }
  }

  std::map<int, std::string> names_;
  int count_ = 0;
};

}  // namespace

std::string schedule_text(const s_tir::Trace& trace) {
  Writer writer;
  for (const Instruction& step : trace.simplified().steps) writer.step(step);
  return writer.text;
}

std::string program_text(const tir::IRModule& mod, const s_tir::Trace& trace,
                         const Target& target) {
  const auto& [name, func] = *mod.functions.begin();
  std::string arrays, call;
  const std::string device = first_device(target).str();
  for (const tir::BufferParam& array : func.buffers) {
    std::string shape;
    for (const tir::Expr& extent : array.declared->shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(tir::constant_int(extent).value_or(1));
    const std::string argument =
        "a" + std::to_string(arrays.empty() ? 0 : std::count(arrays.begin(), arrays.end(), '\n'));
    arrays += "  const auto " + argument + " = runtime::NDArray::random({" + shape +
              "}, DataType::parse(\"" + array.declared->dtype.str() + "\"), " + device + ");  // " +
              array.declared->name + "\n";
    call += (call.empty() ? "" : ", ") + argument;
  }
  return "// A schedule that a tuner found, for " + target.describe() + ".\n" +
         "#include <tenon/tenon.h>\n\n#include <iostream>\n\nusing namespace tenon;\n\n" +
         "const char* const kProgram = R\"script(\n" + s_tir::print_script(mod) + ")script\";\n\n" +
         "void schedule(s_tir::Schedule& sch) {\n" + schedule_text(trace) + "}\n\n" +
         "int main() {\n  s_tir::Schedule sch(s_tir::parse_script(kProgram));\n  schedule(sch);\n" +
         "  const runtime::Module mod = build(sch.mod(), Target(" + tir::quoted(target.str()) +
         "));\n" + arrays + "  mod[" + tir::quoted(name) + "](" + call + ");\n" +
         "  std::cout << mod[" + tir::quoted(name) + "].time_evaluator(" + device +
         ", {.min_repeat_ms = 100})(" + call + ").median << \" s\\n\";\n}\n";
}

}  // namespace tenon::tune
