#include <tenon/runtime/bound_call.h>
#include <tenon/tooling/multiply_add_peak.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/transformer.h>

#include <algorithm>

#include "tests/bench/common/peers.h"
#include "tests/bench/common/rows.h"

namespace tenon::bench {

namespace {

using runtime::NDArray;

/// The steps of every library that has products.
std::vector<Contest> steps_of(const AttentionShape& shape, const NDArray& q, const NDArray& k,
                              const NDArray& v, const NDArray& scores, const NDArray& out,
                              int threads) {
  const auto [heads, n, width] = shape;
  float* s = scores.data<float>();
  const std::vector<Contest> of_keys = peers_of({.m = n,
                                                 .n = n,
                                                 .k = width,
                                                 .transpose_b = true,
                                                 .a = q.data<float>(),
                                                 .b = k.data<float>(),
                                                 .c = s,
                                                 .batch = heads},
                                                threads),
                             of_values = peers_of({.m = n,
                                                   .n = width,
                                                   .k = n,
                                                   .a = s,
                                                   .b = v.data<float>(),
                                                   .c = out.data<float>(),
                                                   .batch = heads},
                                                  threads),
                             of_rows = peers_of(threads, &Operators::softmax,
                                                Map{heads * n, n, s, nullptr, nullptr, s});
  std::vector<Contest> contests;
  if (of_rows.empty()) return contests;
  for (const Contest& first : of_keys) {
    const auto last = std::ranges::find(of_values, first.name, &Contest::name);
    if (last == of_values.end()) continue;
    contests.push_back(
        {first.name, [=, first = first.run, softmax = of_rows.back().run, last = last->run] {
           (void)q, (void)k, (void)v, (void)scores, (void)out;
           first();
           softmax();
           last();
         }});
  }
  return contests;
}

std::vector<Contest> contests_of(const AttentionShape& shape, const Settings& settings) {
  const auto [heads, n, width] = shape;
  const auto random = [&] {
    return NDArray::random({shape.heads, shape.length, shape.width}, Float(32));
  };
  const NDArray q = random(), k = random(), v = random();
  const NDArray result = NDArray::zeros({heads, n, width}, Float(32)),
                scores = NDArray::zeros({heads, n, n}, Float(32));
  const te::Tensor Q = te::placeholder({heads, n, width}, "Q"),
                   K = te::placeholder({heads, n, width}, "K"),
                   V = te::placeholder({heads, n, width}, "V");
  const te::Tensor O = topi::attention(Q, K, V, {.scale = 1.0});
  const Target& target = settings.target;
  const runtime::BoundCall call(
      build(topi::cpu::schedule_attention(O, target.facts()), {Q, K, V, O}, target)["main"], q, k,
      v, result);
  std::vector<Contest> contests = {{"Tenon", [=] { call(); }}};
  contests.front().run();
  const NDArray ours = taken_out(result);
  const auto most = [](double) { return 1e-4; };
  for (const Contest& steps : steps_of(shape, q, k, v, scores, result, settings.threads)) {
    steps.run();
    if (first_difference<float>(ours, result, most) >= 0)
      throw WrongResult(steps.name + " and Tenon disagree");
    contests.push_back(steps);
  }
  return contests;
}

}  // namespace

Row row_of(const AttentionShape& shape) {
  return {formatted("%d x %4d x %d", shape.heads, shape.length, shape.width),
          {.amount = 4.0 * shape.heads * shape.length * shape.length * shape.width,
           .peak = multiply_add_peak,
           .touched = 4.0 * sizeof(float) * shape.heads * shape.length * shape.width},
          [=](const Settings& settings) { return contests_of(shape, settings); }};
}

}  // namespace tenon::bench
