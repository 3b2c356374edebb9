// The matmul ladder: C = A B in single precision, the same te::compute under eight schedules, each a step above the
// one before. Every step is printed, checked against a plain reference, and timed.
//
// The first six steps are those of the usual course on schedules; their texts are known. The seventh lays B out the
// way the loops read it, and the eighth keeps a tile of C in registers through the whole reduction: the number of rows
// and vectors of that tile is what the target's registers hold.
#include <tenon/driver/check.h>
#include <tenon/driver/command_line.h>
#include <tenon/tenon.h>

#include <iomanip>
#include <iostream>

#include "tutorials/common/peak.h"

using namespace tenon;

namespace {

// ---- what is computed ---------------------------------------------------------------------------------------------

struct Matmul {
  te::Tensor A, B;
  /// B as the loops read it: panels of some columns, each row of a panel contiguous. Absent: B itself is read.
  std::optional<te::Tensor> packed;
  te::Tensor C;
};

Matmul declare(int n) {
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor B = te::placeholder({n, n}, "B");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C =
      te::compute({n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  return {A, B, std::nullopt, C};
}

/// Panel p of the packed matrix holds columns p*width to p*width + width - 1.
Matmul declare_packed(int n, int width) {
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor B = te::placeholder({n, n}, "B");
  const int panels = (n + width - 1) / width;
  te::Tensor packed = te::compute({panels, n, width}, {"p", "k", "x"}, [&](Var p, Var k, Var x) {
    return panels * width == n ? B(k, p * width + x) : if_then_else(p * width + x < n, B(k, p * width + x), 0.0f);
  }, "packed");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C = te::compute({n, n}, {"i", "j"}, [&](Var i, Var j) {
    return te::sum(A(i, k) * packed(floordiv(j, width), k, floormod(j, width)), {k});
  }, "C");
  return {A, B, packed, C};
}

// ---- how it is computed: the steps --------------------------------------------------------------------------------

struct Step {
  std::string name;
  std::string what;
  Matmul matmul;
  te::Schedule schedule;
  bool is_parallel = false;
  /// Too slow to be run more often than needed.
  bool is_slow = false;
};

Step naive(int n) {
  const Matmul m = declare(n);
  return {.name = "naive",
          .what = "three loops; the innermost walks down a column of B",
          .matmul = m,
          .schedule = te::create_schedule({m.C}),
          .is_slow = true};
}

Step tiled(int n) {
  const Matmul m = declare(n);
  te::Schedule s = te::create_schedule({m.C});
  s[m.C].tile(s[m.C].axis(0), s[m.C].axis(1), 32, 32);
  return {.name = "tiled",
          .what = "32 x 32 elements of C at a time; still down a column of B for each",
          .matmul = m,
          .schedule = s,
          .is_slow = true};
}

/// How far up the course's schedule to go: each adds one thing to the one before.
enum class Course { Reordered, Vectorised, Parallel, Unrolled };

Step course(int n, Course last, std::string name, std::string what) {
  const Matmul m = declare(n);
  te::Schedule s = te::create_schedule({m.C});
  te::Stage C = s[m.C];
  auto [io, ii] = C.split(C.axis(0), 32);
  auto [jo, ji] = C.split(C.axis(1), 32);
  auto [ko, ki] = C.split(C.reduce_axis(0), 4);
  C.reorder({io, jo, ko, ii, ji, ki});
  if (last >= Course::Vectorised) {
    auto [jio, jii] = C.split(ji, 8);
    C.vectorize(jii);
  }
  if (last >= Course::Parallel) C.parallel(io);
  if (last >= Course::Unrolled) C.unroll(ki);
  return {.name = std::move(name),
          .what = std::move(what),
          .matmul = m,
          .schedule = s,
          .is_parallel = last >= Course::Parallel};
}

/// Panels of two vectors, filled by all threads.
void schedule_packing(const te::Schedule& s, const te::Tensor& packed, int lanes) {
  auto [xo, xi] = s[packed].split(s[packed].axis(2), lanes);
  s[packed].vectorize(xi).parallel(s[packed].axis(0));
}

Step packed(int n, int lanes) {
  const int width = 2 * lanes;
  const Matmul m = declare_packed(n, width);
  te::Schedule s = te::create_schedule({m.C});
  schedule_packing(s, *m.packed, lanes);
  te::Stage C = s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), 32, width);
  auto [ko, ki] = C.split(C.reduce_axis(0), 16);
  auto [jio, jii] = C.split(ji, lanes);
  C.reorder({io, jo, ko, ii, jio, ki, jii}).unroll(ki).unroll(jio).vectorize(jii).parallel(io);
  return {.name = "packed B",
          .what = "B is laid out in panels that are read from front to back, in vectors as wide as they come",
          .matmul = m,
          .schedule = s,
          .is_parallel = true};
}

/// A tile of C that stays in registers: rows x vectors of accumulators, and room for two vectors of B and an element
/// of A.
struct RegisterTile {
  int rows, vectors, lanes;
};

RegisterTile choose_tile(const tir::TargetFacts& target, int n) {
  const int lanes = std::max(target.vector_bits / 32, 4);
  const bool has_32_registers = target.vector_bits >= 512 || target.triple.starts_with("aarch64");
  // Of the tile heights that fit, the tallest that divides the rows: then none are left over.
  for (int rows = has_32_registers ? 12 : 6; rows >= (has_32_registers ? 8 : 4); --rows)
    if (n % rows == 0) return {rows, 2, lanes};
  return {has_32_registers ? 8 : 4, 2, lanes};
}

Step register_tile(int n, const RegisterTile& tile) {
  const int width = tile.vectors * tile.lanes;
  const Matmul m = declare_packed(n, width);
  te::Schedule s = te::create_schedule({m.C});
  te::Tensor sums = s.cache_write(m.C, "local");
  schedule_packing(s, *m.packed, tile.lanes);

  // Threads take blocks of 16 tiles down and 4 across: 4 panels of B stay in the second cache meanwhile.
  te::Stage C = s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), tile.rows, width);
  auto [ib, it] = C.split(io, 16);
  auto [jb, jt] = C.split(jo, 4);
  C.reorder({jb, ib, it, jt, ii, ji}).parallel(C.fuse(jb, ib));
  auto [jv, jl] = C.split(ji, tile.lanes);
  C.unroll(ii).unroll(jv).vectorize(jl);

  te::Stage S = s[sums];
  S.compute_at(C, jt);
  te::IterVar row = S.axis(0);
  auto [vector, lane] = S.split(S.axis(1), tile.lanes);
  auto [ko, ki] = S.split(S.reduce_axis(0), 4);
  S.reorder({ko, ki, row, vector, lane}).unroll(ki).unroll(row).unroll(vector).vectorize(lane);

  return {.name = "register tile",
          .what = std::to_string(tile.rows) + " x " + std::to_string(tile.vectors) + " vectors of " +
                  std::to_string(tile.lanes) + " sums stay in registers, and are stored once",
          .matmul = m,
          .schedule = s,
          .is_parallel = true};
}

