// Operators that are as fast as memory is, by topi's schedules, beside Eigen, oneDNN and a copy of
// as much, on the same arrays and in the same run: a line for each operator and size.
//
//   memory --work softmax --log2 22 --threads 1
//   memory                                  the rows of results/memory.json
#include <tenon/runtime/bound_call.h>
#include <tenon/tenon.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/nn.h>
#include <tenon/topi/reduction.h>
#include <tenon/topi/scan.h>
#include <tenon/topi/schedule.h>
#include <tenon/topi/transform.h>
#include <tenon/topi/transformer.h>

#include <algorithm>
#include <cstdio>

#include "tests/bench/common/eigen_maps.h"
#include "tests/bench/common/onednn.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using runtime::NDArray;

/// The arrays of an operation on a matrix, with a factor and a term for each column.
struct Arrays {
  int rows, columns;
  NDArray x, gamma, beta, ours, theirs;
};

struct Work {
  const char* name;
  /// Size of all arrays that are read and written, in elements of the matrix.
  double traffic;
  std::vector<std::int64_t> (*result)(std::int64_t rows, std::int64_t columns);
  te::Schedule (*schedule)(const te::Tensor& out, const tir::TargetFacts& target);
  te::Tensor (*declare)(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta);
  std::vector<std::pair<const char*, bench::Call>> (*peers)(const Arrays& a);
  /// All elements in one row, without a second dimension.
  bool is_flat = false;
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

te::Schedule as_chosen(const te::Tensor& out, const tir::TargetFacts& target) {
  const te::Schedule s = te::create_schedule(out);
  topi::schedule(s, {out}, target);
  return s;
}

/// In double precision: added up one after the other in float, from 2^24 on numbers below 1 would
/// be lost.
bench::Call running_sums(const Arrays& a) {
  const float* const x = a.x.data<float>();
  float* const sums = a.theirs.data<float>();
  const std::int64_t count = std::int64_t{a.rows} * a.columns;
  return [=] {
    double sum = 0;
    for (std::int64_t n = 0; n < count; ++n) sums[n] = static_cast<float>(sum += x[n]);
  };
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
    {"cumsum", 2, [](std::int64_t m, std::int64_t n) { return Shape{m * n}; }, as_chosen,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) {
       return topi::cumsum(x, 0, {.block = 32});
     },
     [](const Arrays& a) -> std::vector<std::pair<const char*, bench::Call>> {
       return {{"loop", running_sums(a)}};
     },
     true},
};

struct Size {
  int log2;
  int columns() const { return 1 << std::min(10, log2 / 2 + log2 % 2); }
  int rows() const { return (1 << log2) / columns(); }
};

std::vector<bench::Contest> contests_of(const Work& work, const Size& size,
                                        const bench::Settings& settings) {
  const int rows = size.rows(), columns = size.columns();
  const auto empty = [&] { return NDArray::zeros(work.result(rows, columns), Float(32)); };
  const Shape shape = work.is_flat ? Shape{std::int64_t{rows} * columns} : Shape{rows, columns};
  const Arrays arrays{rows,
                      columns,
                      NDArray::random(shape, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      empty(),
                      empty()};
  const te::Tensor X = te::placeholder(std::vector<te::Expr>(shape.begin(), shape.end()), "X"),
                   Gamma = te::placeholder({columns}, "Gamma"),
                   Beta = te::placeholder({columns}, "Beta");
  const te::Tensor Y = work.declare(X, Gamma, Beta);
  const Target& target = settings.target;
  const runtime::BoundCall call(
      build(work.schedule(Y, target.facts()), {X, Gamma, Beta, Y}, target)["main"], arrays.x,
      arrays.gamma, arrays.beta, arrays.ours);
  std::vector<bench::Contest> contests = {{"Tenon", [=] { call(); }}};
  contests.front().run();
  const auto most = [](double expected) { return 1e-3 * (1 + std::abs(expected)); };
  for (const auto& [name, call] : work.peers(arrays)) {
    if (!call) continue;
    (*call)();
    if (bench::first_difference<float>(arrays.ours, arrays.theirs, most) >= 0)
      throw bench::WrongResult(std::string(name) + " and Tenon disagree");
    contests.push_back({name, [arrays, run = *call] { run(); }});
  }
  return contests;
}

bench::Row row_of(const Work& work, const Size& size) {
  char name[64];
  std::snprintf(name, sizeof name, "%-11s 2^%-2d %5d x %-4d", work.name, size.log2, size.rows(),
                size.columns());
  const std::int64_t bytes = (std::int64_t{1} << size.log2) * std::int64_t{sizeof(float)};
  return {name,
          {.amount = work.traffic * static_cast<double>(bytes), .copied = bytes},
          [=](const bench::Settings& settings) { return contests_of(work, size, settings); }};
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<int> sizes = {10, 14, 18, 22, 26};
  if (given.count("log2") != 0) sizes = {bench::positive(given, "log2")};
  if (sizes.front() > 28) throw po::error("--log2 is from 1 to 28");
  std::vector<bench::Row> rows;
  for (const Work& work : kWorks) {
    if (given.count("work") != 0 && given["work"].as<std::string>() != work.name) continue;
    for (const int log2 : sizes) rows.push_back(row_of(work, {log2}));
  }
  if (rows.empty()) throw po::error("--work names none of the operators");
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("what is as fast as memory");
  options.add_options()("work", po::value<std::string>(), "only this one")("log2", po::value<int>(),
                                                                           "only so many elements");
  return bench::run(argc, argv, {"memory", options, rows_of});
}
