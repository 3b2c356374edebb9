// How many candidates a second are compiled by several processes under mpirun, and by how many
// cores: a process more than there are free cores is no gain.
//
//   tuning_builds --ranks=1,2,4 --candidates=64 --size=128
//
// Starts itself under mpirun once for each number of processes that compile. The candidates are
// drawn from the default space of a product, the same in each row.
#include <tenon/codegen/process.h>
#include <tenon/tune/fleet.h>
#include <tenon/tune/postprocessors.h>
#include <tenon/tune/ranks.h>
#include <tenon/tune/space.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>

#include "tests/bench/common/tuned_programs.h"

using namespace tenon;

namespace {

struct Options {
  std::string ranks = "1,2,4";
  int candidates = 64, size = 128;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    const std::string argument = argv[n];
    const std::size_t at = std::min(argument.find('='), argument.size() - 1);
    const std::string key = argument.substr(0, at), value = argument.substr(at + 1);
    if (key == "--ranks")
      options.ranks = value;
    else if (key == "--candidates")
      options.candidates = std::atoi(value.c_str());
    else if (key == "--size")
      options.size = std::atoi(value.c_str());
    else {
      std::cerr << "usage: tuning_builds [--ranks=1,2,4] [--candidates=64] [--size=128]\n";
      std::exit(2);
    }
  }
  return options;
}

std::vector<tir::IRModule> candidates_of(const tir::IRModule& mod, const Target& target,
                                         int count) {
  const auto designs = tune::post_order_apply().designs(mod, target);
  std::vector<tir::IRModule> result;
  for (std::uint64_t n = 0; static_cast<int>(result.size()) < count; ++n) try {
      s_tir::Schedule sch(mod, {.seed = n});
      sch.apply_trace(designs[n % designs.size()].trace(), {.draw_anew = true});
      sch.enter_postproc();
      for (const tune::Postprocessor& post : tune::default_postprocessors(target))
        post.apply(sch, target);
      result.push_back(sch.mod());
    } catch (const ScheduleError&) {
      // Not all that can be drawn is a program.
    }
  return result;
}

/// On the first process: seconds, and how many cores.
void print_builds(const Options& options, tune::Fleet& fleet) {
  const Target target("llvm --num-cores=1");
  const tir::IRModule mod = bench::product(options.size);
  const tune::Fleet::Task task = fleet.begin(mod, target, {.repeat = 1, .min_repeat_ms = 0});
  const tune::Fleet::Lot lot = fleet.measure(task, candidates_of(mod, target, options.candidates));
  std::printf("builds %g %g\n", lot.build_seconds, lot.build_cpu_seconds / lot.build_seconds);
}

struct Builds {
  double seconds, cores;
};

std::optional<Builds> builds_of(const Options& options, int ranks) {
  std::vector<std::string> command = {"mpirun", "--oversubscribe", "--enable-recovery", "-n",
                                      std::to_string(ranks + 1)};
  if (getuid() == 0) command.emplace_back("--allow-run-as-root");
  command.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  command.push_back("--candidates=" + std::to_string(options.candidates));
  command.push_back("--size=" + std::to_string(options.size));
  const auto ended = codegen::run_process(command);
  const std::size_t at = ended ? ended->output.find("builds ") : std::string::npos;
  Builds builds{};
  if (at == std::string::npos || std::sscanf(ended->output.c_str() + at, "builds %lf %lf",
                                             &builds.seconds, &builds.cores) != 2) {
    std::cerr << (ended ? ended->output : "there is no mpirun") << '\n';
    return std::nullopt;
  }
  return builds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::shared_ptr<tune::Fleet> fleet = tune::join_ranks(argc, argv);
  const Options options = parse(argc, argv);
  if (fleet) {
    print_builds(options, *fleet);
    return 0;
  }
  std::printf("%d candidates, products of %d; this machine has %u core(s)\n", options.candidates,
              options.size, std::thread::hardware_concurrency());
  std::printf("processes  seconds  builds/s  cores used  builds/s and core\n");
  std::istringstream numbers(options.ranks);
  for (std::string number; std::getline(numbers, number, ',');) {
    const std::optional<Builds> builds = builds_of(options, std::atoi(number.c_str()));
    if (!builds) return 1;
    const double rate = options.candidates / builds->seconds;
    std::printf("%9s %8.2f %9.2f %11.2f %18.2f\n", number.c_str(), builds->seconds, rate,
                builds->cores, rate / builds->cores);
    std::fflush(stdout);
  }
  return 0;
}
