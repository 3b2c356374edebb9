// The database: records that come back, damaged files, and the page about them.
#include "tenon/tune/database.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tenon/s_tir/script.h"
#include "tenon/tune/export.h"
#include "tenon/tune/report.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

// ---- files --------------------------------------------------------------------------------------

// The database: what comes back, and what damages to its files do.

const Target kOneCore("llvm -num-cores=1");

class Files : public ::testing::Test {
 protected:
  Files() { std::filesystem::remove_all(folder); }
  ~Files() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tune_test_" + std::to_string(getpid()));
  std::filesystem::path records = folder / "database_tuning_record.json";
};

/// The product's loop j split so, at a speed.
Record record(std::int64_t factor, double seconds, const Target& target = kOneCore) {
  s_tir::Schedule sch(product());
  sch.split(sch.get_loops(sch.get_block("C"))[1], {std::nullopt, factor});
  return {.trace = sch.trace(),
          .measurement = {.seconds = {seconds, seconds, seconds}},
          .conditions = Conditions::of(target),
          .arguments = {"float32[128, 128]"},
          .predicted = 0.5,
          .version = "0.1"};
}

TEST_F(Files, GiveBackWhatWasPutIn) {
  const Record put = record(4, 1e-3);
  Record failed = record(8, 0);
  failed.measurement = {Outcome::Wrong, {}, "argument 2 is wrong at element 0: nan instead of 1"};
  Database database(folder);
  database.add(product(), put);
  database.add(product(), failed);
  const std::vector<Record> got = Database(folder).records(product());
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].trace.text(), put.trace.text());
  EXPECT_EQ(got[0].measurement.seconds, put.measurement.seconds);
  EXPECT_EQ(got[0].conditions.target, "llvm -num-cores=1");
  EXPECT_EQ(got[0].conditions.threads, 1);
  EXPECT_EQ(got[0].arguments, put.arguments);
  EXPECT_EQ(got[0].predicted, 0.5);
  EXPECT_EQ(got[1].measurement.outcome, Outcome::Wrong);
  EXPECT_EQ(got[1].measurement.reason, failed.measurement.reason);
}

TEST_F(Files, TheBestIsAppliedToTheProgram) {
  Database database(folder);
  database.add(product(), record(4, 3e-3));
  database.add(product(), record(8, 1e-3));
  database.add(product(), record(16, 2e-3));
  const auto best = apply_best(product(), Database(folder), kOneCore);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trace().text(), record(8, 0).trace.text());
}

TEST_F(Files, NothingIsAppliedToAnotherProgram) {
  Database database(folder);
  database.add(product(), record(4, 1e-3));
  EXPECT_FALSE(apply_best(product(64), Database(folder), kOneCore));
}

TEST_F(Files, ResultsOfUnlikeConditionsAreNotMixed) {
  Database database(folder);
  database.add(product(), record(4, 1e-3, Target("llvm -num-cores=2")));
  database.add(product(), record(8, 1e-3, Target("llvm -mcpu=x86-64 -num-cores=1")));
  EXPECT_FALSE(database.best(product(), kOneCore));
  database.add(product(), record(16, 5e-3, Target("llvm --num-cores=1")));
  EXPECT_EQ(database.records(product(), kOneCore).size(), 1u);
}

TEST_F(Files, AFailedCandidateIsNeverTheBest) {
  Record failed = record(8, 0);
  failed.measurement = {Outcome::Crashed, {}, "signal 11"};
  Database database(folder);
  database.add(product(), failed);
  EXPECT_FALSE(database.best(product(), kOneCore));
}

TEST_F(Files, ALineThatIsCutOffCostsThatLineOnly) {
  {
    Database database(folder);
    database.add(product(), record(4, 1e-3));
    database.add(product(), record(8, 2e-3));
  }
  std::filesystem::resize_file(records, std::filesystem::file_size(records) - 20);
  Database again(folder);
  EXPECT_EQ(again.damaged_lines(), 1u);
  EXPECT_EQ(again.records(product()).size(), 1u);
  again.add(product(), record(16, 3e-3));
  const Database last(folder);
  EXPECT_EQ(last.damaged_lines(), 1u);
  EXPECT_EQ(last.records(product()).size(), 2u);
}

TEST_F(Files, LinesOfRubbishArePassedOver) {
  Database(folder).add(product(), record(4, 1e-3));
  std::ofstream(records, std::ios::app) << "{\"workload\": 3}\nnull\n[1, 2\n\xff\xfe\n";
  const Database again(folder);
  EXPECT_EQ(again.damaged_lines(), 4u);
  EXPECT_EQ(again.records(product()).size(), 1u);
}

