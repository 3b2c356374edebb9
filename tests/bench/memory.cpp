// Operators that are as fast as memory is, by topi's schedules, beside Eigen, oneDNN and a copy of
// as much, on the same arrays and in the same run: a line for each operator and size.
//
//   memory --work softmax --log2 22 --threads 1
//   memory                                  the rows of results/memory.json
#include <algorithm>

#include "tests/bench/common/rows.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<int> sizes = {10, 14, 18, 22, 26};
  if (given.count("log2") != 0) sizes = {bench::positive(given, "log2")};
  if (sizes.front() > 28) throw po::error("--log2 is from 1 to 28");
  std::vector<bench::Row> rows;
  for (const std::string& work : bench::names_of_maps()) {
    if (given.count("work") != 0 && given["work"].as<std::string>() != work) continue;
    for (const int log2 : sizes) {
      const int columns = 1 << std::min(10, log2 / 2 + log2 % 2);
      rows.push_back(bench::row_of_map(work, (1 << log2) / columns, columns));
      rows.back().name = bench::formatted("%-11s 2^%-2d %5d x %-4d", work.c_str(), log2,
                                          (1 << log2) / columns, columns);
    }
  }
  if (rows.empty()) throw po::error("--work names none of the operators");
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("what is as fast as memory");
  options.add_options()("work", po::value<std::string>(), "only this one")("log2", po::value<int>(),
                                                                           "only so many elements");
  return bench::run(argc, argv, {"memory", options, rows_of});
}
