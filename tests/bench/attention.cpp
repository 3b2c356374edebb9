// Attention by topi's schedule, beside its three steps one after the other by libraries, on the
// same arrays and in the same run: a line for each length.
//
//   attention --heads 8 --length 2048 --width 64 --threads 1
//   attention                               the rows of results/attention.json
//
// The libraries multiply each head's queries and keys, take the softmax of all rows (oneDNN's, or
// Eigen's), and multiply by the values. Operations are those of the products.
#include "tests/bench/common/rows.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<int> lengths = {512, 2048};
  if (given.count("length") != 0) lengths = {bench::positive(given, "length")};
  std::vector<bench::Row> rows;
  for (const int length : lengths)
    rows.push_back(bench::row_of(bench::AttentionShape{bench::positive(given, "heads"), length,
                                                       bench::positive(given, "width")}));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("attention");
  options.add_options()("heads", po::value<int>()->default_value(8), "")("length", po::value<int>(),
                                                                         "of queries and keys")(
      "width", po::value<int>()->default_value(64), "of a query, a key, a value");
  return bench::run(argc, argv, {"attention", options, rows_of});
}
