// How long the stages of a program take while it runs, and how long the compiler took. tenon.h does
// not bring it.
//
//   #include <tenon/driver/profile.h>
//   runtime::Module mod = build(s, {A, B, C}, Target("llvm"), {.name = "matmul", .profile = true});
//   mod["matmul"](a, b, c);
//   Profile profile = profile_of(mod);
//   std::cout << profile;                                     // a line for each stage
//   std::ofstream("matmul.json") << profile.json();
//   std::ofstream("matmul.trace") << profile.chrome_trace();  // for chrome://tracing, or Perfetto
//
//   stage     where           calls        ms   share   Gop/s ...
//   packed    ladder.cpp:88       1     0.251   2.6 %        -
//   C         ladder.cpp:91       1     9.214  97.4 %    233.1
//
// A stage's time begins where its loops begin. A stage that is computed inside another one's loops
// has a time of its own if a run of its loops there takes about a microsecond or more; otherwise
// its time is part of the other's, and the line says so. Code that was not built for it measures
// nothing.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tenon/runtime/module.h"

namespace tenon {

/// What was measured of one stage, in all calls together.
struct StageProfile {
  std::string function;
  /// As the user named it.
  std::string name;
  /// "matmul.cpp:14"; empty for functions that were not made from a schedule.
  std::string line;
  /// Set where its loops run too briefly to be timed: the stage (or function) that their time is
  /// part of. Then there are no calls and no times.
  std::optional<std::string> counted_in;

  /// How often its loops ran, from their beginning to their end.
  std::int64_t calls = 0;
  /// Of work on all threads together, without stages inside that have times of their own.
  double seconds = 0;
  /// `seconds` as a part of all stages' and functions'.
  double share = 0;
  /// From the beginning of its loops to their end, all inside included, on the threads that began
  /// them.
  double elapsed = 0;
  /// What threads waited for each other at the ends of its parallel loops, and in barriers.
  double waiting = 0;
  /// What one thread did of the stage.
  struct OnThread {
    int thread;
    double seconds;
    /// Loops run from beginning to end, and parts of parallel loops.
    std::int64_t runs;
  };
  /// The threads that took part.
  std::vector<OnThread> threads = {};

  /// What one call of the function makes the stage do, by its loops: absent where they depend on
  /// sizes that are known only then, and where C functions or intrinsics do the work.
  struct Work {
    /// Arithmetic on values, not on indices. A vector counts its lanes, a function of mathematics
    /// counts as one; of a choice both sides count.
    double operations = 0;
    /// By its loads and stores, whether caches hold it or not.
    double bytes_read = 0, bytes_written = 0;
    /// Elements that are stored, each time counted, beside what storing each once would take: 1.27
    /// where 27 of 100 elements are computed twice. Absent for operations that are no te::compute.
    std::optional<double> recomputation = std::nullopt;
  };
  std::optional<Work> work = std::nullopt;
};

/// What was measured of one function, in all calls together.
struct FunctionProfile {
  std::string name;
  std::int64_t calls = 0;
  double elapsed = 0;
  /// In no stage: checks, memory for temporaries, and what is between stages.
  double other_seconds = 0;
};

/// A step of the compiler: a pass or another one.
struct CompileStep {
  std::string name;
  /// Since build was called.
  double begin = 0;
  double seconds = 0;
};

/// An interval that a thread spent in a stage, or in a function.
struct RunEvent {
  std::string name;
  int thread = 0;
  /// Of a parallel loop's work: this thread's.
  bool is_part = false;
  /// Since the first event.
  double begin = 0;
  double seconds = 0;
};

struct Profile {
  std::vector<FunctionProfile> functions;
  /// In the order in which they are computed.
  std::vector<StageProfile> stages;
  /// Bytes that temporaries had at once, of all threads together, beside those on the stack.
  std::uint64_t peak_workspace = 0;
  std::vector<CompileStep> compile_steps;
  /// The first ones of every thread; the others were too many to keep.
  std::vector<RunEvent> events;
  std::int64_t events_left_out = 0;

  /// All of it but the events, as a JSON object: "functions", "stages", "peak_workspace",
  /// "compile_steps", with the names that the members here have. What is absent is null.
  std::string json() const;
  /// Events in the format that Chrome's tracing pages and Perfetto read: the compiler's steps, and
  /// what every thread ran, on a time line of its own each.
  std::string chrome_trace() const;
};

/// What has been measured since the module was built, or since reset_profile. Throws RuntimeError
/// if it was built without `profile`. No function of the module may be running meanwhile.
Profile profile_of(const runtime::Module& module, SourceLocation where = SourceLocation::current());

/// Forgets what was measured of the runs so far, of warming up for example.
void reset_profile(const runtime::Module& module, SourceLocation where = SourceLocation::current());

/// The table: functions and stages, with rates and shares, and what each thread did.
std::ostream& operator<<(std::ostream& out, const Profile& profile);

}  // namespace tenon
