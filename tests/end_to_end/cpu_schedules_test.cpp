// Schedules of the library for processors (topi/cpu.h): for whatever extents, the numbers are those
// of the loops that nothing was done to.
#include "tenon/topi/cpu.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tenon/driver/target.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tests/common/ways_to_run.h"

namespace tenon::topi {
namespace {

using tir::TargetFacts;

/// Registers of the processors that schedules are made for; the results are the same on any
/// processor.
constexpr tir::VectorRegisters kRegisters[] = {{.bits = 128, .count = 16, .for_sums = 8},
                                               {.bits = 512, .count = 32, .for_sums = 16}};

/// `l2_bytes`: the size of the second cache that schedules are made for; 0: this processor's.
std::string checked(const Tensor& out, const std::vector<LowerArgument>& args, int l2_bytes = 0) {
  std::string wrong;
  for (const tir::VectorRegisters& registers : kRegisters) {
    TargetFacts target = Target("llvm").facts();
    target.vector_registers = registers;
    if (l2_bytes > 0) target.caches.l2 = l2_bytes;
    wrong += testing::compare_with_default(
        cpu::schedule_matmul(out, target), args,
        {.compile_c = false, .symbols = {21}, .build = {.opt_level = 3}});
  }
  return wrong;
}

Tensor matrix(const char* name, bool transposed, const Expr& rows, const Expr& columns,
              DataType type = Float(32)) {
  return transposed ? te::placeholder({columns, rows}, name, type)
                    : te::placeholder({rows, columns}, name, type);
}

std::string check_product(int m, int n, int k, bool transpose_a = false, bool transpose_b = false) {
  const Tensor A = matrix("A", transpose_a, m, k), B = matrix("B", transpose_b, k, n);
  const Tensor C = matmul(A, B, {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return checked(C, {A, B, C});
}

TEST(CpuMatmul, TakesAnyExtents) {
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {8, 32, 4}, {1, 1, 1}, {3, 5, 7}, {17, 35, 9}, {33, 16, 6}, {70, 3, 5}})
    EXPECT_EQ(check_product(m, n, k), "") << m << " " << n << " " << k;
}

TEST(CpuMatmul, LaysOutPanelsOfWhichTheLastIsNotFull) {
  // Wide enough for B to be laid out, and read by more than two tiles.
  EXPECT_EQ(check_product(35, 301, 6), "");
}

TEST(CpuMatmul, AddsBlocksOfADeepReductionOverFewColumns) {
  const Tensor A = matrix("A", false, 19, 700), B = matrix("B", false, 700, 20);
  const Tensor C = matmul(A, B);
  // A panel of all steps exceeds half of this cache.
  EXPECT_EQ(checked(C, {A, B, C}, 1 << 16), "");
}

TEST(CpuMatmul, TakesTransposedFactors) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      EXPECT_EQ(check_product(37, 45, 6, a, b), "") << a << b;
      EXPECT_EQ(check_product(1, 45, 20, a, b), "") << a << b;
      EXPECT_EQ(check_product(45, 1, 20, a, b), "") << a << b;
    }
}

TEST(CpuMatmul, TakesARowAndAColumnOfAnyLength) {
  for (const int k : {1, 33})
    for (const int n : {2, 700}) {
      EXPECT_EQ(check_product(1, n, k), "") << n << " " << k;
      EXPECT_EQ(check_product(n, 1, k), "") << n << " " << k;
    }
}

TEST(CpuMatmul, TakesOtherTypes) {
  for (const auto& [type, sum] : {std::pair(Float(64), Float(64)), std::pair(Int(8), Int(32)),
                                  std::pair(Float(16), Float(32))}) {
    const Tensor A = matrix("A", false, 19, 9, type), B = matrix("B", false, 9, 37, type);
    const Tensor C = matmul(A, B, {.out_dtype = sum});
    EXPECT_EQ(checked(C, {A, B, C}), "") << type.str();
  }
}

TEST(CpuMatmul, TakesExtentsThatOnlyTheCallKnows) {
  const Var m = te::var("m");
  const Tensor A = matrix("A", false, m, 9), B = matrix("B", false, 9, 37);
  const Tensor C = matmul(A, B);
  EXPECT_EQ(checked(C, {m, A, B, C}), "");
}

TEST(CpuMatmul, ComputesMapsOfTheProductWithIt) {
  for (const auto& [m, n] : {std::pair(19, 37), std::pair(1, 67), std::pair(67, 1)}) {
    const Tensor A = matrix("A", false, m, 9), B = matrix("B", true, 9, n);
    const Tensor Bias = te::placeholder({n}, "Bias");
    const Tensor C = relu(dense(A, B, Bias));
    EXPECT_EQ(checked(C, {A, B, Bias, C}), "") << m << " " << n;
  }
}

