// Convolutions of the operator library beside conv2d_nchw, beside plain C++, and their schedules
// for processors.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/te/relation.h"
#include "tenon/tir/walk.h"
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
using Options = topi::ConvolutionOptions;

const std::vector<Options> kOptions = {
    {}, {.stride = {2, 3}}, {.stride = {1, 2}, .dilation = {2, 3}, .padding = {1, 2, 3, 0}}};

/// An element of the image at the place of a window's point; 0 in the padding.
struct Image {
  const Options& options;
  std::int64_t height, width;

  template <class At>
  double at(std::int64_t y, std::int64_t x, std::int64_t p, std::int64_t q, At read) const {
    y = y * options.stride[0] + p * options.dilation[0] - options.padding[0];
    x = x * options.stride[1] + q * options.dilation[1] - options.padding[1];
    return y < 0 || y >= height || x < 0 || x >= width ? 0.0 : read(y, x);
  }
};

/// Over the window's 3 x 2 points and so many channels: the image's element at the place of a point
/// of window (y, x), times the kernel's. `of_image(channel, row, column)` reads an element,
/// `of_kernel(channel, p, q)` as well.
template <class OfImage, class OfKernel>
double summed(const Image& image, std::int64_t y, std::int64_t x, int channels, OfImage of_image,
              OfKernel of_kernel) {
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t p = 0; p < 3; ++p)
      for (std::int64_t q = 0; q < 2; ++q)
        sum += image.at(y, x, p, q, std::bind_front(of_image, c)) * of_kernel(c, p, q);
  return sum;
}

TEST(LibraryConvolution, Depthwise) {
  for (const int multiplier : {1, 2})
    for (const Options& options : kOptions) {
      te::Tensor X = te::placeholder({2, 3, 8, 9}, "X"),
                 K = te::placeholder({3, multiplier, 3, 2}, "K");
      const Image image{options, 8, 9};
      auto truth = [&](auto& in, Indices i) {
        const std::int64_t channel = i[1] / multiplier, which = i[1] % multiplier;
        return summed(
            image, i[2], i[3], 1,
            [&](auto, auto y, auto x) {
              return in[0]({i[0], channel, y, x});
            },
            [&](auto, auto p, auto q) {
              return in[1]({channel, which, p, q});
            });
      };
      EXPECT_EQ(differs({X, K}, topi::depthwise_conv2d_nchw(X, K, options), truth), "")
          << multiplier;
    }
}

TEST(LibraryConvolution, OfGroups) {
  for (const Options& options : kOptions) {
    te::Tensor X = te::placeholder({2, 6, 8, 9}, "X"), K = te::placeholder({4, 3, 3, 2}, "K");
    const Image image{options, 8, 9};
    auto truth = [&](auto& in, Indices i) {
      return summed(
          image, i[2], i[3], 3,
          [&](auto c, auto y, auto x) {
            return in[0]({i[0], i[1] / 2 * 3 + c, y, x});
          },
          [&](auto c, auto p, auto q) {
            return in[1]({i[1], c, p, q});
          });
    };
    EXPECT_EQ(differs({X, K}, topi::group_conv2d_nchw(X, K, 2, options), truth), "");
  }
}

TEST(LibraryConvolution, NhwcConvolutionsComputeTheDefinition) {
  for (const Options& options : kOptions) {
    te::Tensor X = te::placeholder({2, 8, 9, 3}, "X"), K = te::placeholder({3, 2, 3, 4}, "K");
    const Image image{options, 8, 9};
    auto truth = [&](auto& in, Indices i) {
      return summed(
          image, i[1], i[2], 3,
          [&](auto c, auto y, auto x) {
            return in[0]({i[0], y, x, c});
          },
          [&](auto c, auto p, auto q) {
            return in[1]({p, q, c, i[3]});
          });
    };
    EXPECT_EQ(differs({X, K}, topi::conv2d_nhwc(X, K, options), truth), "");
  }
}

template <class F>
std::string refusal(F f) {
  try {
    f();
    return "";
  } catch (const TypeError& error) {
    return error.what();
  }
}

