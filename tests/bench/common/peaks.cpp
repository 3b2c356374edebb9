#include "tests/bench/common/peaks.h"

#include <tenon/runtime/c_api.h>
#include <tenon/tooling/multiply_add_peak.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__AVX512VNNI__) || defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace tenon::bench {

namespace {

#if defined(__AVX512VNNI__) || defined(__AVX512BF16__)

/// Independent chains, enough to hide the latency of one.
constexpr int kChains = 12;
constexpr long kSteps = 2'000'000;

/// The best of several runs; `run` does kSteps steps of all chains.
double seconds_of(int threads, void (*run)()) {
  constexpr int kTrials = 8;
  double best = 1e9;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int n = 1; n < threads; ++n) others.emplace_back(run);
    run();
    for (std::thread& thread : others) thread.join();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

double operations(int threads, int products_of_a_step, void (*run)()) {
  return 2e-9 * kChains * products_of_a_step * kSteps * threads / seconds_of(threads, run);
}

#endif

#ifdef __AVX512VNNI__
void run_bytes() {
  __m512i chains[kChains];
  for (int n = 0; n < kChains; ++n) chains[n] = _mm512_set1_epi32(n);
  const __m512i x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(-5);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (__m512i& chain : chains) chain = _mm512_dpbusd_epi32(chain, x, y);
  }
  __m512i sum = _mm512_setzero_si512();
  for (const __m512i& chain : chains) sum = _mm512_add_epi32(sum, chain);
  [[maybe_unused]] volatile int result = _mm512_cvtsi512_si32(sum);
}
#endif

#ifdef __AVX512BF16__
void run_bfloats() {
  __m512 chains[kChains];
  for (int n = 0; n < kChains; ++n) chains[n] = _mm512_set1_ps(static_cast<float>(n));
  const __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.5f)),
                 y = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.25f), _mm512_set1_ps(-0.25f));
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (__m512& chain : chains) chain = _mm512_dpbf16_ps(chain, x, y);
  }
  __m512 sum = _mm512_setzero_ps();
  for (const __m512& chain : chains) sum = _mm512_add_ps(sum, chain);
  [[maybe_unused]] volatile float result = _mm512_cvtss_f32(sum);
}
#endif

#if defined(__AMX_INT8__) && defined(__AMX_BF16__)
constexpr long kTileSteps = 200'000;
constexpr int kTiles = 4, kSide = 16;

struct TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
/// All tile registers have 16 rows of 64 bytes. In static memory, because GCC takes the operand of
/// _tile_loadconfig for 8 bytes, and leaves out the stores of the others.
constinit const TileConfiguration kWholeTiles;

void configure_tiles() { _tile_loadconfig(&kWholeTiles); }

void run_byte_tiles() {
  configure_tiles();
  for (long step = 0; step < kTileSteps; ++step) {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
  _tile_release();
}

void run_bfloat_tiles() {
  configure_tiles();
  for (long step = 0; step < kTileSteps; ++step) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

double tile_operations(int threads, int depth, void (*run)()) {
  if (tenon_enable_tiles() != kTenonOk) return 0;
  return 2e-9 * kTiles * kSide * kSide * depth * kTileSteps * threads / seconds_of(threads, run);
}
#endif

}  // namespace

double byte_product_peak(int threads) {
#if defined(__AMX_INT8__) && defined(__AMX_BF16__)
  if (const double peak = tile_operations(threads, 64, run_byte_tiles); peak > 0) return peak;
#endif
#ifdef __AVX512VNNI__
  return operations(threads, 64, run_bytes);
#else
  return multiply_add_peak(threads);
#endif
}

double bfloat_product_peak(int threads) {
#if defined(__AMX_INT8__) && defined(__AMX_BF16__)
  if (const double peak = tile_operations(threads, 32, run_bfloat_tiles); peak > 0) return peak;
#endif
#ifdef __AVX512BF16__
  return operations(threads, 32, run_bfloats);
#else
  return multiply_add_peak(threads);
#endif
}

// A vector has half as many elements.
double double_multiply_add_peak(int threads) { return multiply_add_peak(threads) / 2; }

}  // namespace tenon::bench
