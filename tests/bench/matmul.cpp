// A product of matrices by topi's schedule, beside the libraries that this machine has, on
// the same arrays and in the same run: a line for each shape.
//
//   matmul --m 1024 --n 1024 --k 1024 --threads 1
//   matmul --m 1024 --n 1024 --k 1024 --type int8
//   matmul                                  the shapes of results/matmul.json
#include <map>

#include "tests/bench/common/rows.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using Shape = bench::ProductShape;

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
    {"float32", {Float(32), Float(32)}}, {"float64", {Float(64), Float(64)}},
    {"float16", {Float(16), Float(16)}}, {"bfloat16", {BFloat(16), BFloat(16)}},
    {"int8", {Int(8), Int(8)}},          {"uint8", {UInt(8), Int(8)}}};

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
    return {bench::row_of(Shape{.m = bench::positive(given, "m"),
                                .n = bench::positive(given, "n"),
                                .k = bench::positive(given, "k"),
                                .transpose_a = given["transpose-a"].as<bool>(),
                                .transpose_b = given["transpose-b"].as<bool>(),
                                .of_a = type->second.first,
                                .of_b = type->second.second,
                                .batch = is_batched ? bench::positive(given, "batch") : 0,
                                .is_b_packed = given["packed"].as<bool>()})};
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
      "packed", po::bool_switch(), "the libraries have packed B before")(
      "batch", po::value<int>(), "so many of them, in arrays of three dimensions")(
      "type", po::value<std::string>()->default_value("float32"),
      "of the factors: float32, float64, float16, bfloat16, int8, uint8 (by int8)");
  return bench::run(argc, argv, {"matmul", options, rows_of});
}