std::vector<Step> steps(int n, const Target& target) {
  const int lanes = std::max(target.facts().vector_bits / 32, 4);
  return {naive(n),
          tiled(n),
          course(n, Course::Reordered, "reordered", "along the rows of B, four of them at a time"),
          course(n, Course::Vectorised, "vectorised", "eight columns at once"),
          course(n, Course::Parallel, "parallel", "the bands of 32 rows are shared among the threads"),
          course(n, Course::Unrolled, "unrolled", "the four steps of the inner reduction are written out"),
          packed(n, lanes),
          register_tile(n, choose_tile(target.facts(), n))};
}

// ---- printing, checking, timing -----------------------------------------------------------------------------------

std::vector<LowerArgument> arguments(const Step& step) { return {step.matmul.A, step.matmul.B, step.matmul.C}; }

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

  int climb() {
    if (times()) measure_peaks();
    if (checks()) expected_ = reference(data_, n_);
    const std::vector<Step> all = steps(n_, options_.target);
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
        std::cout << lower(step.schedule, arguments(step),
                           {.simple_mode = true, .passes = reports_.watch({}, step.name)});
        break;
      case Emit::Loops:
        std::cout << tir::IRModule{{{"main", lower_to_loops(step.schedule, arguments(step))}}};
        break;
      case Emit::Ll: std::cout << build_module(step).get_source("ll"); break;
      case Emit::Asm: std::cout << build_module(step).get_source("asm"); break;
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
    std::cout << "time " << step.name << ": " << std::fixed << std::setprecision(2) << seconds * 1e3 << " ms, "
              << std::setprecision(1) << gflops(seconds) << " GFLOPS\n"
              << std::defaultfloat << std::setprecision(6) << std::endl;
    return {seconds, threads};
  }

  void measure_peaks() {
    one_peak_ = std::max(one_peak_, multiply_add_peak(1));
    all_peak_ = std::max(all_peak_, multiply_add_peak(runtime::num_threads()));
  }

  void print_row(const std::string& name, const Measured& m, double naive_seconds) const {
    std::cout << std::left << std::setw(24) << name << std::right << std::fixed << std::setw(8) << m.threads
              << std::setw(12) << std::setprecision(2) << m.seconds * 1e3 << std::setw(10) << std::setprecision(1)
              << gflops(m.seconds) << std::setw(11) << naive_seconds / m.seconds << std::setw(12)
              << 100 * gflops(m.seconds) / peak(m.threads) << " %\n";
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
      std::cout << "\n" << threads << " threads are " << std::setprecision(2)
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

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "The matmul ladder: one computation, eight schedules, each printed, checked and timed. With --emit,\n"
               "--check or --time only what they name is done.",
      .size_means = "the number of rows and columns of the matrices",
      .size = 1024,
      .check_size = 1024,
      .greatest_size = 8192};
  return run_command_line(argc, argv, settings, [&](const CommandLineOptions& options) {
    return Ladder(options, options.size.value_or(settings.size)).climb();
  });
}
