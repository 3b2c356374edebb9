#include "tenon/tune/measure.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tenon/codegen/files.h"
#include "tenon/driver/build.h"
#include "tenon/driver/target.h"
#include "tenon/support/child.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tune/measure/file_descriptor.h"
#include "tune/measure/job.h"
#include "tune/measure/parallel_for.h"
#include "tune/measure/worker_program.h"

namespace tenon::tune {

namespace {

// Runs a program under a time limit. The program answers on a separate pipe.

using Clock = std::chrono::steady_clock;

/// Starts the program at the path `command[0]`, which writes its answer to `answer_to`. The program
/// gets its own process group, so that Ctrl-C in a terminal does not reach it. Throws RuntimeError
/// if it cannot be started.
pid_t started(const std::vector<std::string>& command, int answer_to) {
  const std::vector<char*> arguments = exec_arguments(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, answer_to, kAnswerDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, command[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) refuse_to_start(command[0], error);
  return child;
}

/// Reads until the other end is closed. It is closed when the child ends, or earlier. Returns false
/// if the time limit is reached before.
bool read_until(int pipe, Clock::time_point limit, std::string& text) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{.fd = pipe, .events = POLLIN, .revents = 0};
    constexpr std::int64_t kLongest = 1 << 30;
    const int ready =
        poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left.count() + 1, kLongest)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count == 0) return true;
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return true;
  }
}

/// Runs the worker program, and kills it at the time limit. Throws RuntimeError if it cannot be
/// started.
Measurement run_worker(const std::vector<std::string>& command, double limit_s) {
  const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(limit_s));
  // Both ends are closed on exec, so that programs started by other threads do not inherit them.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw RuntimeError(std::string("no pipe to the worker program: ") + std::strerror(errno));
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const pid_t child = started(command, write_end.get());
  write_end.close();
  std::string answer;
  const bool timed_out = !read_until(read_end.get(), limit, answer);
  if (timed_out) kill(-child, SIGKILL);
  const int state = wait_for_end(child, command[0]);
  if (timed_out)
    return {Outcome::TimedOut,
            {},
            "it was still running after " + std::to_string(static_cast<int>(limit_s)) + " s"};
  if (WIFSIGNALED(state))
    return {Outcome::Crashed,
            {},
            "signal " + std::to_string(WTERMSIG(state)) + " (" + strsignal(WTERMSIG(state)) + ")"};
  if (answer.empty())
    return {Outcome::Crashed,
            {},
            "it ended with " + std::to_string(WEXITSTATUS(state)) + ", without an answer"};
  return parse_answer(answer);
}

/// Returns whether a program reads and writes a parameter. In textual order of the blocks, only
/// reads before the first write count. A block that initializes its results does not declare that
/// it reads them.
JobArgument access_of(const tir::PrimFunc& func, const tir::Buffer& buffer) {
  JobArgument result;
  const auto touches = [&](const std::vector<tir::BufferRegion>& regions) {
    return std::ranges::any_of(
        regions, [&](const tir::BufferRegion& region) { return region.buffer.same_as(buffer); });
  };
  tir::walk(func.body, [&](const tir::BlockRealize& realize) {
    if (!result.is_written && touches(realize.block->reads)) result.is_read = true;
    if (touches(realize.block->writes)) result.is_written = true;
  });
  // An argument that is not accessed counts as an input, which must stay unchanged.
  if (!result.is_written) result.is_read = true;
  return result;
}

std::vector<JobArgument> arguments_of(const tir::PrimFunc& func) {
  std::vector<JobArgument> result;
  for (const tir::Var& param : func.params) {
    const tir::BufferParam* array = func.buffer_of(param);
    if (!array)
      throw TypeError("tuning: parameter `" + param.name() +
                      "` is not an array; bind it to a value first");
    JobArgument argument = access_of(func, array->buffer);
    argument.dtype = array->declared->dtype.str();
    for (const tir::Expr& extent : array->declared->shape) {
      const std::optional<std::int64_t> size = tir::constant_int(extent);
      if (!size)
        throw TypeError("tuning: the shape of `" + array->declared->name +
                        "` is not constant; a measurement needs fixed sizes");
      argument.shape.push_back(*size);
    }
    result.push_back(std::move(argument));
  }
  return result;
}

const std::pair<const std::string, tir::PrimFunc>& only_function(const tir::IRModule& mod) {
  if (mod.functions.size() != 1)
    throw TypeError("tuning: a task is one function, and the module has " +
                    std::to_string(mod.functions.size()) + "; tune_tasks takes several tasks");
  return *mod.functions.begin();
}

/// Returns the target of the host CPU, which runs the program or launches its kernels.
Target host_of(const Target& target) { return target.facts().is_gpu() ? Target("llvm") : target; }

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::Measured:
      return "measured";
    case Outcome::BuildFailed:
      return "build failed";
    case Outcome::Wrong:
      return "wrong";
    case Outcome::Crashed:
      return "crashed";
    case Outcome::TimedOut:
      return "timed out";
  }
  internal_error("unknown outcome");
}

std::optional<Outcome> parse_outcome(std::string_view text) {
  for (const Outcome outcome : {Outcome::Measured, Outcome::BuildFailed, Outcome::Wrong,
                                Outcome::Crashed, Outcome::TimedOut})
    if (to_string(outcome) == text) return outcome;
  return std::nullopt;
}

