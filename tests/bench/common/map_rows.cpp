#include <tenon/runtime/bound_call.h>
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

#include "tests/bench/common/peers.h"
#include "tests/bench/common/rows.h"

namespace tenon::bench {

namespace {

using runtime::NDArray;

/// The arrays of an operation on a matrix, with a factor and a term for each column.
struct Arrays {
  int rows, columns;
  NDArray x, gamma, beta, result;
};

struct Operator {
  const char* name;
  /// Size of all arrays that are read and written, in elements of the matrix.
  double traffic;
  std::vector<std::int64_t> (*result)(std::int64_t rows, std::int64_t columns);
  te::Schedule (*schedule)(const te::Tensor& out, const tir::TargetFacts& target);
  te::Tensor (*declare)(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta);
  std::vector<Contest> (*peers)(int threads, const Map& m);
  /// All elements in one row, without a second dimension.
  bool is_flat = false;
};

using Shape = std::vector<std::int64_t>;

Map map_of(const Arrays& a) {
  return {a.rows,
          a.columns,
          a.x.data<float>(),
          a.gamma.data<float>(),
          a.beta.data<float>(),
          a.result.data<float>()};
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

template <auto of>
std::vector<Contest> peers_with(int threads, const Map& m) {
  return peers_of(threads, of, m);
}

/// A loop in double precision: added up one after the other in float, from 2^24 on numbers below 1
/// would be lost.
std::vector<Contest> loop_of_sums(int, const Map& m) {
  return {{"loop", [m] {
             const std::int64_t count = std::int64_t{m.rows} * m.columns;
             double sum = 0;
             for (std::int64_t n = 0; n < count; ++n) m.y[n] = static_cast<float>(sum += m.x[n]);
           }}};
}

const auto kSame = [](std::int64_t m, std::int64_t n) { return Shape{m, n}; };

const std::vector<Operator> kOperators = {
    {"chain", 2, kSame, elementwise,
     [](const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta) {
       return topi::relu(topi::add(topi::multiply(x, gamma), beta));
     },
     peers_with<&Operators::chain>},
    {"relu", 2, kSame, elementwise,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::relu(x); },
     peers_with<&Operators::relu>},
    {"gelu", 2, kSame, elementwise,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::gelu(x); },
     peers_with<&Operators::gelu>},
    {"transpose", 2,
     [](std::int64_t m, std::int64_t n) {
       return Shape{n, m};
     },
     transpose,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) {
       return topi::transpose(x, {1, 0});
     },
     transposes_of},
    {"row_sums", 1, [](std::int64_t m, std::int64_t) { return Shape{m}; }, reduction,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::sum(x, {1}); },
     peers_with<&Operators::row_sums>},
    {"column_sums", 1, [](std::int64_t, std::int64_t n) { return Shape{n}; }, reduction,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::sum(x, {0}); },
     peers_with<&Operators::column_sums>},
    {"softmax", 2, kSame, rows,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) { return topi::softmax(x); },
     peers_with<&Operators::softmax>},
    {"layer_norm", 2, kSame, rows,
     [](const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta) {
       return topi::layer_norm(x, gamma, beta);
     },
     peers_with<&Operators::layer_norm>},
    {"cumsum", 2, [](std::int64_t m, std::int64_t n) { return Shape{m * n}; }, as_chosen,
     [](const te::Tensor& x, const te::Tensor&, const te::Tensor&) {
       return topi::cumsum(x, 0, {.block = 32});
     },
     loop_of_sums, true},
};

std::vector<Contest> contests_of(const Operator& work, int rows, int columns,
                                 const Settings& settings) {
  const auto empty = [&] { return NDArray::zeros(work.result(rows, columns), Float(32)); };
  const Shape shape = work.is_flat ? Shape{std::int64_t{rows} * columns} : Shape{rows, columns};
  const Arrays arrays{rows,
                      columns,
                      NDArray::random(shape, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      NDArray::random({columns}, Float(32)),
                      empty()};
  const te::Tensor X = te::placeholder(std::vector<te::Expr>(shape.begin(), shape.end()), "X"),
                   Gamma = te::placeholder({columns}, "Gamma"),
                   Beta = te::placeholder({columns}, "Beta");
  const te::Tensor Y = work.declare(X, Gamma, Beta);
  const Target& target = settings.target;
  const runtime::BoundCall call(
      build(work.schedule(Y, target.facts()), {X, Gamma, Beta, Y}, target)["main"], arrays.x,
      arrays.gamma, arrays.beta, arrays.result);
  std::vector<Contest> contests = {{"Tenon", [=] { call(); }}};
  contests.front().run();
  const NDArray ours = taken_out(arrays.result);
  const auto most = [](double expected) { return 1e-3 * (1 + std::abs(expected)); };
  for (const Contest& peer : work.peers(settings.threads, map_of(arrays))) {
    peer.run();
    if (first_difference<float>(ours, arrays.result, most) >= 0)
      throw WrongResult(peer.name + " and Tenon disagree");
    contests.push_back({peer.name, [arrays, run = peer.run] { run(); }});
  }
  return contests;
}

}  // namespace

std::vector<std::string> names_of_maps() {
  std::vector<std::string> names;
  for (const Operator& work : kOperators) names.push_back(work.name);
  return names;
}

Row row_of_map(const std::string& name, int rows, int columns) {
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  const std::int64_t bytes = std::int64_t{rows} * columns * std::int64_t{sizeof(float)};
  return {formatted("%-11s %7d x %-5d", found->name, rows, columns),
          {.amount = found->traffic * static_cast<double>(bytes), .copied = bytes},
          [=](const Settings& settings) { return contests_of(*found, rows, columns, settings); }};
}

}  // namespace tenon::bench
