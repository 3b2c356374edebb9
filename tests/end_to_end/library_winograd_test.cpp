// Winograd's convolution beside the direct one in plain C++, its schedules for processors, and the
// choice of the faster form.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/relation.h"
#include "tenon/te/stage_data.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/schedule.h"
#include "tests/common/cpu_targets.h"
#include "tests/common/numbers.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;
using te::Tensor;
using topi::WinogradOptions;

Tensor images(const std::vector<te::Expr>& shape, DataType type = Float(32)) {
  return te::placeholder(shape, "X", type);
}
Tensor kernels(const te::Expr& filters, const te::Expr& channels, DataType type = Float(32)) {
  return te::placeholder({filters, channels, 3, 3}, "K", type);
}

/// An element of the convolution, by its definition.
Truth direct(const std::array<int, 4>& padding) {
  return [padding](const Elements& in, Indices i) {
    const Element &x = in[0], &kernel = in[1];
    double sum = 0;
    for (std::int64_t c = 0; c < x.extent(1); ++c)
      for (std::int64_t p = 0; p < 3; ++p)
        for (std::int64_t q = 0; q < 3; ++q) {
          const std::int64_t row = i[2] + p - padding[0], column = i[3] + q - padding[1];
          if (row < 0 || row >= x.extent(2) || column < 0 || column >= x.extent(3)) continue;
          sum += x({i[0], c, row, column}) * kernel({i[1], c, p, q});
        }
    return sum;
  };
}

// In double precision, whose rounding is far below what a wrong factor or place would change.
TEST(Winograd, IsTheConvolution) {
  constexpr double kRounding = 1e-11;
  for (const int tile : {2, 4})
    for (const auto& [height, width] : {std::pair(8, 8), {9, 11}, {3, 6}})
      for (const std::array<int, 4>& padding :
           {std::array<int, 4>{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 0, 1, 3}}) {
        const Tensor X = images({2, 3, height, width}, Float(64)), K = kernels(2, 3, Float(64));
        const Tensor Y = topi::conv2d_winograd_nchw(
            X, K, {.tile = tile, .padding = padding, .channel_multiple = 4});
        EXPECT_EQ(differs({X, K}, Y, direct(padding), {.tolerance = kRounding, .compile = false}),
                  "")
            << tile << ": " << height << " x " << width << ", padding " << padding[0];
      }
}

/// The root mean square of the error of 16 channels of numbers from -1 to 1, as a part of that of
/// the results.
double rounding_of(int tile) {
  constexpr int kChannels = 16, kSize = 8, kFilters = 4, kPlaces = kSize - 2;
  const Tensor X = images({1, kChannels, kSize, kSize}), K = kernels(kFilters, kChannels);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.tile = tile, .channel_multiple = 4});
  const runtime::Module module = build(te::create_schedule(Y), {X, K, Y}, Target("llvm"));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> numbers(-1, 1);
  const auto fill = [&](const runtime::NDArray& array, int count) {
    for (int n = 0; n < count; ++n) array.data<float>()[n] = numbers(random);
  };
  const auto x = runtime::NDArray::zeros({1, kChannels, kSize, kSize}, Float(32)),
             kernel = runtime::NDArray::zeros({kFilters, kChannels, 3, 3}, Float(32)),
             y = runtime::NDArray::zeros({1, kFilters, kPlaces, kPlaces}, Float(32));
  fill(x, kChannels * kSize * kSize);
  fill(kernel, kFilters * kChannels * 9);
  module["main"](x, kernel, y);
  double error = 0, size = 0;
  for (int n = 0; n < kFilters * kPlaces * kPlaces; ++n) {
    const int filter = n / kPlaces / kPlaces, row = n / kPlaces % kPlaces, column = n % kPlaces;
    double sum = 0;
    for (int term = 0; term < kChannels * 9; ++term) {
      const int c = term / 9, p = term / 3 % 3, q = term % 3;
      sum += double{x.data<float>()[(c * kSize + row + p) * kSize + column + q]} *
             double{kernel.data<float>()[filter * kChannels * 9 + term]};
    }
    error += std::pow(y.data<float>()[n] - sum, 2);
    size += std::pow(sum, 2);
  }
  return std::sqrt(error / size);
}

// Measured: 2^-22.5 and 2^-19.8 of float32, whose numbers are 2^-24 apart from what they stand for.
TEST(Winograd, RoundsTilesOf2AsSumsAndTilesOf4SomeBitsMore) {
  EXPECT_LT(rounding_of(2), std::ldexp(1, -21));
  EXPECT_LT(rounding_of(4), std::ldexp(1, -18));
}

// ---- schedules ----------------------------------------------------------------------------------

