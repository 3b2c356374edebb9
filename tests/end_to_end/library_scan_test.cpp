// Running sums and products of the operator library, beside plain C++, and as topi::schedule
// arranges them.
#include <gtest/gtest.h>

#include "tenon/driver/target.h"
#include "tenon/tir/expr.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/scan.h"
#include "tenon/topi/schedule.h"
#include "tests/common/numbers.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;

/// The sum of the elements up to each, or before it.
auto running_sum(std::size_t along, bool exclusive) {
  return [=](auto& in, Indices i) {
    double sum = 0;
    std::vector<std::int64_t> at(i.begin(), i.end());
    for (at[along] = 0; at[along] < i[along] + (exclusive ? 0 : 1); ++at[along]) sum += in[0](at);
    return sum;
  };
}

TEST(LibraryScan, SumsAlongAnyDimension) {
  te::Tensor A = te::placeholder({3, 4, 5}, "A");
  for (const int axis : {0, 1, 2, -1})
    for (const bool exclusive : {false, true}) {
      const auto along = static_cast<std::size_t>(axis < 0 ? 2 : axis);
      const auto truth = running_sum(along, exclusive);
      EXPECT_EQ(differs({A}, topi::cumsum(A, axis, {.exclusive = exclusive}), truth), "")
          << axis << exclusive;
    }
}

TEST(LibraryScan, ProductsAndOtherTypes) {
  te::Tensor A = te::placeholder({6}, "A");
  auto truth = [](auto& in, Indices i) {
    double product = 1;
    for (std::int64_t k = 0; k < i[0]; ++k) product *= in[0]({k});
    return product;
  };
  EXPECT_EQ(differs({A}, topi::cumprod(A, 0, {.exclusive = true}), truth), "");
  te::Tensor B = te::placeholder({200}, "B", Int(8));
  const te::Tensor C = topi::cumsum(B, 0, {.dtype = Int(32), .name = "C"});
  EXPECT_EQ(C.dtype(), Int(32));
  EXPECT_EQ(C.op().name(), "C");
  EXPECT_EQ(compare_with_default(te::create_schedule(C), {B, C}), "");
}

TEST(LibraryScan, ScheduledByVectorsOfAStep) {
  Var n = te::size_var("n");
  for (const int axis : {0, 1}) {
    te::Tensor A = te::placeholder({n, 37}, "A"), B = topi::cumsum(A, axis);
    const te::Schedule s = te::create_schedule(B);
    topi::schedule(s, {B}, Target("llvm").facts());
    EXPECT_EQ(compare_with_default(s, {n, A, B}, {.symbols = {1, 2, 21}}), "") << axis;
  }
  // Element-wise stages of this size are divided among threads; the steps of a scan still run in
  // sequence.
  te::Tensor A = te::placeholder({300, 1000}, "A"), B = topi::cumsum(A, 0);
  const te::Schedule s = te::create_schedule(B);
  topi::schedule(s, {B}, Target("llvm").facts());
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile_c = false, .interpret = false}), "");
}

// ---- by blocks ----------------------------------------------------------------------------------

TEST(LibraryScan, BlocksSumAlongAnyDimension) {
  te::Tensor A = te::placeholder({3, 4, 5}, "A");
  for (const std::size_t along : {0, 1, 2})
    for (const bool exclusive : {false, true})
      for (const int block : {1, 2, 4, 9}) {
        const auto truth = running_sum(along, exclusive);
        const te::Tensor B =
            topi::cumsum(A, static_cast<int>(along), {.exclusive = exclusive, .block = block});
        EXPECT_EQ(differs({A}, B, truth, {.compile = false}), "")
            << along << exclusive << " " << block;
      }
}

TEST(LibraryScan, BlocksMultiplyAndCast) {
  te::Tensor A = te::placeholder({7}, "A");
  auto truth = [](auto& in, Indices i) {
    double product = 1;
    for (std::int64_t k = 0; k <= i[0]; ++k) product *= in[0]({k});
    return product;
  };
  EXPECT_EQ(differs({A}, topi::cumprod(A, 0, {.block = 3}), truth), "");
  te::Tensor B = te::placeholder({200}, "B", Int(8));
  EXPECT_EQ(
      differs({B}, topi::cumsum(B, 0, {.dtype = Int(32), .block = 16}), running_sum(0, false)), "");
}

