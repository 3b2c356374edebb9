// How the time of `lower` grows with the program: chains of element-wise stages in four places,
// diamonds, axes that are split again and again, unrolled statements. Each row is fitted by a power
// of the size; what grows in proportion has the exponent 1.
//
//   build/bench/lower_scaling                  all rows
//   build/bench/lower_scaling nested 1000      one of them, up to a size
#include <tenon/support/progress.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string_view>

using namespace tenon;

namespace {

struct Program {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

// ---- chains -------------------------------------------------------------------------------------

enum class Place { Root, Inline, SplitLoop, Nested };

Program chain(int length, Place place) {
  const int n = 1024;
  const te::Tensor first = te::placeholder({n}, "A");
  std::vector<te::Tensor> stages;
  te::Tensor last = first;
  for (int i = 0; i < length; ++i) {
    const te::Tensor read = last;
    last = te::compute(
        {n}, {"i"}, [&](Var x) { return read(x) * 2.0f + 1.0f; }, "T" + std::to_string(i));
    stages.push_back(last);
  }
  te::Schedule s = te::create_schedule({last});
  const auto last_loop =
      place == Place::SplitLoop ? s[last].split(s[last].axis(0), 32).outer : s[last].axis(0);
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    if (place == Place::Inline) s[stages[i]].compute_inline();
    if (place == Place::SplitLoop) s[stages[i]].compute_at(s[last], last_loop);
    if (place == Place::Nested) s[stages[i]].compute_at(s[stages[i + 1]], s[stages[i + 1]].axis(0));
  }
  return {s, {first, last}};
}

// ---- other programs -----------------------------------------------------------------------------

/// Pairs of stages that read the same one, and one that reads both, one behind the other.
Program diamonds(int stages) {
  const int n = 1024;
  const te::Tensor first = te::placeholder({n}, "A");
  te::Tensor last = first;
  for (int i = 0; i + 2 < stages; i += 3) {
    const te::Tensor read = last;
    const std::string name = std::to_string(i);
    const te::Tensor left = te::compute(
        {n}, {"i"}, [&](Var x) { return read(x) * 2.0f; }, "L" + name);
    const te::Tensor right = te::compute(
        {n}, {"i"}, [&](Var x) { return read(x) + 1.0f; }, "R" + name);
    last = te::compute(
        {n}, {"i"}, [&](Var x) { return left(x) - right(x); }, "D" + name);
  }
  return {te::create_schedule({last}), {first, last}};
}

/// `axes` axes of 16 elements, each split four times.
Program splits(int axes) {
  const std::vector<tir::Expr> shape(static_cast<std::size_t>(axes), 16);
  const te::Tensor A = te::placeholder(shape, "A");
  const te::Tensor B = te::compute(
      shape,
      [&](std::span<const Var> at) {
        return A(std::vector<tir::Expr>(at.begin(), at.end())) + 1.0f;
      },
      "B");
  const te::Schedule s = te::create_schedule({B});
  for (const te::IterVar& axis : B.op().axis()) {
    te::IterVar rest = axis;
    for (int n = 0; n < 4; ++n) rest = s[B].split(rest, 2).outer;
  }
  return {s, {A, B}};
}

/// Loops of so many iterations in all, unrolled.
Program unrolled(int statements) {
  const te::Tensor A = te::placeholder({statements / 10, 10}, "A");
  const te::Tensor B = te::compute(
      {statements / 10, 10}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f + 1.0f; }, "B");
  const te::Schedule s = te::create_schedule({B});
  s[B].unroll(s[B].axis(0)).unroll(s[B].axis(1));
  return {s, {A, B}};
}

// ---- times --------------------------------------------------------------------------------------

/// Processor time of this process: other programs do not count.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The least of several, in so much time.
double measure(const Program& program) {
  constexpr double kEnough = 0.5;
  double best = std::numeric_limits<double>::infinity(), all = 0;
  do {
    const double start = cpu_seconds();
    const tir::IRModule module =
        lower(program.schedule, program.args,
              {.simple_mode = true, .passes = {.unroll = {.max_statements = 1 << 20}}});
    const double seconds = cpu_seconds() - start;
    internal_check(module.functions.size() == 1, "lower gave no function");
    best = std::min(best, seconds);
    all += seconds;
  } while (all < kEnough);
  return best;
}

struct Point {
  double size, seconds;
};

/// The slope of the line of least squares through the logarithms.
double exponent_of(const std::vector<Point>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Point& p : points) {
    const double u = std::log(p.size), v = std::log(p.seconds);
    x += u, y += v, xx += u * u, xy += u * v;
  }
  const double n = static_cast<double>(points.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

struct Row {
  std::string_view name, what;
  std::vector<int> sizes;
  std::function<Program(int)> make;
};

void print_row(const Row& row, int most, Progress& progress) {
  std::vector<Point> points;
  std::string cells;
  for (const int size : row.sizes) {
    if (size > most) break;
    const double seconds = measure(row.make(size));
    points.push_back({static_cast<double>(size), seconds});
    std::ostringstream cell;
    cell << std::setw(7) << size << std::fixed << std::setprecision(seconds < 0.01 ? 3 : 1)
         << std::setw(10) << seconds * 1e3;
    cells += cell.str();
  }
  progress.hide();
  std::cout << std::left << std::setw(12) << row.name << std::right << cells;
  // Costs that are independent of the size hide the growth at small sizes.
  if (points.size() > 2)
    std::cout << std::fixed << std::setprecision(2) << std::setw(8)
              << exponent_of({points.end() - 3, points.end()});
  std::cout << "  " << row.what << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> lengths = {10, 100, 1000, 3000, 10000};
  const auto of = [](Place place) { return [place](int size) { return chain(size, place); }; };
  const Row rows[] = {
      {"root", "stages of a chain, each at root", lengths, of(Place::Root)},
      {"inlined", "stages of a chain, all inlined", lengths, of(Place::Inline)},
      {"one loop", "stages of a chain, computed at one loop", lengths, of(Place::SplitLoop)},
      {"nested", "stages of a chain, each computed at the next", lengths, of(Place::Nested)},
      {"diamonds", "stages, two of three read the same", lengths, diamonds},
      {"splits", "axes, each split four times", {2, 3, 6, 12}, splits},
      {"unrolled", "statements of an unrolled body", {10, 100, 1000, 3000, 10000}, unrolled}};
  const std::string only = argc > 1 ? argv[1] : "";
  const int most = argc > 2 ? std::stoi(argv[2]) : std::numeric_limits<int>::max();
  std::cout
      << "sizes and processor milliseconds of lower; the exponent by which the last three grow\n";
  Progress progress({.what = "rows", .total = std::size(rows)});
  for (const Row& row : rows) {
    progress.add();
    if (only.empty() || row.name == only) print_row(row, most, progress);
  }
}
