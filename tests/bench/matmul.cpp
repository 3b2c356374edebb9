// A product of matrices by topi's schedule, beside the libraries that this machine has, on
// the same arrays and in the same run: a line for each shape.
//
//   matmul --m 1024 --n 1024 --k 1024 --threads 1
//   matmul --m 1024 --n 1024 --k 1024 --type int8
//   matmul                                  the shapes of results/matmul.json
#include <tenon/runtime/bound_call.h>
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/nn.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/bench/common/onednn.h"
#include "tests/bench/common/peaks.h"
#include "tests/bench/common/peers.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

struct Shape {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  /// Types of the factors.
  DataType of_a = Float(32), of_b = Float(32);
  /// Number of products of this shape; 0: one, of matrices without a batch dimension.
  int batch = 0;

  /// Type of the accumulator.
  DataType sum() const { return of_a.is_integral() ? Int(32) : Float(32); }
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
                                    {512, 512, 512, true, true},
                                    {512, 512, 512, false, false, Int(8), Int(8)},
                                    {1024, 1024, 1024, false, false, Int(8), Int(8)},
                                    {1024, 1024, 1024, false, false, UInt(8), Int(8)},
                                    {1024, 1024, 1024, false, false, BFloat(16), BFloat(16)},
                                    {1024, 1024, 1024, false, false, Float(16), Float(16)},
                                    {.m = 128, .n = 128, .k = 64, .batch = 32},
                                    {.m = 16, .n = 16, .k = 16, .batch = 512}};

/// Types of the factors by the names of --type: bytes of both factors are signed, or the first
/// factor's are unsigned.
const std::map<std::string, std::pair<DataType, DataType>> kTypes = {
    {"float32", {Float(32), Float(32)}},
    {"float16", {Float(16), Float(16)}},
    {"bfloat16", {BFloat(16), BFloat(16)}},
    {"int8", {Int(8), Int(8)}},
    {"uint8", {UInt(8), Int(8)}}};

runtime::Function compile(const Shape& shape, const Target& target) {
  const auto& [m, n, k, transpose_a, transpose_b, of_a, of_b, batch] = shape;
  const auto matrix = [batch = batch](bool transposed, int rows, int columns, DataType type,
                                      const char* name) {
    std::vector<Expr> extents{rows, columns};
    if (transposed) std::swap(extents[0], extents[1]);
    if (batch > 0) extents.insert(extents.begin(), batch);
    return te::placeholder(extents, name, type);
  };
  const te::Tensor A = matrix(transpose_a, m, k, of_a, "A"),
                   B = matrix(transpose_b, k, n, of_b, "B");
  const topi::MatmulOptions options{.transpose_a = transpose_a,
                                    .transpose_b = transpose_b,
                                    .out_dtype = shape.sum(),
                                    .name = "C"};
  const te::Tensor C = batch > 0 ? topi::batch_matmul(A, B, options) : topi::matmul(A, B, options);
  return build(topi::cpu::schedule_matmul(C, target.facts()), {A, B, C}, target)["main"];
}

struct Arrays {
  runtime::NDArray a, b, ours, theirs;

  explicit Arrays(const Shape& s)
      : a(runtime::NDArray::random(extents(s, s.transpose_a, s.m, s.k), s.of_a)),
        b(runtime::NDArray::random(extents(s, s.transpose_b, s.k, s.n), s.of_b)),
        ours(runtime::NDArray::zeros(extents(s, false, s.m, s.n), s.sum())),
        theirs(runtime::NDArray::zeros(extents(s, false, s.m, s.n), s.sum())) {}

 private:
  static runtime::NDArray::Shape extents(const Shape& s, bool transposed, int rows, int columns) {
    runtime::NDArray::Shape result{rows, columns};
    if (transposed) std::swap(result[0], result[1]);
    if (s.batch > 0) result.insert(result.begin(), s.batch);
    return result;
  }
};

