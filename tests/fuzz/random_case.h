// A random small program with a random schedule, from a seed. The same seed and kept steps give the
// same case.
//
//   Case c = make_case(17);
//   std::cout << c.describe();
//   Verdict v = check(c, {.compile = true});
//   v.wrong                         // "" if every way to run it agrees with the default schedule
#pragma once

#include <tenon/tenon.h>

namespace tenon::fuzz {

struct Case {
  unsigned seed;
  te::Schedule schedule;
  std::vector<LowerArgument> args;
  /// The program, then the primitives that were applied.
  std::vector<std::string> program, steps;
  /// How many primitives were tried, applied or refused.
  int tried;
  /// Why primitives were refused, at the call or when the schedule with them was frozen.
  std::vector<std::string> refusals;

  std::string describe() const;
};

/// A step for which keep[n] is false is left out; steps beyond its length are kept.
Case make_case(unsigned seed, const std::vector<bool>& keep = {});

struct CheckOptions {
  /// Also compile for this host, and run that.
  bool compile = false;
};

struct Verdict {
  /// What went wrong, be it a number, a fault that the compiler finds in itself, or an error that
  /// says nothing of the user's schedule.
  std::string wrong = {};
  /// Why lower or build refused the schedule, with reason.
  std::string refused = {};
};

Verdict check(const Case& c, const CheckOptions& options = {});

/// A case with as few primitives as still fail, from one that fails.
Case shrink(const Case& failing, const CheckOptions& options = {});

}  // namespace tenon::fuzz
