// Whole runs of tuning on small programs: the lines of the course page, what is found, and what
// planted faults do to it.
#include "tenon/tune/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tenon/s_tir/script.h"
#include "tenon_test_paths.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm --num-cores=1");
const MeasureOptions kQuick = {
    .build_workers = 2, .number = 1, .repeat = 1, .min_repeat_ms = 0, .run_timeout_s = 20};

/// The schedule of the course page.
void stochastic_schedule(s_tir::Schedule& sch) {
  const s_tir::BlockRV C = sch.get_block("C", "main");
  const auto loops = sch.get_loops(C);
  const auto factors = sch.sample_perfect_tile(loops[1], {.n = 2});
  const auto parts = sch.split(loops[1], factors);
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  sch.decompose_reduction(C, loops[2]);
}

struct Tuning {
  Database database;
  std::string log = {};

  std::vector<Record> records(const tir::IRModule& mod) const { return database.records(mod); }
};

Tuning tuned(TuneOptions options) {
  std::string log;
  options.cost_model = random_model(1);
  const auto own = options.log;
  options.log = [&](LogLevel level, const std::string& line) {
    log += line + "\n";
    if (own) own(level, line);
  };
  Database database = tune_tir(options);
  return {database, log};
}

int count(const std::string& text, const std::string& part) {
  int result = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++result;
  return result;
}

/// Options for runs of a second or so.
TuneOptions quick(const tir::IRModule& mod) {
  return {.mod = mod,
          .target = kOneCore,
          .space = schedule_fn(stochastic_schedule),
          .measure = kQuick,
          .search = {.population = 48, .generations = 1},
          .stop_on_interrupt = false};
}

class InAFolder : public ::testing::Test {
 protected:
  InAFolder() { std::filesystem::remove_all(folder); }
  ~InAFolder() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tune_run_" + std::to_string(getpid()));
};

TEST(Page, TheHandWrittenSpaceGivesTheKnownLines) {
  const Tuning run = tuned(quick(product()));
  std::vector<std::string> lines;
  const std::regex known(R"((\[task_scheduler\.cc:\d+\] .+|Local.+))");
  for (std::sregex_iterator at(run.log.begin(), run.log.end(), known), end; at != end; ++at)
    lines.push_back(at->str());
  std::vector<std::string> expected = {
      "LocalBuilder: max_workers = 2",
      "LocalRunner: max_workers = 1",
      "[task_scheduler.cc:159] Initializing Task #0: \"main\"",
      "[task_scheduler.cc:180] TaskScheduler picks Task #0: \"main\"",
      "[task_scheduler.cc:193] Sending 5 sample(s) to builder",
      "[task_scheduler.cc:195] Sending 5 sample(s) to runner",
      "[task_scheduler.cc:237] [Updated] Task #0: \"main\"",
  };
  for (int n = 0; n < 4; ++n) {
    expected.push_back("[task_scheduler.cc:180] TaskScheduler picks Task #0: \"main\"");
    expected.push_back("[task_scheduler.cc:193] Sending 0 sample(s) to builder");
    expected.push_back("[task_scheduler.cc:195] Sending 0 sample(s) to runner");
    expected.push_back("[task_scheduler.cc:237] [Updated] Task #0: \"main\"");
  }
  expected.push_back("[task_scheduler.cc:180] TaskScheduler picks Task #0: \"main\"");
  expected.push_back("[task_scheduler.cc:260] Task #0 has finished. Remaining task(s): 0");
  EXPECT_EQ(lines, expected) << run.log;
  // At the beginning, after each round, at the end.
  EXPECT_EQ(count(run.log, "[task_scheduler.cc:318] \n ID | Name |"), 7);
  EXPECT_EQ(count(run.log, "|      5 |    Y \n"), 1);
}

/// Likes what was drawn last.
class LikesTheLast : public CostModel {
 public:
  std::size_t asked = 0;

  std::string name() const override { return "last"; }
  std::vector<std::string> learn(const std::vector<Lesson>&) override { return {}; }
  std::vector<double> predict(const std::vector<tir::IRModule>& candidates) override {
    asked = candidates.size();
    std::vector<double> result;
    for (std::size_t n = 0; n < asked; ++n) result.push_back(static_cast<double>(n));
    return result;
  }
};