TEST(CpuMatmul, TakesTailsOfColumns) {
  for (const int n : {3, 9, 15, 30, 31, 47, 61})
    for (const int m : {7, 40}) EXPECT_EQ(check_product(m, n, 11), "") << m << " " << n;
}

/// Checks products of a few rows, and relu of such products and a bias.
void check_few_rows(int k, bool transpose_b, int l2_bytes) {
  for (const int m : {1, 2, 5, 16}) {
    const int n = 75;
    const Tensor A = matrix("A", false, m, k), B = matrix("B", transpose_b, k, n);
    const Tensor C = matmul(A, B, {.transpose_b = transpose_b});
    EXPECT_EQ(checked(C, {A, B, C}, l2_bytes), "") << m << " rows";
    const Tensor Bias = te::placeholder({n}, "Bias");
    const Tensor mapped = relu(add(C, Bias));
    EXPECT_EQ(checked(mapped, {A, B, Bias, mapped}, l2_bytes), "") << m << " rows, mapped";
  }
}

TEST(CpuMatmul, TakesFewRowsByATransposedMatrix) { check_few_rows(147, true, 0); }

TEST(CpuMatmul, TakesFewRowsByAMatrixThatExceedsTheCaches) { check_few_rows(21, false, 128); }

TEST(CpuMatmul, TakesBatches) {
  for (const bool transposed : {false, true}) {
    const Tensor A = te::placeholder({3, 18, 9}, "A");
    const Tensor B =
        transposed ? te::placeholder({3, 37, 9}, "B") : te::placeholder({3, 9, 37}, "B");
    const Tensor C = batch_matmul(A, B, {.transpose_b = transposed});
    EXPECT_EQ(checked(C, {A, B, C}), "") << transposed;
  }
  // Many rows and columns.
  const Tensor P = te::placeholder({2, 200, 9}, "P"), Q = te::placeholder({2, 9, 300}, "Q");
  const Tensor R = batch_matmul(P, Q);
  EXPECT_EQ(checked(R, {P, Q, R}), "");
  // One matrix for all, and rows and columns of one element.
  const Tensor A = te::placeholder({4, 1, 9}, "A"), B = te::placeholder({1, 9, 1}, "B");
  const Tensor C = batch_matmul(A, B);
  EXPECT_EQ(checked(C, {A, B, C}), "");
}

TEST(CpuMatmul, TakesBatchesOfVectors) {
  for (const auto& [m, n] : {std::pair(1, 35), std::pair(35, 1)})
    for (const bool transposed : {false, true}) {
      const Tensor A = te::placeholder({3, m, 33}, "A");
      const Tensor B =
          transposed ? te::placeholder({3, n, 33}, "B") : te::placeholder({3, 33, n}, "B");
      const Tensor C = relu(batch_matmul(A, B, {.transpose_b = transposed}));
      EXPECT_EQ(checked(C, {A, B, C}), "") << m << " " << n << " " << transposed;
    }
}

TEST(CpuMatmul, TakesReductionsInBlocks) {
  constexpr int kL2 = 1 << 14, kRows = 7, kColumns = 35, kDepth = 513;
  for (const bool transposed : {false, true}) {
    const Tensor A = matrix("A", transposed, kRows, kDepth),
                 B = matrix("B", false, kDepth, kColumns);
    Tensor C = matmul(A, B, {.transpose_a = transposed});
    if (!transposed) C = relu(C);
    EXPECT_EQ(checked(C, {A, B, C}, kL2), "") << transposed;
  }
}

TEST(CpuMatmul, PacksATransposedFirstFactor) { EXPECT_EQ(check_product(37, 210, 6, true), ""); }

