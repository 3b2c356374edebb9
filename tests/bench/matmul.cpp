// A product of float32 matrices by topi's schedule, beside the libraries that this machine has, on
// the same arrays and in the same run: a line for each shape.
//
//   matmul --m 1024 --n 1024 --k 1024 --threads 1
//   matmul                                  the shapes of the table in README.md
//
// Results are compared before anything is timed; a wrong one ends the program with 1.
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/nn.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "tests/bench/common/medians.h"
#include "tests/bench/common/peers.h"

using namespace tenon;

namespace {

struct Shape {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
};

const std::vector<Shape> kShapes = {{32, 32, 32},
                                    {64, 64, 64},
                                    {100, 100, 100},
                                    {128, 128, 128},
                                    {256, 256, 256},
                                    {512, 512, 512},
                                    {1000, 1000, 1000},
                                    {1024, 1024, 1024},
                                    {2048, 2048, 2048},
                                    {1, 4096, 4096},
                                    {4096, 1, 4096},
                                    {17, 1023, 511},
                                    {4096, 64, 4096},
                                    {64, 4096, 64},
                                    {512, 512, 512, true, false},
                                    {512, 512, 512, false, true},
                                    {512, 512, 512, true, true}};

runtime::NDArray random_matrix(int rows, int columns) {
  return runtime::NDArray::random({rows, columns}, Float(32));
}

runtime::Module compile(const Shape& shape, const Target& target) {
  const auto [m, n, k, transpose_a, transpose_b] = shape;
  const te::Tensor A = transpose_a ? te::placeholder({k, m}, "A") : te::placeholder({m, k}, "A");
  const te::Tensor B = transpose_b ? te::placeholder({n, k}, "B") : te::placeholder({k, n}, "B");
  const te::Tensor C =
      topi::matmul(A, B, {.transpose_a = transpose_a, .transpose_b = transpose_b, .name = "C"});
  return build(topi::cpu::schedule_matmul(C, target.facts()), {A, B, C}, target);
}

/// Elements may differ by the rounding of sums in another order.
bool is_close(const runtime::NDArray& x, const runtime::NDArray& y, const Shape& shape) {
  const float* a = x.data<float>();
  const float* b = y.data<float>();
  const double most = 1e-6 * shape.k * std::sqrt(shape.k) + 1e-4;
  for (std::int64_t n = 0; n < std::int64_t{shape.m} * shape.n; ++n)
    if (!(std::abs(a[n] - b[n]) <= most)) return false;
  return true;
}

void print_row(const Shape& shape, int threads, const std::map<std::string, double>& seconds,
               double peak) {
  const double flops = 2.0 * shape.m * shape.n * shape.k;
  const auto gflops = [&](const std::string& name) { return flops / seconds.at(name) * 1e-9; };
  std::string best;
  for (const auto& [name, time] : seconds)
    if (name != "Tenon" && (best.empty() || time < seconds.at(best))) best = name;
  std::printf("%4d %4d %4d %s%s  %d  %10.4f ms %7.1f GFLOPS %5.1f %% of %.0f", shape.m, shape.n,
              shape.k, shape.transpose_a ? "T" : "-", shape.transpose_b ? "T" : "-", threads,
              seconds.at("Tenon") * 1e3, gflops("Tenon"), 100 * gflops("Tenon") / peak, peak);
  if (!best.empty())
    std::printf("  %.3f of %s", seconds.at(best) / seconds.at("Tenon"), best.c_str());
  std::printf(" ");
  for (const auto& [name, time] : seconds)
    if (name != "Tenon") std::printf(" %s %.1f", name.c_str(), flops / time * 1e-9);
  std::printf("\n");
  std::fflush(stdout);
}

/// False if a result is wrong.
bool run(const Shape& shape, int threads, int turns, const Target& target) {
  const runtime::NDArray a = shape.transpose_a ? random_matrix(shape.k, shape.m)
                                               : random_matrix(shape.m, shape.k),
                         b = shape.transpose_b ? random_matrix(shape.n, shape.k)
                                               : random_matrix(shape.k, shape.n);
  const auto result = [&] {
    return runtime::NDArray::zeros({shape.m, shape.n}, Float(32), cpu(0));
  };
  const runtime::NDArray ours = result(), theirs = result();
  const runtime::Module module = compile(shape, target);
  const auto function = module["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [&] { function(a, b, ours); }}};
  const bench::Product product{
      shape.m,           shape.n,         shape.k,         shape.transpose_a,
      shape.transpose_b, a.data<float>(), b.data<float>(), theirs.data<float>()};
  function(a, b, ours);
  for (const bench::Peer& peer : bench::peers_of(product, threads)) {
    peer.run();
    if (!is_close(ours, theirs, shape)) {
      std::cerr << "matmul: " << peer.name << " and Tenon disagree on " << shape.m << " x "
                << shape.n << " x " << shape.k << "\n";
      return false;
    }
    contests.push_back({peer.name, peer.run});
  }
  const double peak = multiply_add_peak(threads);
  print_row(shape, threads, bench::medians_of(contests, turns), peak);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  po::options_description options("matmul");
  options.add_options()("help", "print this")("m", po::value<int>(), "rows of A and C")(
      "n", po::value<int>(), "columns of B and C")("k", po::value<int>(), "columns of A")(
      "transpose-a", po::bool_switch(), "A is given as k x m")("transpose-b", po::bool_switch(),
                                                               "B is given as n x k")(
      "threads", po::value<int>()->default_value(1), "of everyone")(
      "turns", po::value<int>()->default_value(9), "times that each is timed, in turns");
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    const int named = static_cast<int>(given.count("m") + given.count("n") + given.count("k"));
    if (named != 0 && named != 3) throw po::error("--m, --n and --k go together");
    const int threads = given["threads"].as<int>();
    if (threads < 1) throw po::error("--threads takes a positive number");
    std::vector<Shape> shapes = kShapes;
    if (named == 3)
      shapes = {{given["m"].as<int>(), given["n"].as<int>(), given["k"].as<int>(),
                 given["transpose-a"].as<bool>(), given["transpose-b"].as<bool>()}};
    for (const Shape& shape : shapes)
      if (shape.m < 1 || shape.n < 1 || shape.k < 1)
        throw po::error("--m, --n and --k take positive numbers");
    runtime::set_num_threads(threads);
    const Target target("llvm -num-cores=" + std::to_string(threads));
    bool all_right = true;
    for (const Shape& shape : shapes)
      all_right = run(shape, threads, given["turns"].as<int>(), target) && all_right;
    return all_right ? 0 : 1;
  } catch (const po::error& error) {
    std::cerr << "matmul: " << error.what() << "\n" << options;
    return 2;
  }
}
