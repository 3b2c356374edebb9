// Attention by topi's schedule, beside its three steps one after the other by libraries, on the
// same arrays and in the same run: a line for each length.
//
//   attention --heads 8 --length 2048 --width 64 --threads 1
//   attention                               the rows of the table in README.md
//
// The libraries multiply each head's queries and keys, take the softmax of all rows (oneDNN's, or
// Eigen's), and multiply by the values. Results are compared before anything is timed; a wrong one
// ends the program with 1.
#include <tenon/tenon.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/transformer.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "tests/bench/common/eigen_maps.h"
#include "tests/bench/common/medians.h"
#include "tests/bench/common/onednn.h"
#include "tests/bench/common/peers.h"

using namespace tenon;

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
    const bench::Product of_keys{.m = n,
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
    for (const bench::Peer& peer : bench::peers_of(of_keys, threads))
      first[peer.name].push_back(peer.run);
    for (const bench::Peer& peer : bench::peers_of(of_values, threads))
      last[peer.name].push_back(peer.run);
  }
  float* s = scores.data<float>();
  bench::Call softmax = bench::onednn_softmax(heads * n, n, s, s);
  if (!softmax) softmax = bench::eigen_softmax({heads * n, n, s, nullptr, nullptr, s});
  std::vector<bench::Contest> contests;
  if (!softmax) return contests;
  for (const auto& [name, products] : first)
    contests.push_back({name, [products = products, softmax = *softmax, values = last.at(name)] {
                          for (const auto& run : products) run();
                          softmax();
                          for (const auto& run : values) run();
                        }});
  return contests;
}

/// False if a result is wrong.
bool run(const Shape& shape, int threads, int turns, const Target& target) {
  const auto [heads, n, width] = shape;
  const auto random = [&] { return NDArray::random({heads, n, width}, Float(32)); };
  const NDArray q = random(), k = random(), v = random();
  const NDArray ours = NDArray::zeros({heads, n, width}, Float(32)),
                theirs = NDArray::zeros({heads, n, width}, Float(32)),
                scores = NDArray::zeros({heads, n, n}, Float(32));
  const te::Tensor Q = te::placeholder({heads, n, width}, "Q"),
                   K = te::placeholder({heads, n, width}, "K"),
                   V = te::placeholder({heads, n, width}, "V");
  const te::Tensor O = topi::attention(Q, K, V, {.scale = 1.0});
  const runtime::Module module =
      build(topi::cpu::schedule_attention(O, target.facts()), {Q, K, V, O}, target);
  const auto function = module["main"];
  std::vector<bench::Contest> contests = {{"Tenon", [&] { function(q, k, v, ours); }}};
  contests.front().run();
  for (const bench::Contest& steps : steps_of(shape, q, k, v, scores, theirs, threads)) {
    steps.run();
    for (std::int64_t i = 0; i < std::int64_t{heads} * n * width; ++i)
      if (!(std::abs(ours.data<float>()[i] - theirs.data<float>()[i]) <= 1e-4f)) {
        std::cerr << "attention: " << steps.name << " and Tenon disagree at " << i << "\n";
        return false;
      }
    contests.push_back(steps);
  }
  const double peak = multiply_add_peak(threads);
  const std::map<std::string, double> seconds = bench::medians_of(contests, turns);
  const auto gflops = [&](const std::string& name) {
    return 4e-9 * heads * n * double{1} * n * width / seconds.at(name);
  };
  std::string best;
  for (const auto& [name, time] : seconds)
    if (name != "Tenon" && (best.empty() || time < seconds.at(best))) best = name;
  std::printf("%d x %4d x %d  %d %10.3f ms %7.1f GFLOPS of products %5.1f %% of %.0f", heads, n,
              width, threads, seconds.at("Tenon") * 1e3, gflops("Tenon"),
              100 * gflops("Tenon") / peak, peak);
  if (!best.empty())
    std::printf("  %.2f times as fast as with %s", seconds.at(best) / seconds.at("Tenon"),
                best.c_str());
  for (const auto& [name, time] : seconds)
    if (name != "Tenon") std::printf("  %s %.1f", name.c_str(), gflops(name));
  std::printf("\n");
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  po::options_description options("attention");
  options.add_options()("help", "print this")("heads", po::value<int>()->default_value(8), "")(
      "length", po::value<int>(), "of queries and keys")(
      "width", po::value<int>()->default_value(64), "of a query, a key, a value")(
      "threads", po::value<int>()->default_value(1), "of everyone")(
      "turns", po::value<int>()->default_value(7), "times that each is timed, in turns");
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    const int threads = given["threads"].as<int>(), heads = given["heads"].as<int>(),
              width = given["width"].as<int>();
    std::vector<int> lengths = {512, 2048};
    if (given.count("length") != 0) lengths = {given["length"].as<int>()};
    if (std::min({threads, heads, width, lengths.front()}) < 1)
      throw po::error("all numbers must be positive");
    runtime::set_num_threads(threads);
    bench::set_onednn_threads(threads);
    const Target target("llvm -num-cores=" + std::to_string(threads));
    bool all_right = true;
    for (const int length : lengths)
      all_right =
          run({heads, length, width}, threads, given["turns"].as<int>(), target) && all_right;
    return all_right ? 0 : 1;
  } catch (const po::error& error) {
    std::cerr << "attention: " << error.what() << "\n" << options;
    return 2;
  }
}
