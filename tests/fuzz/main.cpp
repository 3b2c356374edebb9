// fuzz [--seconds N] [--seed S] [--count N] [--compile] [--jobs J] ...: random programs with random
// schedules, one seed after the other, each in a process of its own with a limit, until the time is
// over. A failure is shrunk and printed; the exit status is then 1.
#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "tenon/support/progress.h"
#include "tests/fuzz/block_case.h"
#include "tests/fuzz/builder_case.h"
#include "tests/fuzz/random_case.h"
#include "tests/fuzz/tally.h"
#include "tests/fuzz/thread_reductions.h"

namespace {

using namespace tenon;
using namespace tenon::fuzz;

enum class Kind : std::uint8_t { Small, Overflowing, Special, Blocks, Nests, Builder };
constexpr std::array<const char*, 6> kKinds = {"small",  "overflowing", "special",
                                               "blocks", "nests",       "builder"};

std::optional<Kind> kind_of(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name);
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<Kind>(found - kKinds.begin());
}

/// The kind of a case. Three of ten seeds have small data, one data that overflows and three
/// special data; three are block programs and loops of the IR builder.
Kind kind_of_seed(unsigned seed) {
  static constexpr std::array kOfDigit = {
      Kind::Small,   Kind::Small,   Kind::Small,  Kind::Overflowing, Kind::Special,
      Kind::Special, Kind::Special, Kind::Blocks, Kind::Nests,       Kind::Builder};
  return kOfDigit[seed % kOfDigit.size()];
}

struct Options {
  int seconds = 60;
  int count = 0;
  unsigned seed = std::random_device()() % 1'000'000'000;
  bool compile = false;
  bool interpret = false;
  bool refusals = false;
  bool coverage_table = false;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int limit = 20;
  int memory_mb = 6 * 1024;
  int shrink_seconds = 60;
  bool describe = false;
  bool thread_reductions = false;
  bool proofs = false;
  bool stop_at_first = false;
  /// Instead of the case's own.
  std::optional<Target> target;
  /// The kind of every case, instead of each seed's own.
  std::optional<Kind> kind;
  /// Only cases whose description has this text are run.
  std::string only;
  /// The file for the tables of coverage; empty: they are not written.
  std::string coverage_json;
};

constexpr const char* kKnown =
    "--seconds N (of running; 60), --count N (of seeds; any), --seed S (the first), --jobs J "
    "(processes; one per processor), --kind K (of every case, instead of the seed's own: small, "
    "overflowing and special are programs of te over such data, blocks and nests are block programs "
    "with traces, builder are loops of the IR builder), --blocks (--kind blocks), --compile (also run "
    "compiled code), --interpret (with --compile: every case in the interpreter too, not one of "
    "five), --target T (with --compile: "
    "that of all cases, such as c; each its own; opencl: threads in every case, run on the device), --limit N (seconds of "
    "processor time for a build, or any other phase of a case; 20), --memory N (MiB of a process; "
    "6144, 0 for any), --thread-reductions (nothing by chance, but all of the reductions that up to "
    "65 threads share, on OpenCL's device or the one of --target), --proofs (runs nothing: how many "
    "accesses and loops are proved, with both kinds of bounds; with --describe, those that are not), --shrink-seconds N (for a finding; 60), --stop-at-first (a finding ends it, and is not shrunk), --refusals (count why schedules "
    "are refused), --only TEXT (of the cases, runs those whose description has it, such as the name of "
    "a primitive), --coverage-table (how often each primitive with its options was met on each kind "
    "of operation, and accepted, and what else programs were made of), --coverage-json FILE (the "
    "same), --describe (print every case)";