TEST_F(Files, ALineThatIsSkippedIsNamedInAWarning) {
  Database(folder).add(product(), record(4, 1e-3));
  std::ofstream(records, std::ios::app) << "\n{}\n";
  std::vector<std::string> warnings;
  const Database again(folder, [&](const std::string& text) { warnings.push_back(text); });
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with(records.string() + ":3: this line is skipped: "))
      << warnings[0];
}

TEST_F(Files, OfManyLinesThatAreSkippedTheFirstAreNamed) {
  std::filesystem::create_directories(folder);
  {
    std::ofstream out(records);
    for (int n = 0; n < 1000; ++n) out << "{}\n";
  }
  std::vector<std::string> warnings;
  const Database again(folder, [&](const std::string& text) { warnings.push_back(text); });
  ASSERT_EQ(warnings.size(), 11u);
  EXPECT_EQ(warnings.back(), records.string() + ": 990 more line(s) are skipped");
}

/// The record file's only line with a part replaced.
void replace_in_file(const std::filesystem::path& file, const std::string& what,
                     const std::string& by) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::string line = text.str();
  const std::size_t at = line.find(what);
  ASSERT_NE(at, std::string::npos) << line;
  std::ofstream(file) << line.replace(at, what.size(), by);
}

TEST_F(Files, ALineOfAStrangerCostsThatLineOnly) {
  constexpr std::size_t kDeep = 300000;
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  for (const auto& [what, by] :
       std::vector<std::pair<std::string, std::string>>{{"0.001", "-0.001"},
                                                        {"0.001", "0"},
                                                        {"0.001", "1e400"},
                                                        {"0.001", "null"},
                                                        {"[0.001,0.001,0.001]", "[]"},
                                                        {"\"threads\":1", "\"threads\":4294967297"},
                                                        {"\"threads\":1", "\"threads\":1e300"},
                                                        {"\"trace\":[", "\"trace\":[" + deep + ","},
                                                        {"\"measured\"", "\"fast\""},
                                                        {"0.5", "1e400"}}) {
    std::filesystem::remove_all(folder);
    Database(folder).add(product(), record(4, 1e-3));
    replace_in_file(records, what, by);
    const Database again(folder, [](const std::string&) {});
    EXPECT_EQ(again.damaged_lines(), 1u) << by.substr(0, 40);
    EXPECT_FALSE(again.best(product(), kOneCore));
  }
  std::filesystem::remove_all(folder);
  Database(folder).add(product(), record(4, 1e-3));
  std::string negated;
  for (int n = 0; n < 400000; ++n) negated += '-';
  replace_in_file(folder / "database_workload.json", "C[vi, vj] + ", negated + "C[vi, vj] + ");
  EXPECT_EQ(Database(folder, [](const std::string&) {}).damaged_lines(), 2u);
}

TEST_F(Files, AProgramThatDoesNotHaveItsHashIsSkipped) {
  Database(folder).add(product(), record(4, 1e-3));
  const std::filesystem::path workloads = folder / "database_workload.json";
  replace_in_file(workloads, "C[vi, vj] + ", "C[vi, vj] - ");
  std::vector<std::string> warnings;
  const Database again(folder, [&](const std::string& text) { warnings.push_back(text); });
  EXPECT_EQ(again.workloads().size(), 0u);
  ASSERT_EQ(warnings.size(), 2u);  // the record names a program that is not there
  EXPECT_TRUE(warnings[0].starts_with(
      workloads.string() + ":1: this line is skipped: the program does not have the hash"))
      << warnings[0];
}

TEST_F(Files, ATraceThatIsRefusedIsPassedOverForTheNextBest) {
  Database database(folder);
  database.add(product(), record(8, 2e-3));
  Record strange = record(4, 1e-3);
  strange.trace = s_tir::parse_trace("b0 = sch.get_block(name=\"other\", func_name=\"main\")");
  database.add(product(), strange);
  const auto best = apply_best(product(), Database(folder), kOneCore);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trace().text(), record(8, 0).trace.text());
}

TEST_F(Files, OfNamesThatAreNotUtf8AreRefused) {
  s_tir::Schedule sch(product());
  tir::IRModule module = product();
  tir::PrimFunc& func = module.functions.begin()->second;
  func.attrs.global_symbol = "\xff\xfe";
  Database database(folder);
  EXPECT_THROW(database.add(module, record(4, 1e-3)), TypeError);
  EXPECT_EQ(database.workloads().size(), 0u);
}

