// Vectors: elements, tails and reductions.
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "tenon/tir/stmt.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- faults of LLVM -----------------------------------------------------------------------------

// Programs that LLVM 22 miscompiles, or does not compile (src/codegen/llvm/llvm_faults.md).

TEST(VectorsTest, OfGuardedReadsWhoseLanesAreUsedInPart) {
  te::Tensor A = te::placeholder({3}, "A", Float(64));
  te::Tensor T = te::compute(
      {19, 2, 10, 3}, {"i", "j", "k", "l"},
      [&](Var i, Var j, Var, Var) {
        const Expr is_inside = i * 2 - 5 >= 0 && i * 2 < 8;
        return min(if_then_else(is_inside, A(i * 2 - 5), 0.0), A(1 - j));
      },
      "T");
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {A, T}), "");
}

TEST(VectorsTest, Of40LanesAreStoredInDescendingGroups) {
  te::Tensor A = te::placeholder({40}, "A");
  te::Tensor B = te::extern_op(
      {40}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        const auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        auto made = ib.allocate(Float(32), {40}, "made");
        ib.for_range(0, 8, "i", [&](Var i) {
          ib.for_range(0, 5, "j", [&](Var j) { made[i * 5 + j] = a[j * 8 + i] + 1.0f; });
        });
        const auto copy = [&](Var lane) {
          const Expr place = (7 - floordiv(lane, 5)) * 5 + floormod(lane, 5);
          b[place] = made[place] * 2.0f;
        };
        ib.for_range(0, 40, "lane", copy, {.kind = tir::ForKind::Vectorized});
        return ib.get();
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(VectorsTest, OfBytesRepeatTheLastElement) {
  te::Tensor A = te::placeholder({64}, "A", UInt(8));
  te::Tensor B = te::compute(
      {128}, {"i"},
      [&](Var i) {
        return A(tir::min(i, 63)) * tir::select(i < 2, A(i), tir::make_const(UInt(8), 3));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
  EXPECT_NO_THROW(compile(s, {A, B}, Target("llvm -mcpu=icelake-server")));
}

TEST(VectorsTest, OfBfloat16StoreOneLaneAtTheEnd) {
  te::Tensor A = te::placeholder({7, 9, 9}, "A", BFloat(16));
  te::Tensor T = te::compute(
      {33}, {"i"},
      [&](Var i) {
        const Expr is_even = floormod(i, 2) == 0, tile = floordiv(i, 8);
        return max(A(floormod(if_then_else(is_even, i, i * 2 + 2), 4), tile,
                     floormod(if_then_else(is_even, i * 4 + 3, i * 2 + 2), 9)),
                   A(tile, tile, floormod(i, 9))) +
               3.0;
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  const auto [outer, inner] = s[T].split(s[T].axis(0), 8);
  s[T].tile(inner, outer, 5, 2);
  EXPECT_EQ(compare_with_default(s, {A, T}, {.build = {.autotune_loops = true, .opt_level = 3}}),
            "");
}

TEST(ConversionsTest, OfShiftedIntegersAreInfiniteInFloat16) {
  for (const DataType type : {Int(32), UInt(32), Int(64), UInt(64)}) {
    te::Tensor A = te::placeholder({16}, "A", type);
    te::Tensor B = te::compute(
        {16}, {"i"},
        [&](Var i) {
          return tir::cast(Float(32), tir::cast(Float(16), A(i) << tir::make_const(type, 30)));
        },
        "B");
    const WaysToRun ways{.target = Target("llvm -mcpu=x86-64-v3")};
    EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}, ways), "") << type.str();
  }
}

TEST(ConversionsTest, OfChosenIntegersAreInfiniteInFloat16) {
  te::Tensor A = te::placeholder({16}, "A", Int(32));
  te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) {
        const tir::Expr shifted = tir::cast(Float(32), A(i) << 27);
        const tir::Expr chosen = tir::select(A(i) > 0, shifted, infinity(Float(32)));
        return tir::cast(Int(32), tir::cast(Float(16), chosen));
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(VectorsTest, OfNanHaveANanRemainder) {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) {
        const Expr number = tir::select(A(i) > 0.5f, A(i), tir::make_const(Float(32), NAN));
        return tir::isnan(tir::fmod(tir::select(tir::isinf(number), 0.0f, number), 3.0f));
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

/// GCC 12 leaves the count out of the last vector of a row (src/codegen/c_like/helpers.cpp).
TEST(VectorsTest, OfBitsAreCountedInC) {
  te::Tensor T = te::compute(
      {2, 40}, {"i", "j"},
      [](Var, Var j) {
        return tir::popcount(tir::reinterpret(UInt(64), cast(Int(64), j * 2 + 101)));
      },
      "T");
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {T}), "");
}

// ---- elements and lanes -------------------------------------------------------------------------

// Vectors as elements, lanes taken apart and put together.

struct VectorElementTest : ::testing::Test {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Float(32, 4)),
             B = te::placeholder({n}, "B", Float(32, 4));
};

TEST_F(VectorElementTest, AddedSplitVectorizedAndInParallel) {
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + B(i) * 2.0f; }, "C");
  for (bool is_vectorized : {false, true}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split_by_nparts(s[C].axis(0), 4);
    const te::IterVar lanes = s[C].split(inner, 4).inner;
    s[C].parallel(outer);
    if (is_vectorized) s[C].vectorize(lanes);
    EXPECT_EQ(compare_with_default(s, {A, B, C}, {.symbols = {0, 1, 3, 8, 17, 64}}), "")
        << is_vectorized;
  }
}

