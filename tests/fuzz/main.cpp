// fuzz [--seconds N] [--seed S] [--count N] [--compile]: random programs with random schedules, one
// seed after the other, until the time is over. A failure is shrunk and printed; the exit status is
// then 1.
#include <chrono>
#include <iostream>
#include <map>
#include <random>

#include "tests/fuzz/random_case.h"

namespace {

using namespace tenon;

struct Options {
  int seconds = 60;
  int count = 0;
  unsigned seed = std::random_device()() % 1'000'000'000;
  bool compile = false;
  bool refusals = false;
};

std::optional<Options> parse(std::span<char*> args) {
  Options options;
  for (std::size_t n = 0; n < args.size(); ++n) {
    const std::string_view arg = args[n];
    const bool has_value = n + 1 < args.size();
    if (arg == "--compile") {
      options.compile = true;
    } else if (arg == "--refusals") {
      options.refusals = true;
    } else if (arg == "--seconds" && has_value) {
      options.seconds = std::stoi(args[++n]);
    } else if (arg == "--count" && has_value) {
      options.count = std::stoi(args[++n]);
    } else if (arg == "--seed" && has_value) {
      options.seed = static_cast<unsigned>(std::stoul(args[++n]));
    } else {
      std::cerr
          << "fuzz: '" << arg
          << "' is not known, or lacks its value. Known: --seconds N (of running; 60), --count N (of seeds; "
             "any), "
             "--seed S (the first), --compile (also run compiled code), --refusals (count why schedules are "
             "refused)\n";
      return std::nullopt;
    }
  }
  return options;
}

/// The sentence without names and numbers, so that like refusals count together.
std::string kind_of(const std::string& refusal) {
  std::string kind;
  bool quoted = false;
  for (char c : refusal.substr(0, refusal.rfind(" (at "))) {
    if (c == '`') quoted = !quoted;
    if (!quoted) kind += c >= '0' && c <= '9' ? '#' : c;
  }
  return kind;
}

struct Tally {
  int cases = 0, failures = 0, refused = 0;
  std::map<std::string, int> refusals;
};

void run_one(unsigned seed, const fuzz::CheckOptions& options, Tally& tally) {
  ++tally.cases;
  try {
    const fuzz::Case c = fuzz::make_case(seed);
    for (const std::string& refusal : c.refusals) ++tally.refusals[kind_of(refusal)];
    const fuzz::Verdict verdict = fuzz::check(c, options);
    if (!verdict.refused.empty()) {
      ++tally.refused;
      ++tally.refusals["lower or build: " + kind_of(verdict.refused)];
    }
    if (verdict.wrong.empty()) return;
    const fuzz::Case smallest = fuzz::shrink(c, options);
    std::cout << smallest.describe() << "=> " << fuzz::check(smallest, options).wrong << std::endl;
  } catch (const std::exception& error) {
    std::cout << "seed " << seed << "\n=> while making the schedule: " << error.what() << std::endl;
  }
  ++tally.failures;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options =
      parse(std::span<char*>(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
  if (!options) return 2;
  std::cout << "first seed " << options->seed << std::endl;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options->seconds);
  Tally tally;
  for (unsigned seed = options->seed; std::chrono::steady_clock::now() < end; ++seed) {
    if (options->count > 0 && tally.cases == options->count) break;
    run_one(seed, {.compile = options->compile}, tally);
  }
  if (options->refusals)
    for (const auto& [refusal, count] : tally.refusals)
      std::cout << count << "x " << refusal << "\n";
  std::cout << tally.cases << " cases, " << tally.refused << " refused, " << tally.failures
            << " failures\n";
  return tally.failures == 0 ? 0 : 1;
}
