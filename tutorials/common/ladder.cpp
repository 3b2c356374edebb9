#include "tutorials/common/ladder.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "tenon/inspect/loop_page.h"
#include "tenon/tenon.h"
#include "tenon/tooling/check.h"
#include "tenon/tooling/graphviz.h"
#include "tenon/tooling/matrix_libraries.h"
#include "tenon/tooling/multiply_add_peak.h"

using namespace tenon;

namespace {

std::vector<LowerArgument> arguments(const Step& step) {
  return {step.matmul.A, step.matmul.B, step.matmul.C};
}

struct Data {
  runtime::NDArray a, b, c;

  /// Random inputs, and an output of NaNs.
  static Data random(int n) {
    return {runtime::NDArray::random({n, n}, Float(32), {.seed = 1}),
            runtime::NDArray::random({n, n}, Float(32), {.seed = 2}), unwritten(n)};
  }
  static runtime::NDArray unwritten(int n) {
    return runtime::NDArray::full({n, n}, Float(32), std::numeric_limits<double>::quiet_NaN());
  }
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

using Clock = std::chrono::steady_clock;

struct Measured {
  double seconds;
  int threads;
};

/// A step that runs.
struct Built {
  const Step* step;
  runtime::Function function;
  Measured best;
  /// Seconds in each round. Empty for slow steps.
  std::vector<double> rounds = {};
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The speed relative to the step before, as the median of all rounds. Measurements of the same
/// round are compared, so a drift of the machine's speed does not matter.
double gain(const Built& step, const Built& before) {
  if (step.rounds.empty() || before.rounds.empty()) return before.best.seconds / step.best.seconds;
  std::vector<double> ratios;
  for (std::size_t n = 0; n < step.rounds.size(); ++n)
    ratios.push_back(before.rounds[n] / step.rounds[n]);
  return median(std::move(ratios));
}

class Ladder {
 public:
  Ladder(const CommandLineOptions& options, int n)
      : options_(options),
        n_(n),
        runs_all_(!options.emit && !options.runs()),
        reports_(options, std::cerr),
        data_(Data::random(n)) {}

  int climb(const std::vector<Step>& steps, const Step& unscheduled) {
    if (times()) measure_peaks();
    if (checks()) expected_ = reference(data_, n_);
    std::vector<Built> built;
    for (const Step& step : steps) show(step, built);
    show(unscheduled, built);
    if (times()) {
      for (int round = 0; round < kRounds; ++round) measure_again(built);
      print_table(built);
    }
    if (profiles_) profiles_->finish();
    if (prints_page()) std::cout << loop_page(options_.program, views_) << std::flush;
    if (draws()) {
      const std::string graphs = te::all_dots(drawings_);
      std::cout << (options_.emit == Emit::Svg ? drawn(graphs) : graphs) << std::flush;
    }
    reports_.finish();
    return failed_ ? 1 : 0;
  }

 private:
  /// Measures the steps in turn, so that other load on the machine affects all of them. Each round
  /// has arrays and code at other addresses, because their placement can change the time by a few
  /// percent.
  static constexpr int kRounds = 8;

  bool prints_page() const { return options_.emit == Emit::Html; }
  bool draws() const { return options_.emit == Emit::Dot || options_.emit == Emit::Svg; }
  bool profiles() const { return options_.profile && !prints_page(); }
  bool prints() const { return options_.emit || runs_all_; }
  bool checks() const { return options_.check || runs_all_; }
  bool times() const { return options_.time || runs_all_; }
  double gflops(double seconds) const { return 2.0 * n_ * n_ * n_ / seconds / 1e9; }
  double peak(int threads) const { return threads == 1 ? one_peak_ : all_peak_; }

  void show(const Step& step, std::vector<Built>& built) {
    if (prints_page())
      add_to_page(step);
    else if (draws())
      drawings_.push_back({step.name, step.schedule});
    else if (prints())
      print(step);
    if (profiles()) profile(step);
    if (checks() || times()) built.push_back(run(step));
  }

  static BuildOptions build_options(const Step& step) {
    return {.name = "matmul", .passes = {.autotune_loops = step.autotune_loops}};
  }

  codegen::Artifact compile(const Step& step) {
    return reports_.compile(step.name, step.schedule, arguments(step), options_.target,
                            build_options(step));
  }

  Profile profile_of(const Step& step) {
    const std::vector<CallArgument> call = make_arguments(arguments(step));
    return profile_run(step.schedule, arguments(step), options_.target, build_options(step), call);
  }

