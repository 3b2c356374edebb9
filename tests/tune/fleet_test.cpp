// Tuning in several processes: candidates that other processes measure.
#include "tenon/tune/fleet.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tenon/codegen/process.h"
#include "tenon/tune/database.h"
#include "tenon/tune/ranks.h"
#include "tenon/tune/tune.h"
#include "tenon_test_paths.h"
#include "tests/tune/programs.h"
#include "tune/fleet/fleet_messages.h"

namespace tenon::tune {
namespace {

// ---- processes ----------------------------------------------------------------------------------

// Candidates measured by other processes: threads of this one that pass the same texts.

const Target kOneCore("llvm --num-cores=1");
const MeasureOptions kQuick = {.repeat = 1, .min_repeat_ms = 0, .run_timeout_s = 20};

/// The mail of `size` processes.
class Post {
 public:
  explicit Post(int size) : boxes_(static_cast<std::size_t>(size)) {}
  int size() const { return static_cast<int>(boxes_.size()); }

  void put(int from, int to, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    boxes_[static_cast<std::size_t>(to)].push_back({from, text});
  }
  std::optional<Channel::Message> take(int of) {
    const std::scoped_lock lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(of)];
    if (box.empty()) return std::nullopt;
    const Channel::Message message = box.front();
    box.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::vector<std::deque<Channel::Message>> boxes_;
};

/// One process's end of it.
class Box : public Channel {
 public:
  Box(Post& post, int own) : post_(post), own_(own) {}
  int size() const override { return post_.size(); }
  void send(int to, const std::string& text) override { post_.put(own_, to, text); }
  std::optional<Message> receive() override { return post_.take(own_); }

 private:
  Post& post_;
  int own_;
};

/// Dies, as far as others can tell, when it is asked to compile for the n-th time.
class Mortal : public Box {
 public:
  Mortal(Post& post, int own, int n) : Box(post, own), left_(n) {}
  std::optional<Message> receive() override {
    const std::optional<Message> message = Box::receive();
    if (message && parse_order(message->text).kind == Order::Kind::Build && --left_ == 0)
      throw RuntimeError("killed");
    return message;
  }

 private:
  int left_;
};

/// Processes that measure, until the fleet is destroyed.
class Servers {
 public:
  explicit Servers(int count) : post(count + 1) {}
  void add(std::shared_ptr<Channel> channel) {
    threads_.emplace_back([channel] {
      try {
        serve(*channel);
      } catch (const RuntimeError&) {
      }
    });
  }
  void add_immortal(int number) { add(std::make_shared<Box>(post, number)); }
  std::shared_ptr<Channel> first() { return std::make_shared<Box>(post, 0); }

  Post post;

