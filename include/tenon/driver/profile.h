// Profiles: the run time of the stages of a program, and the compile time. Not included by tenon.h.
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
// A stage's time starts where its loops start. A stage inside another stage's loops is timed
// separately if each execution of its loops takes about a microsecond or more; otherwise its time
// is part of the outer stage's time, and its line names that stage. Code that was not built with
// `profile` measures nothing.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tenon/runtime/module.h"

namespace tenon {

/// The measurements of one stage over all calls.
struct StageProfile {
  std::string function;
  /// The user's name for the stage.
  std::string name;
  /// Source location, "matmul.cpp:14"; empty for functions not made from a schedule.
  std::string line;
  /// The stage or function whose time includes this stage's time, if this stage's loops are too
  /// short to be timed. This stage then has no calls and times.
  std::optional<std::string> counted_in;

  /// Number of executions of the stage's loop nest.
  std::int64_t calls = 0;
  /// Time of all threads together, in seconds, without nested stages that are timed separately.
  double seconds = 0;
  /// `seconds` as a fraction of the time of all stages and functions.
  double share = 0;
  /// Time from the start to the end of the stage's loops, including nested stages, on the threads
  /// that started the loops.
  double elapsed = 0;
  /// Time that threads waited for one another at the end of parallel loops and in barriers.
  double waiting = 0;
  /// One thread's share of the stage.
  struct OnThread {
    int thread;
    double seconds;
    /// Number of executions of the stage's loop nest, and of parts of its parallel loops, by this
    /// thread.
    std::int64_t runs;
  };
  /// The threads that took part.
  std::vector<OnThread> threads = {};

  /// The work of the stage in one call, derived from its loops. Absent if the loops depend on sizes
  /// known only at run time, and for work done by C functions or intrinsics.
  struct Work {
    /// Number of arithmetic operations on values, without index arithmetic. A vector operation
    /// counts once per lane, a math function once. Both branches of a conditional expression count.
    double operations = 0;
    /// Bytes loaded and stored, regardless of caches.
    double bytes_read = 0, bytes_written = 0;
    /// Stores divided by distinct elements: 1.27 if 27 of 100 elements are computed twice. Absent
    /// for operations other than te::compute.
    std::optional<double> recomputation = std::nullopt;
  };
  std::optional<Work> work = std::nullopt;
};

/// The measurements of one function over all calls.
struct FunctionProfile {
  std::string name;
  std::int64_t calls = 0;
  double elapsed = 0;
  /// Time outside all stages: checks, temporaries, and code between stages.
  double other_seconds = 0;
};

/// A timed step of the compiler, such as a pass.
struct CompileStep {
  std::string name;
  /// Seconds since build was called.
  double begin = 0;
  double seconds = 0;
};

/// An interval that a thread spent in a stage or function.
struct RunEvent {
  std::string name;
  int thread = 0;
  /// Whether the interval is the thread's part of a parallel loop.
  bool is_part = false;
  /// Seconds since the first event.
  double begin = 0;
  double seconds = 0;
};

struct Profile {
  std::vector<FunctionProfile> functions;
  /// The stages in order of execution.
  std::vector<StageProfile> stages;
  /// Maximum number of bytes of temporaries in use at once by all threads, excluding the stack.
  std::uint64_t peak_workspace = 0;
  std::vector<CompileStep> compile_steps;
  /// The first events of every thread. Further events are only counted.
  std::vector<RunEvent> events;
  std::int64_t events_left_out = 0;

  /// Returns everything except the events as a JSON object: "functions", "stages",
  /// "peak_workspace", "compile_steps", with the member names used here. Absent values are null.
  std::string json() const;
  /// Returns the events in the format of Chrome's tracing page and Perfetto: the compile steps, and
  /// a timeline per thread.
  std::string chrome_trace() const;
};

/// Returns the measurements since the module was built or reset_profile was called. RuntimeError if
/// it was built without `profile`. Precondition: no function of the module is running.
Profile profile_of(const runtime::Module& module, SourceLocation where = SourceLocation::current());

/// Discards the measurements so far, for example those of warm-up runs.
void reset_profile(const runtime::Module& module, SourceLocation where = SourceLocation::current());

/// Prints the table of functions and stages, with rates, shares and the work of each thread.
std::ostream& operator<<(std::ostream& out, const Profile& profile);

}  // namespace tenon