TEST_F(VectorElementTest, ChosenConvertedAndComputedWith) {
  const std::vector<std::function<Expr(Var)>> bodies = {
      [&](Var i) { return select(A(i) > B(i), A(i), B(i) * 0.5f); },
      [&](Var i) { return if_then_else(i >= 2, A(i - 2), B(i)); },
      [&](Var i) { return exp(A(i)) + max(A(i), B(i)); },
      [&](Var i) { return cast(Float(64, 4), A(i)); },
      [&](Var i) { return A(i) + tir::make_broadcast(cast(Float(32), i), 4); },
  };
  for (std::size_t body = 0; body < bodies.size(); ++body) {
    te::Tensor C = te::compute({n}, {"i"}, bodies[body], "C");
    te::Schedule s = te::create_schedule(C);
    te::Tensor cached = s.cache_read(A, "local", {C.op()});
    const auto [outer, inner] = s[C].split(s[C].axis(0), 4);
    s[C].vectorize(inner);
    s[cached].compute_at(s[C], outer);
    EXPECT_EQ(compare_with_default(s, {A, B, C}, {.symbols = {2, 9}}), "") << body;
  }
}

TEST_F(VectorElementTest, SummedAndFactored) {
  te::Tensor X = te::placeholder({10}, "X", Int(32, 4));
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor S = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(X(k), {k}); }, "S");
  te::Schedule s = te::create_schedule(S);
  const auto [outer, inner] = s[S].split(k, 3);
  s.rfactor(S, inner);
  EXPECT_EQ(compare_with_default(s, {X, S}), "");
}

TEST(ShuffleTest, LanesInAnotherOrder) {
  te::Tensor A = te::placeholder({8}, "A", Int(32)), B = te::placeholder({8}, "B", Int(32));
  te::Tensor reversed = te::extern_op(
      {8}, {A, B},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        const Expr all = tir::make_ramp(0, 1, 8);
        const Expr lanes =
            tir::make_shuffle({tir::make_load(ins[1], {all})}, {7, 6, 5, 4, 3, 2, 1, 0});
        return tir::make_store(outs[0], tir::make_load(ins[0], {all}) + lanes, {all});
      },
      "C");
  EXPECT_EQ(compare_with_default(te::create_schedule(reversed), {A, B, reversed}), "");
  const Arguments a = make_arguments({A, B, reversed});
  run_compiled(build(te::create_schedule(reversed), {A, B, reversed})["main"], a);
  const auto element = [&](std::size_t array, int n) {
    return reinterpret_cast<const int*>(a.arrays[array]->data())[n];
  };
  for (int n = 0; n < 8; ++n) EXPECT_EQ(element(2, n), element(0, n) + element(1, 7 - n));
}

