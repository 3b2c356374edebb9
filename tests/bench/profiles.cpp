// Measures what profiles cost, and checks whether their shares are true. Ends with 1 if a bound is
// not kept.
//
//   build/bench/profiles [rows]        # of the product of matrices; 1024
//
// Cost: a profiled program compared with the same one without a profile, for stages of one
// microsecond and longer. Shares: a product whose second factor is first packed into panels, as in
// the matmul ladder's register tile, compared with the times of its two stages as programs of their
// own.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tenon/driver/profile.h"
#include "tenon/tenon.h"

using namespace tenon;

namespace {

constexpr int kRounds = 11;
constexpr double kMaxCost = 1.10;
constexpr double kMaxDifference = 0.05;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double seconds_of(const runtime::Module& module, const std::vector<runtime::Argument>& call) {
  return module["main"]
      .time_evaluator(cpu(0), {.number = 1, .repeat = 3, .min_repeat_ms = 10})
      .evaluate(call)
      .min;
}

runtime::NDArray random(const runtime::NDArray::Shape& shape) {
  return runtime::NDArray::random(shape, Float(32));
}

// ---- cost
// -----------------------------------------------------------------------------------------

/// 64 maps of so many elements, one after the other.
bool cost_is_kept(int elements) {
  constexpr int kStages = 64;
  const te::Tensor A = te::placeholder({elements}, "A");
  te::Tensor last = A;
  for (int n = 0; n < kStages; ++n)
    last = te::compute(
        {elements}, {"i"}, [&, before = last](Var i) { return before(i) * 0.5f + 1.0f; },
        "S" + std::to_string(n));
  const te::Schedule s = te::create_schedule({last});
  const runtime::Module plain = build(s, {A, last}, Target("llvm"));
  const runtime::Module profiled = build(s, {A, last}, Target("llvm"), {.profile = true});
  const runtime::NDArray a = random({elements}), b = random({elements});
  std::vector<double> ratios, stage;
  for (int round = 0; round < kRounds; ++round) {
    const double without = seconds_of(plain, {a, b});
    stage.push_back(without / kStages);
    ratios.push_back(seconds_of(profiled, {a, b}) / without);
  }
  const double ratio = median(ratios);
  const bool counts = median(stage) >= 1e-6;
  const bool kept = !counts || ratio <= kMaxCost;
  std::printf("cost: stages of %7.2f us: %.3f of the time without a profile%s\n",
              median(stage) * 1e6, ratio,
              !counts ? "  (shorter than what is promised)"
              : kept  ? "  kept"
                      : "  NOT KEPT");
  return kept;
}

// ---- shares
// ---------------------------------------------------------------------------------------

/// C = A B with B in panels of two vectors, and a tile of 8 rows of sums in registers.
struct Product {
  int n, lanes, width = 2 * lanes;
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor B = te::placeholder({n, n}, "B");

  te::Tensor packed() const {
    return te::compute(
        {n / width, n, width}, {"p", "k", "x"},
        [&](Var p, Var k, Var x) { return B(k, p * width + x); }, "packed");
  }
  te::Tensor of_panels(const te::Tensor& panels) const {
    const te::IterVar k = te::reduce_axis({0, n}, "k");
    return te::compute(
        {n, n}, {"i", "j"},
        [&](Var i, Var j) {
          return te::sum(A(i, k) * panels(floordiv(j, width), k, floormod(j, width)), {k});
        },
        "C");
  }
  void schedule_packing(const te::Schedule& s, const te::Tensor& panels) const {
    auto [outer, inner] = s[panels].split(s[panels].axis(2), lanes);
    s[panels].vectorize(inner).parallel(s[panels].axis(0));
  }
  void schedule_product(te::Schedule& s, const te::Tensor& C) const {
    const te::Tensor sums = s.cache_write(C, "local");
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, width);
    auto [band, it] = s[C].split(io, 8);
    s[C].reorder({band, jo, it, ii, ji}).parallel(band);
    auto [jv, jl] = s[C].split(ji, lanes);
    s[C].unroll(ii).unroll(jv).vectorize(jl);
    s[sums].compute_at(s[C], it);
    const te::IterVar row = s[sums].axis(0);
    auto [vector, lane] = s[sums].split(s[sums].axis(1), lanes);
    auto [steps, step] = s[sums].split(s[sums].reduce_axis(0), 4);
    s[sums].reorder({steps, step, row, vector, lane});
    s[sums].unroll(step).unroll(row).unroll(vector).vectorize(lane);
  }
};

bool shares_are_kept(int n, int threads) {
  runtime::set_num_threads(threads);
  const Target target("llvm");
  const Product product{n, std::max(target.facts().vector_registers.bits / 32, 4)};
  const te::Tensor packed = product.packed(), C = product.of_panels(packed);
  te::Schedule together = te::create_schedule({C});
  product.schedule_product(together, C);
  product.schedule_packing(together, packed);
  const runtime::Module both =
      build(together, {product.A, product.B, C}, target, {.profile = true});

  const te::Schedule first = te::create_schedule({packed});
  product.schedule_packing(first, packed);
  const runtime::Module packs = build(first, {product.B, packed}, target);
  const te::Tensor panels = te::placeholder({n / product.width, n, product.width}, "packed");
  const te::Tensor last = product.of_panels(panels);
  te::Schedule second = te::create_schedule({last});
  product.schedule_product(second, last);
  const runtime::Module multiplies = build(second, {product.A, panels, last}, target);

  const runtime::NDArray a = random({n, n}), b = random({n, n}), c = random({n, n}),
                         p = random({n / product.width, n, product.width});
  // Warms up the profiled program, as the stages are that are timed alone.
  both["main"](a, b, c);
  std::vector<double> by_profile, by_times;
  for (int round = 0; round < kRounds; ++round) {
    const double alone = seconds_of(packs, {b, p}), rest = seconds_of(multiplies, {a, p, c});
    by_times.push_back(alone / (alone + rest));
    reset_profile(both);
    for (int call = 0; call < 5; ++call) both["main"](a, b, c);
    for (const StageProfile& stage : profile_of(both).stages)
      if (stage.name == "packed") by_profile.push_back(stage.share);
  }
  const double difference = std::abs(median(by_profile) - median(by_times));
  const bool kept = difference <= kMaxDifference;
  std::printf(
      "shares: %d rows, %d thread(s): packing is %.1f %% by the profile, %.1f %% by its own time%s\n",
      n, threads, 100 * median(by_profile), 100 * median(by_times), kept ? "  kept" : "  NOT KEPT");
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 1024;
  if (rows <= 0 || rows % 64 != 0) {
    std::fprintf(stderr, "profiles: the number of rows is a multiple of 64\n");
    return 2;
  }
  bool kept = true;
  for (const int elements : {1 << 12, 1 << 13, 1 << 14, 1 << 16, 1 << 18})
    kept &= cost_is_kept(elements);
  const int threads = runtime::num_threads();
  kept &= shares_are_kept(rows, 1);
  if (threads > 1) kept &= shares_are_kept(rows, threads);
  return kept ? 0 : 1;
}