 private:
  std::vector<std::jthread> threads_;
};

std::vector<tir::IRModule> sums(int count) {
  return std::vector<tir::IRModule>(static_cast<std::size_t>(count), sum_with(1));
}

TEST(Fleet, MeasuresEveryCandidate) {
  Servers servers(2);
  Fleet fleet(servers.first());
  for (const int n : {1, 2}) servers.add_immortal(n);
  const Fleet::Task task = fleet.begin(sum_with(1), kOneCore, kQuick);
  EXPECT_EQ(task.processor, Conditions::of(kOneCore).processor);
  EXPECT_EQ(fleet.workers(task), 2);
  std::set<std::size_t> told;
  const Fleet::Lot lot =
      fleet.measure(task, sums(5), [&](std::optional<std::size_t> n, const Measurement&) {
        if (n) told.insert(*n);
        return true;
      });
  for (const auto& measurement : lot.measurements) {
    ASSERT_TRUE(measurement);
    EXPECT_TRUE(measurement->is_valid()) << measurement->reason;
    EXPECT_EQ(measurement->seconds.size(), 1u);
  }
  EXPECT_EQ(told.size(), 5u);
  EXPECT_GT(lot.build_seconds, 0);
  EXPECT_GT(lot.build_cpu_seconds, 0);
  EXPECT_TRUE(fleet.is_whole());
}

TEST(Fleet, WrongNumbersAreFoundOut) {
  Servers servers(1);
  Fleet fleet(servers.first());
  servers.add_immortal(1);
  const Fleet::Task task = fleet.begin(sum_with(1), kOneCore, kQuick);
  const Fleet::Lot lot = fleet.measure(task, {sum_with(2), sum_with(1)});
  EXPECT_EQ(lot.measurements.at(0)->outcome, Outcome::Wrong);
  EXPECT_TRUE(lot.measurements.at(1)->is_valid());
}

TEST(Fleet, AProcessThatDiesCostsTheCandidateItWasAtWorkOn) {
  Servers servers(2);
  Fleet fleet(servers.first(), {.silence_s = 2.5});
  servers.add(std::make_shared<Mortal>(servers.post, 1, 2));
  servers.add_immortal(2);
  const Fleet::Task task = fleet.begin(sum_with(1), kOneCore, kQuick);
  const Fleet::Lot lot = fleet.measure(task, sums(6));
  int crashed = 0, measured = 0;
  for (const auto& measurement : lot.measurements) {
    ASSERT_TRUE(measurement);
    if (measurement->is_valid()) ++measured;
    if (measurement->outcome == Outcome::Crashed) {
      ++crashed;
      EXPECT_NE(measurement->reason.find("process 1 on "), std::string::npos);
    }
  }
  // Candidates that the process had compiled before are compiled again.
  EXPECT_EQ(crashed, 1);
  EXPECT_EQ(measured, 5);
  ASSERT_EQ(lot.notes.size(), 1u);
  EXPECT_NE(lot.notes[0].find("is gone: no word from it"), std::string::npos) << lot.notes[0];
  EXPECT_FALSE(fleet.is_whole());
  EXPECT_EQ(fleet.workers(task), 1);
}

TEST(Fleet, ALotThatWasEndedLeavesItsProcessesFreeForTheNextTask) {
  Servers servers(1);
  Fleet fleet(servers.first());
  servers.add_immortal(1);
  // Ended while the first candidate is compiled, which is told of when the next task begins.
  fleet.measure(fleet.begin(sum_with(1), kOneCore, kQuick), sums(2),
                [](std::optional<std::size_t>, const Measurement&) { return false; });
  const Fleet::Task next = fleet.begin(sum_with(2), kOneCore, kQuick);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const Fleet::Lot lot = fleet.measure(next, {sum_with(2)}, [&](auto, const Measurement&) {
    return std::chrono::steady_clock::now() < end;
  });
  ASSERT_TRUE(lot.measurements.at(0));
  EXPECT_TRUE(lot.measurements.at(0)->is_valid());
}

TEST(Fleet, WithNobodyLeftTheTunerGoesOnAlone) {
  Servers servers(1);
  std::string log;
  const auto fleet = std::make_shared<Fleet>(servers.first(), FleetOptions{.silence_s = 2.5});
  servers.add(std::make_shared<Mortal>(servers.post, 1, 1));
  const Database database =
      tune_tir({.mod = product(32),
                .target = kOneCore,
                .max_trials_global = 3,
                .measure = kQuick,
                .search = {.population = 16, .generations = 1},
                .fleet = fleet,
                .cost_model = random_model(),
                .log = [&](LogLevel, const std::string& line) { log += line + "\n"; },
                .stop_on_interrupt = false});
  EXPECT_NE(log.find("this process continues alone"), std::string::npos) << log;
  EXPECT_EQ(database.records(product(32)).size(), 3u);
  EXPECT_TRUE(apply_best(product(32), database, kOneCore));
}

/// Does no work, and notes what it is asked for.
class Pretender {
 public:
  Pretender(Post& post, int number, std::string host, std::string processor,
            std::vector<std::string>& notes, std::mutex& mutex)
      : box_(post, number),
        thread_([this, number, host, processor, &notes, &mutex](const std::stop_token& stop) {
          for (; !stop.stop_requested(); std::this_thread::yield()) {
            const auto message = box_.receive();
            if (!message) continue;
            const Order order = parse_order(message->text);
            Report report{.task = order.task, .ticket = order.ticket};
            const std::scoped_lock lock(mutex);
            if (order.kind == Order::Kind::End) return;
            if (order.kind == Order::Kind::Task) {
              report.kind = Report::Kind::Ready;
              report.host = host;
              report.processor = processor;
            } else if (order.kind == Order::Kind::Build) {
              report.kind = Report::Kind::Built;
              notes.push_back("build " + std::to_string(number));
            } else if (order.kind == Order::Kind::Run) {
              report.kind = Report::Kind::Ran;
              report.measurement.seconds = {1};
              notes.push_back("run " + std::to_string(number));
            }
            if (report.kind == Report::Kind::Ran) {
              std::this_thread::sleep_for(std::chrono::milliseconds(5));
              notes.push_back("ran " + std::to_string(number));
            }
            box_.send(0, to_text(report));
          }
        }) {}