/// Extents around those at which schedules change, and none.
TEST(CpuMatmul, IsScheduledForRandomShapesTypesAndCaches) {
  std::mt19937 engine(1);
  const auto one_of = [&](const auto& values) { return values[engine() % std::size(values)]; };
  constexpr int kExtents[] = {0,  1,  2,  3,  4,  7,  8,  9,   15,  16,  17,
                              24, 31, 33, 47, 64, 75, 96, 128, 147, 300, 515};
  const std::pair<DataType, DataType> types[] = {
      {Float(32), Float(32)}, {Float(64), Float(64)}, {Int(8), Int(32)}, {BFloat(16), Float(32)}};
  for (int n = 0; n < 100; ++n) {
    const int rows = one_of(kExtents), columns = one_of(kExtents), depth = one_of(kExtents);
    const bool a = engine() % 2, b = engine() % 2, is_mapped = engine() % 2;
    const auto [type, sum] = one_of(types);
    TargetFacts target = Target("llvm").facts();
    target.vector_registers = one_of(kRegisters);
    if (engine() % 2) target.caches.l2 = 1024;
    const Tensor A = matrix("A", a, rows, depth, type), B = matrix("B", b, depth, columns, type);
    Tensor C = matmul(A, B, {.transpose_a = a, .transpose_b = b, .out_dtype = sum});
    if (is_mapped) C = relu(C);
    std::vector<std::string> warnings;
    const auto keep = [&](const std::string& warning) { warnings.push_back(warning); };
    EXPECT_NO_THROW(lower(cpu::schedule_matmul(C, target), {A, B, C}, {.on_warning = keep}))
        << rows << " " << columns << " " << depth << " " << a << b << is_mapped << " "
        << type.str();
    EXPECT_EQ(warnings, std::vector<std::string>{});
  }
}

/// Checks a product with any combination of transposed factors.
void check_layouts(int m, int n, int k, DataType type, DataType sum) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const Tensor A = matrix("A", a, m, k, type), B = matrix("B", b, k, n, type);
      const Tensor C = matmul(A, B, {.transpose_a = a, .transpose_b = b, .out_dtype = sum});
      EXPECT_EQ(checked(C, {A, B, C}), "")
          << m << " " << n << " " << k << " " << a << b << " " << type.str();
    }
}

TEST(CpuMatmul, TakesLowPrecisionWithTailsInAnyLayout) {
  check_layouts(5, 20, 259, Int(8), Int(32));
  check_layouts(19, 21, 35, BFloat(16), Float(32));
}

TEST(CpuMatmul, TakesLowPrecisionInBlocksOfADeepReduction) {
  for (const auto& [type, sum] : {std::pair(Int(8), Int(32)), std::pair(BFloat(16), Float(32))})
    for (const bool is_transposed : {false, true}) {
      const Tensor A = matrix("A", is_transposed, 19, 1733, type),
                   B = matrix("B", !is_transposed, 1733, 21, type);
      const Tensor C = matmul(
          A, B, {.transpose_a = is_transposed, .transpose_b = !is_transposed, .out_dtype = sum});
      EXPECT_EQ(checked(C, {A, B, C}, 1 << 17), "") << type.str() << is_transposed;
      const Tensor D = relu(C);
      EXPECT_EQ(checked(D, {A, B, D}, 1 << 17), "") << type.str() << is_transposed;
    }
}

TEST(CpuMatmul, TakesFewColumnsInAnyLayout) { check_layouts(37, 3, 70, Float(32), Float(32)); }

TEST(CpuMatmul, TakesFewRowsInAnyLayout) { check_layouts(9, 21, 69, Float(64), Float(64)); }

TEST(CpuMatmul, MultipliesATensorByItself) {
  const Tensor A = matrix("A", false, 35, 35);
  const Tensor C = matmul(A, A);
  EXPECT_EQ(checked(C, {A, C}), "");
}