/// With so much of a second cache.
std::string scheduled_differs_with(int l2, const Tensor& out,
                                   const std::vector<LowerArgument>& args) {
  std::vector<tir::TargetFacts> targets = cpu_targets();
  for (tir::TargetFacts& target : targets) target.caches.l2 = l2;
  return scheduled_differs(out, args, {.compile_c = false, .build = {.opt_level = 3}}, targets);
}
std::string scheduled_results_differ(const Tensor& out, const std::vector<LowerArgument>& args) {
  return scheduled_differs_with(512 << 10, out, args);
}

std::string check(const std::vector<te::Expr>& shape, int filters, const WinogradOptions& options,
                  int l2 = 512 << 10) {
  const Tensor X = images(shape), K = kernels(filters, shape[1]);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, options);
  return scheduled_differs_with(l2, Y, {X, K, Y});
}

TEST(CpuWinograd, TakesBlocksOfTiles) {
  // 3 x 5 tiles of 4 are more than 8 filters.
  EXPECT_EQ(check({2, 8, 12, 20}, 8, {.padding = {1, 1, 1, 1}, .channel_multiple = 8}), "");
}

TEST(CpuWinograd, TakesBlocksOfFilters) {
  // 2 x 2 tiles are fewer than 20 filters.
  EXPECT_EQ(check({1, 4, 7, 8}, 20, {.padding = {1, 1, 1, 1}}), "");
}

TEST(CpuWinograd, TakesTilesOf2) {
  EXPECT_EQ(check({1, 3, 9, 10}, 5, {.tile = 2, .padding = {1, 0, 0, 1}}), "");
}

TEST(CpuWinograd, TakesRowsOfWhichTheCacheHoldsParts) {
  // Each tile has 36 positions by 8 channels and 8 filters: seven tiles, of eleven in a row.
  EXPECT_EQ(check({1, 8, 6, 46}, 8, {.channel_multiple = 8}, 7 * 36 * 16 * 4), "");
}

TEST(CpuWinograd, TakesChannelsThatAreNotFilledUp) {
  EXPECT_EQ(check({1, 5, 9, 18}, 3, {.channel_multiple = 1}), "");
}

TEST(CpuWinograd, TakesImagesThatAreReadAsTheyLie) {
  EXPECT_EQ(check({1, 4, 10, 18}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, TakesBatchesThatOnlyTheCallKnows) {
  EXPECT_EQ(check({te::size_var("n"), 4, 10, 18}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, TakesExtentsOfZero) {
  EXPECT_EQ(check({0, 4, 10, 10}, 4, {.channel_multiple = 4}), "");
  EXPECT_EQ(check({1, 0, 6, 6}, 4, {.channel_multiple = 4}), "");
}

TEST(CpuWinograd, ComputesMapsOfTheConvolutionWithIt) {
  const Tensor X = images({1, 4, 9, 10}), K = kernels(4, 4), Bias = te::placeholder({4, 1, 1}, "B");
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.padding = {1, 1, 1, 1}});
  const Tensor Z = topi::relu(topi::add(Y, Bias), "Z");
  EXPECT_EQ(scheduled_results_differ(Z, {X, K, Bias, Z}), "");
}

/// The names of the stages that are stored whole.
std::string roots(const Tensor& out) {
  std::string names;
  const te::Schedule s = topi::cpu::schedule_conv2d_winograd(out, cpu_targets()[1]);
  for (const te::Stage& stage : s.normalize().stages())
    if (!stage.op().as<te::Placeholder>() &&
        std::holds_alternative<te::AttachRoot>(stage.data().attach))
      names += stage.name() + " ";
  return names;
}

TEST(CpuWinograd, StoresWholeWhatIsSmaller) {
  const Tensor X = images({1, 16, 14, 14}), Few = kernels(8, 16), Many = kernels(48, 16);
  // 16 tiles.
  EXPECT_EQ(roots(topi::relu(topi::conv2d_winograd_nchw(
                                 X, Few, {.padding = {1, 1, 1, 1}, .channel_multiple = 8}),
                             "Y")),
            "T_pad T_conv2d_winograd_filters Y ");
  EXPECT_EQ(roots(topi::relu(topi::conv2d_winograd_nchw(X, Many, {.padding = {1, 1, 1, 1}}), "Y")),
            "T_pad T_conv2d_winograd_inputs Y ");
}

TEST(CpuWinograd, TakesTheImagesOfAnother) {
  const Tensor X = images({1, 4, 12, 12}), K = kernels(4, 4),
               L = te::placeholder({4, 4, 3, 3}, "L");
  const Tensor Y = topi::relu(topi::conv2d_winograd_nchw(X, K, {.channel_multiple = 4}));
  const Tensor Z = topi::conv2d_winograd_nchw(Y, L, {.channel_multiple = 4});
  EXPECT_EQ(scheduled_results_differ(Z, {X, K, L, Z}), "");
}

TEST(CpuWinograd, LeavesOperationsThatOthersReadAsTheyAre) {
  const Tensor X = images({1, 4, 10, 10}), K = kernels(4, 4);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.channel_multiple = 4});
  const Tensor P = topi::relu(Y.op().inputs().front(), "P");
  const te::Schedule s = te::create_schedule(std::vector<Tensor>{Y, P});
  topi::schedule(s, {Y, P}, cpu_targets()[0]);
  EXPECT_EQ(compare_with_default(s, {X, K, Y, P}, {.compile_c = false}), "");
}

