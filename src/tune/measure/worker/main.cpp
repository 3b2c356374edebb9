// tenon_measure JOB: runs one compiled candidate, compares its results, times it, and answers.
//
// It is a separate program, so that a failing candidate affects nothing else.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <iterator>

#include "tenon/codegen/llvm/compile.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/threads.h"
#include "tenon/tir/expr.h"
#include "tune/measure/worker/fenced_array.h"
#include "tune/measure/worker/outputs.h"

namespace tenon::tune {

namespace {

using runtime::NDArray;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw RuntimeError("`" + path + "` cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

void answer(const Answer& answer) {
  const std::string text = to_text(answer);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(kAnswerDescriptor, text.data() + at, text.size() - at);
    if (written <= 0) return;  // the tuner is gone
    at += static_cast<std::size_t>(written);
  }
}

/// Pins the process to the last allowed processors, because the first ones handle most interrupts.
void pin(int threads) {
  cpu_set_t allowed, chosen;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&chosen);
  int count = 0;
  for (int n = CPU_SETSIZE; n-- > 0 && count < threads;)
    if (CPU_ISSET(n, &allowed)) {
      CPU_SET(n, &chosen);
      ++count;
    }
  if (count == threads) sched_setaffinity(0, sizeof chosen, &chosen);
}

void limit(const Job& job) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (job.memory_limit_bytes > 0) {
    const rlimit memory{static_cast<rlim_t>(job.memory_limit_bytes),
                        static_cast<rlim_t>(job.memory_limit_bytes)};
    setrlimit(RLIMIT_AS, &memory);
  }
}

std::vector<runtime::Argument> as_call(const std::vector<NDArray>& arrays) {
  return {arrays.begin(), arrays.end()};
}

std::vector<NDArray> initial_arrays(const Job& job) {
  std::vector<NDArray> result;
  for (std::size_t n = 0; n < job.arguments.size(); ++n) result.push_back(initial_array(job, n));
  return result;
}

std::vector<NDArray> copies(const std::vector<NDArray>& arrays, Device device) {
  std::vector<NDArray> result;
  for (const NDArray& array : arrays) result.push_back(array.copy_to(device));
  return result;
}

runtime::Module load(const Job& job) {
  if (job.code.ends_with(".so")) return runtime::Module::load(job.code);
  const auto artifact =
      codegen::restore(contents(job.code), {Target(job.target).facts()}, codegen::CompileOptions());
  if (!artifact) throw RuntimeError("`" + job.code + "` is not compiled code");
  return codegen::load(*artifact);
}

/// Runs a function whose arrays are on a device; they have no guard pages.
Answer run_there(const Job& job, Device device) {
  if (std::string missing = device.why_missing(); !missing.empty()) throw RuntimeError(missing);
  const runtime::Module module = load(job);
  const runtime::Function function = module[job.function];
  const std::vector<NDArray> arrays = copies(initial_arrays(job), device);
  const auto start = std::chrono::steady_clock::now();
  function.call(as_call(arrays));
  const std::vector<NDArray> results = copies(arrays, cpu(0));
  const double first =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (const auto wrong = fault(job, results, contents(job.expected)))
    return {.outcome = "wrong", .reason = *wrong};
  if (job.slow_seconds > 0 && first > job.slow_seconds)
    return {.outcome = "measured", .seconds = {first}};
  const runtime::Timing timing = function
                                     .time_evaluator(device, {.number = job.number,
                                                              .repeat = job.repeat,
                                                              .min_repeat_ms = job.min_repeat_ms})
                                     .evaluate(as_call(arrays));
  return {.outcome = "measured", .seconds = timing.results};
}

Answer run(const Job& job) {
  if (job.device == "cuda") return run_there(job, cuda(0));
  if (job.device == "opencl") return run_there(job, opencl(0));
  const runtime::Module module = load(job);
  const runtime::Function function = module[job.function];
  std::deque<FencedArray> fenced;
  std::vector<NDArray> arrays;
  for (std::size_t n = 0; n < job.arguments.size(); ++n)
    arrays.push_back(fenced.emplace_back(initial_array(job, n)).array());
  const auto start = std::chrono::steady_clock::now();
  function.call(as_call(arrays));
  const double first =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (job.records) {
    std::ofstream out(job.expected, std::ios::binary);
    const std::string bytes = bytes_of_outputs(job, arrays);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw RuntimeError("`" + job.expected + "` cannot be written");
    return {.outcome = "measured"};
  }
  for (std::size_t n = 0; n < fenced.size(); ++n)
    if (!fenced[n].is_intact())
      return {.outcome = "wrong",
              .reason = "memory next to argument " + std::to_string(n) + " was written"};
  const std::string expected = contents(job.expected);
  if (const auto wrong = fault(job, arrays, expected))
    return {.outcome = "wrong", .reason = *wrong};
  if (job.slow_seconds > 0 && first > job.slow_seconds)
    return {.outcome = "measured", .seconds = {first}};

  // Times with ordinary arrays, because guard pages change the mapping of arrays to cache sets.
  const std::vector<NDArray> own = initial_arrays(job);
  const runtime::Timing timing = function
                                     .time_evaluator(cpu(0), {.number = job.number,
                                                              .repeat = job.repeat,
                                                              .min_repeat_ms = job.min_repeat_ms})
                                     .evaluate(as_call(own));
  // If a function accumulates into its results, the values after several calls are not checked.
  for (const JobArgument& argument : job.arguments)
    if (argument.is_read && argument.is_written)
      return {.outcome = "measured", .seconds = timing.results};
  if (const auto wrong = fault(job, own, expected))
    return {.outcome = "wrong", .reason = *wrong + ", when it ran again"};
  return {.outcome = "measured", .seconds = timing.results};
}

}  // namespace

}  // namespace tenon::tune

int main(int argc, char** argv) {
  using namespace tenon;
  if (argc != 2) return 2;
  try {
    const tune::Job job = tune::parse_job(tune::contents(argv[1]));
    tune::limit(job);
    tune::pin(job.threads);
    runtime::set_num_threads(job.threads);
    tune::answer(tune::run(job));
  } catch (const Error& error) {
    tune::answer({.outcome = "crashed", .reason = error.sentence()});
  } catch (const std::exception& error) {
    tune::answer({.outcome = "crashed", .reason = error.what()});
  }
  // Skips destructors, so that memory corrupted by a candidate cannot change the answer.
  _exit(0);
}