/// In iteration 0, lanes 1 to 3 of the result are read, which are lanes 0, 3 and 1 of the operand.
TEST(ShuffleTest, AConditionChoosesLanesOfTheResult) {
  te::Tensor A = te::placeholder({16}, "A", Int(32));
  te::Tensor B = te::extern_op(
      {16}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 16, "i", [&](Var i) { b[i] = 3; });
        ib.for_range(0, cast(Int(32), floormod(Expr(b[0]), 8)), "i", [&](Var i) {
          const Expr read =
              tir::make_shuffle({tir::make_load(ins[0], {tir::make_ramp(i + 1, 1, 4)})},
                                {Expr(3), Expr(0), Expr(3), Expr(1)});
          const Expr chosen = tir::make_binary(tir::BinaryOp::Gt, tir::make_ramp(Expr(0), 1, 4),
                                               tir::make_broadcast(i, 4));
          ib.emit(tir::make_store(outs[0], select(chosen, read, tir::make_broadcast(Expr(0), 4)),
                                  {tir::make_ramp(i * 4, 1, 4)}));
        });
        return ib.get();
      },
      "B", {.dtype = Int(32)});
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(ShuffleTest, OneLaneByItsNumberAndByAnAxis) {
  te::Tensor A = te::placeholder({12}, "A", Float(32, 4));
  te::Tensor fixed = te::compute(
      {12}, {"i"},
      [&](Var i) {
        return tir::make_shuffle({A(i), A(11 - i)}, {6});
      },
      "fixed");
  te::Schedule s = te::create_schedule(fixed);
  s[fixed].vectorize(s[fixed].split(s[fixed].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, fixed}), "");

  te::Tensor each = te::compute(
      {12, 4}, {"i", "lane"}, [&](Var i, Var lane) { return tir::make_shuffle({A(i)}, {lane}); },
      "each");
  for (int way = 0; way < 3; ++way) {
    te::Schedule t = te::create_schedule(each);
    if (way == 1) t[each].unroll(t[each].axis(1));
    if (way == 2) t[each].vectorize(t[each].axis(1));
    EXPECT_EQ(compare_with_default(t, {A, each}), "") << way;
  }
}

