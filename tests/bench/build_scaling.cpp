// How the time of `build` grows with the program: long chains of stages, large unrolled blocks, and
// many stages over symbolic sizes. Should grow in proportion.
//
//   build/bench/build_scaling                 all rows
//   build/bench/build_scaling chain 10000     one of: chain, unrolled, symbolic
#include <tenon/support/progress.h>
#include <tenon/tenon.h>

#include <ctime>
#include <iomanip>
#include <iostream>
#include <map>

#include "tenon/s_tir/program.h"

using namespace tenon;

namespace {

struct Program {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

/// A chain of `length` element-wise stages of 1024 elements, each at root.
Program chain(int length) {
  const te::Tensor first = te::placeholder({1024}, "A");
  te::Tensor last = first;
  for (int i = 0; i < length; ++i) {
    const te::Tensor read = last;
    last = te::compute(
        {1024}, {"i"}, [&](Var x) { return read(x) * 2.0f + 1.0f; }, "T" + std::to_string(i));
  }
  return {te::create_schedule({last}), {first, last}};
}

/// One stage of size x size, both axes unrolled.
Program unrolled(int size) {
  const te::Tensor A = te::placeholder({size, size}, "A");
  const te::Tensor B = te::compute(
      {size, size}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f + 1.0f; }, "B");
  const te::Schedule s = te::create_schedule({B});
  s[B].unroll(s[B].axis(0)).unroll(s[B].axis(1));
  return {s, {A, B}};
}

/// A chain of `length` stages over [n, n], each at root.
Program symbolic(int length) {
  const Var n = te::size_var("n");
  const te::Tensor first = te::placeholder({n, n}, "A");
  te::Tensor last = first;
  for (int i = 0; i < length; ++i) {
    const te::Tensor read = last;
    last = te::compute(
        {n, n}, {"i", "j"}, [&](Var x, Var y) { return read(x, y) * 2.0f + 1.0f; },
        "T" + std::to_string(i));
  }
  return {te::create_schedule({last}), {first, last}};
}

/// Processor time of this process: other programs do not count.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void print_row(const std::string& name, int size, Progress& progress) {
  const Program program = name == "chain"      ? chain(size)
                          : name == "unrolled" ? unrolled(size)
                                               : symbolic(size);
  std::map<std::string, double> seconds;
  const double start = cpu_seconds();
  double last = start;
  const runtime::Module module = build(program.schedule, program.args, Target("llvm"),
                                       {.on_step = [&](std::string_view step, double) {
                                         const double now = cpu_seconds();
                                         seconds[std::string(step)] +=
                                             now - std::exchange(last, now);
                                       }});
  const double all = cpu_seconds() - start;
  progress.hide();
  std::cout << std::left << std::setw(10) << name << std::right << std::setw(7) << size
            << std::fixed << std::setprecision(2);
  double llvm = 0;
  for (const char* step : {"optimize-llvm", "generate-code", "load"}) {
    std::cout << std::setw(14) << seconds[step];
    llvm += seconds[step];
  }
  std::cout << std::setw(14) << all - llvm << std::setw(10) << all << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  std::cout
      << "processor seconds of build\nprogram      size optimize-llvm generate-code          load"
         "  before LLVM       all\n";
  if (argc == 3) {
    Progress progress;
    print_row(argv[1], std::stoi(argv[2]), progress);
    return 0;
  }
  const std::pair<const char*, int> rows[] = {
      {"chain", 500},    {"chain", 2000},   {"chain", 10000},  {"unrolled", 50}, {"unrolled", 100},
      {"unrolled", 256}, {"symbolic", 100}, {"symbolic", 200}, {"symbolic", 400}};
  Progress progress({.what = "programs", .total = std::size(rows)});
  for (const auto& [name, size] : rows) {
    progress.add();
    print_row(name, size, progress);
  }
}
