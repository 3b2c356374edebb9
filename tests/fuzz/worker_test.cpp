// Every end of a case is reported as an outcome.
#include "tests/fuzz/worker.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/common/sanitized.h"

namespace tenon::fuzz {
namespace {

/// The seed says what to do.
enum Deed : unsigned { Return, Crash, Spin, Throw, TakeMemory };

Outcome run(const Job& job, const Reporter& reporter) {
  reporter.on_description("deed " + std::to_string(job.seed));
  reporter.on_phase("building");
  switch (job.seed) {
    case Crash:
      std::raise(SIGKILL);
      break;
    case Spin:
      for (volatile bool more = true; more;) {
      }
      break;
    case Throw:
      throw std::runtime_error("no such case");
    case TakeMemory:
      static_cast<void>(std::vector<char>(std::size_t{1} << 40));
      break;
    default:
      break;
  }
  return {.kind = Outcome::Kind::Refused,
          .text = std::to_string(job.keep.size()),
          .phases = {{"building", 0.5}},
          .parts = 3,
          .attempts = {{"split", StageKind::Tuple, true, "split(i, 3)", {{0, 1, 2}}}},
          .notes = {{2, 3, 0}, {1, 0, 4}}};
}

Outcome outcome_of(Deed deed) {
  Worker worker(run, {.cpu_seconds = 0.2, .memory_bytes = 0});
  return worker.run_now({.seed = deed, .keep = {true, false}});
}

TEST(WorkerTest, AnOutcomeComesBackWhole) {
  const Outcome outcome = outcome_of(Return);
  EXPECT_EQ(outcome.kind, Outcome::Kind::Refused);
  EXPECT_EQ(outcome.text, "2");
  EXPECT_EQ(outcome.parts, 3);
  EXPECT_EQ(outcome.phases.at("building"), 0.5);
  ASSERT_EQ(outcome.attempts.size(), 1u);
  EXPECT_EQ(outcome.attempts[0].primitive, "split");
  EXPECT_EQ(outcome.attempts[0].kind, StageKind::Tuple);
  EXPECT_EQ(outcome.attempts[0].notes, (std::vector<Note>{{0, 1, 2}}));
  EXPECT_EQ(outcome.notes, (std::vector<Note>{{2, 3, 0}, {1, 0, 4}}));
  EXPECT_TRUE(outcome.attempts[0].accepted);
  EXPECT_EQ(outcome.attempts[0].text, "split(i, 3)");
}

TEST(WorkerTest, ACrashIsAFindingThatKnowsItsCaseAndItsPhase) {
  const Outcome outcome = outcome_of(Crash);
  EXPECT_EQ(outcome.kind, Outcome::Kind::Crashed);
  EXPECT_EQ(outcome.text, "Killed while building");
  EXPECT_EQ(outcome.description, "deed 1");
}

TEST(WorkerTest, ACaseWithoutEndIsAFinding) {
  const Outcome outcome = outcome_of(Spin);
  EXPECT_EQ(outcome.kind, Outcome::Kind::TooSlow);
  EXPECT_NE(outcome.text.find("while building"), std::string::npos) << outcome.text;
}

TEST(WorkerTest, WhatIsThrownIsAFinding) {
  EXPECT_EQ(outcome_of(Throw).text, "while making the schedule: no such case");
}

TEST(WorkerTest, ACaseThatTakesTooMuchMemoryIsAFinding) {
  if (testing::kIsSanitized) GTEST_SKIP() << "the sanitizer ends who asks for so much";
  EXPECT_EQ(outcome_of(TakeMemory).kind, Outcome::Kind::Wrong);
}

TEST(WorkerTest, TheNextCaseAfterACrashRuns) {
  Worker worker(run, {.memory_bytes = 0});
  EXPECT_EQ(worker.run_now({.seed = Crash}).kind, Outcome::Kind::Crashed);
  EXPECT_EQ(worker.run_now({.seed = Return}).kind, Outcome::Kind::Refused);
}

}  // namespace
}  // namespace tenon::fuzz
