#include <tenon/runtime/bound_call.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/nn.h>

#include <algorithm>

#include "tests/bench/common/peaks.h"
#include "tests/bench/common/peers.h"
#include "tests/bench/common/rows.h"

namespace tenon::bench {

namespace {

using runtime::NDArray;

/// Type of the accumulator.
DataType sum_of(const ProductShape& s) {
  return s.of_a.is_integral() ? Int(32) : s.of_a == Float(64) ? Float(64) : Float(32);
}

runtime::Function compile(const ProductShape& s, const Target& target) {
  const auto matrix = [&](bool transposed, int rows, int columns, DataType type, const char* name) {
    std::vector<Expr> extents{rows, columns};
    if (transposed) std::swap(extents[0], extents[1]);
    if (s.batch > 0) extents.insert(extents.begin(), s.batch);
    return te::placeholder(extents, name, type);
  };
  const te::Tensor A = matrix(s.transpose_a, s.m, s.k, s.of_a, "A"),
                   B = matrix(s.transpose_b, s.k, s.n, s.of_b, "B");
  const topi::MatmulOptions options{.transpose_a = s.transpose_a,
                                    .transpose_b = s.transpose_b,
                                    .out_dtype = sum_of(s),
                                    .name = "C"};
  const te::Tensor C =
      s.batch > 0 ? topi::batch_matmul(A, B, options) : topi::matmul(A, B, options);
  return build(topi::cpu::schedule_matmul(C, target.facts()), {A, B, C}, target)["main"];
}

struct Arrays {
  NDArray a, b, result;

  explicit Arrays(const ProductShape& s)
      : a(NDArray::random(extents(s, s.transpose_a, s.m, s.k), s.of_a)),
        b(NDArray::random(extents(s, s.transpose_b, s.k, s.n), s.of_b)),
        result(NDArray::zeros(extents(s, false, s.m, s.n), sum_of(s))) {}

 private:
  static NDArray::Shape extents(const ProductShape& s, bool transposed, int rows, int columns) {
    NDArray::Shape result{rows, columns};
    if (transposed) std::swap(result[0], result[1]);
    if (s.batch > 0) result.insert(result.begin(), s.batch);
    return result;
  }
};

/// With a tolerance for the rounding of sums in another order.
bool are_equal(const ProductShape& s, const NDArray& ours, const NDArray& result) {
  const auto differ = [&]<class T>(T, double tolerance) {
    return first_difference<T>(ours, result, [&](double) { return tolerance; }) >= 0;
  };
  const double in_float = 1e-6 * s.k * std::sqrt(s.k) + 1e-4;
  if (s.of_a.is_integral()) return !differ(std::int32_t{}, 0);
  if (s.of_a == Float(64)) return !differ(double{}, 1e-6 * in_float);
  return !differ(float{}, in_float);
}

/// Tenon and the libraries, all of which have given the same result.
std::vector<Contest> contests_of(const ProductShape& s, const Settings& settings) {
  const Arrays arrays(s);
  const runtime::BoundCall product(compile(s, settings.target), arrays.a, arrays.b, arrays.result);
  std::vector<Contest> contests = {{"Tenon", [=] { product(); }}};
  contests.front().run();
  const NDArray ours = taken_out(arrays.result);
  const MatrixProduct of_libraries{s.m,
                                   s.n,
                                   s.k,
                                   s.transpose_a,
                                   s.transpose_b,
                                   arrays.a.dl_tensor().data,
                                   arrays.b.dl_tensor().data,
                                   arrays.result.dl_tensor().data,
                                   s.of_a,
                                   s.of_b,
                                   std::max(s.batch, 1),
                                   s.is_b_packed};
  for (const Contest& peer : peers_of(of_libraries, settings.threads)) {
    peer.run();
    if (!are_equal(s, ours, arrays.result)) throw WrongResult(peer.name + " and Tenon disagree");
    // The arrays live as long as what reads them.
    contests.push_back({peer.name, [arrays, run = peer.run] { run(); }});
  }
  return contests;
}

double (*peak_of(DataType factor))(int threads) {
  return factor.is_integral()  ? byte_product_peak
         : factor.is_bfloat()  ? bfloat_product_peak
         : factor == Float(64) ? double_multiply_add_peak
                               : multiply_add_peak;
}

}  // namespace

Row row_of(const ProductShape& s) {
  const double products = std::max(s.batch, 1);
  std::string kind = s.batch > 0 ? "x" + std::to_string(s.batch) : s.of_a.str();
  if (s.is_b_packed) kind += " packed";
  return {formatted("%4d %4d %4d %s%s %-8s", s.m, s.n, s.k, s.transpose_a ? "T" : "-",
                    s.transpose_b ? "T" : "-", kind.c_str()),
          {.amount = 2.0 * products * s.m * s.n * s.k,
           .peak = peak_of(s.of_a),
           .touched = products * (double{1} * s.m * s.k * s.of_a.bytes() +
                                  double{1} * s.k * s.n * s.of_b.bytes() +
                                  double{1} * s.m * s.n * sum_of(s).bytes())},
          [=](const Settings& settings) { return contests_of(s, settings); }};
}

}  // namespace tenon::bench
