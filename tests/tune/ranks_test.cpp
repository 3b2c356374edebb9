// A tutorial under mpirun. Left out, by name, where there is no mpirun or Boost.MPI was not found.
#include "tenon/tune/ranks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "tenon/codegen/process.h"
#include "tenon/tune/database.h"
#include "tenon_test_paths.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

class UnderMpirun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!codegen::run_process({"mpirun", "--version"})) GTEST_SKIP() << "no mpirun";
    if (!std::filesystem::exists(std::filesystem::path(TENON_BINARY_DIR) / "libtenon_mpi.so"))
      GTEST_SKIP() << "built without Boost.MPI";
    if (kIsSanitized) GTEST_SKIP() << "MPI is not instrumented";
    std::filesystem::remove_all(folder);
  }
  ~UnderMpirun() override { std::filesystem::remove_all(folder); }

  /// The program as one process that searches and `ranks` that measure; at most two minutes of it.
  static std::optional<codegen::FinishedProcess> run(int ranks,
                                                     const std::vector<std::string>& program) {
    std::vector<std::string> command = {"timeout",
                                        "120",
                                        "mpirun",
                                        "--oversubscribe",
                                        "--enable-recovery",
                                        "-n",
                                        std::to_string(ranks + 1)};
    if (getuid() == 0) command.emplace_back("--allow-run-as-root");
    command.insert(command.end(), program.begin(), program.end());
    return codegen::run_process(command);
  }

  std::optional<codegen::FinishedProcess> tune_mm(int ranks, int trials) const {
    return run(ranks, {std::string(TENON_BINARY_DIR) + "/tutorials/tune_mm", "--size=32",
                       "--trials=" + std::to_string(trials), "--work-dir=" + folder.string()});
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tune_ranks_" + std::to_string(getpid()));
};

TEST_F(UnderMpirun, TheOthersMeasure) {
  const auto run = tune_mm(2, 4);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->status, 0) << run->output;
  for (const char* line : {"process 1 on ", "process 2 on ", "4 compiled in ", "on 2 process(es)"})
    EXPECT_NE(run->output.find(line), std::string::npos) << line << "\n" << run->output;
  EXPECT_EQ(run->output.find(" is gone"), std::string::npos) << run->output;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The process of that rank whose command line has the word.
std::optional<pid_t> process_of(const std::string& word, int rank) {
  const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (contents("/proc/" + name + "/cmdline").find(word) == std::string::npos) continue;
    const std::string environment = '\0' + contents("/proc/" + name + "/environ");
    if (environment.find('\0' + variable + '\0') != std::string::npos) return std::stoi(name);
  }
  return std::nullopt;
}

TEST_F(UnderMpirun, ARankThatIsKilledCostsNothingElse) {
  bool is_killed = false;
  std::jthread killer([&](const std::stop_token& stop) {
    // When the first lines of the database are there, it is in the middle.
    while (!stop.stop_requested() && !is_killed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!std::filesystem::exists(folder / "database_tuning_record.json")) continue;
      const std::optional<pid_t> process = process_of("--work-dir=" + folder.string(), 2);
      if (process) is_killed = kill(*process, SIGKILL) == 0;
    }
  });
  const auto run = tune_mm(3, 16);
  killer.request_stop();
  killer.join();
  ASSERT_TRUE(run);
  ASSERT_TRUE(is_killed) << run->output;
  EXPECT_EQ(run->status, 0) << run->output;
  EXPECT_NE(run->output.find("process 2 on "), std::string::npos) << run->output;
  EXPECT_NE(run->output.find(" is gone"), std::string::npos) << run->output;
  // Two spaces: the one by hand has 5 or fewer candidates of this size, the default one 16.
  EXPECT_NE(run->output.find("===== the default space"), std::string::npos);
  const Database database(folder);
  EXPECT_EQ(database.damaged_lines(), 0u);
  ASSERT_FALSE(database.workloads().empty());
  std::size_t measured = 0, failed = 0;
  for (const Record& record : database.records(database.workloads().front()))
    ++(record.measurement.is_valid() ? measured : failed);
  EXPECT_LE(failed, 1u);
  EXPECT_GE(measured, 16u);
}

/// Run by three processes in the next test. The last one stops: like one whose machine is gone, it
/// sends nothing, and the others are not notified.
TEST(InsideMpirun, DISABLED_TheLastStopsAndNobodyHasSeenItYet) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* file = std::getenv("TENON_TEST_STOPPED");
  ASSERT_TRUE(rank && file);
  const std::jthread stops([file, is_last = std::string(rank) == "2"] {
    if (!is_last) return;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    std::ofstream(file) << getpid() << std::endl;
    raise(SIGSTOP);
  });
  int argc = 0;
  char** argv = nullptr;
  {
    const std::shared_ptr<Fleet> fleet = join_ranks(argc, argv);
    while (std::ifstream(file).peek() == EOF)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(fleet->is_whole());
  }
  std::cout << "the first has ended" << std::endl;
  // So that mpirun ends as well.
  kill(std::stoi(contents(file)), SIGKILL);
}

/// MPI's own end waits for all, without a limit.
TEST_F(UnderMpirun, ARankThatIsSilentAndWasNotMissedYetKeepsNobodyFromEnding) {
  std::filesystem::create_directories(folder);
  setenv("TENON_TEST_STOPPED", (folder / "stopped").c_str(), 1);
  const auto ended = run(2, {std::filesystem::read_symlink("/proc/self/exe").string(),
                             "--gtest_also_run_disabled_tests", "--gtest_filter=InsideMpirun.*"});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 0) << ended->output;
  EXPECT_NE(ended->output.find("the first has ended"), std::string::npos) << ended->output;
}

}  // namespace
}  // namespace tenon::tune
