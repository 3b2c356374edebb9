// A random small program with a random schedule, from a seed. The same seed and kept steps give the
// same case.
//
//   Case c = make_case(17);
//   std::cout << c.describe();
//   Verdict v = check(c, {.compile = true});
//   v.wrong                         // "" if every way to run it agrees with the default schedule
#pragma once

#include <chrono>

#include <tenon/tenon.h>

#include "tests/common/special_numbers.h"
#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

struct Case {
  unsigned seed;
  te::Schedule schedule;
  std::vector<LowerArgument> args;
  /// The program, and every primitive that was tried.
  std::vector<std::string> program;
  std::vector<Attempt> attempts;
  /// The values of the program that may be left out, and then the steps, those that found nothing
  /// to do among them.
  int parts;
  double tolerance;
  /// Loops over threads of a device: nothing that a processor could run.
  bool has_threads;
  testing::Data data;
  testing::Zeros zeros;
  /// How it is compiled.
  Target target;
  BuildOptions build;
  /// The least value of the symbolic size.
  int least_size;
  /// Every output of every computed operation.
  std::vector<te::Tensor> stages;
  /// Notes on the program and on how it is compiled.
  std::vector<Note> notes;

  std::string describe() const;
};

/// The programs of random_program with small data, the same programs with data that overflows, and
/// those of special_program.
enum class Programs : std::uint8_t { Small, Overflowing, Special };

/// A part for which keep[n] is false is left out; parts beyond its length are kept. For a device,
/// every program has threads, and what no step has bound is bound in the end.
Case make_case(unsigned seed, const std::vector<bool>& keep = {}, bool for_device = false,
               Programs programs = Programs::Small);

struct CheckOptions {
  /// Also compile, and run that.
  bool compile = false;
  /// Also have the interpreter run the loops before and after the passes. Always done for what is
  /// not compiled.
  bool interpret = true;
  /// The target to compile for, instead of the case's own. A device's target needs a case that was
  /// made for one.
  std::optional<Target> target = std::nullopt;
  std::function<void(const char* phase)> on_phase = {};
};

struct Verdict {
  /// The fault: a wrong number, an internal error of the compiler, or an error that does not
  /// concern the user's schedule.
  std::string wrong = {};
  /// Why lower or build refused the schedule, with reason.
  std::string refused = {};
};

Verdict check(const Case& c, const CheckOptions& options = {});

/// The parts that a case needs to fail, of `parts`. Asks until the time is over.
std::vector<bool> shrink(int parts, std::chrono::seconds time,
                         const std::function<bool(const std::vector<bool>& keep)>& fails);

}  // namespace tenon::fuzz
