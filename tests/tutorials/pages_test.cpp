// Pages, drawings and profiles of tutorials, as a user asks for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run_tutorial.h"

namespace {

/// The programs that print a page by themselves. replay_trace needs files, and the programs that
/// tune write a page at the end of a search.
std::vector<std::string> programs_with_pages() {
  const std::vector<std::string> others = {"replay_trace", "tune_mm", "tune_te", "tune_network"};
  std::vector<std::string> names;
  for (const char* folder : {"tutorials", "tests/seed_programs"})
    for (const std::string& name : programs_in(folder))
      if (std::ranges::find(others, name) == others.end()) names.push_back(name);
  return names;
}

class Page : public testing::TestWithParam<std::string> {};

TEST_P(Page, IsWholeAndUnderAMegabyte) {
  const Outcome run = run_tutorial(GetParam(), "--emit=html");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("<!doctype html>"));
  EXPECT_TRUE(run.out.ends_with("</html>\n"));
  EXPECT_LT(run.out.size(), 1'000'000u);
  // Nothing of it is elsewhere.
  EXPECT_EQ(run.out.find(" src="), std::string::npos);
  EXPECT_EQ(run.out.find("http://"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Tutorials, Page, testing::ValuesIn(programs_with_pages()),
                         [](const auto& info) { return info.param; });

TEST(Page, WithAProfileHasTimes) {
  const Outcome run = run_tutorial("10_reorder", "--emit=html --profile --size=64");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("\"share\":0."), std::string::npos);
}

TEST(Page, OfBlockProgramsWithAProfileHasTimes) {
  const Outcome run = run_tutorial("mm_relu", "--emit=html --profile");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("\"share\":0."), std::string::npos);
}

TEST(Drawing, IsOnePictureWhereGraphvizIs) {
  const Outcome run = run_tutorial("matmul_ladder", "--emit=svg --size=64");
  if (run.err.find("not installed") != std::string::npos) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("<svg "), std::string::npos);
  EXPECT_EQ(run.out.find("<svg "), run.out.rfind("<svg "));
  EXPECT_EQ(run.out.find("<?xml"), 0u);
}

TEST(ProfileOption, IsATableUnlessSaid) {
  const Outcome run = run_tutorial("09_split", "--profile --size=1000");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("profile before:\n")) << run.out;
  EXPECT_NE(run.out.find("profile after:\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("share"), std::string::npos) << run.out;
}

TEST(ProfileOption, JsonHasAProfileForEachSchedule) {
  const Outcome run = run_tutorial("09_split", "--profile=json --size=1000");
  const nlohmann::json profiles = nlohmann::json::parse(run.out, nullptr, false);
  ASSERT_TRUE(profiles.is_object()) << run.out;
  for (const char* name : {"before", "after"})
    EXPECT_FALSE(profiles.at(name).at("stages").empty()) << name;
}

TEST(ProfileOption, ATraceHasTheEventsOfAllSchedules) {
  const Outcome run = run_tutorial("09_split", "--profile=trace --size=1000");
  const nlohmann::json trace = nlohmann::json::parse(run.out, nullptr, false);
  ASSERT_TRUE(trace.is_object()) << run.out;
  for (const std::string name : {"before: ", "after: "})
    EXPECT_TRUE(std::ranges::any_of(trace.at("traceEvents"), [&](const nlohmann::json& event) {
      return event.at("name").get<std::string>().starts_with(name);
    })) << name;
}

TEST(ProfileOption, WhatCannotRunIsSaidSo) {
  const Outcome run = run_tutorial("15_parallel", "--profile");
  EXPECT_NE(run.err.find("not measured, because build refuses it"), std::string::npos) << run.err;
}

TEST(ProfileOption, OtherFormsAreRefusedWithTheKnownOnes) {
  const Outcome run = run_tutorial("09_split", "--profile=xml");
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("Known: table, json, trace"), std::string::npos) << run.err;
}

}  // namespace