std::optional<Options> parse(std::span<char*> args) {
  Options options;
  const std::map<std::string_view, bool*> switches = {
      {"--compile", &options.compile},
      {"--interpret", &options.interpret},
      {"--refusals", &options.refusals},
      {"--describe", &options.describe},
      {"--coverage-table", &options.coverage_table},
      {"--thread-reductions", &options.thread_reductions},
      {"--proofs", &options.proofs},
      {"--stop-at-first", &options.stop_at_first}};
  const std::map<std::string_view, int*> numbers = {
      {"--seconds", &options.seconds},  {"--count", &options.count},
      {"--jobs", &options.jobs},        {"--limit", &options.limit},
      {"--memory", &options.memory_mb}, {"--shrink-seconds", &options.shrink_seconds}};
  for (std::size_t n = 0; n < args.size(); ++n) {
    const std::string_view arg = args[n];
    const bool has_value = n + 1 < args.size();
    if (arg == "--help") {
      std::cout << "fuzz: random programs with random schedules. Options: " << kKnown << "\n";
      std::exit(0);
    }
    if (const auto found = switches.find(arg); found != switches.end()) {
      *found->second = true;
    } else if (const auto number = numbers.find(arg); number != numbers.end() && has_value) {
      *number->second = std::stoi(args[++n]);
    } else if (arg == "--only" && has_value) {
      options.only = args[++n];
    } else if (arg == "--coverage-json" && has_value) {
      options.coverage_json = args[++n];
    } else if (arg == "--blocks") {
      options.kind = Kind::Blocks;
    } else if (arg == "--kind" && has_value && kind_of(args[n + 1])) {
      options.kind = kind_of(args[++n]);
    } else if (arg == "--target" && has_value) {
      options.target = Target(args[++n]);
    } else if (arg.starts_with("--target=")) {
      options.target = Target(std::string(arg.substr(std::string_view("--target=").size())));
    } else if (arg == "--seed" && has_value) {
      options.seed = static_cast<unsigned>(std::stoul(args[++n]));
    } else {
      std::cerr << "fuzz: '" << arg << "' is not known, or lacks its value. Known: " << kKnown
                << "\n";
      return std::nullopt;
    }
  }
  return options;
}

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Programs programs_of(Kind kind) {
  return kind == Kind::Special       ? Programs::Special
         : kind == Kind::Overflowing ? Programs::Overflowing
                                     : Programs::Small;
}

/// In a worker.
Outcome run_block_case(const Options& options, Kind kind, const Job& job,
                       const Reporter& reporter) {
  Outcome outcome;
  const double begin = cpu_seconds();
  const bool for_device = options.target && options.target->facts().is_gpu();
  const BlockCase c = make_block_case(
      job.seed, job.keep, for_device,
      kind == Kind::Nests ? BlockPrograms::Nests : BlockPrograms::Graphs, reporter.on_description);
  reporter.on_description(c.describe());
  outcome.description = c.describe();
  outcome.attempts = c.attempts;
  outcome.parts = c.parts;
  outcome.notes = c.notes;
  reporter.on_phase("checking");
  try {
    outcome.text = check_block_case(c, options.compile, options.target);
  } catch (const LowerError& error) {
    outcome.text = error.what();
    outcome.kind = for_device ? Outcome::Kind::Refused : Outcome::Kind::Wrong;
  } catch (const Error& error) {
    outcome.text = std::string("throws: ") + error.what();
  }
  if (!outcome.text.empty() && outcome.kind == Outcome::Kind::Right)
    outcome.kind = Outcome::Kind::Wrong;
  outcome.phases["checking"] += cpu_seconds() - begin;
  return outcome;
}

/// In a worker.
Outcome run_builder_case(const Options& options, const Job& job, const Reporter& reporter) {
  Outcome outcome;
  const double begin = cpu_seconds();
  const BuilderCase c = make_builder_case(job.seed, job.keep);
  outcome.description = c.describe();
  reporter.on_description(outcome.description);
  outcome.parts = c.parts;
  outcome.notes = c.notes;
  reporter.on_phase("checking");
  const Verdict verdict =
      check(c, {.compile = options.compile, .interpret = true, .target = options.target});
  outcome.phases["checking"] += cpu_seconds() - begin;
  outcome.kind = !verdict.wrong.empty()     ? Outcome::Kind::Wrong
                 : !verdict.refused.empty() ? Outcome::Kind::Refused
                                            : Outcome::Kind::Right;
  outcome.text = verdict.wrong + verdict.refused;
  return outcome;
}