TEST(LibraryScan, OfBlocksIsTheseOperations) {
  te::Tensor A = te::placeholder({100, 6}, "A");
  const te::Tensor B = topi::cumsum(A, 0, {.block = 32, .name = "B"});
  const te::Tensor of_blocks = B.op().inputs()[0], before = of_blocks.op().inputs()[0],
                   within = of_blocks.op().inputs()[1];
  EXPECT_EQ(B.op().tag(), topi::kCumulativeBlocks);
  EXPECT_EQ(of_blocks.name() + " " + before.name() + " " + within.name(),
            "B_of_blocks B_before B_within");
  // Four blocks, of which the last is not full.
  const auto extents = [](const te::Tensor& x) {
    std::vector<std::int64_t> all;
    for (const te::Expr& extent : x.shape()) all.push_back(*tir::constant_int(extent));
    return all;
  };
  EXPECT_EQ(extents(before), (std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(extents(within), (std::vector<std::int64_t>{4, 32, 6}));
}

std::string scheduled_blocks_differ(const te::Tensor& A, int axis,
                                    const topi::CumulativeOptions& options,
                                    std::vector<LowerArgument> args = {}) {
  std::string wrong;
  const te::Tensor B = topi::cumsum(A, axis, options);
  args.insert(args.end(), {A, B});
  for (const int bits : {128, 512}) {
    tir::TargetFacts target = Target("llvm").facts();
    target.vector_registers.bits = bits;
    target.cores = 4;
    const te::Schedule s = te::create_schedule(B);
    topi::schedule(s, {B}, target);
    wrong += compare_with_default(s, args, {.symbols = {1, 2, 77}});
  }
  return wrong;
}

TEST(LibraryScan, BlocksAreScheduledAlongTheLastDimension) {
  for (const bool exclusive : {false, true}) {
    EXPECT_EQ(scheduled_blocks_differ(te::placeholder({640}, "A"), 0,
                                      {.exclusive = exclusive, .block = 8}),
              "");
    EXPECT_EQ(scheduled_blocks_differ(te::placeholder({3, 77}, "A"), 1,
                                      {.exclusive = exclusive, .block = 8}),
              "");
  }
}

TEST(LibraryScan, BlocksAreScheduledAlongOtherDimensions) {
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({77, 19}, "A"), 0, {.block = 8}), "");
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({2, 40, 5}, "A"), 1, {.block = 8}), "");
}

TEST(LibraryScan, BlocksAreScheduledOfExtentsThatOnlyTheCallKnows) {
  Var n = te::size_var("n");
  EXPECT_EQ(scheduled_blocks_differ(te::placeholder({n}, "A"), 0, {.block = 8}, {n}), "");
}

TEST(LibraryScan, BlocksAreScheduledOfAMapAndReadByOne) {
  te::Tensor A = te::placeholder({200}, "A");
  te::Tensor B = topi::relu(topi::cumsum(topi::relu(A), 0, {.block = 8}));
  const te::Schedule s = te::create_schedule(B);
  topi::schedule(s, {B}, Target("llvm").facts());
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(LibraryScan, RefusesBlocksWithoutElementsAndHugeOnes) {
  te::Tensor A = te::placeholder({30}, "A");
  for (const int block : {0, -1, (1 << 20) + 1}) try {
      topi::cumsum(A, 0, {.block = block});
      ADD_FAILURE() << "accepted";
    } catch (const TypeError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("blocks are of 1 to 2^20 elements, got " + std::to_string(block)),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("library_scan_test.cpp"), std::string::npos);
    }
}

TEST(LibraryScan, RefusesADimensionThatIsNotThere) {
  te::Tensor A = te::placeholder({3, 4}, "A");
  try {
    topi::cumsum(A, 2);
    ADD_FAILURE() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::cumsum `T_cumsum`"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("library_scan_test.cpp"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::testing