 private:
  Box box_;
  std::jthread thread_;
};

TEST(Fleet, OnlyLikeProcessorsMeasure) {
  Post post(4);
  std::vector<std::string> notes;
  std::mutex mutex;
  const Pretender first(post, 1, "a", "fast", notes, mutex),
      second(post, 2, "b", "slow", notes, mutex), third(post, 3, "c", "fast", notes, mutex);
  Fleet fleet(std::make_shared<Box>(post, 0));
  const Fleet::Task task = fleet.begin(sum_with(1), kOneCore, kQuick);
  EXPECT_EQ(task.processor, "fast");
  EXPECT_EQ(fleet.workers(task), 2);
  EXPECT_EQ(task.notes.at(1), "process 2 on b: slow; measures nothing, as process 1 has another");
  fleet.measure(task, sums(8));
  for (const std::string& note : notes) EXPECT_EQ(note.find(" 2"), std::string::npos) << note;
}

TEST(Fleet, OneCandidateRunsAtATimeOnAMachineWhenAllAreCompiled) {
  Post post(4);
  std::vector<std::string> notes;
  std::mutex mutex;
  const Pretender first(post, 1, "a", "p", notes, mutex), second(post, 2, "a", "p", notes, mutex),
      third(post, 3, "a", "p", notes, mutex);
  Fleet fleet(std::make_shared<Box>(post, 0));
  const Fleet::Task task = fleet.begin(sum_with(1), kOneCore, kQuick);
  fleet.measure(task, sums(9));
  ASSERT_EQ(notes.size(), 27u);
  for (std::size_t n = 0; n < 9; ++n) EXPECT_EQ(notes[n].substr(0, 6), "build ");
  for (std::size_t n = 9; n < 27; n += 2) EXPECT_EQ("ran" + notes[n].substr(3), notes[n + 1]) << n;
}

TEST(Fleet, OneSeedGivesTheSameCandidatesForAnyNumberOfProcesses) {
  const auto traces_with = [](int processes) {
    Servers servers(processes);
    const auto fleet = std::make_shared<Fleet>(servers.first());
    for (int n = 1; n <= processes; ++n) servers.add_immortal(n);
    const Database database = tune_tir({.mod = product(32),
                                        .target = kOneCore,
                                        .max_trials_global = 6,
                                        .seed = 3,
                                        .measure = kQuick,
                                        .search = {.population = 16, .generations = 1},
                                        .fleet = fleet,
                                        .cost_model = random_model(),
                                        .log = [](LogLevel, const std::string&) {},
                                        .stop_on_interrupt = false});
    std::multiset<std::string> traces;
    for (const Record& record : database.records(product(32))) traces.insert(record.trace.text());
    return traces;
  };
  const auto one = traces_with(1);
  EXPECT_EQ(one.size(), 6u);
  EXPECT_EQ(one, traces_with(3));
}

// ---- mpirun -------------------------------------------------------------------------------------

// A tutorial under mpirun. Left out, by name, where there is no mpirun or Boost.MPI was not found.

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
