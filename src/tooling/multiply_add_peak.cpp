#include "tenon/tooling/multiply_add_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace tenon {

namespace {

using Clock = std::chrono::steady_clock;

/// The number of independent dependence chains. Eight chains hide a latency of four cycles in two
/// units. More chains compensate for uneven scheduling. All of them fit in 32 (or 16) registers.
constexpr int kChains512 = 24;
constexpr int kChains = 12;
constexpr int kTrials = 8;

/// A loop of multiply-adds.
using Loop = float(long steps, float factor, float summand);

// The same loop for each register width. Each is a separate function, because attributes select the
// width and the instruction set. The chains have different start values, so that the compiler does
// not merge them.

#if defined(__x86_64__)

using Floats16 [[gnu::vector_size(64)]] = float;
using Floats8 [[gnu::vector_size(32)]] = float;

[[gnu::target("avx512f"), gnu::noinline]] float run_512(long steps, float factor, float summand) {
  Floats16 chains[kChains512] = {};
  const Floats16 x = Floats16{} + factor, y = Floats16{} + summand;
  for (int n = 0; n < kChains512; ++n) chains[n] += static_cast<float>(n);
  for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 24
    for (Floats16& chain : chains) chain = chain * x + y;
  }
  Floats16 sum = {};
  for (const Floats16& chain : chains) sum += chain;
  return sum[0];
}

[[gnu::target("avx2,fma"), gnu::noinline]] float run_256(long steps, float factor, float summand) {
  Floats8 chains[kChains] = {};
  const Floats8 x = Floats8{} + factor, y = Floats8{} + summand;
  for (int n = 0; n < kChains; ++n) chains[n] += static_cast<float>(n);
  for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (Floats8& chain : chains) chain = chain * x + y;
  }
  Floats8 sum = {};
  for (const Floats8& chain : chains) sum += chain;
  return sum[0];
}

#endif

using Floats4 [[gnu::vector_size(16)]] = float;

[[gnu::noinline]] float run_128(long steps, float factor, float summand) {
  Floats4 chains[kChains] = {};
  const Floats4 x = Floats4{} + factor, y = Floats4{} + summand;
  for (int n = 0; n < kChains; ++n) chains[n] += static_cast<float>(n);
  for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (Floats4& chain : chains) chain = chain * x + y;
  }
  Floats4 sum = {};
  for (const Floats4& chain : chains) sum += chain;
  return sum[0];
}

/// Returns the loop for the widest registers, and its number of multiply-adds in each step.
std::pair<Loop*, int> widest_loop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {run_512, 16 * kChains512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {run_256, 8 * kChains};
#endif
  return {run_128, 4 * kChains};
}

/// Runs the loop on all threads at the same time. Returns the time in seconds until the last
/// thread has finished.
double run_together(Loop* loop, int threads, long steps) {
  std::atomic<int> ready = 0;
  std::atomic<bool> go = false;
  std::atomic<float> result = 0;
  auto work = [&] {
    ++ready;
    while (!go) std::this_thread::yield();
    result = loop(steps, 0.75f, 0.5f);
  };
  std::vector<std::thread> others;
  for (int n = 1; n < threads; ++n) others.emplace_back(work);
  while (ready < threads - 1) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  go = true;
  result = loop(steps, 0.75f, 0.5f);
  for (std::thread& thread : others) thread.join();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double multiply_add_peak(int threads) {
  const auto [loop, multiply_adds] = widest_loop();
  const long steps = 2'000'000;
  double best = run_together(loop, threads, steps);
  for (int trial = 1; trial < kTrials; ++trial)
    best = std::min(best, run_together(loop, threads, steps));
  return 2.0 * multiply_adds * static_cast<double>(steps) * threads / best / 1e9;
}

}  // namespace tenon