std::vector<bench::Contest> peers_of(const Shape& shape, const Arrays& arrays, int threads) {
  std::vector<bench::Contest> contests;
  const auto [a, b, ours, theirs] = arrays;
  if (shape.batch > 0) {
    // Libraries without batched products compute one product after the other.
    std::map<std::string, std::vector<std::function<void()>>> products;
    for (std::int64_t n = 0; n < shape.batch; ++n)
      for (const LibraryProduct& peer : bench::peers_of(
               {shape.m, shape.n, shape.k, shape.transpose_a, shape.transpose_b,
                a.data<float>() + n * shape.m * shape.k, b.data<float>() + n * shape.k * shape.n,
                theirs.data<float>() + n * shape.m * shape.n},
               threads))
        products[peer.name].push_back(peer.run);
    for (const auto& [name, all] : products)
      contests.push_back({name, [all = all] {
                            for (const auto& run : all) run();
                          }});
  } else if (shape.of_a == Float(32)) {
    for (const LibraryProduct& peer :
         bench::peers_of({shape.m, shape.n, shape.k, shape.transpose_a, shape.transpose_b,
                          a.data<float>(), b.data<float>(), theirs.data<float>()},
                         threads))
      contests.push_back({peer.name, peer.run});
  } else if (!shape.of_a.is_float() && !shape.transpose_a && !shape.transpose_b) {
    const bench::NarrowProduct product{shape.m,
                                       shape.n,
                                       shape.k,
                                       shape.of_a,
                                       shape.of_b,
                                       a.dl_tensor().data,
                                       b.dl_tensor().data,
                                       theirs.dl_tensor().data};
    for (const bool lays_out : {false, true})
      if (const bench::Call call = bench::onednn_product(product, lays_out))
        contests.push_back({lays_out ? "oneDNN-packed" : "oneDNN", *call});
  }
  return contests;
}

bool are_equal(const Shape& shape, const Arrays& arrays) {
  if (shape.of_a.is_integral())
    return bench::first_difference<std::int32_t>(arrays.ours, arrays.theirs,
                                                 [](double) { return 0.0; }) < 0;
  // Tolerance for the rounding of sums in another order.
  const double most = 1e-6 * shape.k * std::sqrt(shape.k) + 1e-4;
  return bench::first_difference<float>(arrays.ours, arrays.theirs, [&](double) { return most; }) <
         0;
}

/// Tenon and the libraries, all of which have given the same result.
std::vector<bench::Contest> contests_of(const Shape& shape, const bench::Settings& settings) {
  const Arrays arrays(shape);
  const runtime::BoundCall product(compile(shape, settings.target), arrays.a, arrays.b,
                                   arrays.ours);
  std::vector<bench::Contest> contests = {{"Tenon", [=] { product(); }}};
  contests.front().run();
  for (const bench::Contest& peer : peers_of(shape, arrays, settings.threads)) {
    peer.run();
    if (!are_equal(shape, arrays)) throw bench::WrongResult(peer.name + " and Tenon disagree");
    // The arrays live as long as what reads them.
    contests.push_back({peer.name, [arrays, run = peer.run] { run(); }});
  }
  return contests;
}

double (*peak_of(DataType factor))(int threads) {
  return factor.is_integral() ? bench::byte_product_peak
         : factor.is_bfloat() ? bench::bfloat_product_peak
                              : multiply_add_peak;
}

bench::Row row_of(const Shape& shape) {
  char name[64];
  std::snprintf(
      name, sizeof name, "%4d %4d %4d %s%s %-8s", shape.m, shape.n, shape.k,
      shape.transpose_a ? "T" : "-", shape.transpose_b ? "T" : "-",
      shape.batch > 0 ? ("x" + std::to_string(shape.batch)).c_str() : shape.of_a.str().c_str());
  return {name,
          {.amount = 2.0 * std::max(shape.batch, 1) * shape.m * shape.n * shape.k,
           .peak = peak_of(shape.of_a)},
          [=](const bench::Settings& settings) { return contests_of(shape, settings); }};
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<bench::Row> rows;
  const auto named = given.count("m") + given.count("n") + given.count("k");
  const bool is_batched = given.count("batch") != 0;
  if (named != 0 && named != 3) throw po::error("--m, --n and --k go together");
  const auto type = kTypes.find(given["type"].as<std::string>());
  if (type == kTypes.end()) throw po::error("--type names none of the types");
  if (is_batched && (named == 0 || type->first != "float32"))
    throw po::error("--batch is of products whose extents are given, in float32");
  if (named == 3)
    return {row_of({bench::positive(given, "m"), bench::positive(given, "n"),
                    bench::positive(given, "k"), given["transpose-a"].as<bool>(),
                    given["transpose-b"].as<bool>(), type->second.first, type->second.second,
                    is_batched ? bench::positive(given, "batch") : 0})};
  for (const Shape& shape : kShapes) rows.push_back(row_of(shape));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("products of matrices");
  options.add_options()("m", po::value<int>(), "rows of A and C")(
      "n", po::value<int>(), "columns of B and C")("k", po::value<int>(), "columns of A")(
      "transpose-a", po::bool_switch(), "A is given as k x m")("transpose-b", po::bool_switch(),
                                                               "B is given as n x k")(
      "batch", po::value<int>(), "so many of them, in arrays of three dimensions")(
      "type", po::value<std::string>()->default_value("float32"),
      "of the factors: float32, float16, bfloat16, int8, uint8 (by int8)");
  return bench::run(argc, argv, {"matmul", options, rows_of});
}