/// In a worker.
Outcome run_case(const Options& options, const Job& job, const Reporter& reporter) {
  const Kind kind = options.kind.value_or(kind_of_seed(job.seed));
  const bool is_on_device = options.target && options.target->facts().is_gpu();
  if (kind == Kind::Builder && !is_on_device) return run_builder_case(options, job, reporter);
  if (kind == Kind::Blocks || kind == Kind::Nests)
    return run_block_case(options, kind, job, reporter);
  Outcome outcome;
  std::string phase = "scheduling";
  double phase_start = cpu_seconds();
  const bool for_device = options.target && options.target->facts().is_gpu();
  const Case c = make_case(job.seed, job.keep, for_device, programs_of(kind));
  reporter.on_description(c.describe());
  outcome.description = c.describe();
  outcome.attempts = c.attempts;
  outcome.parts = c.parts;
  outcome.notes = c.notes;
  if (outcome.description.find(options.only) == std::string::npos) return outcome;
  auto enter = [&](const char* next) {
    outcome.phases[phase] += cpu_seconds() - phase_start;
    phase = next;
    phase_start = cpu_seconds();
    reporter.on_phase(next);
  };
  const Verdict verdict = check(c, {.compile = options.compile,
                                    .interpret = options.interpret || job.seed % 5 == 0,
                                    .target = options.target,
                                    .on_phase = enter});
  outcome.phases[phase] += cpu_seconds() - phase_start;
  if (!verdict.wrong.empty()) {
    outcome.kind = Outcome::Kind::Wrong;
    outcome.text = verdict.wrong;
  } else if (!verdict.refused.empty()) {
    outcome.kind = Outcome::Kind::Refused;
    outcome.text = verdict.refused;
  }
  return outcome;
}

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options)
      : options_(options),
        limits_{.cpu_seconds = static_cast<double>(options.limit),
                .memory_bytes = static_cast<std::size_t>(options.memory_mb) << 20},
        alone_(run(), limits_) {
    for (int n = 0; n < std::max(1, options.jobs); ++n)
      workers_.push_back(std::make_unique<Worker>(run(), limits_));
  }

  int run_all() {
    unsigned next = options_.seed;
    while (true) {
      bool is_busy = false;
      for (const auto& worker : workers_) {
        if (std::optional<Outcome> outcome = worker->outcome()) take(worker->job(), *outcome);
        if (!worker->is_busy() && !is_over(next)) worker->start({.seed = next++});
        is_busy = is_busy || worker->is_busy();
      }
      show_progress();
      if (!is_busy) break;
      wait_for(workers_);
    }
    progress_.hide();
    if (options_.refusals) tally_.print_refusals(std::cout);
    if (options_.coverage_table) print_coverage();
    if (!options_.coverage_json.empty())
      std::ofstream(options_.coverage_json) << tally_.coverage().json() << "\n";
    std::cout << "first seed " << options_.seed << "\n";
    tally_.print_summary(std::cout, elapsed());
    return tally_.findings() == 0 ? 0 : 1;
  }

 private:
  void print_coverage() const {
    tally_.print_steps(std::cout);
    std::cout << "\n";
    std::cout << tally_.coverage();
  }

  Worker::Run run() const {
    return [this](const Job& job, const Reporter& reporter) {
      return run_case(options_, job, reporter);
    };
  }

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  bool is_over(unsigned next) const {
    return elapsed() > options_.seconds || (options_.stop_at_first && tally_.findings() > 0) ||
           (options_.count > 0 && next - options_.seed >= static_cast<unsigned>(options_.count));
  }

  void take(const Job& job, const Outcome& outcome) {
    tally_.add(job, outcome);
    if (options_.describe || outcome.is_finding()) progress_.hide();
    if (options_.describe) std::cout << outcome.description << "=> " << outcome.text << std::endl;
    if (!outcome.is_finding()) return;
    // The first few of a kind are worth the time.
    if (tally_.count_of(outcome) > 3 || options_.shrink_seconds == 0 || options_.stop_at_first) {
      std::cout << outcome.description << "=> " << outcome.text << "\n" << std::endl;
      return;
    }
    const Outcome again = alone_.run_now(job);
    if (!again.is_finding()) {
      std::cout << outcome.description << "=> " << outcome.text
                << " (not again in a process of its own)\n"
                << std::endl;
      return;
    }
    // A case that ended its process could not say how many parts it had.
    const int parts = outcome.parts > 0 ? outcome.parts : 40;
    const std::string kind = Tally::kind_of_finding(again);
    const std::vector<bool> keep = shrink(
        parts, std::chrono::seconds(options_.shrink_seconds), [&](const std::vector<bool>& kept) {
          return Tally::kind_of_finding(alone_.run_now({.seed = job.seed, .keep = kept})) == kind;
        });
    const Outcome smallest = alone_.run_now({.seed = job.seed, .keep = keep});
    std::cout << smallest.description << "=> " << smallest.text << "\n" << std::endl;
  }

  void show_progress() {
    progress_.set(tally_.cases(), std::to_string(tally_.findings()) + " findings");
  }

  Options options_;
  Limits limits_;
  /// For what is looked at once more.
  Worker alone_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Tally tally_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Progress progress_{{.what = "cases",
                      .total = options_.count > 0 ? std::optional(options_.count) : std::nullopt,
                      .most_seconds = options_.seconds}};
};

