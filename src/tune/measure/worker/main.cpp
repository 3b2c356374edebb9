// tenon_measure JOB: runs one compiled candidate, compares its results, times it, and answers.
//
// It is a separate program, so that a failing candidate affects nothing else.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "tenon/codegen/llvm/compile.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/threads.h"
#include "tenon/support/float16.h"
#include "tenon/tir/expr.h"
#include "tune/measure/job.h"

namespace tenon::tune {

namespace {

// ---- arrays between inaccessible pages ----------------------------------------------------------

// Memory for arrays between inaccessible guard pages. An access far out of bounds ends the program
// with a signal. Writes close to the array are detected afterwards.

class FencedArray {
 public:
  /// Copies the array to memory before a guard page. The distance from the end of the copy to the
  /// guard page is less than the alignment of arrays (128 bytes).
  explicit FencedArray(const runtime::NDArray& values);
  ~FencedArray();
  FencedArray(const FencedArray&) = delete;
  FencedArray& operator=(const FencedArray&) = delete;

  const runtime::NDArray& array() const { return array_; }
  /// Whether the bytes between the array and the guard pages are unchanged.
  bool is_intact() const;

 private:
  std::size_t bytes_;
  /// The size of the memory, including both guard pages.
  std::size_t size_;
  /// The first guard page.
  unsigned char* begin_;
  unsigned char* data_;
  runtime::NDArray array_;
};

/// The byte that fills the space between an array and its guard pages. Results are unlikely to
/// contain it, because it does not occur in zero or NaN.
constexpr unsigned char kUntouched = 0xA5;
constexpr std::size_t kAlignment = 128;

std::size_t rounded_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }
std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t size_in_bytes(const runtime::NDArray& array) {
  return static_cast<std::size_t>(array.num_elements()) *
         static_cast<std::size_t>(array.dtype().bytes());
}

/// Allocates `size` bytes of pages for an array of `bytes` bytes.
unsigned char* mapped(std::size_t size, std::size_t bytes) {
  void* begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    throw RuntimeError("no memory for an array of " + std::to_string(bytes) + " bytes");
  return static_cast<unsigned char*>(begin);
}

FencedArray::FencedArray(const runtime::NDArray& values)
    : bytes_(size_in_bytes(values)),
      size_(rounded_up(std::max<std::size_t>(bytes_, 1), page()) + 2 * page()),
      begin_(mapped(size_, bytes_)),
      data_(begin_ + size_ - page() - rounded_up(std::max<std::size_t>(bytes_, 1), kAlignment)),
      array_(runtime::NDArray::wrap(static_cast<void*>(data_), values.shape(),
                                    {.dtype = values.dtype()})) {
  std::memset(begin_ + page(), kUntouched, size_ - 2 * page());
  if (mprotect(begin_, page(), PROT_NONE) != 0 ||
      mprotect(begin_ + size_ - page(), page(), PROT_NONE) != 0)
    throw RuntimeError("an array cannot get guard pages");
  values.copy_to(array_);
}

FencedArray::~FencedArray() { munmap(begin_, size_); }

bool FencedArray::is_intact() const {
  const auto untouched = [](const unsigned char* from, const unsigned char* to) {
    return std::all_of(from, to, [](unsigned char byte) { return byte == kUntouched; });
  };
  return untouched(begin_ + page(), data_) && untouched(data_ + bytes_, begin_ + size_ - page());
}

// ---- outputs ------------------------------------------------------------------------------------

// Makes the arrays that a candidate is called with, and checks its results.

using runtime::NDArray;

const char* bytes_of(const NDArray& array) {
  return static_cast<const char*>(array.dl_tensor().data);
}

/// Returns small pseudo-random integers. They are stored with the least significant byte first, as
/// on all supported targets.
NDArray small_integers(const NDArray::Shape& shape, DataType dtype, std::uint64_t seed) {
  const NDArray array = NDArray::zeros(shape, dtype);
  auto* bytes = static_cast<unsigned char*>(array.dl_tensor().data);
  for (std::int64_t n = 0; n < array.num_elements(); ++n)
    bytes[n * dtype.bytes()] =
        static_cast<unsigned char>((static_cast<std::uint64_t>(n) * 7 + seed) % 4);
  return array;
}

template <class T>
T element(const char* bytes, std::int64_t n) {
  T value;
  std::memcpy(&value, bytes + static_cast<std::size_t>(n) * sizeof(T), sizeof(T));
  return value;
}

/// Reads a float of the given type.
double number(DataType dtype, const char* bytes, std::int64_t n) {
  if (dtype == Float(64)) return element<double>(bytes, n);
  if (dtype == Float(32)) return element<float>(bytes, n);
  if (dtype == Float(16)) return static_cast<double>(element<runtime::Float16>(bytes, n));
  return static_cast<double>(element<runtime::BFloat16>(bytes, n));
}

/// Returns the relative tolerance: the requested one, but at least 16 units in the last place of
/// the result type.
double relative_tolerance(DataType dtype, double asked) {
  const int digits = dtype == Float(64)   ? 52
                     : dtype == Float(32) ? 23
                     : dtype == Float(16) ? 10
                                          : 7;
  return std::max(asked, std::ldexp(16.0, -digits));
}

bool is_right(double actual, double expected, double relative, double absolute) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;  // infinities
  return std::abs(actual - expected) <= absolute + relative * std::abs(expected);
}

