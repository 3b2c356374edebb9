// Measurement of candidates. A candidate is compiled, run in a separate process, compared with the
// unscheduled program, and then timed.
//
//   tune::Measurer measurer(mod, Target("llvm -num-cores=1"));
//   std::vector<tune::Build> builds = measurer.build({candidate});
//   tune::Measurement m = measurer.run(builds)[0];
//   m.outcome == tune::Outcome::Measured, m.median()
//
// The process runs the program tenon_measure, which is located next to the runtime's library or in
// ../libexec/tenon relative to it. It is started without fork. A candidate that crashes, hangs,
// exceeds its memory or computes a wrong result yields a measurement with a reason and has no other
// effect.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/tir/function.h"

namespace tenon::tune {

enum class Outcome : unsigned char {
  Measured,
  /// Compilation failed.
  BuildFailed,
  /// The results are wrong, an input was modified, or memory outside the arrays was written.
  Wrong,
  /// The process was ended by a signal or an error.
  Crashed,
  /// The process exceeded the time limit.
  TimedOut
};
/// Returns "measured", "build failed", "wrong", "crashed" or "timed out".
std::string_view to_string(Outcome outcome);
/// Parses a text of to_string. Nullopt for any other text.
std::optional<Outcome> parse_outcome(std::string_view text);

struct Measurement {
  Outcome outcome = Outcome::Measured;
  /// Seconds per call, one entry per repeat. Empty unless measured.
  std::vector<double> seconds = {};
  /// The reason for an outcome other than Measured, as a sentence.
  std::string reason = {};

  /// Whether the candidate was measured and all times are positive.
  bool is_valid() const;
  /// Returns the median of the repeats. Precondition: is_valid().
  double median() const;
};

/// Options of compilation, comparison and timing.
struct MeasureOptions {
  /// Parallel compilations; 0: one per physical core.
  int build_workers = 0;
  /// Minimum number of calls per repeat; increased until a repeat takes min_repeat_ms.
  int number = 1;
  int repeat = 3;
  double min_repeat_ms = 100;
  /// Early exit: a candidate whose first call takes more than slow_factor times the best time so
  /// far is not called again, and that call's time is recorded. 0 disables.
  double slow_factor = 10;
  /// Limit for the whole process of a candidate.
  double run_timeout_s = 30;
  /// Limit of the process's address space; 0: none.
  std::int64_t memory_limit_bytes = 0;
  /// An element is correct if |actual - expected| <= absolute + relative * |expected|. Integers
  /// must be equal.
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-3;
  /// Seed of the random inputs.
  std::uint64_t seed = 1;
  /// The program that runs candidates. Empty: tenon_measure (see the top of this file).
  std::filesystem::path worker = {};
};

/// A compiled candidate, or the error of its compilation.
struct Build {
  /// The file with the candidate's code.
  std::filesystem::path code = {};
  std::string error = {};
  bool is_fine() const { return error.empty(); }
};

class Measurer {
 public:
  /// Compiles and runs the unscheduled module; its results for random inputs are the reference for
  /// candidates. The target's number of cores (`-num-cores`) is the number of threads for the
  /// module and the candidates. For a device target, the reference runs on the host, and candidates
  /// are called with arrays on the device. TypeError unless the module has exactly one function,
  /// with arrays of constant shape as parameters, and for options with which nothing can be
  /// measured. RuntimeError if it cannot run, or if the device or the worker program does not
  /// exist.
  Measurer(const tir::IRModule& unscheduled, const Target& target,
           const MeasureOptions& options = {});
  ~Measurer();
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  /// Compiles candidates with the options of the final build. Returns the builds in the same order.
  std::vector<Build> build(const std::vector<tir::IRModule>& candidates);
  /// Receives each result and the index of its build as soon as it is available. Returning false
  /// skips the rest.
  using OnMeasured = std::function<bool(std::size_t, const Measurement&)>;
  /// Runs the builds one at a time, pinned to as many processors as the target has cores. Each
  /// file is removed after its run.
  std::vector<Measurement> run(const std::vector<Build>& builds,
                               const OnMeasured& on_measured = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the number of physical cores of this machine; 1 if unknown.
int physical_cores();

}  // namespace tenon::tune