TEST(FirstRound, IsHalfOfWhatTheModelLikesMost) {
  constexpr int kTrials = 8;
  const auto model = std::make_shared<LikesTheLast>();
  TuneOptions options = quick(product(16));
  options.space = post_order_apply();
  options.max_trials_global = options.num_trials_per_iter = kTrials;
  options.cost_model = model;
  options.log = [](LogLevel, const std::string&) {};
  const Database database = tune_tir(options);
  const std::vector<Record> records = database.records(options.mod);
  ASSERT_EQ(records.size(), static_cast<std::size_t>(kTrials));
  ASSERT_GT(model->asked, static_cast<std::size_t>(2 * kTrials));
  const auto liked = std::count_if(records.begin(), records.end(), [&](const Record& record) {
    return *record.predicted >= static_cast<double>(model->asked - kTrials / 2);
  });
  EXPECT_EQ(liked, kTrials / 2);
}

TEST(Page, ABudgetThatIsUsedUpEndsWithoutAnotherPick) {
  TuneOptions options = quick(product(64));
  options.max_trials_global = 3;
  const Tuning run = tuned(options);
  EXPECT_EQ(count(run.log, "TaskScheduler picks"), 1);
  EXPECT_EQ(count(run.log, "Sending 3 sample(s) to builder"), 1);
  EXPECT_EQ(run.records(product(64)).size(), 3u);
}

TEST(Tuning, TheBestIsThatOfTheLeastTime) {
  const Tuning run = tuned(quick(product(64)));
  double least = 1e9;
  for (const Record& record : run.records(product(64))) {
    ASSERT_TRUE(record.measurement.is_valid()) << record.measurement.reason;
    least = std::min(least, record.measurement.median());
  }
  EXPECT_EQ(run.database.best(product(64), kOneCore)->measurement.median(), least);
  EXPECT_TRUE(apply_best(product(64), run.database, kOneCore));
}

TEST(Tuning, OneSeedGivesTheSameCandidatesWithAnyNumberOfWorkers) {
  const auto candidates = [](int workers) {
    TuneOptions options = quick(product(64));
    options.space = post_order_apply();
    options.max_trials_global = 12;
    options.num_trials_per_iter = 12;
    options.seed = 7;
    options.search.workers = workers;
    options.measure.build_workers = workers;
    std::vector<std::string> traces;
    for (const Record& record : tuned(options).records(product(64)))
      traces.push_back(record.trace.text());
    return traces;
  };
  const std::vector<std::string> one = candidates(1);
  EXPECT_EQ(one.size(), 12u);
  EXPECT_EQ(one, candidates(3));
}

TEST(Tuning, NoCandidateIsMeasuredTwice) {
  TuneOptions options = quick(product(64));
  options.space = post_order_apply();
  options.max_trials_global = 24;
  options.num_trials_per_iter = 8;
  std::set<std::string> scripts;
  const Tuning run = tuned(options);
  for (const Record& record : run.records(product(64))) {
    s_tir::Schedule sch(product(64));
    sch.apply_trace(record.trace);
    scripts.insert(s_tir::print_script(sch.mod()));
  }
  EXPECT_EQ(scripts.size(), 24u);
}

TEST_F(InAFolder, ASecondRunGoesOnFromTheFirst) {
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  options.max_trials_global = 2;
  tuned(options);
  options.max_trials_global = 64;
  const Tuning second = tuned(options);
  EXPECT_EQ(count(second.log, "Sending 3 sample(s) to builder"), 1) << second.log;
  EXPECT_EQ(Database(folder).records(product(64)).size(), 5u);
}

TEST_F(InAFolder, RecordsThatAreThereCountAsTrials) {
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  options.max_trials_global = 3;
  tuned(options);
  const Tuning second = tuned(options);
  EXPECT_EQ(count(second.log, "sample(s) to builder"), 0) << second.log;
  EXPECT_EQ(count(second.log, "the database has the 3 trial(s) of max_trials_global"), 1);
  EXPECT_EQ(count(second.log, "3 record(s) of the database count as trials, the best with "), 1)
      << second.log;
  const std::optional<Record> best = Database(folder).best(product(64), options.target);
  ASSERT_TRUE(best);
  char latency[32];
  std::snprintf(latency, sizeof latency, "%.4f", best->measurement.median() * 1e6);
  EXPECT_GE(count(second.log, latency), 1) << "the table lacks " << latency << "\n" << second.log;
  EXPECT_EQ(count(second.log, "Total trials: 3"), 2) << second.log;
}

TEST_F(InAFolder, ADamagedLineIsAWarningOfTheTuner) {
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  options.max_trials_global = 1;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "database_tuning_record.json") << "null\n";
  EXPECT_EQ(count(tuned(options).log, "database_tuning_record.json:1: this line is skipped"), 1);
}