/// LLVM 22 leaves the division of four bytes out (src/codegen/llvm/llvm_faults.md).
TEST(VectorsTest, OfFourBytesAreDividedByAConstant) {
  using Division = Expr (*)(const Expr&, const Expr&);
  const Division divisions[] = {
      [](const Expr& a, const Expr& b) -> Expr { return floordiv(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return floormod(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return truncdiv(a, b); },
      [](const Expr& a, const Expr& b) -> Expr { return truncmod(a, b); }};
  for (const DataType type : {UInt(8), Int(8)})
    for (std::size_t n = 0; n < std::size(divisions); ++n) {
      const te::Tensor A = te::placeholder({12}, "A", type);
      const te::Tensor B = te::compute(
          {5}, {"i"},
          [&](Var i) {
            const Expr part = divisions[n](cast(Int(32), A(4 - i)), 5);
            return floormod(part + cast(Int(32), A(i * 2)) + 3, 8) * 65536;
          },
          "B");
      EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "") << type.str() << " " << n;
    }
}

/// LLVM 22 takes a minute of processor time (src/codegen/llvm/llvm_faults.md).
TEST(VectorsTest, OfEqualLanesAreDividedWithoutOptimization) {
  const te::Tensor A = te::placeholder({8}, "A", Int(64));
  const te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  const te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return floormod(B(floordiv(i, 3) * 2 + floordiv(i, 4)), 3); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].vectorize(s[C].axis(0));
  const std::clock_t begin = std::clock();
  const runtime::Module module =
      build(s, {A, C}, "llvm -mcpu=x86-64-v3", {.opt_level = 0, .cache = false});
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

// The body of the parallel loop is a function of its own, which is given the vectors that it uses.
TEST(VectorsTest, AParallelLoopInsideOfAVectorisedOneUsesItsVectors) {
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n * 2, n + 2}, "A", Int(16));
  te::Tensor B = te::compute(
      {12, n * 2}, {"i", "j"},
      [&](Var i, Var j) { return A(j, floormod(i, n + 2)) + A(j, floormod(j, n + 2)); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor local = s.cache_read(A, "local", {B});
  auto [io, ii] = s[B].split(s[B].axis(0), 3);
  s[B].reorder({io, s[B].axis(1), ii});
  auto [rest, lanes] = s[B].split(s[B].fuse({io, s[B].axis(1)}), 4);
  s[B].reorder({rest, ii, lanes}).vectorize(lanes);
  s[local].compute_at(s[B], ii);
  s[local].reorder({s[local].axis(1), s[local].axis(0)}).parallel(s[local].axis(1));
  WaysToRun ways{.symbols = {1, 7, 17}, .build = {.opt_level = 3}};
  EXPECT_EQ(compare_with_default(s, {n, A, B}, ways), "");
}

// ---- tails --------------------------------------------------------------------------------------

// Vectors whose number of lanes is not a power of two: what they load and store, for every number
// of lanes, several types, and processors with and without masks.

const char* const kWithAvx512 = "llvm -mcpu=x86-64-v4";
const char* const kWithAvx2 = "llvm -mcpu=x86-64-v3";

/// The targets whose code this processor can run.
std::vector<Target> targets() {
  std::vector<Target> result;
  if (!__builtin_cpu_supports("avx2")) return {Target("llvm")};
  result.emplace_back(kWithAvx2);
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    result.emplace_back(kWithAvx512);
  return result;
}

/// Compares with the default schedule on all targets.
std::string compare(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  std::string wrong;
  for (const Target& target : targets())
    wrong += compare_with_default(
        s, args,
        {.compile_c = false, .interpret = false, .build = {.opt_level = 2}, .target = target});
  return wrong;
}

const DataType kTypes[] = {Float(32), Float(64), Float(16), BFloat(16),
                           Int(8),    UInt(8),   Int(16),   Int(32)};

TEST(VectorTails, OfMapsHaveTheValuesOfScalarLoops) {
  for (const DataType type : kTypes)
    for (int columns = 1; columns <= 15; ++columns) {
      const te::Tensor A = te::placeholder({3, columns}, "A", type),
                       B = te::placeholder({columns}, "B", type);
      const te::Tensor C = te::compute(
          {3, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * B(j) + A(i, j); }, "C");
      te::Schedule s = te::create_schedule(C);
      s[C].vectorize(s[C].axis(1));
      EXPECT_EQ(compare(s, {A, B, C}), "") << type.str() << ", " << columns;
    }
}

TEST(VectorTails, AfterWholeVectorsHaveTheValuesOfScalarLoops) {
  for (const DataType type : kTypes)
    for (int tail = 1; tail <= 15; ++tail) {
      const te::Tensor A = te::placeholder({2, 16 + tail}, "A", type);
      const te::Tensor B = te::compute(
          {2, 16 + tail}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + A(i, j); }, "B");
      te::Schedule s = te::create_schedule(B);
      const auto [vectors, lane] = s[B].split(s[B].axis(1), 16);
      s[B].vectorize(lane).pragma(vectors, "loop_partition_hint", 1);
      EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << tail;
    }
}