/// 13 kernels at a time, so that a driver compiles them in a while.
int run_thread_reductions(const Options& options) {
  constexpr std::size_t kAtOnce = 13;
  const Target target =
      options.target.value_or(Target("opencl -max-threads=4096 -shared-bytes=131072"));
  const std::vector<ThreadReduction> all = all_thread_reductions();
  int wrong = 0;
  for (std::size_t n = 0; n < all.size(); n += kAtOnce) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(n);
    const std::string found =
        check_thread_reductions({begin, begin + static_cast<std::ptrdiff_t>(kAtOnce)}, target);
    wrong += !found.empty();
    if (!found.empty()) std::cout << found << std::endl;
  }
  std::cout << all.size() << " reductions on " << target << ", " << wrong << " findings\n";
  return wrong == 0 ? 0 : 1;
}

/// Counts what is proved of the programs of `options.count` seeds.
int run_proofs(const Options& options) {
  struct Counts {
    int accesses = 0, proved = 0, wrong = 0, loops = 0, apart = 0;
  } counts[2];
  int refused = 0;
  const double start = cpu_seconds();
  const unsigned count = options.count > 0 ? static_cast<unsigned>(options.count) : 100;
  for (unsigned seed = options.seed; seed - options.seed < count; ++seed) {
    const Case c = make_case(seed, {}, false, programs_of(options.kind.value_or(Kind::Small)));
    for (const Bounds bounds : {Bounds::Default, Bounds::Exact}) {
      Counts& sum = counts[bounds == Bounds::Exact];
      try {
        const Explanation found = explain(c.schedule, c.args, {.bounds = bounds});
        using Verdict = Explanation::Verdict;
        const auto with = [](const auto& list, Verdict verdict) {
          return static_cast<int>(std::ranges::count_if(
              list, [&](const auto& each) { return each.verdict == verdict; }));
        };
        sum.accesses += static_cast<int>(found.accesses.size());
        sum.proved += with(found.accesses, Verdict::Proved);
        sum.wrong += with(found.accesses, Verdict::Wrong);
        sum.loops += static_cast<int>(found.loops.size());
        sum.apart += with(found.loops, Verdict::Proved);
        const bool is_open = with(found.accesses, Verdict::Proved) < std::ssize(found.accesses) ||
                             with(found.loops, Verdict::Proved) < std::ssize(found.loops);
        if (options.describe && is_open) std::cout << c.describe() << found << "\n";
      } catch (const Error&) {
        refused += bounds == Bounds::Default;
      }
    }
  }
  for (const bool exact : {false, true}) {
    const Counts& sum = counts[exact];
    std::cout << (exact ? "exact bounds:   " : "default bounds: ") << sum.proved << " of "
              << sum.accesses << " accesses are proved, " << sum.wrong << " are wrong; "
              << sum.apart << " of " << sum.loops << " loops are proved\n";
  }
  std::cout << count << " programs from seed " << options.seed << ", " << refused << " refused, "
            << cpu_seconds() - start << " s\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options =
      parse(std::span<char*>(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
  if (!options) return 2;
  // Every program is compiled. PoCL finds no device without a folder for its own cache.
  ::setenv("XDG_CACHE_HOME", "/dev/null", 1);
  const std::filesystem::path pocl = std::filesystem::temp_directory_path() / "tenon_fuzz_pocl";
  std::filesystem::create_directories(pocl);
  ::setenv("POCL_CACHE_DIR", pocl.c_str(), 0);
  if (options->thread_reductions) return run_thread_reductions(*options);
  if (options->proofs) return run_proofs(*options);
  return Fuzzer(*options).run_all();
}
