// The reference's random traces on its random modules: the script after the trace, to the
// character; the results, which a schedule never changes; and what is refused.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/trace_steps.h"
#include "tests/s_tir/golden_cases.h"
#include "tests/s_tir/interpreted.h"

namespace tenon::s_tir {
namespace {

// ---- calls of the records -----------------------------------------------------------------------

// Calls of primitives as the records of refusals write them.

/// The parts of a list, at the commas that are in no brackets.
std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> result;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0) {
      result.push_back(part);
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) result.push_back(part);
  return result;
}

class WrittenCall {
 public:
  WrittenCall(Schedule& sch, const std::string& text) : sch_(sch) {
    const std::size_t open = text.find('(');
    name_ = text.substr(0, open);
    arguments_ = parts(text.substr(open + 1, text.rfind(')') - open - 1));
  }

  void run() {
    const std::map<std::string, std::function<void()>> calls = {
        {"compute_at", [&] { sch_.compute_at(block(0), loop(1), places()); }},
        {"reverse_compute_at", [&] { sch_.reverse_compute_at(block(0), loop(1), places()); }},
        {"compute_inline", [&] { sch_.compute_inline(block(0)); }},
        {"reverse_compute_inline", [&] { sch_.reverse_compute_inline(block(0)); }},
        {"decompose_reduction", [&] { sch_.decompose_reduction(block(0), loop(1)); }},
        {"rfactor", [&] { sch_.rfactor(loop(0), number(1)); }},
        {"parallel", [&] { sch_.parallel(loop(0)); }},
        {"vectorize", [&] { sch_.vectorize(loop(0)); }},
        {"bind", [&] { sch_.bind(loop(0), arguments_[1]); }},
        {"blockize", [&] { sch_.blockize(loop(0)); }},
        {"fuse", [&] { sch_.fuse(loops()); }},
        {"reorder", [&] { sch_.reorder(loops()); }},
        {"split", [&] { sch_.split(loop(0), factors()); }},
        {"unannotate", [&] { sch_.unannotate(target(), arguments_[1]); }},
        {"cache_read", [&] { sch_.cache_read(block(0), number(1), arguments_[2]); }},
        {"cache_write", [&] { sch_.cache_write(block(0), number(1), arguments_[2]); }},
        {"set_scope", [&] { sch_.set_scope(block(0), number(1), arguments_[2]); }},
        {"storage_align",
         [&] {
           sch_.storage_align(block(0), {.buffer_index = number(1),
                                         .axis = number(2),
                                         .factor = number(3),
                                         .offset = number(4)});
         }},
    };
    calls.at(name_)();
  }

 private:
  int number(std::size_t n) const { return std::stoi(arguments_[n]); }
  BlockRV block(std::size_t n) { return sch_.get_block(arguments_[n]); }
  LoopRV loop(std::size_t n) {
    const std::string& text = arguments_[n];
    const std::size_t mark = text.find('#');
    return sch_.get_loops(sch_.get_block(text.substr(0, mark)))[std::stoul(text.substr(mark + 1))];
  }
  std::vector<LoopRV> loops() {
    std::vector<LoopRV> result;
    for (std::size_t n = 0; n < arguments_.size(); ++n) result.push_back(loop(n));
    return result;
  }
  BlockOrLoop target() {
    if (arguments_[0].find('#') != std::string::npos) return loop(0);
    return block(0);
  }
  ComputeAtOptions places() const {
    return {.preserve_unit_loops = arguments_[2].ends_with("True")};
  }
  /// A sampled factor is recorded without its value: any will do.
  Factors factors() const {
    std::vector<Factor> result;
    for (const std::string& text : parts(arguments_[1].substr(1, arguments_[1].size() - 2))) {
      if (text == "None")
        result.emplace_back(std::nullopt);
      else
        result.emplace_back(text.front() == 'v' ? 4 : std::stoi(text));
    }
    return result;
  }

  Schedule& sch_;
  std::string name_;
  std::vector<std::string> arguments_;
};

/// Calls "compute_at(X, Y#1, preserve_unit_loops=True)", where Y#1 is loop 1 around block Y. The
/// sentence if it is refused.
std::optional<std::string> refusal_of(Schedule& sch, const std::string& call) {
  try {
    WrittenCall(sch, call).run();
  } catch (const Error& error) {
    return error.sentence();
  }
  return std::nullopt;
}

const char* const kOutOfBounds = "the reference's copy runs past the end of the buffer";
const char* const kLosesInit =
    "the reference writes the updates to a copy whose init went to the buffer itself: garbage";

