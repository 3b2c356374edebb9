// Convolutions with a bias and relu in the fastest form that topi has, by its schedule, beside the
// direct form where that is another, and oneDNN with its changes of layout, on the same arrays and
// in the same run: a line for each shape. Operations are counted as the direct form has them.
//
//   conv2d --shape 1x64x56x56 --filters 64 --kernel 3 --padding 1 --stride 1 --threads 1
//   conv2d --form winograd-2                tiles of 2, where they can be
//   conv2d                                  the shapes of results/conv2d.json
#include <algorithm>
#include <cstdio>
#include <map>

#include "tests/bench/common/rows.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using bench::Convolution;
using bench::Form;

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

const std::map<std::string, Form> kForms = {{"fastest", Form::Fastest},
                                            {"direct", Form::Direct},
                                            {"winograd-2", Form::WinogradOf2},
                                            {"winograd-4", Form::WinogradOf4}};

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
    rows.push_back(row_of(shape, kForms.at(form)));
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
