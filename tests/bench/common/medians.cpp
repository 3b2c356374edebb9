#include "tests/bench/common/medians.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include "tenon/runtime/threads.h"
#include "tenon/support/progress.h"

namespace tenon::bench {

namespace {

constexpr std::chrono::duration<double> kTurn{0.05};
/// Threads of a library spin for a while after a call, in case there is another one: OpenBLAS's for
/// some 20 ms. Until they sleep, they take a core from whoever has the next turn.
constexpr std::chrono::milliseconds kUntilOthersSleep{40};

class Medians : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.aggregate_name == "median")
        found[run.run_name.function_name] =
            run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
  }
  std::map<std::string, double> found;
};

}  // namespace

std::map<std::string, double> medians_of(const std::vector<Contest>& contests, int turns) {
  std::string turns_flag = "--benchmark_repetitions=" + std::to_string(turns);
  std::vector<std::string> flags = {"bench", "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_min_time=" + std::to_string(kTurn.count()),
                                    turns_flag};
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  benchmark::ClearRegisteredBenchmarks();
  Progress progress({.what = "turns", .total = std::ssize(contests) * turns});
  for (const Contest& contest : contests)
    benchmark::RegisterBenchmark(contest.name.c_str(), [&](benchmark::State& state) {
      if (runtime::num_threads() > 1) std::this_thread::sleep_for(kUntilOthersSleep);
      const auto start = std::chrono::steady_clock::now();
      for (auto _ : state) contest.run();
      // Shorter ones only find out how many calls a turn needs.
      const bool is_turn = std::chrono::steady_clock::now() - start > kTurn * 0.9;
      progress.add(is_turn ? 1 : 0);
    })->UseRealTime();
  Medians medians;
  benchmark::RunSpecifiedBenchmarks(&medians);
  return medians.found;
}

}  // namespace tenon::bench