  void profile(const Step& step) {
    if (!profiles_) profiles_.emplace(*options_.profile, std::cout);
    profiles_->add(step.name, profile_of(step));
  }

  void add_to_page(const Step& step) {
    std::optional<Profile> profile;
    if (options_.profile) profile = profile_of(step);
    views_.push_back(view_loops(
        step.schedule, arguments(step), options_.target,
        {.name = "matmul", .passes = reports_.watch(build_options(step).passes, step.name)},
        profile));
    views_.back().name = step.name;
  }

  void print(const Step& step) {
    std::cout << "=== " << step.name << ": " << step.what << " ===\n";
    switch (options_.emit.value_or(Emit::Simple)) {
      case Emit::Simple:
        std::cout << reports_.lower(step.name, step.schedule, arguments(step),
                                    {.simple_mode = true});
        break;
      case Emit::Loops:
        std::cout << tir::IRModule{{{"main", lower_to_loops(step.schedule, arguments(step))}}};
        break;
      case Emit::Final:
        std::cout << reports_.final_loops(step.name, step.schedule, arguments(step),
                                          options_.target, build_options(step));
        break;
      case Emit::Outline:
        std::cout << step.schedule.print_loops();
        break;
      case Emit::Ll:
        std::cout << compile(step).source("ll");
        break;
      case Emit::Asm:
        std::cout << compile(step).source("asm");
        break;
      case Emit::Source: {
        const codegen::Artifact artifact = compile(step);
        std::cout << artifact.source(artifact.source_kinds().front());
        break;
      }
      case Emit::Dot:
      case Emit::Svg:
      case Emit::Html:
        return;
    }
    std::cout << std::endl;
  }

  /// Runs a step once, checks its result, and prints the time and the check. Slow steps are not run
  /// again.
  Built run(const Step& step) {
    const runtime::Function function = compile(step).load()["matmul"];
    data_.c = Data::unwritten(n_);
    const Clock::time_point start = Clock::now();
    function(data_.a, data_.b, data_.c);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    Built built{&step, function, {seconds, step.is_parallel ? runtime::num_threads() : 1}};
    if (checks()) check(step);
    if (times()) {
      measure(built, data_);
      std::cout << "time " << step.name << ": " << std::fixed << std::setprecision(2)
                << built.best.seconds * 1e3 << " ms, " << std::setprecision(1)
                << gflops(built.best.seconds) << " GFLOPS\n"
                << std::defaultfloat << std::setprecision(6) << std::endl;
    }
    return built;
  }

  void check(const Step& step) {
    const Comparison compared = compare(data_.c, *expected_, {.relative = 1e-4, .absolute = 1e-3});
    failed_ |= !compared.fine();
    std::cout << "check " << step.name << ": "
              << (compared.fine() ? "right"
                                  : "wrong in " + std::to_string(compared.wrong) + " elements")
              << ", largest error " << compared.largest_error << std::endl;
  }

  void measure(Built& built, const Data& data) const {
    if (built.step->is_slow) return;
    const runtime::TimeOptions how{.number = 1, .repeat = 3, .min_repeat_ms = 10};
    const runtime::Timing timing =
        built.function.time_evaluator(cpu(0), how)(data.a, data.b, data.c);
    built.best.seconds = std::min(built.best.seconds, timing.min);
    built.rounds.push_back(timing.min);
  }

  /// Measures the libraries on the same arrays, with all threads and with one. Keeps the minimum of
  /// all rounds.
  void measure_libraries(const Data& data, int threads) {
    for (const LibraryProduct& library : library_products({.m = n_,
                                         .n = n_,
                                         .k = n_,
                                         .a = data.a.data<float>(),
                                         .b = data.b.data<float>(),
                                         .c = data.c.data<float>()},
                                                          threads)) {
      library.run();
      double least = std::numeric_limits<double>::infinity();
      for (double total = 0; total < 0.03;) {
        const Clock::time_point start = Clock::now();
        library.run();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        least = std::min(least, seconds);
        total += seconds;
      }
      double& known = libraries_[threads].try_emplace(library.name, least).first->second;
      known = std::min(known, least);
    }
  }

  /// The last step that has a schedule.
  static const Built& best_step(const std::vector<Built>& all) { return all[all.size() - 2]; }

  void measure_again(std::vector<Built>& all) {
    measure_peaks();
    const Data data = Data::random(n_);
    measure_libraries(data, runtime::num_threads());
    for (Built& built : all) {
      if (built.step->is_slow) continue;
      built.function = compile(*built.step).load()["matmul"];
      measure(built, data);
    }
    const int threads = runtime::num_threads();
    if (threads == 1) return;
    Built last = best_step(all);
    last.best = alone_.value_or(Measured{std::numeric_limits<double>::infinity(), 1});
    runtime::set_num_threads(1);
    measure(last, data);
    measure_libraries(data, 1);
    runtime::set_num_threads(threads);
    alone_ = last.best;
  }

