// The tutorials of block programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "run_tutorial.h"
#include "tenon_test_paths.h"

namespace {

const std::string kBlocks = std::string(TENON_GOLDEN_DIR) + "/blocks/";

std::string normalized(const std::string& text) {
  std::istringstream in(text);
  std::string result, line;
  while (std::getline(in, line)) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty() && line != "<EOF>") result += line + "\n";
  }
  return result;
}

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string section(const std::string& text, const std::string& heading) {
  const std::string line = "===== " + heading + "\n";
  const std::size_t begin = text.find(line);
  if (begin == std::string::npos) return "no section " + heading;
  const std::size_t end = text.find("===== ", begin + line.size());
  return normalized(text.substr(begin + line.size(), end - begin - line.size()));
}

TEST(MmRelu, PrintsTheKnownScriptsAndComputesTheSame) {
  const Outcome run = run_tutorial("mm_relu", "");
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string known = contents(kBlocks + "seed000.txt");
  EXPECT_EQ(section(run.out, "original"), section(known, "original"));
  EXPECT_EQ(section(run.out, "split j"), section(known, "split j [None,4]"));
  EXPECT_EQ(section(run.out, "reorder"),
            section(known, "reorder(j0,k,j1) (missing from seed 000)"));
  EXPECT_EQ(section(run.out, "reverse_compute_at"), section(known, "reverse_compute_at(C, j0)"));
  EXPECT_EQ(section(run.out, "decompose_reduction"), section(known, "decompose_reduction(Y, k)"));
  EXPECT_EQ(section(run.out, "trace"), section(known, "trace (v0.9 repr)"));
}

TEST(StochasticMm, TriesFiveTilesAndShowsTheBest) {
  const Outcome run = run_tutorial("stochastic_mm", "");
  EXPECT_EQ(run.status, 0) << run.err;
  // The time of each attempt, and the inner part of its drawn decision.
  const std::regex attempt(
      R"(=====Attempt (\d), time-cost: (\d+\.\d{3}) ms====\n(?:.*\n){2}.*decision=\[\d+, (\d+)\])");
  int count = 0;
  double least = 1e9;
  std::set<std::string> fastest;
  for (std::sregex_iterator at(run.out.begin(), run.out.end(), attempt), end; at != end; ++at) {
    EXPECT_EQ((*at)[1].str(), std::to_string(count++));
    const double time = std::stod((*at)[2].str());
    if (time < least) fastest.clear();
    least = std::min(least, time);
    if (time == least) fastest.insert((*at)[3].str());
  }
  EXPECT_EQ(count, 5) << run.out;
  std::smatch shown;
  ASSERT_TRUE(std::regex_search(run.out, shown, std::regex(R"(vj = .*j_0 \* (\d+) \+)")))
      << run.out;
  EXPECT_TRUE(fastest.contains(shown[1].str())) << run.out;
  EXPECT_NE(run.out.find("with T.block(\"C_update\")"), std::string::npos) << run.out;
}

TEST(TuneMm, FindsSchedulesInBothSpaces) {
  const Outcome run = run_tutorial("tune_mm", "--trials=4");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("===== the default space"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("sch.enter_postproc()"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("Time cost of MyModule after tuning: "), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("Sending 4 sample(s) to runner"), std::string::npos) << run.err;
}

TEST(TuneTe, TunesAProgramThatHasNoSchedule) {
  const Outcome run = run_tutorial("tune_te", "--size=32 --trials=2");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("Time cost of MyModule after tuning: "), std::string::npos) << run.out;
}

TEST(TuneNetwork, ComputesTheSameInTunedPieces) {
  // Another size than the 16 of the last layer, which would be equal to the others.
  const std::string page = testing::TempDir() + "tune_network.html";
  std::filesystem::remove(page);
  const Outcome run = run_tutorial("tune_network", "--size=32 --trials=4 --page=" + page);
  EXPECT_EQ(run.status, 0) << run.err << run.out;
  EXPECT_NE(run.out.find("weight 2"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("and the same numbers"), std::string::npos) << run.out;
  EXPECT_TRUE(contents(page).starts_with("<!doctype html>"));
}

TEST(CreatePrimFunc, GivesTheProgramOfTheBuilder) {
  const Outcome run = run_tutorial("create_prim_func", "");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("both functions: structurally equal"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("mm_relu: right"), std::string::npos) << run.err;
  const std::string known = contents(kBlocks + "seed000.txt");
  EXPECT_EQ(section(run.out, "by the builder"), section(known, "original"));
  EXPECT_NE(run.out.find("i, j, k = T.axis.remap(\"SSR\", [i0, i1, i2])"), std::string::npos)
      << run.out;
}

TEST(ConvBlocks, GivesTheKnownScriptAndTheProgramOfTheBuilder) {
  const Outcome run = run_tutorial("conv_blocks", "");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("both functions: structurally equal"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("from tensor expressions: right"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("by the builder: right"), std::string::npos) << run.err;
  std::string known = section(contents(kBlocks + "fmt.txt"), "seed 004 conv via create_prim_func");
  // The text was made of a module that calls the function by another name.
  const std::size_t symbol = known.find("\"main\"");
  ASSERT_NE(symbol, std::string::npos);
  known.replace(symbol, 6, "\"tir_conv2d\"");
  EXPECT_EQ(section(run.out, "from tensor expressions"), known);
}

Outcome replay(const std::string& name, const std::string& options) {
  const std::string stem = kBlocks + "random/" + name;
  return run_tutorial("replay_trace", stem + ".in.txt " + stem + ".trace.txt " + options);
}

TEST(ReplayTrace, PrintsTheScriptAndNothingElse) {
  const Outcome run = replay("0003", "");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(normalized(run.out), normalized(contents(kBlocks + "random/0003.out.txt")));
  EXPECT_EQ(run.err, "");
}

TEST(ReplayTrace, ComparesWithTheProgramBefore) {
  const Outcome run = replay("0003", "--check");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.err.find("main: right"), std::string::npos) << run.err;
}

TEST(ReplayTrace, SaysWhyAStepIsRefused) {
  const Outcome run = replay("0143", "");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("cache_write: block `Pool` would write `Pool` too late"),
            std::string::npos)
      << run.err;
}

TEST(ReplayTrace, NeedsTwoFiles) { EXPECT_EQ(run_tutorial("replay_trace", "").status, 2); }

}  // namespace
