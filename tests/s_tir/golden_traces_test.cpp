// The reference's random traces on its random modules: the script after the trace, to the
// character; the results, which a schedule never changes; and what is refused.
#include <gtest/gtest.h>

#include <map>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/s_tir/trace_steps.h"
#include "tests/s_tir/golden_cases.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/written_call.h"

namespace tenon::s_tir {
namespace {

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
