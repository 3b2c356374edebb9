// Cases in processes of their own, so that a crash, a compile without end and memory without end
// are outcomes like others.
//
//   Worker worker(run, {.cpu_seconds = 20});
//   worker.start({.seed = 17});
//   while (!worker.outcome()) wait_for({&worker});
//
// The parent must not have threads: a worker is forked, and goes on with one case after the other
// until one ends it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>

#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

struct Job {
  unsigned seed = 0;
  /// The parts to keep, as for make_case.
  std::vector<bool> keep = {};
};

struct Outcome {
  enum class Kind { Right, Refused, Wrong, Crashed, TooSlow };
  Kind kind = Kind::Right;
  /// The fault, or why the case was refused.
  std::string text = {};
  std::string description = {};
  /// Seconds of processor time by phase.
  std::map<std::string, double> phases = {};
  int parts = 0;
  std::vector<Attempt> attempts = {};
  /// Notes on the program and on how it is compiled.
  std::vector<Note> notes = {};

  bool is_finding() const { return kind != Kind::Right && kind != Kind::Refused; }
};

/// Callbacks of a worker that is busy with a case.
struct Reporter {
  std::function<void(const std::string& phase)> on_phase;
  std::function<void(const std::string& description)> on_description;
};

struct Limits {
  /// Limit of the processor time for each phase of a case; the limit on the wall clock is ten times
  /// as long.
  double cpu_seconds = 20;
  /// 0: none.
  std::size_t memory_bytes = std::size_t{6} << 30;
  /// A new process after so many cases, so that little piles up.
  int cases_per_process = 400;
};

class Worker {
 public:
  using Run = std::function<Outcome(const Job& job, const Reporter& reporter)>;

  Worker(Run run, Limits limits) : run_(std::move(run)), limits_(limits) {}
  ~Worker() { end(); }
  Worker(const Worker&) = delete;

  bool is_busy() const { return busy_; }
  const Job& job() const { return job_; }
  /// Precondition: not busy.
  void start(const Job& job);
  /// That of the job, once; looks at what has come and at the limits.
  std::optional<Outcome> outcome();
  /// To wait on.
  int descriptor() const { return from_child_; }
  /// start, and wait.
  Outcome run_now(const Job& job);

 private:
  void fork_child();
  [[noreturn]] void serve(int jobs, int results) const;
  void end();
  /// nullopt if all is well.
  std::optional<std::string> broken_limit() const;
  Outcome lost(Outcome::Kind kind, std::string text);
  std::optional<Outcome> take_messages();
  double cpu_seconds() const;

  Run run_;
  Limits limits_;
  pid_t child_ = -1;
  int to_child_ = -1, from_child_ = -1;
  int cases_ = 0;
  bool busy_ = false;
  Job job_;
  std::string received_, phase_, description_;
  double phase_cpu_ = 0;
  std::chrono::steady_clock::time_point phase_start_;
};

/// Until one of them has something to say, or a tenth of a second.
void wait_for(const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace tenon::fuzz
