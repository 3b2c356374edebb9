// Convolutions with a bias and relu in the fastest form that topi has, by its schedule, beside the
// direct form where that is another, and oneDNN with its changes of layout, on the same arrays and
// in the same run: a line for each shape. Operations are counted as the direct form has them.
//
//   conv2d --shape 1x64x56x56 --filters 64 --kernel 3 --padding 1 --stride 1 --threads 1
//   conv2d --form winograd-2                tiles of 2, where they can be
//   conv2d                                  the shapes of results/conv2d.json
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/broadcast.h>
#include <tenon/topi/convolution.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/elementwise.h>
#include <tenon/topi/schedule.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tests/bench/common/onednn.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using bench::Convolution;
using runtime::NDArray;

const std::vector<Convolution> kShapes = {
    {.batch = 1, .in = 64, .height = 56, .width = 56, .out = 64, .kernel = 3, .padding = 1},
    {.batch = 1, .in = 128, .height = 28, .width = 28, .out = 128, .kernel = 3, .padding = 1},
    {.batch = 1, .in = 256, .height = 14, .width = 14, .out = 256, .kernel = 3, .padding = 1},
    {.batch = 1, .in = 512, .height = 7, .width = 7, .out = 512, .kernel = 3, .padding = 1},
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

/// How Tenon computes the convolution.
enum class Form { Fastest, Direct, WinogradOf2, WinogradOf4 };
const std::map<std::string, Form> kForms = {{"fastest", Form::Fastest},
                                            {"direct", Form::Direct},
                                            {"winograd-2", Form::WinogradOf2},
                                            {"winograd-4", Form::WinogradOf4}};

te::Tensor convolution_of(const Convolution& c, Form form, const te::Tensor& x,
                          const te::Tensor& kernel, const Target& target) {
  const topi::ConvolutionOptions options{.stride = {c.stride, c.stride},
                                         .padding = {c.padding, c.padding, c.padding, c.padding}};
  if (c.depthwise) return topi::depthwise_conv2d_nchw(x, kernel, options);
  const bool can_be_winograd = c.kernel == 3 && c.stride == 1;
  if (form == Form::Fastest)
    return topi::cpu::fastest_conv2d_nchw(x, kernel, target.facts(), options);
  if (form == Form::Direct || !can_be_winograd) return topi::conv2d_nchw(x, kernel, options);
  return topi::conv2d_winograd_nchw(
      x, kernel, {.tile = form == Form::WinogradOf2 ? 2 : 4, .padding = options.padding});
}

struct Compiled {
  runtime::Module module;
  bool is_winograd;
};

Compiled compile(const Convolution& c, Form form, const Target& target) {
  const te::Tensor X = te::placeholder({c.batch, c.in, c.height, c.width}, "X"),
                   K = te::placeholder({c.out, channels_of_filter(c), c.kernel, c.kernel}, "K"),
                   Bias = te::placeholder({c.out, 1, 1}, "Bias");
  const te::Tensor Y = convolution_of(c, form, X, K, target);
  te::Tensor Z = topi::add(Y, Bias);
  if (c.with_relu) Z = topi::relu(Z);
  const te::Schedule s = te::create_schedule(Z);
  topi::schedule(s, {Z}, target.facts());
  return {build(s, {X, K, Bias, Z}, target), Y.op().tag() == topi::kConv2dWinogradNchw};
}

int terms_of(const Convolution& c) { return channels_of_filter(c) * c.kernel * c.kernel; }

std::vector<bench::Contest> contests_of(const Convolution& c, Form form,
                                        const bench::Settings& settings) {
  const NDArray x = NDArray::random({c.batch, c.in, c.height, c.width}, Float(32)),
                kernel =
                    NDArray::random({c.out, channels_of_filter(c), c.kernel, c.kernel}, Float(32)),
                bias = NDArray::random({c.out, 1, 1}, Float(32));
  const std::vector<std::int64_t> shape{c.batch, c.out, c.out_height(), c.out_width()};
  const NDArray ours = NDArray::zeros(shape, Float(32)), theirs = NDArray::zeros(shape, Float(32));
  const Compiled chosen = compile(c, form, settings.target);
  const runtime::Function function = chosen.module["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [=] { function(x, kernel, bias, ours); }}};
  contests.front().run();
  const int terms = terms_of(c);
  // Numbers are from 0 to 1, results some quarter of as many as are added up. The direct forms add
  // in other orders; of tiles of 4 the largest error measured is 2^-19 of the results.
  const auto most = [&](double) {
    return chosen.is_winograd ? std::ldexp(terms, -16) : 1e-6 * terms * std::sqrt(terms) + 1e-4;
  };
  const auto add = [&](const char* name, const std::function<void()>& call) {
    call();
    if (bench::first_difference<float>(ours, theirs, most) >= 0)
      throw bench::WrongResult(std::string(name) + " and Tenon disagree");
    contests.push_back({name, call});
  };
  if (chosen.is_winograd) {
    const runtime::Function direct = compile(c, Form::Direct, settings.target).module["main"];
    add("Tenon-direct", [=] { direct(x, kernel, bias, theirs); });
  }
  const bench::Call onednn = bench::onednn_convolution(c, x.data<float>(), kernel.data<float>(),
                                                       bias.data<float>(), theirs.data<float>());
  if (onednn) add("oneDNN", [=] { (void)theirs, (*onednn)(); });
  return contests;
}

bench::Row row_of(const Convolution& c, const std::string& form) {
  char name[128];
  std::snprintf(name, sizeof name, "%dx%dx%dx%d to %d, %dx%d / %d %s%s", c.batch, c.in, c.height,
                c.width, c.out, c.kernel, c.kernel, c.stride,
                c.depthwise   ? "depthwise"
                : c.with_relu ? "relu"
                              : "-",
                form == "fastest" ? "" : (" " + form).c_str());
  const double results = double{1} * c.batch * c.out * c.out_height() * c.out_width();
  return {
      name,
      {.amount = 2 * results * terms_of(c), .peak = multiply_add_peak},
      [=](const bench::Settings& settings) { return contests_of(c, kForms.at(form), settings); }};
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
  const auto form = given["form"].as<std::string>();
  if (kForms.count(form) == 0)
    throw po::error("--form is fastest, direct, winograd-2 or winograd-4");
  if (given.count("shape") != 0) shapes = {parsed(given)};
  for (Convolution& shape : shapes) {
    shape.with_relu = given["relu"].as<bool>();
    rows.push_back(row_of(shape, form));
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
      "form", po::value<std::string>()->default_value("fastest"),
      "fastest, direct, winograd-2 or winograd-4")(
      "depthwise", po::bool_switch(), "each channel by itself")("relu", po::bool_switch(),
                                                                "of the result");
  return bench::run(argc, argv, {"conv2d", options, rows_of});
}
