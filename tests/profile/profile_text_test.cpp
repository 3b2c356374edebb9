// Profiles as tables, as JSON and as traces.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tenon/driver/profile.h"

namespace tenon {
namespace {

using Json = nlohmann::json;

/// Made by hand, so that the expected texts are plain to see.
Profile sample() {
  Profile profile;
  profile.functions.push_back(
      {.name = "main", .calls = 2, .elapsed = 0.012, .other_seconds = 0.001});
  StageProfile C;
  C.function = "main";
  C.name = "C";
  C.line = "matmul.cpp:14";
  C.calls = 2;
  C.seconds = 0.009;
  C.share = 0.9;
  C.elapsed = 0.005;
  C.waiting = 0.0005;
  C.threads = {{0, 0.005, 3}, {1, 0.004, 4}};
  C.work = StageProfile::Work{
      .operations = 1e6, .bytes_read = 3e6, .bytes_written = 1e6, .recomputation = 1.25};
  StageProfile B;
  B.function = "main";
  B.name = "B";
  B.line = "matmul.cpp:12";
  B.counted_in = "C";
  profile.stages = {B, C};
  profile.peak_workspace = 4096;
  profile.compile_steps = {{"freeze", 0, 0.001}, {"simplify", 0.001, 0.002}};
  profile.events = {
      {"main", 0, false, 0, 0.006}, {"C", 0, false, 0.001, 0.005}, {"C", 1, true, 0.002, 0.004}};
  return profile;
}

TEST(ProfileText, TheTableHasALineForEachStageAndFunction) {
  std::ostringstream out;
  out << sample();
  EXPECT_EQ(
      out.str(),
      "stage  where          calls    ms   share  elapsed  waiting  Gop/s  GB/s  computed  ms on "
      "each thread\n"
      "B      matmul.cpp:12      -  in C       -        -        -      -     -         -\n"
      "C      matmul.cpp:14      2     9  90.0 %        5      0.5    0.4   1.6      1.25         "
      "       5+4\n"
      "main   beside stages      2     1  10.0 %       12        -      -     -         -\n"
      "temporaries: 4096 bytes at the peak, in addition to those on the stack\n");
}

TEST(ProfileText, JsonHasTheMembersOfTheStructs) {
  const Json json = Json::parse(sample().json());
  EXPECT_EQ(json["functions"][0]["calls"], 2);
  EXPECT_EQ(json["stages"][0]["counted_in"], "C");
  EXPECT_TRUE(json["stages"][0]["work"].is_null());
  EXPECT_TRUE(json["stages"][1]["counted_in"].is_null());
  EXPECT_EQ(json["stages"][1]["threads"][1],
            (Json{{"thread", 1}, {"seconds", 0.004}, {"runs", 4}}));
  EXPECT_EQ(json["stages"][1]["work"]["recomputation"], 1.25);
  EXPECT_EQ(json["peak_workspace"], 4096);
  EXPECT_EQ(json["compile_steps"][1],
            (Json{{"name", "simplify"}, {"begin", 0.001}, {"seconds", 0.002}}));
}

TEST(ProfileText, ANameOfAnyBytesStaysJson) {
  Profile profile = sample();
  profile.stages[0].name = "a\"\n\xff\\";
  EXPECT_EQ(Json::parse(profile.json())["stages"][0]["name"], "a\"\n\xef\xbf\xbd\\");
}

TEST(ProfileText, TheTraceHasATimeLineForTheCompilerAndForEveryThread) {
  const Json trace = Json::parse(sample().chrome_trace());
  std::set<std::pair<int, int>> lines;
  std::vector<Json> intervals;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    lines.insert({event["pid"].get<int>(), event["tid"].get<int>()});
    intervals.push_back(event);
  }
  EXPECT_EQ(lines, (std::set<std::pair<int, int>>{{1, 0}, {2, 0}, {2, 1}}));
  ASSERT_EQ(intervals.size(), 5u);
  // Microseconds.
  EXPECT_DOUBLE_EQ(intervals[1]["ts"], 1000);
  EXPECT_DOUBLE_EQ(intervals[1]["dur"], 2000);
  EXPECT_EQ(intervals[4]["cat"], "part");
}

TEST(ProfileText, ATraceOfARunNestsStagesInTheirFunction) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const runtime::Module module =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true});
  runtime::NDArray b = runtime::NDArray::empty({64}, Float(32), cpu(0));
  module["main"](runtime::NDArray::random({64}, Float(32)), b);
  const Profile profile = profile_of(module);
  ASSERT_EQ(profile.events.size(), 2u);
  const RunEvent& stage = profile.events[0];
  const RunEvent& function = profile.events[1];
  EXPECT_EQ(stage.name, "B");
  EXPECT_EQ(function.name, "main");
  EXPECT_GE(stage.begin, function.begin);
  EXPECT_LE(stage.begin + stage.seconds, function.begin + function.seconds + 1e-9);
}

TEST(ProfileText, TheCompilersStepsFollowEachOther) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const Profile profile =
      profile_of(build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true}));
  std::set<std::string> names;
  double end = 0;
  for (const CompileStep& step : profile.compile_steps) {
    names.insert(step.name);
    EXPECT_GE(step.begin, end - 1e-4) << step.name;
    end = step.begin + step.seconds;
  }
  for (const char* each : {"freeze", "simplify", "emit-llvm", "generate-code", "load"})
    EXPECT_TRUE(names.contains(each)) << each;
}

}  // namespace
}  // namespace tenon