TEST(VectorTails, OfReductionsAddTheTermsOfTheirLanesOnly) {
  for (const DataType type : {Float(32), Float(16), BFloat(16), Int(8), Int(32)})
    for (int tail = 1; tail <= 15; ++tail) {
      const te::Tensor A = te::placeholder({3, 16 + tail}, "A", type);
      const te::IterVar k = te::reduce_axis({0, 16 + tail}, "k");
      const te::Tensor B = te::compute(
          {3}, {"i"}, [&](Var i) { return te::max(A(i, k), {k}); }, "B");
      te::Schedule s = te::create_schedule(B);
      const te::Tensor partial = s.rfactor(B, s[B].split(k, 16).inner, 1);
      const te::IterVar terms = s[partial].op().reduce_axis(0), lane = s[partial].axis(1);
      s[partial].reorder({terms, lane}).vectorize(lane).pragma(terms, "loop_partition_hint", 1);
      s[partial].compute_at(s[B], s[B].axis(0)).set_scope("local");
      EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << tail;
    }
}

TEST(VectorTails, OfStridedLoadsReadTheElementsOfTheirLanes) {
  for (const DataType type : {Float(32), Float(64), Int(8), Int(16)})
    for (const int stride : {2, 3, 4})
      for (int lanes = 3; lanes <= 21; lanes += lanes < 15 ? 1 : 3) {
        const te::Tensor A = te::placeholder({3, (lanes - 1) * stride + 1}, "A", type);
        const te::Tensor B = te::compute(
            {3, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i, j * stride) + A(i, j); }, "B");
        te::Schedule s = te::create_schedule(B);
        s[B].vectorize(s[B].axis(1));
        EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << stride << ", " << lanes;
      }
}

TEST(VectorTails, OfUnscheduledLoopsHaveTheValuesOfScalarLoops) {
  for (const DataType type : {Float(32), Float(16), Int(8)})
    for (int columns = 17; columns <= 63; columns += type.bits == 32 ? 1 : 5) {
      const te::Tensor A = te::placeholder({3, columns}, "A", type);
      const te::Tensor B = te::compute(
          {3, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * A(i, j); }, "B");
      EXPECT_EQ(compare(te::create_schedule(B), {A, B}), "") << type.str() << ", " << columns;
    }
}

std::string assembly_of_a_map(const char* target, DataType type, int lanes) {
  const te::Tensor A = te::placeholder({100, lanes}, "A", type);
  const te::Tensor B = te::compute(
      {100, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + A(i, j); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(1));
  return compile(s, {A, B}, Target(target)).source("asm");
}

TEST(VectorTails, AreOneMaskedInstructionWithAvx512) {
  for (const DataType type : {Float(32), Float(16), Int(8), Int(16), Float(64)})
    EXPECT_NE(assembly_of_a_map(kWithAvx512, type, 7).find("{%k"), std::string::npos) << type.str();
}

TEST(VectorTails, OfAPowerOfTwoAreNotMasked) {
  EXPECT_EQ(assembly_of_a_map(kWithAvx512, Float(32), 8).find("{%k"), std::string::npos);
}

TEST(VectorTails, AreNotMaskedWithAvx2) {
  EXPECT_EQ(assembly_of_a_map(kWithAvx2, Float(32), 7).find("vmaskmov"), std::string::npos);
}

// ---- reductions ---------------------------------------------------------------------------------

// Reductions whose lanes are elements of the result: sums that stay in registers, tuples of which
// one component's update reads another, and what a code generator makes of them at every level.

/// "" if all ways to run agree at every level of optimisation.
std::string at_every_level(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  for (int level : {0, 1, 2, 3})
    if (std::string wrong = compare_with_default(s, args, {.build = {.opt_level = level}});
        !wrong.empty())
      return "opt_level " + std::to_string(level) + ": " + wrong;
  return "";
}

/// The first of equal minima; with ties broken the one of the least index, which does not depend on
/// the order of combination.
te::Reducer argmin(bool is_tie_broken) {
  return te::comm_reducer(
      [=](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        const Expr is_first = is_tie_broken
                                  ? tir::any(x[0] < y[0], tir::all(x[0] == y[0], x[1] <= y[1]))
                                  : x[0] <= y[0];
        return {select(is_first, x[0], y[0]), select(is_first, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {infinity(t[0]), make_const(t[1], -1)};
      },
      "argmin");
}

te::Reducer complex_product() {
  return te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], 1), make_const(t[1], 0)};
      },
      "complex_product");
}