TEST(LibraryConvolution, RefusesWhatDoesNotFit) {
  te::Tensor X = te::placeholder({2, 6, 8, 9}, "X"), K = te::placeholder({4, 3, 3, 3}, "K");
  const std::string depthwise = refusal([&] { topi::depthwise_conv2d_nchw(X, K); });
  EXPECT_NE(depthwise.find("dimension 1 of `X` has extent 6"), std::string::npos) << depthwise;
  const std::string groups = refusal([&] { topi::group_conv2d_nchw(X, K, 4); });
  EXPECT_NE(groups.find("dimension 1 of `X` must be a constant multiple of the 4 groups"),
            std::string::npos)
      << groups;
  const std::string part = refusal([&] { topi::group_conv2d_nchw(X, K, 1); });
  EXPECT_NE(part.find("dimension 1 of `K` must have extent 6"), std::string::npos) << part;
  const std::string none = refusal([&] { topi::group_conv2d_nchw(X, K, 0); });
  EXPECT_NE(none.find("groups must be positive"), std::string::npos) << none;
  const std::string side = refusal([&] { topi::conv2d_nhwc(X, K); });
  EXPECT_NE(side.find("dimension 3 of `X` has extent 9"), std::string::npos) << side;
  EXPECT_NE(side.find("library_convolution_test.cpp"), std::string::npos) << side;
}

// ---- schedules ----------------------------------------------------------------------------------

TEST(CpuWindows, DepthwiseOfAnyWindows) {
  for (const auto& [width, size, stride, dilation, padding] :
       std::vector<std::tuple<int, int, int, int, int>>{{56, 3, 1, 1, 1},
                                                        {17, 3, 2, 1, 1},
                                                        {35, 5, 1, 2, 4},
                                                        {9, 7, 1, 1, 0},
                                                        {27, 5, 2, 1, 1}}) {
    te::Tensor X = te::placeholder({2, 3, 11, width}, "X"),
               K = te::placeholder({3, 1, size, size}, "K"),
               Bias = te::placeholder({3, 1, 1}, "Bias");
    te::Tensor Y = topi::depthwise_conv2d_nchw(X, K,
                                               {.stride = {stride, stride},
                                                .dilation = {dilation, dilation},
                                                .padding = {padding, padding, padding, padding}});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << width;
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}), "") << width;
  }
}

TEST(CpuWindows, PoolsWhoseColumnsAreSeparated) {
  for (const int stride : {2, 3})
    for (const int padding : {0, 2}) {
      te::Tensor X = te::placeholder({1, 2, 13, 24}, "X");
      const topi::PoolOptions options{.stride = {stride, stride},
                                      .padding = {padding, padding, padding, padding}};
      te::Tensor M = topi::max_pool2d(X, {7, 7}, options), A = topi::avg_pool2d(X, {7, 7}, options);
      EXPECT_EQ(scheduled_differs(M, {X, M}), "") << stride << ", " << padding;
      EXPECT_EQ(scheduled_differs(A, {X, A}), "") << stride << ", " << padding;
    }
}

TEST(CpuWindows, Pools) {
  te::Tensor X = te::placeholder({2, 3, 12, 35}, "X");
  for (const int stride : {1, 2}) {
    const topi::PoolOptions options{.stride = {stride, stride}, .padding = {1, 1, 1, 1}};
    te::Tensor M = topi::max_pool2d(X, {3, 3}, options), A = topi::avg_pool2d(X, {2, 2}, options);
    EXPECT_EQ(scheduled_differs(M, {X, M}), "") << stride;
    EXPECT_EQ(scheduled_differs(A, {X, A}), "") << stride;
  }
}

TEST(CpuWindows, OfImagesWhoseSizesOnlyTheCallKnows) {
  Var n = te::size_var("n");
  te::Tensor X = te::placeholder({1, 2, n, n}, "X"), K = te::placeholder({2, 1, 3, 3}, "K");
  te::Tensor Y = topi::depthwise_conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
  EXPECT_EQ(scheduled_differs(Y, {n, X, K, Y}), "");
  te::Tensor P = topi::max_pool2d(X, {5, 5}, {.stride = {2, 2}, .padding = {2, 2, 2, 2}});
  EXPECT_EQ(scheduled_differs(P, {n, X, P}), "");
}

TEST(CpuWindows, RefusesWhatIsNone) {
  te::Tensor A = te::placeholder({4, 4}, "A");
  EXPECT_THROW(topi::cpu::schedule_windows(topi::relu(A), cpu_targets()[0]), ScheduleError);
}

