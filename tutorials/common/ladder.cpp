#include "tutorials/common/ladder.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>

#include "tenon/driver/check.h"
#include "tenon/tenon.h"
#include "tutorials/common/peak.h"

using namespace tenon;

namespace {

std::vector<LowerArgument> arguments(const Step& step) {
  return {step.matmul.A, step.matmul.B, step.matmul.C};
}

struct Data {
  runtime::NDArray a, b, c;
};

/// Plain loops, summed in double precision.
runtime::NDArray reference(const Data& data, int n) {
  const runtime::NDArray result = runtime::NDArray::empty({n, n}, Float(32));
  const float *a = data.a.data<float>(), *b = data.b.data<float>();
  std::vector<double> sums(n);
  for (int i = 0; i < n; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int k = 0; k < n; ++k) {
      const double x = a[std::size_t(i) * n + k];
      const float* row = b + std::size_t(k) * n;
      for (int j = 0; j < n; ++j) sums[j] += x * row[j];
    }
    std::copy(sums.begin(), sums.end(), result.data<float>() + std::size_t(i) * n);
  }
  return result;
}

struct Measured {
  double seconds;
  int threads;
};

class Ladder {
 public:
  Ladder(const CommandLineOptions& options, int n)
      : options_(options),
        n_(n),
        runs_all_(!options.emit && !options.runs()),
        reports_(options, std::cerr),
        data_{runtime::NDArray::random({n, n}, Float(32), {.seed = 1}),
              runtime::NDArray::random({n, n}, Float(32), {.seed = 2}),
              runtime::NDArray::full({n, n}, Float(32), std::numeric_limits<double>::quiet_NaN())} {}

  int climb(const std::vector<Step>& all) {
    if (times()) measure_peaks();
    if (checks()) expected_ = reference(data_, n_);
    std::vector<Measured> measured;
    for (const Step& step : all) {
      if (prints()) print(step);
      if (!checks() && !times()) continue;
      const runtime::Function function = build(step);
      if (checks()) check(step, function);
      if (times()) measured.push_back(time(step, function));
    }
    if (times()) print_table(all, measured);
    reports_.finish();
    return failed_ ? 1 : 0;
  }

 private:
  bool prints() const { return options_.emit || runs_all_; }
  bool checks() const { return options_.check || runs_all_; }
  bool times() const { return options_.time || runs_all_; }
  double gflops(double seconds) const { return 2.0 * n_ * n_ * n_ / seconds / 1e9; }
  double peak(int threads) const { return threads == 1 ? one_peak_ : all_peak_; }

  runtime::Module build_module(const Step& step) {
    return tenon::build(step.schedule, arguments(step), options_.target,
                        {.name = "matmul", .passes = reports_.watch({}, step.name)});
  }
  runtime::Function build(const Step& step) { return build_module(step)["matmul"]; }

  void print(const Step& step) {
    std::cout << "=== " << step.name << ": " << step.what << " ===\n";
    switch (options_.emit.value_or(Emit::Simple)) {
      case Emit::Simple:
        std::cout << reports_.lower(step.name, step.schedule, arguments(step), {.simple_mode = true});
        break;
      case Emit::Loops:
        std::cout << tir::IRModule{{{"main", lower_to_loops(step.schedule, arguments(step))}}};
        break;
      case Emit::Ll:
        std::cout << build_module(step).get_source("ll");
        break;
      case Emit::Asm:
        std::cout << build_module(step).get_source("asm");
        break;
    }
    std::cout << std::endl;
  }

  void check(const Step& step, const runtime::Function& function) {
    const runtime::NDArray unwritten =
        runtime::NDArray::full({n_, n_}, Float(32), std::numeric_limits<double>::quiet_NaN());
    unwritten.copy_to(data_.c);
    function(data_.a, data_.b, data_.c);
    const Comparison compared = compare(data_.c, *expected_, {.relative = 1e-4, .absolute = 1e-3});
    failed_ |= !compared.fine();
    std::cout << "check " << step.name << ": "
              << (compared.fine() ? "right" : "wrong in " + std::to_string(compared.wrong) + " elements")
              << ", largest error " << compared.largest_error << std::endl;
  }

  Measured time(const Step& step, const runtime::Function& function) {
    const int threads = step.is_parallel ? runtime::num_threads() : 1;
    const runtime::TimeOptions how =
        step.is_slow ? runtime::TimeOptions{.number = 1, .repeat = 1}
                     : runtime::TimeOptions{.number = 1, .repeat = 10, .min_repeat_ms = 30};
    const double seconds = function.time_evaluator(cpu(0), how)(data_.a, data_.b, data_.c).min;
    std::cout << "time " << step.name << ": " << std::fixed << std::setprecision(2) << seconds * 1e3
              << " ms, " << std::setprecision(1) << gflops(seconds) << " GFLOPS\n"
              << std::defaultfloat << std::setprecision(6) << std::endl;
    return {seconds, threads};
  }

  void measure_peaks() {
    one_peak_ = std::max(one_peak_, multiply_add_peak(1));
    all_peak_ = std::max(all_peak_, multiply_add_peak(runtime::num_threads()));
  }

  void print_row(const std::string& name, const Measured& m, double naive_seconds) const {
    std::cout << std::left << std::setw(24) << name << std::right << std::fixed << std::setw(8) << m.threads
              << std::setw(12) << std::setprecision(2) << m.seconds * 1e3 << std::setw(10)
              << std::setprecision(1) << gflops(m.seconds) << std::setw(11) << naive_seconds / m.seconds
              << std::setw(12) << 100 * gflops(m.seconds) / peak(m.threads) << " %\n";
  }

  void print_table(const std::vector<Step>& all, const std::vector<Measured>& measured) {
    const int threads = runtime::num_threads();
    std::optional<Measured> alone;
    if (threads > 1) {
      runtime::set_num_threads(1);
      alone = time(all.back(), build(all.back()));
      alone->threads = 1;
      runtime::set_num_threads(threads);
    }
    measure_peaks();
    std::cout << n_ << " x " << n_ << " x " << n_ << " in float32 on " << options_.target.describe() << ", "
              << threads << (threads == 1 ? " thread\n" : " threads\n") << std::fixed << std::setprecision(1)
              << "peak of multiply-adds: " << one_peak_ << " GFLOPS on 1 thread";
    if (threads > 1) std::cout << ", " << all_peak_ << " on " << threads;
    std::cout << "\n\nstep                     threads          ms    GFLOPS   speed-up   share of peak\n";
    const double naive_seconds = measured.front().seconds;
    for (std::size_t n = 0; n < all.size(); ++n) print_row(all[n].name, measured[n], naive_seconds);
    if (alone) {
      print_row(all.back().name + ", alone", *alone, naive_seconds);
      std::cout << "\n"
                << threads << " threads are " << std::setprecision(2)
                << alone->seconds / measured.back().seconds << " times as fast as one.\n";
    }
    std::cout << std::defaultfloat << std::flush;
  }

  const CommandLineOptions& options_;
  int n_;
  bool runs_all_;
  PassReports reports_;
  Data data_;
  std::optional<runtime::NDArray> expected_;
  double one_peak_ = 0, all_peak_ = 0;
  bool failed_ = false;
};

}  // namespace

int climb(const std::vector<Step>& steps, int n, const CommandLineOptions& options) {
  return Ladder(options, n).climb(steps);
}
