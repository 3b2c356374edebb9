// Attention by topi's schedule, beside its three steps one after the other by libraries, on the
// same arrays and in the same run: a line for each length.
//
//   attention --heads 8 --length 2048 --width 64 --threads 1
//   attention                               the rows of results/attention.json
//
// The libraries multiply each head's queries and keys, take the softmax of all rows (oneDNN's, or
// Eigen's), and multiply by the values. Operations are those of the products.
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/transformer.h>

#include <cstdio>

#include "tests/bench/common/eigen_maps.h"
#include "tests/bench/common/onednn.h"
#include "tests/bench/common/peers.h"
#include "tests/bench/common/program.h"

using namespace tenon;
namespace po = boost::program_options;

namespace {

using runtime::NDArray;

struct Shape {
  int heads, length, width;
};

/// The steps of every library that has products.
std::vector<bench::Contest> steps_of(const Shape& shape, const NDArray& q, const NDArray& k,
                                     const NDArray& v, const NDArray& scores, const NDArray& out,
                                     int threads) {
  const auto [heads, n, width] = shape;
  std::map<std::string, std::vector<std::function<void()>>> first, last;
  for (int head = 0; head < heads; ++head) {
    const std::int64_t at = std::int64_t{head} * n * width, row = std::int64_t{head} * n * n;
    const MatrixProduct of_keys{.m = n,
                                .n = n,
                                .k = width,
                                .transpose_b = true,
                                .a = q.data<float>() + at,
                                .b = k.data<float>() + at,
                                .c = scores.data<float>() + row},
        of_values{.m = n,
                  .n = width,
                  .k = n,
                  .a = scores.data<float>() + row,
                  .b = v.data<float>() + at,
                  .c = out.data<float>() + at};
    for (const LibraryProduct& peer : bench::peers_of(of_keys, threads))
      first[peer.name].push_back(peer.run);
    for (const LibraryProduct& peer : bench::peers_of(of_values, threads))
      last[peer.name].push_back(peer.run);
  }
  float* s = scores.data<float>();
  bench::Call softmax = bench::onednn_softmax(heads * n, n, s, s);
  if (!softmax) softmax = bench::eigen_softmax({heads * n, n, s, nullptr, nullptr, s});
  std::vector<bench::Contest> contests;
  if (!softmax) return contests;
  for (const auto& [name, products] : first)
    contests.push_back({name, [=, products = products, softmax = *softmax, values = last.at(name)] {
                          (void)q, (void)k, (void)v, (void)scores, (void)out;
                          for (const auto& run : products) run();
                          softmax();
                          for (const auto& run : values) run();
                        }});
  return contests;
}

std::vector<bench::Contest> contests_of(const Shape& shape, const bench::Settings& settings) {
  const auto [heads, n, width] = shape;
  const auto random = [&] {
    return NDArray::random({shape.heads, shape.length, shape.width}, Float(32));
  };
  const NDArray q = random(), k = random(), v = random();
  const NDArray ours = NDArray::zeros({heads, n, width}, Float(32)),
                theirs = NDArray::zeros({heads, n, width}, Float(32)),
                scores = NDArray::zeros({heads, n, n}, Float(32));
  const te::Tensor Q = te::placeholder({heads, n, width}, "Q"),
                   K = te::placeholder({heads, n, width}, "K"),
                   V = te::placeholder({heads, n, width}, "V");
  const te::Tensor O = topi::attention(Q, K, V, {.scale = 1.0});
  const Target& target = settings.target;
  const runtime::Function function =
      build(topi::cpu::schedule_attention(O, target.facts()), {Q, K, V, O}, target)["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [=] { function(q, k, v, ours); }}};
  contests.front().run();
  const auto most = [](double) { return 1e-4; };
  for (const bench::Contest& steps : steps_of(shape, q, k, v, scores, theirs, settings.threads)) {
    steps.run();
    if (bench::first_difference<float>(ours, theirs, most) >= 0)
      throw bench::WrongResult(steps.name + " and Tenon disagree");
    contests.push_back(steps);
  }
  return contests;
}

bench::Row row_of(const Shape& shape) {
  char name[64];
  std::snprintf(name, sizeof name, "%d x %4d x %d", shape.heads, shape.length, shape.width);
  return {name,
          {.amount = 4.0 * shape.heads * shape.length * shape.length * shape.width,
           .peak = multiply_add_peak},
          [=](const bench::Settings& settings) { return contests_of(shape, settings); }};
}

std::vector<bench::Row> rows_of(const po::variables_map& given) {
  std::vector<int> lengths = {512, 2048};
  if (given.count("length") != 0) lengths = {bench::positive(given, "length")};
  std::vector<bench::Row> rows;
  for (const int length : lengths)
    rows.push_back(
        row_of({bench::positive(given, "heads"), length, bench::positive(given, "width")}));
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