TEST_F(InAFolder, NamesThatTheDatabaseCannotKeepAreRefusedBeforeAnythingIsMeasured) {
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  options.mod.functions.begin()->second.attrs.global_symbol = "\xff";
  EXPECT_THROW(tuned(options), TypeError);
  EXPECT_FALSE(std::filesystem::exists(folder / "database_tuning_record.json"));
}

// ---- planted faults -----------------------------------------------------------------------------

/// The product of 60, with tiles of 16 and without the guard that they need.
const char* const kWithoutGuard = R"(
@T.prim_func
def main(A: T.Buffer[(60, 60), "float32"], B: T.Buffer[(60, 60), "float32"], C: T.Buffer[(60, 60), "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, j, k_0, k_1 in T.grid(60, 60, 4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(64, k_0 * 16 + k_1)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(PlantedFaults, APostprocessorThatDropsAGuardIsNeverChosen) {
  TuneOptions options = quick(product(60));
  options.space = schedule_fn([](s_tir::Schedule& sch) {
    const auto loops = sch.get_loops(sch.get_block("C"));
    sch.split(loops[2], {sch.sample_categorical({16, 15}, {0.5, 0.5}), std::nullopt});
  });
  options.postprocessors = {{"drops_a_guard", [](s_tir::Schedule& sch, const Target&) {
                               if (s_tir::print_script(sch.mod()).find("T.where") !=
                                   std::string::npos)
                                 sch = s_tir::Schedule(s_tir::parse_script(kWithoutGuard));
                             }}};
  const Tuning run = tuned(options);
  int wrong = 0;
  for (const Record& record : run.records(product(60)))
    wrong += record.measurement.is_valid() ? 0 : 1;
  EXPECT_EQ(wrong, 1) << run.log;
  const auto best = run.database.best(product(60), kOneCore);
  ASSERT_TRUE(best);
  EXPECT_NE(best->trace.text().find("decision=1"), std::string::npos);
}

/// The worker program, but for candidates it does something else.
std::filesystem::path planted_worker(const std::filesystem::path& folder, const std::string& what) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path script = folder / "worker.sh";
  std::ofstream(script) << "#!/bin/sh\nif grep -q '\"records\":true' \"$1\"; then exec "
                        << TENON_BINARY_DIR << "/tenon_measure \"$1\"; fi\n"
                        << what << "\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST_F(InAFolder, ARunnerThatHangsCostsItsCandidatesOnly) {
  TuneOptions options = quick(product(64));
  options.max_trials_global = 2;
  options.measure.run_timeout_s = 3;
  options.measure.worker = planted_worker(folder, "sleep 60");
  const Tuning run = tuned(options);
  ASSERT_EQ(run.records(product(64)).size(), 2u);
  for (const Record& record : run.records(product(64)))
    EXPECT_EQ(record.measurement.outcome, Outcome::TimedOut);
  EXPECT_FALSE(apply_best(product(64), run.database, kOneCore));
}

TEST_F(InAFolder, ARunnerThatCrashesCostsItsCandidatesOnly) {
  TuneOptions options = quick(product(64));
  options.max_trials_global = 2;
  options.measure.worker = planted_worker(folder, "kill -SEGV $$");
  const Tuning run = tuned(options);
  ASSERT_EQ(run.records(product(64)).size(), 2u);
  for (const Record& record : run.records(product(64)))
    EXPECT_EQ(record.measurement.outcome, Outcome::Crashed);
  EXPECT_EQ(count(run.log, "does not count: crashed: signal 11"), 2) << run.log;
}

TEST_F(InAFolder, AFullDiskLosesNothingThatWasMeasured) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("/dev/full", folder / "database_tuning_record.json");
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  const Tuning run = tuned(options);
  EXPECT_TRUE(apply_best(product(64), run.database, kOneCore));
  EXPECT_EQ(run.database.unwritten(), 5u);
  EXPECT_GE(count(run.log, "are in memory only: No space left on device"), 1);
}

TEST_F(InAFolder, AnInterruptKeepsWhatWasMeasured) {
  TuneOptions options = quick(product(64));
  options.work_dir = folder;
  options.num_trials_per_iter = 2;
  options.stop_on_interrupt = true;
  int rounds = 0;
  options.log = [&](LogLevel, const std::string& line) {
    if (line.find("[Updated]") != std::string::npos && ++rounds == 2) raise(SIGINT);
  };
  tuned(options);
  EXPECT_EQ(Database(folder).records(product(64)).size(), 4u);
}

}  // namespace
}  // namespace tenon::tune
