// Convolutions with a bias and relu by topi's schedule, beside oneDNN with its changes of layout,
// on the same arrays and in the same run: a line for each shape.
//
//   conv2d --shape 1x64x56x56 --filters 64 --kernel 3 --padding 1 --stride 1 --threads 1
//   conv2d                                  the shapes of the table in README.md
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/convolution.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/schedule.h>

#include <algorithm>
#include <cstdio>

#include "tests/bench/common/onednn.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using bench::Convolution;
using runtime::NDArray;

const std::vector<Convolution> kShapes = {
    {.batch = 1, .in = 64, .height = 56, .width = 56, .out = 64, .kernel = 3, .padding = 1},
    {.batch = 1, .in = 256, .height = 14, .width = 14, .out = 256, .kernel = 3, .padding = 1},
    {.batch = 1, .in = 3, .height = 224, .width = 224, .out = 64, .kernel = 3, .padding = 1},
    {.batch = 5, .in = 128, .height = 82, .width = 102, .out = 128, .kernel = 3},
    {.batch = 1, .in = 256, .height = 56, .width = 56, .out = 64, .kernel = 1},
    {.batch = 1,
     .in = 64,
     .height = 56,
     .width = 56,
     .out = 128,
     .kernel = 3,
     .stride = 2,
     .padding = 1},
    {.batch = 1,
     .in = 128,
     .height = 56,
     .width = 56,
     .out = 128,
     .kernel = 3,
     .padding = 1,
     .depthwise = true},
};

/// Channels that a filter reads.
int channels_of_filter(const Convolution& c) { return c.depthwise ? 1 : c.in; }

runtime::Module compile(const Convolution& c, const Target& target) {
  const te::Tensor X = te::placeholder({c.batch, c.in, c.height, c.width}, "X"),
                   K = te::placeholder({c.out, channels_of_filter(c), c.kernel, c.kernel}, "K"),
                   Bias = te::placeholder({c.out, 1, 1}, "Bias");
  const topi::ConvolutionOptions options{.stride = {c.stride, c.stride},
                                         .padding = {c.padding, c.padding, c.padding, c.padding}};
  te::Tensor Z = topi::add(
      c.depthwise ? topi::depthwise_conv2d_nchw(X, K, options) : topi::conv2d_nchw(X, K, options),
      Bias);
  if (c.with_relu) Z = topi::relu(Z);
  const te::Schedule s = te::create_schedule(Z);
  topi::schedule(s, {Z}, target.facts());
  return build(s, {X, K, Bias, Z}, target);
}

int terms_of(const Convolution& c) { return channels_of_filter(c) * c.kernel * c.kernel; }

std::vector<bench::Contest> contests_of(const Convolution& c, const bench::Settings& settings) {
  const NDArray x = NDArray::random({c.batch, c.in, c.height, c.width}, Float(32)),
                kernel =
                    NDArray::random({c.out, channels_of_filter(c), c.kernel, c.kernel}, Float(32)),
                bias = NDArray::random({c.out, 1, 1}, Float(32));
  const std::vector<std::int64_t> shape{c.batch, c.out, c.out_height(), c.out_width()};
  const NDArray ours = NDArray::zeros(shape, Float(32)), theirs = NDArray::zeros(shape, Float(32));
  const runtime::Function function = compile(c, settings.target)["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [=] { function(x, kernel, bias, ours); }}};
  contests.front().run();
  const bench::Call onednn = bench::onednn_convolution(c, x.data<float>(), kernel.data<float>(),
                                                       bias.data<float>(), theirs.data<float>());
  if (!onednn) return contests;
  (*onednn)();
  const int terms = terms_of(c);
  const auto most = [&](double) { return 1e-6 * terms * std::sqrt(terms) + 1e-4; };
  if (bench::first_difference<float>(ours, theirs, most) >= 0)
    throw bench::WrongResult("oneDNN and Tenon disagree");
  contests.push_back({"oneDNN", [=] { (void)theirs, (*onednn)(); }});
  return contests;
}

bench::Row row_of(const Convolution& c) {
  char name[96];
  std::snprintf(name, sizeof name, "%dx%dx%dx%d to %d, %dx%d / %d %s", c.batch, c.in, c.height,
                c.width, c.out, c.kernel, c.kernel, c.stride,
                c.depthwise   ? "depthwise"
                : c.with_relu ? "relu"
                              : "-");
  const double results = double{1} * c.batch * c.out * c.out_height() * c.out_width();
  return {name,
          {.amount = 2 * results * terms_of(c), .peak = multiply_add_peak},
          [=](const bench::Settings& settings) { return contests_of(c, settings); }};
}

Convolution parsed(const po::variables_map& given) {
  Convolution c{};
  if (std::sscanf(given["shape"].as<std::string>().c_str(), "%dx%dx%dx%d", &c.batch, &c.in,
                  &c.height, &c.width) != 4)
    throw po::error("--shape is as in 1x64x56x56");
  c.out = given["filters"].as<int>();
  c.kernel = given["kernel"].as<int>();
  c.padding = given["padding"].as<int>();
  c.stride = given["stride"].as<int>();
  c.depthwise = given["depthwise"].as<bool>();
  if (c.depthwise) c.out = c.in;
  if (std::min({c.batch, c.in, c.height, c.width, c.out, c.kernel, c.stride}) < 1 ||
      c.padding < 0 || c.out_height() < 1 || c.out_width() < 1)
    throw po::error("there is nothing to compute");
  return c;
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<bench::Row> rows;
  std::vector<Convolution> shapes = kShapes;
  if (given.count("shape") != 0) shapes = {parsed(given)};
  for (Convolution& shape : shapes) {
    shape.with_relu = given["relu"].as<bool>();
    rows.push_back(row_of(shape));
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("convolutions");
  options.add_options()("shape", po::value<std::string>(), "of the images")(
      "filters", po::value<int>()->default_value(64), "how many")(
      "kernel", po::value<int>()->default_value(3), "their height and width")(
      "padding", po::value<int>()->default_value(0), "on each side")(
      "stride", po::value<int>()->default_value(1), "in both dimensions")(
      "depthwise", po::bool_switch(), "each channel by itself")("relu", po::bool_switch(),
                                                                "of the result");
  return bench::run(argc, argv, {"conv2d", options, rows_of});
}
