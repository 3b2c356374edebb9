// Measuring candidates: each is compiled, run in a process of its own, compared with the program
// before scheduling, and only then timed.
//
//   tune::Measurer measurer(mod, Target("llvm -num-cores=1"));
//   std::vector<tune::Build> builds = measurer.build({candidate});
//   tune::Measurement m = measurer.run(builds)[0];
//   m.outcome == tune::Outcome::Measured, m.median()
//
// The process is a program of its own (tenon_measure, which lies beside the runtime's library or in
// ../libexec/tenon from there), started without fork. A candidate that crashes, hangs, takes too
// much memory or computes something else is a result with a reason, and harms nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/tir/function.h"

namespace tenon::tune {

enum class Outcome : unsigned char {
  Measured,
  /// It could not be compiled.
  BuildFailed,
  /// It computed something else, wrote into an input, or touched memory beside its arrays.
  Wrong,
  /// A signal, or an error of its own, ended it.
  Crashed,
  /// It was still running at the time limit.
  TimedOut
};
/// "measured", "build failed", "wrong", "crashed", "timed out"
std::string_view to_string(Outcome outcome);

struct Measurement {
  Outcome outcome = Outcome::Measured;
  /// Per call, one for each repeat; none unless measured.
  std::vector<double> seconds = {};
  /// A sentence, unless measured.
  std::string reason = {};

  /// Whether it was measured, and all its times are positive numbers.
  bool is_valid() const;
  /// The middle of the repeats. Precondition: is_valid().
  double median() const;
};

/// How candidates are compiled, run, compared and timed.
struct MeasureOptions {
  /// Compiled at once; 0: physical cores.
  int build_workers = 0;
  /// Calls in one repeat, at least; more where they take less than min_repeat_ms together.
  int number = 1;
  int repeat = 3;
  double min_repeat_ms = 100;
  /// A candidate whose first call takes so many times the least time so far is not called again:
  /// that call's time stands. 0: all are timed alike.
  double slow_factor = 10;
  /// For all of one candidate's process.
  double run_timeout_s = 30;
  /// Of the candidate's process (its address space); 0: no limit.
  std::int64_t memory_limit_bytes = 0;
  /// An element is right if |actual - expected| <= absolute + relative * |expected|; integers are
  /// equal.
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-3;
  /// Of the random inputs.
  std::uint64_t seed = 1;
  /// The program that runs candidates; empty: looked for as above.
  std::filesystem::path worker = {};
};

/// A compiled candidate, or why there is none.
struct Build {
  std::filesystem::path library = {};
  std::string error = {};
  bool is_fine() const { return error.empty(); }
};

class Measurer {
 public:
  /// Compiles and runs the module as it is: what it computes of random inputs is what candidates
  /// must compute. The target's cores (`-num-cores`) are how many threads run it, here and for the
  /// candidates. For a device's target the host computes what is right, and candidates are called
  /// with arrays on the device. TypeError: a module with other than one function, parameters that
  /// are no arrays of constant shape. RuntimeError: it cannot be run, there is no such device, or
  /// no worker program.
  Measurer(const tir::IRModule& unscheduled, const Target& target,
           const MeasureOptions& options = {});
  ~Measurer();
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  /// With the options of the final build; in the order given.
  std::vector<Build> build(const std::vector<tir::IRModule>& candidates);
  /// Called with each result, with its place among the builds, as soon as it is there; false: the
  /// rest is left out.
  using OnMeasured = std::function<bool(std::size_t, const Measurement&)>;
  /// One at a time, pinned to as many processors as the target has cores. Libraries are removed
  /// when they have run.
  std::vector<Measurement> run(const std::vector<Build>& builds,
                               const OnMeasured& on_measured = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of this machine; 1 where the system does not tell.
int physical_cores();

}  // namespace tenon::tune