  void measure_peaks() {
    one_peak_ = std::max(one_peak_, multiply_add_peak(1));
    all_peak_ = std::max(all_peak_, multiply_add_peak(runtime::num_threads()));
  }

  void print_row(const std::string& name, const Measured& m, double naive_seconds,
                 const std::string& gained = "") const {
    std::cout << std::left << std::setw(24) << name << std::right << std::fixed << std::setw(8)
              << m.threads << std::setw(12) << std::setprecision(2) << m.seconds * 1e3
              << std::setw(10) << std::setprecision(1) << gflops(m.seconds) << std::setw(11)
              << naive_seconds / m.seconds << std::setw(12)
              << 100 * gflops(m.seconds) / peak(m.threads) << " %";
    std::cout << std::setw(16) << gained;
    std::cout << "\n";
  }

  void print_table(const std::vector<Built>& built) const {
    const int threads = runtime::num_threads();
    std::cout << n_ << " x " << n_ << " x " << n_ << " in float32 on " << options_.target.describe()
              << ", " << threads << (threads == 1 ? " thread\n" : " threads\n") << std::fixed
              << std::setprecision(1) << "peak of multiply-adds: " << one_peak_
              << " GFLOPS on 1 thread";
    if (threads > 1) std::cout << ", " << all_peak_ << " on " << threads;
    std::cout
        << "\n\nstep                     threads          ms    GFLOPS   speed-up   share of peak   x "
           "step before\n";
    const double naive_seconds = built.front().best.seconds;
    for (std::size_t n = 0; n + 1 < built.size(); ++n) {
      std::ostringstream gained;
      if (n > 0) gained << std::fixed << std::setprecision(2) << gain(built[n], built[n - 1]);
      print_row(built[n].step->name, built[n].best, naive_seconds, gained.str());
    }
    const Built& best = best_step(built);
    if (alone_) print_row(best.step->name + ", alone", *alone_, naive_seconds);
    std::cout << "\n";
    print_row(built.back().step->name, built.back().best, naive_seconds);
    if (alone_)
      std::cout << "\n"
                << threads << " threads are " << std::setprecision(2)
                << alone_->seconds / best.best.seconds << " times as fast as one.\n";
    print_libraries({best.step->name, best.best});
    if (alone_) print_libraries({best.step->name + ", alone", *alone_});
    std::cout << std::defaultfloat << std::flush;
  }

  /// Compares a step with the fastest library on the same number of threads.
  void print_libraries(const std::pair<std::string, Measured>& step) const {
    const auto& [name, measured] = step;
    const auto found = libraries_.find(measured.threads);
    if (found == libraries_.end()) {
      std::cout << "\nNo library to compare \"" << name
                << "\" with: of OpenBLAS, BLIS and oneDNN this machine has none.\n";
      return;
    }
    const auto& times = found->second;
    const auto best =
        std::min_element(times.begin(), times.end(),
                         [](const auto& x, const auto& y) { return x.second < y.second; });
    std::cout << "\n\"" << name << "\" is " << std::setprecision(2)
              << best->second / measured.seconds << " times as fast as " << best->first
              << ", the best library here on " << measured.threads
              << (measured.threads == 1 ? " thread" : " threads") << std::setprecision(1) << " (";
    for (const char* comma = ""; const auto& [library, seconds] : times) {
      std::cout << comma << library << " " << gflops(seconds);
      comma = ", ";
    }
    std::cout << " GFLOPS).\n";
  }

  const CommandLineOptions& options_;
  int n_;
  bool runs_all_;
  PassReports reports_;
  Data data_;
  std::optional<runtime::NDArray> expected_;
  double one_peak_ = 0, all_peak_ = 0;
  /// The last step on one thread.
  std::optional<Measured> alone_;
  /// Seconds of the libraries' products, by the number of threads.
  std::map<int, std::map<std::string, double>> libraries_;
  std::vector<LoopView> views_;
  std::vector<te::NamedSchedule> drawings_;
  std::optional<ProfilePrinter> profiles_;
  bool failed_ = false;
};

}  // namespace

int climb(const std::vector<Step>& steps, const Step& unscheduled, int n,
          const CommandLineOptions& options) {
  return Ladder(options, n).climb(steps, unscheduled);
}
