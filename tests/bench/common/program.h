// Shared parts of the benchmarks that time Tenon alongside libraries: the command line, the table,
// JSON, and the comparison with an earlier run.
//
//   int main(int argc, char** argv) {
//     po::options_description options("products of matrices");
//     options.add_options()("m", po::value<int>(), "rows");
//     return bench::run(argc, argv, {"matmul", options, rows_of});
//   }
//
//   $ matmul --threads 2 --filter 512 --json after.json --compare before.json
//
// Every row is one run in which all are timed in turns, so that they meet the same moments of a
// shared machine. The exit status is 1 if a result is wrong, 2 if the command line cannot be
// understood.
#pragma once

#include <tenon/tenon.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/s_tir/program.h"
#include "tests/bench/common/medians.h"

namespace tenon::bench {

/// Settings of Tenon and of all libraries that are timed.
struct Settings {
  int threads;
  Target target;  // with `threads` cores
};

/// Thrown by Row::prepare: it ends the row, and the program with 1 after the others.
struct WrongResult : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The dominant cost of a run, and the machine's peak rate for it.
struct Work {
  /// Operations, or bytes that are read and written.
  double amount;
  /// 10^9 operations a second by so many threads; null: the work is counted in bytes.
  double (*peak)(int threads) = nullptr;
  /// For bytes: the size of an array whose copy, timed alongside the others, is the limit.
  std::int64_t copied = 0;
  /// For operations: the bytes of all arrays.
  double touched = 0;
};

struct Row {
  /// Its place in the table. Without the spaces that set it in columns, it is what --filter looks
  /// at and what --compare knows the row by.
  std::string name;
  Work work;
  /// Tenon first. Has compared the results of all.
  std::function<std::vector<Contest>(const Settings& settings)> prepare;
  /// Under which --json files it; empty: the program's name.
  std::string group = "";
};

struct Program {
  std::string name;
  /// Beside those that all have; its caption says what the program times.
  boost::program_options::options_description options;
  /// po::error: what is given makes no sense.
  std::function<std::vector<Row>(const boost::program_options::variables_map& given)> rows;
};

int run(int argc, char** argv, const Program& program);

/// printf into a string.
std::string formatted(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The value of an option that is a positive number; po::error otherwise.
int positive(const boost::program_options::variables_map& given, const char* option);

/// Returns a copy of the array and fills the array with zeros. All contestants store their results
/// in the same array: one with an array of its own would find it in no cache.
runtime::NDArray taken_out(const runtime::NDArray& result);

/// The index of the first elements that differ by more than the tolerance, or -1.
template <class T, class Tolerance>
std::int64_t first_difference(const runtime::NDArray& x, const runtime::NDArray& y,
                              Tolerance tolerance) {
  const T *a = x.template data<T>(), *b = y.template data<T>();
  std::int64_t count = 1;
  for (const std::int64_t extent : x.shape()) count *= extent;
  for (std::int64_t n = 0; n < count; ++n) {
    const double difference = static_cast<double>(a[n]) - static_cast<double>(b[n]);
    if (!(std::abs(difference) <= tolerance(static_cast<double>(b[n])))) return n;
  }
  return -1;
}

}  // namespace tenon::bench