TEST(CpuMatmul, TakesExtentsOfZero) {
  for (const auto& [m, n, k] :
       std::vector<std::tuple<int, int, int>>{{0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {1, 4, 0}})
    EXPECT_EQ(check_product(m, n, k), "") << m << " " << n << " " << k;
  for (const auto& [m, n] : {std::pair(0, 40), std::pair(5, 0), std::pair(0, 0)})
    EXPECT_EQ(check_product(m, n, 150, false, true), "") << m << " " << n << ", transposed";
}

TEST(CpuMatmul, TakesManyBands) {
  // More than the bands that a core takes, of tiles of 8 rows at least.
  EXPECT_EQ(check_product(4 * 8 * 8 + 3, 19, 3), "");
}

TEST(CpuMatmul, BandsShareTheTilesOutEvenly) {
  // Iterations of the loops over tiles of 8 rows: an empty one still runs through the reduction.
  for (const auto& [rows, tiles] : {std::pair(100, 13), {1000, 125}, {2048, 256}}) {
    const Tensor A = matrix("A", false, rows, 40), B = matrix("B", false, 40, 64);
    const Tensor C = matmul(A, B);
    TargetFacts target = Target("llvm").facts();
    target.vector_registers = {.bits = 512, .count = 32, .for_sums = 16};
    target.cores = 1;
    const tir::IRModule mod =
        lower(cpu::schedule_matmul(C, target), {A, B, C}, {.simple_mode = true});
    std::int64_t iterations = 1;
    walk(mod.functions.at("main").body, [&](const tir::For& loop) {
      if (loop.var.name().starts_with("ax0.outer"))
        iterations *= tir::constant_int(loop.extent).value_or(0);
    });
    EXPECT_EQ(iterations, tiles) << rows << " rows";
  }
}

TargetFacts with_32_registers() {
  TargetFacts target = Target("llvm").facts();
  target.vector_registers = {.bits = 512, .count = 32, .for_sums = 16};
  target.caches = {.l1 = 32 << 10, .l2 = 1 << 20};
  target.cores = 1;
  return target;
}

/// The loops of a product of m x k and k x n, scheduled for 32 registers of 512 bits.
std::string loops_of_product(int m, int n, int k, bool transpose_b = false) {
  const Tensor A = matrix("A", false, m, k), B = matrix("B", transpose_b, k, n);
  const Tensor C = matmul(A, B, {.transpose_b = transpose_b, .name = "C"});
  std::ostringstream stream;
  stream << lower(cpu::schedule_matmul(C, with_32_registers()), {A, B, C}, {.simple_mode = true});
  return stream.str();
}

/// Whether so much memory is allocated, as the text says it.
::testing::AssertionResult allocates(const std::string& text, const std::string& memory) {
  if (text.find("allocate(" + memory) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no " << memory << " in\n" << text;
}

TEST(CpuMatmul, PacksPanelsAndKeepsTheTileInRegisters) {
  // Eight steps of eight rows of three vectors: 8 x 48 sums beside a panel of B that is 48 wide. A
  // is too large for the second cache.
  const std::string text = loops_of_product(520, 512, 512);
  EXPECT_TRUE(
      allocates(text, "B.global: Pointer(global float32), float32, [270336]"));  // 11 of 512 x 48
  EXPECT_TRUE(allocates(text, "C.local: Pointer(local float32), float32, [384]"));
}

TEST(CpuMatmul, AddsLanesOfFewRowsByATransposedMatrix) {
  // A partial sum for each lane of 12 x 2 elements.
  EXPECT_TRUE(allocates(loops_of_product(12, 64, 512, true),
                        "C.rf: Pointer(local float32), float32, [384]"));
}

TEST(CpuMatmul, ReducesInBlocksThatStayInTheSecondCache) {
  const char* const block = "B.global: Pointer(global float32), float32, [12288]";  // 256 x 48
  EXPECT_TRUE(allocates(loops_of_product(64, 520, 2048), block));
  // Two rows and a panel of B are less than half of the cache.
  EXPECT_FALSE(allocates(loops_of_product(2, 520, 2048), block));
}

TEST(CpuMatmul, PacksAPanelWhereOneBandReadsIt) {
  const char* const panel = "B.global: Pointer(global float32), float32, [3456]";  // 72 x 48
  EXPECT_TRUE(allocates(loops_of_product(64, 520, 72), panel));
  // All of A stays in the second cache.
  EXPECT_TRUE(allocates(loops_of_product(512, 520, 72), panel));
}

/// The extents of parallel loops of a product of m x k and k x n, for so many cores.
std::vector<std::int64_t> shared_loops(int m, int n, int k, int cores) {
  const Tensor A = matrix("A", false, m, k), B = matrix("B", false, k, n);
  TargetFacts target = with_32_registers();
  target.cores = cores;
  const Tensor C = matmul(A, B);
  const tir::IRModule mod = lower(cpu::schedule_matmul(C, target), {A, B, C});
  std::vector<std::int64_t> extents;
  walk(mod.functions.at("main").body, [&](const tir::For& loop) {
    if (loop.kind == tir::ForKind::Parallel)
      extents.push_back(tir::constant_int(loop.extent).value_or(-1));
  });
  return extents;
}

// 125 tiles of 8 rows, 15 or fewer in a band: of bands of nine the core that has most to do takes
// 63 tiles, of thirteen it would be 65. Eight tiles or more are in a band, though more cores could
// have fewer.
TEST(CpuMatmul, BandsAreSharedOutEvenly) {
  EXPECT_EQ(shared_loops(1000, 480, 512, 2).back(), 14);
  EXPECT_EQ(shared_loops(1000, 480, 512, 64).back(), 16);
}

// 2^18.
TEST(CpuMatmul, HasThreadsFromAQuarterOfAMillionMultiplicationsOn) {
  EXPECT_FALSE(shared_loops(64, 64, 64, 2).empty());
  EXPECT_TRUE(shared_loops(64, 64, 63, 2).empty());
}

// A half of the columns for each of two.
TEST(CpuMatmul, AVectorByAMatrixHasAPieceForEachCore) {
  EXPECT_EQ(shared_loops(1, 4096, 512, 2), std::vector<std::int64_t>{2});
}

// Wider panels: four rows are one tile, without a tail.
// The segments of the cores begin at tiles, so that stores need no conditions.
TEST(CpuMatmul, SegmentsOfFewRowsConsistOfWholeTiles) {
  TargetFacts target = with_32_registers();
  target.caches.l2 = 1 << 16;
  target.cores = 2;
  for (const int columns : {20, 1088, 1100}) {
    const Tensor A = matrix("A", false, 9, 4000), B = matrix("B", false, 4000, columns);
    const Tensor C = matmul(A, B);
    const std::string text = tir::print_module(lower(cpu::schedule_matmul(C, target), {A, B, C}));
    EXPECT_EQ(text.find("0 <="), std::string::npos) << columns;
  }
}

TEST(CpuMatmul, TilesOfFewRowsAreEven) {
  EXPECT_TRUE(allocates(loops_of_product(4, 512, 8),
                        "C.local: Pointer(local float32x16), float32x16, [16]"));
}

// Threads share out panels where there are some for each, and bands of rows elsewhere.
TEST(CpuMatmul, SharesOutBandsOfFewColumns) {
  const auto shared_out_axis = [](int columns) {
    const Tensor A = matrix("A", false, 512, 512), B = matrix("B", false, 512, columns);
    TargetFacts target = with_32_registers();
    target.cores = 4;
    const Tensor C = matmul(A, B);
    const tir::IRModule mod = lower(cpu::schedule_matmul(C, target), {A, B, C});
    std::string last;
    walk(mod.functions.at("main").body, [&](const tir::For& loop) {
      if (loop.kind == tir::ForKind::Parallel) last = loop.var.name();
    });
    return last.substr(0, 3);
  };
  EXPECT_EQ(shared_out_axis(512), "ax1");
  EXPECT_EQ(shared_out_axis(256), "ax0");
}

TEST(CpuMatmul, HasWiderTilesWhereTheLargestShareOfPanelsIsSmaller) {
  const char* const wide = "C.local: Pointer(local float32x16), float32x16, [24]";  // 6 x 4
  const char* const high = "C.local: Pointer(local float32), float32, [384]";       // 8 x 48
  EXPECT_TRUE(allocates(loops_of_product(512, 512, 512), wide));  // 8 of 64, not 11 of 48
  EXPECT_TRUE(allocates(loops_of_product(512, 520, 512), high));  // 11 of 48, not 9 of 64
}

TEST(CpuMatmul, TurnsTilesOfATransposedFactorInRegisters) {
  // Half vectors: 8 rows of 8.
  EXPECT_TRUE(allocates(loops_of_product(512, 512, 32, true),
                        "B.local: Pointer(local float32), float32, [64]"));
}

TEST(CpuMatmul, HasTilesAsWideAsFewColumnsOfALongReduction) {
  const char* const deep = "C.local: Pointer(local float32x16), float32x16, [24]";  // 6 x 4
  const char* const flat = "C.local: Pointer(local float32x16), float32x16, [16]";  // 8 x 2
  EXPECT_TRUE(allocates(loops_of_product(512, 64, 512), deep));
  EXPECT_TRUE(allocates(loops_of_product(512, 64, 64), flat));
}

TEST(CpuMatmul, InlinesMapsThatSeveralRead) {
  const Tensor A = matrix("A", false, 9, 4), B = matrix("B", false, 4, 17);
  Tensor out = matmul(A, B);
  for (int n = 0; n < 3; ++n) out = add(Term(relu(out)), Term(out));
  EXPECT_EQ(checked(out, {A, B, out}), "");
}

TEST(CpuMatmul, RefusesAReductionOfTheProduct) {
  const Tensor A = matrix("A", false, 4, 4), B = matrix("B", false, 4, 4);
  try {
    cpu::schedule_matmul(softmax(matmul(A, B, {.name = "P"})), Target("llvm").facts());
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("`T_softmax_maxelem`"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("`P`"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cpu_schedules_test.cpp"), std::string::npos);
  }
}

TEST(CpuMatmul, RefusesWhatIsNoProduct) {
  const Tensor A = matrix("A", false, 4, 4);
  try {
    cpu::schedule_matmul(relu(A), Target("llvm").facts());
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::matmul, dense, batch_matmul"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cpu_schedules_test.cpp"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::topi