std::optional<std::string> difference(const Job& job, std::size_t n, const NDArray& actual,
                                      const char* expected) {
  const DataType dtype = actual.dtype();
  const bool is_float = dtype.is_floating();
  const double relative = relative_tolerance(dtype, job.relative_tolerance);
  for (std::int64_t i = 0; i < actual.num_elements(); ++i) {
    const std::size_t width = static_cast<std::size_t>(dtype.bytes());
    const std::size_t at = static_cast<std::size_t>(i) * width;
    if (!is_float && std::memcmp(bytes_of(actual) + at, expected + at, width) == 0) continue;
    std::ostringstream text;
    text << "argument " << n << " is wrong at element " << i;
    if (is_float) {
      const double got = number(dtype, bytes_of(actual), i), want = number(dtype, expected, i);
      if (is_right(got, want, relative, job.absolute_tolerance)) continue;
      text << ": " << got << " instead of " << want;
    }
    return text.str();
  }
  return std::nullopt;
}

/// Returns the initial value of argument n. Inputs are random numbers that depend on the seed:
/// floats in [0, 1), or integers from 0 to 3, which are valid indices. Outputs are filled with NaN,
/// or with an unlikely integer.
NDArray initial_array(const Job& job, std::size_t n) {
  const JobArgument& argument = job.arguments[n];
  const DataType dtype = DataType::parse(argument.dtype);
  if (!argument.is_read) {
    const double start = dtype.is_floating() ? std::nan("") : dtype.is_bool() ? 1 : 77;
    return NDArray::full(argument.shape, dtype, start);
  }
  const std::uint64_t seed = job.seed * 1000 + n;
  if (dtype.is_floating() || dtype.is_bool())
    return NDArray::random(argument.shape, dtype, {.seed = seed});
  return small_integers(argument.shape, dtype, seed);
}

/// Returns the concatenated bytes of the written arguments.
std::string bytes_of_outputs(const Job& job, const std::vector<NDArray>& arrays) {
  std::string bytes;
  for (std::size_t n = 0; n < arrays.size(); ++n)
    if (job.arguments[n].is_written) bytes.append(bytes_of(arrays[n]), size_in_bytes(arrays[n]));
  return bytes;
}

/// Returns a description of the first difference: "argument 2 is wrong at element 17: 3.5 instead
/// of 4". Nullopt if all elements are correct.
std::optional<std::string> fault(const Job& job, const std::vector<NDArray>& arrays,
                                 const std::string& expected) {
  std::size_t at = 0;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const std::size_t size = size_in_bytes(arrays[n]);
    if (!job.arguments[n].is_written) {
      const NDArray before = initial_array(job, n);
      if (std::memcmp(bytes_of(before), bytes_of(arrays[n]), size) != 0)
        return "argument " + std::to_string(n) + ", which is only read, has been written";
      continue;
    }
    if (at + size > expected.size()) return "the expected outputs are incomplete";
    if (auto found = difference(job, n, arrays[n], expected.data() + at)) return found;
    at += size;
  }
  return std::nullopt;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw RuntimeError("`" + path + "` cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

void answer(const Measurement& answer) {
  const std::string text = to_text(answer);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(kAnswerDescriptor, text.data() + at, text.size() - at);
    if (written <= 0) return;  // the tuner is gone
    at += static_cast<std::size_t>(written);
  }
}

/// Pins the process to the last processors that it may use, because the first ones handle most
/// interrupts.
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
  return artifact->load();
}

/// Returns the times of the function, one per repeat.
std::vector<double> times_of(const Job& job, const runtime::Function& function, Device device,
                             const std::vector<NDArray>& arrays) {
  return function
      .time_evaluator(
          device, {.number = job.number, .repeat = job.repeat, .min_repeat_ms = job.min_repeat_ms})
      .evaluate(as_call(arrays))
      .results;
}

/// Runs a function whose arrays are on a device. These arrays have no guard pages.
Measurement run_there(const Job& job, Device device) {
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
    return {.outcome = Outcome::Wrong, .reason = *wrong};
  if (job.slow_seconds > 0 && first > job.slow_seconds)
    return {.outcome = Outcome::Measured, .seconds = {first}};
  return {.outcome = Outcome::Measured, .seconds = times_of(job, function, device, arrays)};
}

Measurement run(const Job& job) {
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
    return {.outcome = Outcome::Measured};
  }
  for (std::size_t n = 0; n < fenced.size(); ++n)
    if (!fenced[n].is_intact())
      return {.outcome = Outcome::Wrong,
              .reason = "memory next to argument " + std::to_string(n) + " was written"};
  const std::string expected = contents(job.expected);
  if (const auto wrong = fault(job, arrays, expected))
    return {.outcome = Outcome::Wrong, .reason = *wrong};
  if (job.slow_seconds > 0 && first > job.slow_seconds)
    return {.outcome = Outcome::Measured, .seconds = {first}};

  // Uses ordinary arrays for the measurement, because guard pages change the mapping of arrays to
  // cache sets.
  const std::vector<NDArray> own = initial_arrays(job);
  const Measurement measured{.outcome = Outcome::Measured,
                             .seconds = times_of(job, function, cpu(0), own)};
  // If the function accumulates into its results, their values depend on the number of calls and
  // are not checked.
  for (const JobArgument& argument : job.arguments)
    if (argument.is_read && argument.is_written) return measured;
  if (const auto wrong = fault(job, own, expected))
    return {.outcome = Outcome::Wrong, .reason = *wrong + ", when it ran again"};
  return measured;
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
    tune::answer({.outcome = tune::Outcome::Crashed, .reason = error.sentence()});
  } catch (const std::exception& error) {
    tune::answer({.outcome = tune::Outcome::Crashed, .reason = error.what()});
  }
  // Exits without running destructors, so that memory corrupted by a candidate cannot change the
  // answer.
  _exit(0);
}