TEST(CpuWinograd, RefusesWhatIsNone) {
  const Tensor X = images({1, 4, 10, 10}), K = kernels(4, 4);
  for (const Tensor& x : {topi::relu(X), topi::conv2d_nchw(X, K)}) try {
      topi::cpu::schedule_conv2d_winograd(x, cpu_targets()[0]);
      ADD_FAILURE() << "accepted";
    } catch (const ScheduleError& error) {
      EXPECT_NE(std::string(error.what()).find("topi::conv2d_winograd_nchw"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("library_winograd_test.cpp"), std::string::npos);
    }
}

// A row of 14 tiles is two times seven, by two vectors of filters; 14 sums of 16 lanes are 224.
TEST(CpuWinograd, SumsAreTilesThatLeaveNothingOver) {
  const Tensor X = images({1, 64, 56, 56}), K = kernels(64, 64);
  const Tensor Y = topi::conv2d_winograd_nchw(X, K, {.padding = {1, 1, 1, 1}});
  std::ostringstream text;
  text << lower(topi::cpu::schedule_conv2d_winograd(Y, cpu_targets()[1]), {X, K, Y});
  const std::string sums =
      "allocate(T_conv2d_winograd_products.local: Pointer(local float32), float32, [224])";
  EXPECT_NE(text.str().find(sums), std::string::npos) << text.str();
}

// ---- the choice ---------------------------------------------------------------------------------

std::string form(const std::vector<te::Expr>& shape, const te::Expr& filters,
                 const topi::ConvolutionOptions& options = {.padding = {1, 1, 1, 1}}) {
  const Tensor Y = topi::cpu::fastest_conv2d_nchw(images(shape), kernels(filters, shape[1]),
                                                  cpu_targets()[1], options);
  if (Y.op().tag() != topi::kConv2dWinogradNchw) return Y.op().tag();
  // {place, place, tile, channel}
  const Tensor products = Y.op().inputs()[0].op().inputs()[0].op().inputs()[0];
  return "tiles of " + std::to_string(*tir::constant_int(products.shape()[0]) - 2);
}

TEST(FastestConvolution, IsWinogradsWhereProductsAreMostOfTheWork) {
  EXPECT_EQ(form({1, 64, 56, 56}, 64), "tiles of 4");
  EXPECT_EQ(form({1, 512, 7, 7}, 512), "tiles of 4");
  EXPECT_EQ(form({te::size_var("n"), 64, 56, 56}, 64), "tiles of 4");
}

TEST(FastestConvolution, HasSmallTilesOfSmallImages) {
  EXPECT_EQ(form({1, 256, 4, 4}, 256), "tiles of 2");
}

TEST(FastestConvolution, IsDirectOfFewChannelsOrFilters) {
  EXPECT_EQ(form({1, 3, 224, 224}, 64), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 3), topi::kConv2dNchw);
}

TEST(FastestConvolution, IsDirectWhereWinogradsIsNone) {
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.stride = {2, 2}}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.dilation = {2, 2}}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, 56, 56}, 64, {.out_dtype = Float(64)}), topi::kConv2dNchw);
  EXPECT_EQ(form({1, 64, te::size_var("n"), 56}, 64), topi::kConv2dNchw);
  const Tensor X = images({1, 64, 56, 56}, Int(8)), K = kernels(64, 64, Int(8));
  EXPECT_EQ(topi::cpu::fastest_conv2d_nchw(X, K, cpu_targets()[1]).op().tag(), topi::kConv2dNchw);
}

TEST(FastestConvolution, RefusesWhatConv2dNchwRefuses) {
  try {
    topi::cpu::fastest_conv2d_nchw(images({1, 64, 56, 56}), kernels(64, 32), cpu_targets()[1]);
    ADD_FAILURE() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::conv2d_nchw"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("library_winograd_test.cpp"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::testing
