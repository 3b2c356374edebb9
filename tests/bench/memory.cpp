// Operators that are as fast as memory is, by topi's schedules, beside Eigen, oneDNN and a copy of
// as much, on the same arrays and in the same run: a line for each operator and size.
//
//   memory --work softmax --log2 22 --threads 1
//   memory                                  the rows of the table in README.md
//
// Results are compared before anything is timed; a wrong one ends the program with 1.
#include <tenon/tenon.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/nn.h>
#include <tenon/topi/reduction.h>
#include <tenon/topi/transform.h>
#include <tenon/topi/transformer.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "tests/bench/common/eigen_maps.h"
#include "tests/bench/common/medians.h"
#include "tests/bench/common/onednn.h"

using namespace tenon;

namespace {

using runtime::NDArray;

/// What is computed from a matrix, with a factor and a term for each column.
struct Arrays {
  int rows, columns;
  NDArray x, gamma, beta, ours, theirs;
};

struct Work {
  const char* name;
  /// Of all arrays that are read and written, in elements of the matrix.
  double traffic;
  std::vector<std::int64_t> (*result)(std::int64_t rows, std::int64_t columns);
  te::Schedule (*schedule)(const te::Tensor& out, const tir::TargetFacts& target);
  te::Tensor (*declare)(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta);
  std::vector<std::pair<const char*, bench::Call>> (*peers)(const Arrays& a);
};

using Shape = std::vector<std::int64_t>;

bench::Map map_of(const Arrays& a) {
  return {a.rows,
          a.columns,
          a.x.data<float>(),
          a.gamma.data<float>(),
          a.beta.data<float>(),
          a.theirs.data<float>()};
}

template <bench::Call (*f)(const bench::Map&)>
std::vector<std::pair<const char*, bench::Call>> eigen_only(const Arrays& a) {
  return {{"Eigen", f(map_of(a))}};
}

te::Schedule rows(const te::Tensor& out, const tir::TargetFacts& target) {
  return topi::cpu::schedule_rows(out, target);
}
te::Schedule reduction(const te::Tensor& out, const tir::TargetFacts& target) {
  return topi::cpu::schedule_reduction(out, target);
}
te::Schedule elementwise(const te::Tensor& out, const tir::TargetFacts& target) {
  return topi::cpu::schedule_elementwise(out, target);
}
te::Schedule transpose(const te::Tensor& out, const tir::TargetFacts& target) {
  return topi::cpu::schedule_transpose(out, target);
}

const auto kSame = [](std::int64_t m, std::int64_t n) { return Shape{m, n}; };

const std::vector<Work> kWorks = {
    {"chain", 2, kSame, elementwise,
     [](const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta) {
       return topi::relu(topi::add(topi::multiply(x, gamma), beta));
     },
     eigen_only<bench::eigen_chain>},
    {"relu", 2, kSame, elementwise,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::relu(x); },
     [](const Arrays& a) -> std::vector<std::pair<const char*, bench::Call>> {
       return {{"Eigen", bench::eigen_relu(map_of(a))},
               {"oneDNN",
                bench::onednn_relu(a.rows * a.columns, a.x.data<float>(), a.theirs.data<float>())}};
     }},
    {"transpose", 2,
     [](std::int64_t m, std::int64_t n) {
       return Shape{n, m};
     },
     transpose,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) {
       return topi::transpose(x, {1, 0});
     },
     eigen_only<bench::eigen_transpose>},
    {"row_sums", 1, [](std::int64_t m, std::int64_t) { return Shape{m}; }, reduction,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::sum(x, {1}); },
     eigen_only<bench::eigen_row_sums>},
    {"column_sums", 1, [](std::int64_t, std::int64_t n) { return Shape{n}; }, reduction,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::sum(x, {0}); },
     eigen_only<bench::eigen_column_sums>},
    {"softmax", 2, kSame, rows,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::softmax(x); },
     [](const Arrays& a) -> std::vector<std::pair<const char*, bench::Call>> {
       return {{"Eigen", bench::eigen_softmax(map_of(a))},
               {"oneDNN", bench::onednn_softmax(a.rows, a.columns, a.x.data<float>(),
                                                a.theirs.data<float>())}};
     }},
    {"layer_norm", 2, kSame, rows,
     [](const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta) {
       return topi::layer_norm(x, gamma, beta);
     },
     [](const Arrays& a) -> std::vector<std::pair<const char*, bench::Call>> {
       return {{"Eigen", bench::eigen_layer_norm(map_of(a))},
               {"oneDNN", bench::onednn_layer_norm(a.rows, a.columns, a.x.data<float>(),
                                                   a.gamma.data<float>(), a.beta.data<float>(),
                                                   a.theirs.data<float>())}};
     }},
};