/// Cases in which the reference is wrong, and ours differs.
const std::map<std::string, std::string> kOtherScripts = {
    {"0081", kOutOfBounds},
    {"0165", "the reference's init has a condition on loops that are not around it"},
    {"0206", "the reference loses the condition of an imperfect split in blockize"},
};
/// Steps that ours refuses, because the reference goes wrong there.
const std::map<std::string, std::string> kRefusedTraces = {
    {"0143", kLosesInit},
    {"0259", kLosesInit},
};
/// Programs for threads that cannot be run: memory of one thread that others read.
const std::map<std::string, std::string> kOtherResults = {
    {"0021", "local memory is written in one launch and read in another"},
    {"0058", "local memory is written in one launch and read in another"},
    {"0062", "local memory is written by the host and read by threads"},
    {"0246", "local memory is written in one launch and read by the host"},
};

/// Cases have their modules in common.
const tir::IRModule& module_of(const GoldenCase& known) {
  static std::map<std::string, tir::IRModule> modules;
  const auto [entry, is_new] = modules.try_emplace(known.module);
  if (is_new) entry->second = parse_script(known.module);
  return entry->second;
}

TEST(GoldenTraces, PrintAndParse) {
  for (const GoldenCase& known : golden_cases()) {
    const Trace trace = parse_trace(known.trace);
    EXPECT_EQ(normalized(trace.text()), normalized(known.trace)) << known.name;
    EXPECT_EQ(parse_trace(trace.json()), trace) << known.name;
    EXPECT_EQ(parse_trace(trace.text(TraceStyle::V17)), trace) << known.name;
  }
}

TEST(GoldenTraces, GiveTheKnownScripts) {
  ASSERT_EQ(golden_cases().size(), 293u);
  for (const GoldenCase& known : golden_cases()) {
    if (kRefusedTraces.contains(known.name)) continue;
    Schedule sch(module_of(known));
    sch.apply_trace(parse_trace(known.trace));
    EXPECT_EQ(normalized(sch.trace().text()), normalized(known.trace)) << known.name;
    const std::string script = normalized(print_script(sch.mod()));
    if (kOtherScripts.contains(known.name))
      EXPECT_NE(script, normalized(known.script)) << known.name;
    else
      EXPECT_EQ(script, normalized(known.script)) << known.name;
  }
}

TEST(GoldenTraces, ThatTheReferenceGetsWrongAreRefused) {
  for (const GoldenCase& known : golden_cases()) {
    if (!kRefusedTraces.contains(known.name)) continue;
    Schedule sch(module_of(known));
    EXPECT_THROW(sch.apply_trace(parse_trace(known.trace)), ScheduleError) << known.name;
    EXPECT_TRUE(sch.trace().steps.empty()) << known.name;
  }
}

TEST(GoldenTraces, ChangeNoResults) {
  for (const GoldenCase& known : golden_cases()) {
    if (kRefusedTraces.contains(known.name) || kOtherResults.contains(known.name)) continue;
    const tir::IRModule& before = module_of(known);
    Schedule sch(before);
    sch.apply_trace(parse_trace(known.trace));
    for (const auto& [name, func] : before.functions)
      EXPECT_EQ(first_other_result(func, sch.mod().functions.at(name)), "") << known.name;
  }
}

/// Faults of the reference, and steps that it refuses without need: they work.
bool is_needless(const RefusedCall& refused) {
  const auto says = [&](const char* words) {
    return refused.message.find(words) != std::string::npos;
  };
  const bool is_parallel_after_decompose =
      refused.call.starts_with("parallel(C_") && says("compact dataflow");
  return says("Wrong affine_binding") || says("stmt2ref") || is_parallel_after_decompose;
}

TEST(GoldenTraces, WhatWasRefusedIsRefused) {
  int refusals = 0, needless = 0;
  for (const GoldenCase& known : golden_cases()) {
    const tir::IRModule& module = module_of(known);
    for (const RefusedCall& refused : refused_calls(known.refused)) {
      Schedule sch(module);
      sch.apply_trace(parse_trace(refused.trace));
      const std::string script = print_script(sch.mod());
      const std::optional<std::string> sentence = refusal_of(sch, refused.call);
      if (is_needless(refused)) {
        ++needless;
        if (sentence) continue;
        for (const auto& [name, func] : module.functions)
          EXPECT_EQ(first_other_result(func, sch.mod().functions.at(name)), "")
              << known.name << " " << refused.call;
        continue;
      }
      ++refusals;
      EXPECT_TRUE(sentence.has_value()) << known.name << " " << refused.call << refused.message;
      // The primitive, and the block, loop or buffer by its name.
      const std::string primitive = refused.call.substr(0, refused.call.find('('));
      EXPECT_TRUE(sentence && sentence->starts_with(primitive + ": ") &&
                  sentence->find('`') != std::string::npos)
          << known.name << " " << refused.call << " " << sentence.value_or("");
      EXPECT_EQ(print_script(sch.mod()), script) << known.name << " " << refused.call;
    }
  }
  EXPECT_GT(refusals, 400);
  EXPECT_GT(needless, 5);
}

}  // namespace
}  // namespace tenon::s_tir