bool Measurement::is_valid() const {
  return outcome == Outcome::Measured && !seconds.empty() &&
         std::ranges::all_of(seconds, [](double s) { return s > 0 && std::isfinite(s); });
}

double Measurement::median() const {
  internal_check(is_valid(), "the median of what was not measured");
  return runtime::Timing::of(seconds).median;
}

struct Measurer::State {
  State(const Target& own_target, const MeasureOptions& own_options)
      : target(own_target),
        options(own_options),
        worker(own_options.worker.empty() ? find_worker_program() : own_options.worker) {}

  Target target;
  MeasureOptions options;
  std::filesystem::path worker;
  codegen::TemporaryFolder folder = {};
  Job job = {};
  int built = 0;
  std::optional<double> least = std::nullopt;

  std::filesystem::path save(const tir::IRModule& mod, int number, const Target& own) const {
    const std::filesystem::path code = folder.file("candidate" + std::to_string(number));
    const codegen::Artifact compiled = compile(mod, own, {.cache = false});
    if (const std::optional<std::string> bytes = compiled.stored()) {
      codegen::write_file(code, *bytes);
      return code;
    }
    compiled.save(code.string() + ".so");
    return code.string() + ".so";
  }

  Measurement measured(const Build& build) {
    if (!build.is_fine()) return {Outcome::BuildFailed, {}, build.error};
    Job own = job;
    own.code = build.code.string();
    if (least) own.slow_seconds = *least * options.slow_factor;
    const Measurement result = run(own);
    if (result.is_valid()) least = std::min(least.value_or(result.median()), result.median());
    std::error_code ignored;
    std::filesystem::remove(build.code, ignored);
    return result;
  }

  Measurement run(const Job& own) const {
    const std::filesystem::path file = folder.file("job.json");
    codegen::write_file(file, to_text(own));
    return run_worker({worker.string(), file.string()}, options.run_timeout_s);
  }
};

namespace {

/// Throws TypeError for an option with which no candidate could be measured.
void check_options(const MeasureOptions& options) {
  const auto require = [](bool is_valid, const char* option, const char* values) {
    if (!is_valid)
      throw TypeError(std::string("tuning: MeasureOptions::") + option + " must be " + values);
  };
  require(options.number >= 1, "number", "at least 1");
  require(options.repeat >= 1, "repeat", "at least 1");
  require(options.min_repeat_ms >= 0, "min_repeat_ms", "0 or a positive number");
  require(options.slow_factor >= 0, "slow_factor", "0 or a positive number");
  require(options.run_timeout_s > 0, "run_timeout_s", "a positive number");
  require(options.relative_tolerance >= 0, "relative_tolerance", "0 or a positive number");
  require(options.absolute_tolerance >= 0, "absolute_tolerance", "0 or a positive number");
}

}  // namespace

Measurer::Measurer(const tir::IRModule& unscheduled, const Target& target,
                   const MeasureOptions& options)
    : state_(std::make_unique<State>(target, options)) {
  check_options(options);
  const auto& [name, func] = only_function(unscheduled);
  if (state_->options.build_workers <= 0) state_->options.build_workers = physical_cores();
  Job& job = state_->job;
  job = {.target = host_of(target).str(),
         .function = name,
         .arguments = arguments_of(func),
         .expected = state_->folder.file("expected").string(),
         .threads = target.facts().cores,
         .memory_limit_bytes = options.memory_limit_bytes,
         .seed = options.seed,
         .number = options.number,
         .repeat = options.repeat,
         .min_repeat_ms = options.min_repeat_ms,
         .relative_tolerance = options.relative_tolerance,
         .absolute_tolerance = options.absolute_tolerance};
  // The unscheduled program does not use device threads, so the reference is computed on the host.
  Job recording = job;
  recording.records = true;
  recording.code = state_->save(unscheduled, state_->built++, host_of(target)).string();
  if (target.facts().is_gpu()) {
    job.device = to_string(device_of(target).type);
    // There is no memory limit, because device drivers reserve more address space than there is
    // memory.
    job.memory_limit_bytes = 0;
  }
  const Measurement result = state_->run(recording);
  std::filesystem::remove(recording.code);
  if (result.outcome != Outcome::Measured)
    throw RuntimeError("tuning: the program before scheduling cannot be run: " + result.reason);
}

Measurer::~Measurer() = default;

std::vector<Build> Measurer::build(const std::vector<tir::IRModule>& candidates) {
  std::vector<Build> result(candidates.size());
  const int first = state_->built;
  state_->built += static_cast<int>(candidates.size());
  parallel_for(candidates.size(), state_->options.build_workers, [&](std::size_t n) {
    try {
      result[n].code = state_->save(candidates[n], first + static_cast<int>(n), state_->target);
    } catch (const std::exception& error) {
      result[n].error = error.what();
    }
  });
  return result;
}

std::vector<Measurement> Measurer::run(const std::vector<Build>& builds,
                                       const OnMeasured& on_measured) {
  std::vector<Measurement> result;
  for (const Build& build : builds) {
    result.push_back(state_->measured(build));
    if (on_measured && !on_measured(result.size() - 1, result.back())) break;
  }
  return result;
}

int physical_cores() {
  // Logical processors of the same core list the same siblings.
  std::set<std::string> cores;
  for (unsigned n = 0; n < std::max(std::thread::hardware_concurrency(), 1u); ++n) {
    std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(n) +
                     "/topology/thread_siblings_list");
    std::string siblings;
    if (std::getline(in, siblings)) cores.insert(siblings);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

}  // namespace tenon::tune