TEST(InMemory, ATimeThatIsNotPositiveIsNeverTheBest) {
  Database database;
  for (const double seconds : {-1.0, 0.0, std::nan(""), HUGE_VAL})
    database.add(product(), record(4, seconds));
  EXPECT_FALSE(database.best(product(), kOneCore));
  database.add(product(), record(8, 1e-3));
  EXPECT_EQ(database.best(product(), kOneCore)->measurement.median(), 1e-3);
}

TEST_F(Files, SeveralWritersLoseNothing) {
  constexpr int kWriters = 4, kRecords = 25;
  {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w)
      writers.emplace_back([&] {
        Database own(folder);
        for (int n = 0; n < kRecords; ++n) own.add(product(), record(4, 1e-3));
      });
  }
  const Database all(folder);
  EXPECT_EQ(all.damaged_lines(), 0u);
  EXPECT_EQ(all.records(product()).size(), static_cast<std::size_t>(kWriters * kRecords));
}

TEST_F(Files, AFullDiskKeepsRecordsInMemoryUntilThereIsRoom) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("/dev/full", records);
  Database database(folder);
  database.add(product(), record(4, 1e-3));
  EXPECT_EQ(database.unwritten(), 1u);
  EXPECT_EQ(database.write_error(), "No space left on device");
  EXPECT_TRUE(apply_best(product(), database, kOneCore));
  std::filesystem::remove(records);
  EXPECT_TRUE(database.flush());
  EXPECT_EQ(Database(folder).records(product()).size(), 1u);
}

TEST(InMemory, NothingIsWritten) {
  Database database;
  database.add(product(), record(4, 1e-3));
  EXPECT_EQ(database.unwritten(), 0u);
  EXPECT_EQ(database.records(product()).size(), 1u);
}

// ---- pages and exported programs ----------------------------------------------------------------

// The page about a database, and the exported program.

Record reported_record(std::int64_t factor, double seconds) {
  s_tir::Schedule sch(product());
  sch.split(sch.get_loops(sch.get_block("C"))[1], {std::nullopt, factor});
  return {.trace = sch.trace(),
          .measurement = {.seconds = {seconds}},
          .conditions = Conditions::of(kOneCore),
          .predicted = 1 / seconds};
}

TEST(Report, SaysTheBestAndWhatFailed) {
  Database database;
  database.add(product(), reported_record(4, 2e-3));
  database.add(product(), reported_record(8, 1e-3));
  Record failed = reported_record(16, 1);
  failed.measurement = {Outcome::Wrong, {}, "argument 2 is wrong at element 3: 1 instead of <2>"};
  database.add(product(), failed);
  const std::string page = report(database);
  // 4194304 operations in 1000 us.
  EXPECT_NE(
      page.find("3 trials, 2 measured. Best 1000 &micro;s, 4.194 GFLOPS; slowest 2 times that"),
      std::string::npos)
      << page;
  EXPECT_NE(page.find("wrong: argument 2 is wrong at element 3: 1 instead of &lt;2&gt;"),
            std::string::npos);
  EXPECT_NE(page.find("rank correlation 1)"), std::string::npos);
}

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // Five of six pairs agree and one does not.
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 2, 4, 3}), 4.0 / 6);
}

TEST(RankCorrelation, IsZeroWhereNothingIsOrdered) {
  EXPECT_EQ(rank_correlation({1, 1, 1}, {1, 2, 3}), 0);
  EXPECT_EQ(rank_correlation({}, {}), 0);
}

TEST(ScheduleText, HasTheNumbersThatWereDrawn) {
  s_tir::Schedule sch(product());
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto factors = sch.sample_perfect_tile(loops[1], {.n = 2, .decision = {{8, 16}}});
  const auto parts = sch.split(loops[1], factors);
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  const auto steps = sch.sample_categorical({0, 16, 64}, {0.2, 0.4, 0.4}, {.decision = 2});
  sch.annotate(parts[0], "pragma_auto_unroll_max_step", steps);
  EXPECT_EQ(schedule_text(sch.trace()),
            "  const auto b0 = sch.get_block(\"C\", \"main\");\n"
            "  const auto l1 = sch.get_loops(b0);\n"
            "  const auto l2 = sch.split(l1[1], {8, 16});\n"
            "  sch.reorder({l1[0], l2[0], l1[2], l2[1]});\n"
            "  sch.annotate(l2[0], \"pragma_auto_unroll_max_step\", std::int64_t{64});\n");
}

}  // namespace
}  // namespace tenon::tune
