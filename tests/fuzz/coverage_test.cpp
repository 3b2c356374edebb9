// The tables of coverage name all that there is, and the generator leaves no row of them empty.
#include "tests/fuzz/coverage.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tenon_test_paths.h"
#include "tests/fuzz/builder_case.h"
#include "tests/fuzz/random_case.h"
#include "tests/fuzz/random_nests.h"

namespace tenon::fuzz {
namespace {

/// The names of the methods that a header declares between the first line with one text and the
/// next with the other.
std::set<std::string> methods_between(const char* file, const char* begin, const char* end) {
  std::ifstream in(std::string(TENON_SOURCE_DIR "/include/tenon/te/") + file);
  EXPECT_TRUE(in.good()) << file;
  const std::regex method("^  [\\w:<>]+ (\\w+)\\(");
  std::set<std::string> names;
  std::smatch found;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find(begin) != line.npos) inside = true;
    if (inside && line.find(end) != line.npos) break;
    if (inside && std::regex_search(line, found, method)) names.insert(found[1]);
  }
  return names;
}

std::set<std::string> primitives_of_table() {
  std::set<std::string> names;
  for (const CoverageTable::Row& row : coverage_tables().front().rows) names.insert(row.what);
  return names;
}

TEST(CoverageTest, EveryPrimitiveOfStagesAndSchedulesHasARow) {
  const std::set<std::string> of_stages = methods_between("stage.h", "// ---- loops", " private:");
  const std::set<std::string> of_schedules =
      methods_between("schedule.h", "Stage operator[]", "std::vector<Stage> stages()");
  EXPECT_GT(of_stages.size(), 20u);
  EXPECT_EQ(of_schedules.count("rfactor"), 1u);
  std::set<std::string> declared = of_stages;
  declared.insert(of_schedules.begin(), of_schedules.end());
  declared.erase("bound");  // Bound inference alone shows which range holds.
  declared.insert("topi::schedule");
  EXPECT_EQ(primitives_of_table(), declared);
}

TEST(CoverageTest, WhatIsMetTwiceInACaseCountsOnce) {
  Notes notes;
  notes.primitive("split", "by a constant", StageKind::Reduction);
  notes.primitive("split", "by a constant", StageKind::Reduction);
  notes.operation("sum", Float(32));
  Coverage coverage;
  coverage.add(notes.all(), true);
  coverage.add(notes.all(), false);
  std::ostringstream text;
  text << coverage;
  EXPECT_NE(text.str().find(" 1/2"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("2/"), std::string::npos) << text.str();
  EXPECT_NE(coverage.json().find("\"what\": \"sum\""), std::string::npos);
}

TEST(CoverageTest, WhatNoTableHasIsAFault) {
  Notes notes;
  EXPECT_THROW(notes.primitive("split", "by magic", StageKind::Reduction), std::logic_error);
  EXPECT_THROW(notes.operation("sum", Float(32, 4)), std::logic_error);
}

std::string list_of(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

std::vector<Note> notes_of_nest(unsigned seed) {
  Random random(seed);
  Notes notes;
  Kept kept({});
  random_nest_program(random, notes, kept);
  return notes.all();
}

TEST(CoverageTest, RandomCasesLeaveNoRowEmpty) {
  constexpr unsigned kCases = 4800, kOnDevice = 300;
  Coverage coverage;
  for (unsigned seed = 0; seed < kCases + kOnDevice; ++seed) {
    static constexpr std::array kPrograms = {Programs::Small, Programs::Small,
                                             Programs::Overflowing, Programs::Special};
    const Case c = make_case(seed, {}, seed >= kCases, kPrograms[seed % kPrograms.size()]);
    for (const Attempt& attempt : c.attempts) coverage.add(attempt.notes, attempt.accepted);
    coverage.add(c.notes, true);
  }
  for (unsigned seed = 0; seed < kCases; ++seed) coverage.add(notes_of_nest(seed), true);
  for (unsigned seed = 0; seed < kCases; ++seed) coverage.add(make_builder_case(seed).notes, true);
  EXPECT_EQ(list_of(coverage.empty_rows()), "");
}

}  // namespace
}  // namespace tenon::fuzz