bool is_close(const NDArray& x, const NDArray& y, std::int64_t count) {
  const float *a = x.data<float>(), *b = y.data<float>();
  for (std::int64_t n = 0; n < count; ++n)
    if (!(std::abs(a[n] - b[n]) <= 1e-3f * (1 + std::abs(b[n])))) return false;
  return true;
}

/// False if a result is wrong.
bool run(const Work& work, int log2, int threads, int turns, const Target& target) {
  const int columns = 1 << std::min(10, log2 / 2 + log2 % 2), rows = (1 << log2) / columns;
  const std::int64_t elements = std::int64_t{rows} * columns;
  const Shape shape = work.result(rows, columns);
  std::int64_t results = 1;
  for (const std::int64_t extent : shape) results *= extent;
  const auto empty = [&] { return NDArray::zeros(shape, Float(32)); };
  const Arrays arrays{rows,
                      columns,
                      NDArray::random({rows, columns}, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      empty(),
                      empty()};
  const te::Tensor X = te::placeholder({rows, columns}, "X"),
                   Gamma = te::placeholder({columns}, "Gamma"),
                   Beta = te::placeholder({columns}, "Beta");
  const te::Tensor Y = work.declare(X, Gamma, Beta);
  const runtime::Module module =
      build(work.schedule(Y, target.facts()), {X, Gamma, Beta, Y}, target);
  const auto function = module["main"];
  std::vector<bench::Contest> contests = {
      {"Tenon", [&] { function(arrays.x, arrays.gamma, arrays.beta, arrays.ours); }}};
  contests.front().run();
  for (const auto& [name, call] : work.peers(arrays)) {
    if (!call) continue;
    (*call)();
    if (!is_close(arrays.ours, arrays.theirs, results)) {
      std::cerr << "memory: " << name << " and Tenon disagree on " << work.name << " of " << rows
                << " x " << columns << "\n";
      return false;
    }
    contests.push_back({name, *call});
  }
  const NDArray from = NDArray::zeros({elements}, Float(32)),
                to = NDArray::zeros({elements}, Float(32));
  contests.push_back({"copy", [&] {
                        std::memcpy(to.data<float>(), from.data<float>(),
                                    static_cast<std::size_t>(elements) * sizeof(float));
                      }});
  const std::map<std::string, double> seconds = bench::medians_of(contests, turns);
  const auto rate = [&](const std::string& name, double traffic) {
    return traffic * static_cast<double>(elements) * sizeof(float) / seconds.at(name) * 1e-9;
  };
  std::string best;
  for (const auto& [name, time] : seconds)
    if (name != "Tenon" && name != "copy" && (best.empty() || time < seconds.at(best))) best = name;
  std::printf("%-11s 2^%-2d %5d x %-4d %d %11.4f ms %6.1f GB/s %5.1f %% of a copy's %5.1f",
              work.name, log2, rows, columns, threads, seconds.at("Tenon") * 1e3,
              rate("Tenon", work.traffic), 100 * rate("Tenon", work.traffic) / rate("copy", 2),
              rate("copy", 2));
  if (!best.empty())
    std::printf("  %.3f of %s ", seconds.at(best) / seconds.at("Tenon"), best.c_str());
  for (const auto& [name, time] : seconds)
    if (name != "Tenon" && name != "copy")
      std::printf(" %s %.1f", name.c_str(), rate(name, work.traffic));
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  po::options_description options("memory");
  options.add_options()("help", "print this")("work", po::value<std::string>(), "only this one")(
      "log2", po::value<int>(), "only so many elements")(
      "threads", po::value<int>()->default_value(1), "of Tenon")(
      "turns", po::value<int>()->default_value(9), "times that each is timed, in turns");
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    const int threads = given["threads"].as<int>();
    if (threads < 1) throw po::error("--threads takes a positive number");
    std::vector<int> sizes = {10, 14, 18, 22, 26};
    if (given.count("log2") != 0) sizes = {given["log2"].as<int>()};
    if (sizes.front() < 1 || sizes.front() > 28) throw po::error("--log2 is from 1 to 28");
    runtime::set_num_threads(threads);
    bench::set_onednn_threads(threads);
    const Target target("llvm -num-cores=" + std::to_string(threads));
    bool all_right = true, any = false;
    for (const Work& work : kWorks) {
      if (given.count("work") != 0 && given["work"].as<std::string>() != work.name) continue;
      any = true;
      for (const int log2 : sizes)
        all_right = run(work, log2, threads, given["turns"].as<int>(), target) && all_right;
    }
    if (!any) throw po::error("--work names none of the operators");
    return all_right ? 0 : 1;
  } catch (const po::error& error) {
    std::cerr << "memory: " << error.what() << "\n" << options;
    return 2;
  }
}
