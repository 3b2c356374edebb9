// Measures the cost of an epilogue after a product or a convolution: times a layer alongside the
// same operation without bias and activation, both under topi's schedule, in turns. The last column
// is the speed of the layer relative to the other's: 1 means that the epilogue is free.
//
//   epilogues --filter dense --threads 2
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/convolution.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/schedule.h>
#include <tenon/topi/transformer.h>

#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using runtime::NDArray;

/// A program and the arrays that it is called with; the result is the last of both.
struct Layer {
  std::vector<te::Tensor> tensors;

  std::function<void()> call(const Target& target, const std::vector<NDArray>& given) const {
    const te::Schedule s = te::create_schedule(tensors.back());
    topi::schedule(s, {tensors.back()}, target.facts());
    const runtime::Function function = build(s, {tensors.begin(), tensors.end()}, target)["main"];
    // Arguments refer to the arrays.
    const auto arrays = std::make_shared<const std::vector<NDArray>>(given);
    const std::vector<runtime::Argument> arguments(arrays->begin(), arrays->end());
    return [=] { (void)arrays, function.call(arguments); };
  }
};

NDArray array_of(const te::Tensor& tensor) {
  NDArray::Shape shape;
  for (const Expr& extent : tensor.shape()) shape.push_back(*tir::constant_int(extent));
  return NDArray::random(shape, tensor.dtype());
}

/// The layer, and the same layer without bias and activation; both read the arrays of the first.
struct Pair {
  Layer mapped, plain;
  double operations;
};

/// Compares the layer's results with those of the compiled default schedule, because the
/// interpreter is too slow for these extents.
void compare(const Layer& layer, const std::vector<NDArray>& given, const Target& target) {
  const te::Tensor& out = layer.tensors.back();
  const NDArray expected = array_of(out);
  const te::Schedule s = te::create_schedule(out);
  const runtime::Function function =
      build(s, {layer.tensors.begin(), layer.tensors.end()}, target)["main"];
  std::vector<runtime::Argument> arguments(given.begin(), given.end());
  arguments.back() = expected;
  function.call(arguments);
  if (bench::first_difference<float>(given.back(), expected,
                                     [](double x) { return 1e-3 + 1e-3 * std::abs(x); }) >= 0)
    throw bench::WrongResult("the layer's schedule changes its results");
}

bench::Row row_of(const std::string& name, const Pair& pair) {
  return {name,
          {.amount = pair.operations, .peak = multiply_add_peak},
          [=](const bench::Settings& settings) {
            std::vector<NDArray> given, without;
            for (const te::Tensor& tensor : pair.mapped.tensors) given.push_back(array_of(tensor));
            for (std::size_t n = 0; n + 1 < pair.plain.tensors.size(); ++n)
              without.push_back(given[n]);
            without.push_back(array_of(pair.plain.tensors.back()));
            const std::vector<bench::Contest> contests = {
                {"Tenon", pair.mapped.call(settings.target, given)},
                {"without", pair.plain.call(settings.target, without)}};
            for (const bench::Contest& contest : contests) contest.run();
            compare(pair.mapped, given, settings.target);
            return contests;
          }};
}

Pair dense_and_gelu(int n) {
  const te::Tensor X = te::placeholder({n, n}, "X"), W = te::placeholder({n, n}, "W"),
                   Bias = te::placeholder({n}, "Bias");
  return {{{X, W, Bias, topi::gelu(topi::dense(X, W, Bias))}},
          {{X, W, topi::dense(X, W)}},
          2.0 * n * n * n};
}

Pair product_and_relu(int n) {
  const te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  return {{{A, B, topi::relu(topi::matmul(A, B))}}, {{A, B, topi::matmul(A, B)}}, 2.0 * n * n * n};
}

Pair convolution_and_relu(int channels, int size) {
  const te::Tensor X = te::placeholder({1, channels, size, size}, "X"),
                   K = te::placeholder({channels, channels, 3, 3}, "K"),
                   Bias = te::placeholder({channels, 1, 1}, "Bias");
  const topi::ConvolutionOptions options{.padding = {1, 1, 1, 1}};
  return {{{X, K, Bias, topi::relu(topi::add(topi::conv2d_nchw(X, K, options), Bias))}},
          {{X, K, topi::conv2d_nchw(X, K, options)}},
          2.0 * channels * channels * 9 * size * size};
}

std::vector<bench::Row> rows_of(const po::variables_map&) {
  std::vector<bench::Row> rows;
  for (const int n : {128, 1024}) {
    char text[64];
    std::snprintf(text, sizeof text, "dense + bias + gelu    %4d", n);
    rows.push_back(row_of(text, dense_and_gelu(n)));
    std::snprintf(text, sizeof text, "matmul + relu          %4d", n);
    rows.push_back(row_of(text, product_and_relu(n)));
  }
  rows.push_back(row_of("conv + bias + relu  64x56x56", convolution_and_relu(64, 56)));
  rows.push_back(row_of("conv + bias + relu 256x14x14", convolution_and_relu(256, 14)));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const po::options_description options("results that are mapped on");
  return bench::run(argc, argv, {"epilogues", options, rows_of});
}
