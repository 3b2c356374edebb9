// Convolutions with a bias and relu by topi's schedule, beside oneDNN with its changes of layout,
// on the same arrays and in the same run: a line for each shape.
//
//   conv2d --shape 1x64x56x56 --filters 64 --kernel 3 --padding 1 --stride 1 --threads 1
//   conv2d                                  the shapes of the table in README.md
//
// Results are compared before anything is timed; a wrong one ends the program with 1.
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/nn.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "tests/bench/common/medians.h"
#include "tests/bench/common/onednn.h"

using namespace tenon;

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
};

runtime::Module compile(const Convolution& c, const Target& target) {
  const te::Tensor X = te::placeholder({c.batch, c.in, c.height, c.width}, "X"),
                   K = te::placeholder({c.out, c.in, c.kernel, c.kernel}, "K"),
                   Bias = te::placeholder({c.out, 1, 1}, "Bias");
  const te::Tensor Y = topi::conv2d_nchw(
      X, K,
      {.stride = {c.stride, c.stride}, .padding = {c.padding, c.padding, c.padding, c.padding}});
  te::Tensor Z = topi::add(Y, Bias);
  if (c.with_relu) Z = topi::relu(Z);
  return build(topi::cpu::schedule_conv2d(Z, target.facts()), {X, K, Bias, Z}, target);
}

/// False if a result is wrong.
bool run(const Convolution& c, int threads, int turns, const Target& target) {
  const NDArray x = NDArray::random({c.batch, c.in, c.height, c.width}, Float(32)),
                kernel = NDArray::random({c.out, c.in, c.kernel, c.kernel}, Float(32)),
                bias = NDArray::random({c.out, 1, 1}, Float(32));
  const std::vector<std::int64_t> shape{c.batch, c.out, c.out_height(), c.out_width()};
  const NDArray ours = NDArray::zeros(shape, Float(32)), theirs = NDArray::zeros(shape, Float(32));
  const runtime::Module module = compile(c, target);
  const auto function = module["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [&] { function(x, kernel, bias, ours); }}};
  contests.front().run();
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  const int terms = c.in * c.kernel * c.kernel;
  if (const bench::Call onednn = bench::onednn_convolution(
          c, x.data<float>(), kernel.data<float>(), bias.data<float>(), theirs.data<float>())) {
    (*onednn)();
    const float *a = ours.data<float>(), *b = theirs.data<float>();
    for (std::int64_t n = 0; n < count; ++n)
      if (!(std::abs(a[n] - b[n]) <= 1e-6 * terms * std::sqrt(terms) + 1e-4)) {
        std::cerr << "conv2d: oneDNN and Tenon disagree at " << n << ": " << b[n] << " and " << a[n]
                  << "\n";
        return false;
      }
    contests.push_back({"oneDNN", *onednn});
  }
  const double peak = multiply_add_peak(threads);
  const std::map<std::string, double> seconds = bench::medians_of(contests, turns);
  const auto gflops = [&](const std::string& name) {
    return 2e-9 * static_cast<double>(count) * terms / seconds.at(name);
  };
  std::printf("%dx%dx%dx%d to %d, %dx%d / %d %s %d %10.4f ms %7.1f GFLOPS %5.1f %% of %.0f",
              c.batch, c.in, c.height, c.width, c.out, c.kernel, c.kernel, c.stride,
              c.with_relu ? "relu" : "-", threads, seconds.at("Tenon") * 1e3, gflops("Tenon"),
              100 * gflops("Tenon") / peak, peak);
  if (seconds.count("oneDNN") != 0)
    std::printf("  %.3f of oneDNN %.1f", seconds.at("oneDNN") / seconds.at("Tenon"),
                gflops("oneDNN"));
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

Convolution parsed(const boost::program_options::variables_map& given) {
  Convolution c{};
  if (std::sscanf(given["shape"].as<std::string>().c_str(), "%dx%dx%dx%d", &c.batch, &c.in,
                  &c.height, &c.width) != 4)
    throw boost::program_options::error("--shape is as in 1x64x56x56");
  c.out = given["filters"].as<int>();
  c.kernel = given["kernel"].as<int>();
  c.padding = given["padding"].as<int>();
  c.stride = given["stride"].as<int>();
  if (std::min({c.batch, c.in, c.height, c.width, c.out, c.kernel, c.stride}) < 1 ||
      c.padding < 0 || c.out_height() < 1 || c.out_width() < 1)
    throw boost::program_options::error("there is nothing to compute");
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  po::options_description options("conv2d");
  options.add_options()("help", "print this")("shape", po::value<std::string>(), "of the images")(
      "filters", po::value<int>()->default_value(64), "how many")(
      "kernel", po::value<int>()->default_value(3), "their height and width")(
      "padding", po::value<int>()->default_value(0), "on each side")(
      "stride", po::value<int>()->default_value(1), "in both dimensions")(
      "relu", po::bool_switch(), "of the result")("threads", po::value<int>()->default_value(1),
                                                  "of everyone")(
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
    std::vector<Convolution> shapes = kShapes;
    if (given.count("shape") != 0) shapes = {parsed(given)};
    runtime::set_num_threads(threads);
    bench::set_onednn_threads(threads);
    const Target target("llvm -num-cores=" + std::to_string(threads));
    bool all_right = true;
    for (Convolution& shape : shapes) {
      shape.with_relu = given["relu"].as<bool>();
      all_right = run(shape, threads, given["turns"].as<int>(), target) && all_right;
    }
    return all_right ? 0 : 1;
  } catch (const po::error& error) {
    std::cerr << "conv2d: " << error.what() << "\n" << options;
    return 2;
  }
}