struct ArgminTest : ::testing::Test {
  te::Tensor A = te::placeholder({13, 16}, "A");
  te::IterVar k = te::reduce_axis({0, 13}, "k");
  std::vector<te::Tensor> T = te::compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return argmin(false)({A(k, i), k}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T[0]);
  std::vector<LowerArgument> args = {A, T[0], T[1]};
};

TEST_F(ArgminTest, LanesAreElements) {
  s[T[0]].reorder({k, s[T[0]].axis(0)}).vectorize(s[T[0]].axis(0));
  EXPECT_EQ(at_every_level(s, args), "");
}

TEST_F(ArgminTest, LanesAreElementsInLoops) {
  const auto [outer, inner] = s[T[0]].split(s[T[0]].axis(0), 8);
  s[T[0]].reorder({outer, k, inner}).vectorize(inner);
  EXPECT_EQ(at_every_level(s, args), "");
}

TEST_F(ArgminTest, LanesAreStrandsOfTheReduction) {
  te::Tensor B = te::placeholder({64}, "B");
  te::IterVar r = te::reduce_axis({0, 64}, "r");
  std::vector<te::Tensor> R = te::compute_multi(
      {1}, {"i"},
      [&](Var) {
        return argmin(true)({B(r), r}, {r});
      },
      "R");
  te::Schedule t = te::create_schedule(R[0]);
  const auto [outer, inner] = t[R[0]].split(r, 8);
  std::vector<te::Tensor> strands = t.rfactor(R, inner);
  t[strands[0]]
      .reorder({t[strands[0]].reduce_axis(0), t[strands[0]].axis(0)})
      .vectorize(t[strands[0]].axis(0));
  EXPECT_EQ(at_every_level(t, {B, R[0], R[1]}), "");
}

TEST(VectorizedReductionsTest, AComplexProduct) {
  te::Tensor X = te::placeholder({5, 16}, "X"), Y = te::placeholder({5, 16}, "Y");
  te::IterVar k = te::reduce_axis({0, 5}, "k");
  std::vector<te::Tensor> P = te::compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return complex_product()({X(k, i), Y(k, i)}, {k});
      },
      "P");
  te::Schedule s = te::create_schedule(P[0]);
  s[P[0]].reorder({k, s[P[0]].axis(0)}).vectorize(s[P[0]].axis(0));
  EXPECT_EQ(at_every_level(s, {X, Y, P[0], P[1]}), "");
}

TEST(VectorizedReductionsTest, ASumWhoseElementsAreReadAtOtherTimesThanTheyAreMade) {
  te::Tensor A = te::placeholder({16, 13}, "A");
  te::IterVar k = te::reduce_axis({0, 13}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Tensor C = te::compute(
      {16, 13}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i); }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 6);
  s[B].reorder({inner, outer, k});
  EXPECT_EQ(at_every_level(s, {A, C}), "");
}

TEST(VectorizedReductionsTest, AConditionalSumWithElementsInTheInnermostLoop) {
  te::Tensor A = te::placeholder({16, 10}, "A");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.where = floormod(k, 3) != 0}); },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [ko, ki] = s[B].split_by_nparts(k, 2);
  const auto [io, ii] = s[B].split(s[B].axis(0), 8);
  s[B].reorder({io, ki, ko, ii});
  s[B].fuse(ko, ii);
  EXPECT_EQ(at_every_level(s, {A, B}), "");
}

TEST(VectorizedReductionsTest, SoftmaxOfOddRows) {
  te::Tensor A = te::placeholder({16, 13}, "A");
  te::Tensor B = topi::softmax(A);
  EXPECT_EQ(at_every_level(te::create_schedule(B), {A, B}), "");
}

}  // namespace
}  // namespace tenon::testing