TEST(CpuConvolution, OfGroupsAndOfChannelsSideBySide) {
  for (const auto& [out, in] : {std::pair(64, 6), {10, 4}}) {
    te::Tensor X = te::placeholder({2, in, 9, 17}, "X"),
               K = te::placeholder({out, in / 2, 3, 3}, "K");
    te::Tensor Y = topi::group_conv2d_nchw(X, K, 2, {.padding = {1, 1, 1, 1}});
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << out;
    te::Tensor I = te::placeholder({2, 9, 17, in}, "I"), L = te::placeholder({3, 3, in, out}, "L"),
               Bias = te::placeholder({out}, "Bias");
    te::Tensor Z = topi::relu(
        topi::add(topi::conv2d_nhwc(I, L, {.stride = {1, 2}, .padding = {1, 1, 1, 1}}), Bias));
    EXPECT_EQ(scheduled_differs(Z, {I, L, Bias, Z}), "") << out;
  }
}

/// A convolution of 3 x 3 with bias and relu whose rows have so many results, for 32 registers of
/// 512 bits.
tir::IRModule layer(int width, int filters, const LowerOptions& options) {
  te::Tensor X = te::placeholder({1, 16, 9, width + 2}, "X"),
             K = te::placeholder({filters, 16, 3, 3}, "K"),
             Bias = te::placeholder({filters, 1, 1}, "Bias");
  te::Tensor Y = topi::relu(topi::add(topi::conv2d_nchw(X, K), Bias), "Y");
  tir::TargetFacts target = Target("llvm").facts();
  target.vector_registers = {.bits = 512, .count = 32, .for_sums = 16};
  return lower(topi::cpu::schedule_conv2d(Y, target), {X, K, Bias, Y}, options);
}

std::string loops_of_layer(int width) {
  std::ostringstream text;
  text << layer(width, 32, {.simple_mode = true});
  return text.str();
}

TEST(CpuConvolution, SumsAreMappedOnAsVectorsOfFilters) {
  const std::string text = loops_of_layer(14);
  // In the place of the sums.
  EXPECT_NE(text.find("= max((T_conv2d_nchw_1[ramp("), std::string::npos) << text;
}

TEST(CpuConvolution, BlocksOfFiltersThatAreNotFullAreSummedUpWhole) {
  bool is_guarded = false;
  std::int64_t loops = 0;
  walk(layer(14, 40, {}).functions.at("main").body, [&](const tir::For& loop) {
    if (loop.var.name() != "kh") return;
    ++loops;
    walk(loop.body, [&](const tir::If&) { is_guarded = true; });
  });
  EXPECT_FALSE(is_guarded);
  EXPECT_EQ(loops, 1);
}

TEST(CpuConvolution, AnOddNumberOfVectorsOfFiltersIsTakenOneByOne) {
  std::ostringstream text;
  text << layer(14, 48, {.simple_mode = true});
  // Three vectors, and not four, of 16 channels by 3 x 3.
  EXPECT_NE(text.str().find("allocate(K.global: Pointer(global float32x16), float32x16, [432])"),
            std::string::npos)
      << text.str();
}

TEST(CpuConvolution, TakesAnyNumberOfFilters) {
  for (const int filters : {17, 40}) {
    te::Tensor X = te::placeholder({1, 5, 7, 9}, "X"), K = te::placeholder({filters, 5, 3, 3}, "K"),
               Bias = te::placeholder({filters, 1, 1}, "Bias");
    te::Tensor Y = topi::conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
    te::Tensor Z = topi::relu(topi::add(Y, Bias));
    EXPECT_EQ(scheduled_differs(Y, {X, K, Y}), "") << filters;
    EXPECT_EQ(scheduled_differs(Z, {X, K, Bias, Z}), "") << filters;
  }
}

TEST(CpuConvolution, TilesLeaveRegistersForTheInputsOfTheNextColumn) {
  // Places of 32 filters: of rows of 14 two tiles, of rows of 20 four, and none is wider than
  // seven.
  for (const auto& [width, sums] : {std::pair(14, "[224]"), {20, "[160]"}}) {
    const std::string text = loops_of_layer(width);
    const std::string tile = "allocate(T_conv2d_nchw: Pointer(local float32), float32, ";
    EXPECT_NE(text.find(tile + sums), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tenon::testing
