// Sums of products of low-precision integers.
#include <gtest/gtest.h>

#include <random>

#include "tenon/driver/target.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/tensor_intrinsics.h"
#include "tests/common/cpu_targets.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- the intrinsic ------------------------------------------------------------------------------

// Sums of four products of int8, by the ready-made intrinsic.

using te::Tensor;

/// C(i, j) = sum over k of A(i, k) B(j, k), four k at a time.
struct Products {
  Tensor A, B;
  te::IterVar k = te::reduce_axis({0, 24}, "k");
  Tensor C = te::compute(
      {8, 12}, {"i", "j"},
      [&](Var i, Var j) { return te::sum(cast(Int(32), A(i, k)) * cast(Int(32), B(j, k)), {k}); },
      "C");
  te::Schedule s = te::create_schedule(C);

  Products(DataType a, DataType b)
      : A(te::placeholder({8, 24}, "A", a)), B(te::placeholder({12, 24}, "B", b)) {
    auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 4);
    s[C].tensorize(ki, topi::gpu::dot_product_of_four(a, b));
  }
  Products& bind() {
    s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
    s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
    return *this;
  }
  std::vector<LowerArgument> args() const { return {A, B, C}; }
  std::string source(const char* kind) const {
    return compile(s, args(), Target("cuda -arch=sm_80")).source(kind);
  }
};

TEST(DotProducts, AreWhatTheDefaultScheduleComputes) {
  for (const DataType a : {Int(8), UInt(8)}) {
    for (const DataType b : {Int(8), UInt(8)}) {
      const Products p(a, b);
      EXPECT_EQ(compare_with_default(p.s, p.args()), "") << a.str() << " " << b.str();
    }
  }
}

TEST(DotProducts, AreWhatTheDefaultScheduleComputesOnDevices) {
  for (const DataType b : {Int(8), UInt(8)}) {
    Products p(Int(8), b);
    p.bind();
    EXPECT_EQ(compare_with_default(p.s, p.args(), {.compile = false}), "") << b.str();
    EXPECT_EQ(refused_by_nvrtc(p.s, p.args()), "") << b.str();
  }
}

TEST(DotProducts, AreOneInstructionOnCuda) {
  const std::string text = Products(Int(8), Int(8)).bind().source("cuda");
  EXPECT_NE(text.find("__dp4a(*(const int*)(A + "), std::string::npos) << text;
  try {
    for (const auto& [a, b, name] : {std::tuple(Int(8), Int(8), "dp4a.s32.s32"),
                                     {UInt(8), Int(8), "dp4a.u32.s32"},
                                     {UInt(8), UInt(8), "dp4a.u32.u32"}}) {
      const std::string ptx = Products(a, b).bind().source("ptx");
      EXPECT_NE(ptx.find(name), std::string::npos) << ptx;
    }
  } catch (const RuntimeError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace tenon::testing

namespace tenon::topi {
namespace {

// ---- schedules for processors -------------------------------------------------------------------

// Products of matrices of narrow numbers by topi's schedule for processors.

using tir::TargetFacts;

struct Types {
  DataType a, b, sum;
};
const std::vector<Types> kTypes = {{Int(8), Int(8), Int(32)},
                                   {UInt(8), Int(8), Int(32)},
                                   {Int(8), UInt(8), Int(32)},
                                   {UInt(8), UInt(8), Int(32)},
                                   {BFloat(16), BFloat(16), Float(32)}};

std::string differs(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  return testing::compare_with_default(
      s, args, {.compile_c = false, .symbols = {21}, .build = {.opt_level = 3}});
}

struct Product {
  Tensor a, b, c;
};

Product product(int m, int n, int k, const Types& types, bool transpose_a = false,
                bool transpose_b = false) {
  const Tensor A = transpose_a ? te::placeholder({k, m}, "A", types.a)
                               : te::placeholder({m, k}, "A", types.a),
               B = transpose_b ? te::placeholder({n, k}, "B", types.b)
                               : te::placeholder({k, n}, "B", types.b);
  return {A, B,
          matmul(A, B,
                 {.transpose_a = transpose_a,
                  .transpose_b = transpose_b,
                  .out_dtype = types.sum,
                  .name = "C"})};
}

TEST(CpuDotProducts, OfAnyExtentsAndTypes) {
  for (const Types& types : kTypes)
    for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
             {16, 64, 8}, {9, 100, 7}, {5, 17, 33}, {37, 3, 4}, {2, 40, 3}}) {
      const Product p = product(m, n, k, types);
      for (const TargetFacts& target : testing::cpu_targets())
        EXPECT_EQ(differs(cpu::schedule_matmul(p.c, target), {p.a, p.b, p.c}), "")
            << types.a.str() << " " << types.b.str() << " " << m << " " << n << " " << k;
    }
}

TEST(CpuDotProducts, OfSymbolicReductions) {
  const te::Var k = te::size_var("k");
  for (const Types& types : {kTypes[1], kTypes[4]}) {
    const Tensor A = te::placeholder({9, k}, "A", types.a),
                 B = te::placeholder({k, 40}, "B", types.b);
    const Tensor C = matmul(A, B, {.out_dtype = types.sum});
    for (const TargetFacts& target : testing::cpu_targets())
      EXPECT_EQ(differs(cpu::schedule_matmul(C, target), {A, B, C}), "") << types.a.str();
  }
}

TEST(CpuDotProducts, OfTransposedFactorsAndBatches) {
  for (const Types& types : {kTypes[0], kTypes[4]}) {
    for (const auto& [a, b] : {std::pair(true, false), {false, true}, {true, true}}) {
      const Product p = product(19, 70, 21, types, a, b);
      for (const TargetFacts& target : testing::cpu_targets())
        EXPECT_EQ(differs(cpu::schedule_matmul(p.c, target), {p.a, p.b, p.c}), "")
            << types.a.str() << a << b;
    }
    const Tensor A = te::placeholder({3, 18, 12}, "A", types.a),
                 B = te::placeholder({3, 12, 37}, "B", types.b);
    const Tensor C = batch_matmul(A, B, {.out_dtype = types.sum});
    for (const TargetFacts& target : testing::cpu_targets())
      EXPECT_EQ(differs(cpu::schedule_matmul(C, target), {A, B, C}), "") << types.a.str();
  }
}

TEST(CpuDotProducts, AreTakenBackToBytesWithTheProduct) {
  const Product p = product(21, 50, 30, {UInt(8), Int(8), Int(32)});
  // Requantised: scaled, rounded and cut off.
  const Tensor scaled = multiply(Term(cast(p.c, Float(32))), Term(0.01f));
  const Tensor out = cast(clip(round(scaled), -128, 127), Int(8));
  const te::Schedule s = te::create_schedule(out);
  schedule(s, {out}, testing::cpu_targets()[1]);
  EXPECT_EQ(differs(s, {p.a, p.b, out}), "");
}

#if defined(__x86_64__)
TEST(CpuDotProducts, AreDotProductsOfTheProcessor) {
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16"))
    GTEST_SKIP() << "it has none";
  const Target target("llvm -mattr=-amx-tile");
  for (const auto& [types, name] : {std::pair(kTypes[0], "vpdpbusd"), {kTypes[4], "vdpbf16ps"}}) {
    const Product p = product(64, 128, 64, types);
    const std::string code =
        build(cpu::schedule_matmul(p.c, target.facts()), {p.a, p.b, p.c}, target).get_source("asm");
    EXPECT_NE(code.find(name), std::string::npos) << types.a.str();
  }
}
#endif

// ---- tile registers -----------------------------------------------------------------------------

const Target& target_with_tiles() {
  static const Target target("llvm -mcpu=sapphirerapids");
  return target;
}

bool this_processor_has_tiles() {
  const tir::TileProducts products = Target("llvm").facts().tile_products;
  return products.of_bytes && products.of_bfloats;
}

/// A product of 64 x 40 by 40 x 80 in blocks of tiles, scheduled by hand. Both factors are packed.
struct ProductOfTiles {
  cpu::RegisterTile tile;
  Tensor A = te::placeholder({64, 40}, "A", tile.a), B = te::placeholder({40, 80}, "B", tile.b);
  te::IterVar k = te::reduce_axis({0, 40}, "k");
  Tensor C = te::compute(
      {64, 80}, {"i", "j"},
      [&](Var i, Var j) {
        return te::sum(cast(tile.sum(), A(i, k)) * cast(tile.sum(), B(k, j)), {k});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  Tensor sums = s.cache_write(C, "wmma.accumulator");
  Tensor packed_a = s.cache_read(A, "global", {sums}), packed_b = s.cache_read(B, "global", {sums});
  Tensor a = s.cache_read(packed_a, "wmma.matrix_a", {sums}),
         b = s.cache_read(packed_b, "wmma.matrix_b", {sums});
  bool unrolls;

  explicit ProductOfTiles(const cpu::RegisterTile& of = {}, int down = 2, int across = 2,
                          bool unrolls = true)
      : tile(of), unrolls(unrolls) {
    const te::Stage out = s[C], sum = s[sums];
    auto [io, jo, ii, ji] = out.tile(out.axis(0), out.axis(1), down * tile.m, across * tile.n);
    of_tiles(out, ii, ji, {tile.m, tile.n}, cpu::store_tile("global", tile));
    const te::IterVar terms = sum.reduce_axis(0);
    const int steps = (40 + tile.k - 1) / tile.k;
    sum.compute_at(out, jo).round_up(terms).bound(terms, Range(0, steps * tile.k));
    auto [ko, ki] = sum.split(terms, tile.k);
    auto [yo, xo, y, x] = sum.tile(sum.axis(0), sum.axis(1), tile.m, tile.n);
    sum.reorder({ko, yo, xo, y, x, ki});
    if (unrolls) sum.unroll(yo).unroll(xo);
    sum.tensorize(y, cpu::multiply_tiles(tile));
    for (const Tensor& part : {packed_a, packed_b, a, b})
      for (int d : {0, 1}) s[part].round_up(s[part].axis(d));
    for (const Tensor& part : {a, b}) s[part].compute_at(sum, ko);
    of_tiles(s[a], s[a].axis(0), s[a].axis(1), {tile.m, tile.k}, cpu::load_tile_a("global", tile));
    of_tiles(s[b], s[b].axis(0), s[b].axis(1), {tile.k, tile.n}, cpu::load_tile_b("global", tile));
    const int m = tile.m, n = tile.n, group = tile.elements_of_a_group(), length = tile.k;
    s[packed_a].transform_layout(
        [=](Var i, Var kk) -> std::vector<te::Expr> {
          return {floordiv(i, m), floordiv(kk, length), floormod(i, m), floormod(kk, length)};
        },
        {.pad = true});
    s[packed_b].transform_layout(
        [=](Var kk, Var j) -> std::vector<te::Expr> {
          return {floordiv(j, n), floordiv(kk, group),
                  floormod(j, n) * group + floormod(kk, group)};
        },
        {.pad = true});
  }

  void of_tiles(const te::Stage& stage, const te::IterVar& y, const te::IterVar& x,
                std::pair<int, int> size, const te::TensorIntrin& intrin) const {
    auto [down, across, row, column] = stage.tile(y, x, size.first, size.second);
    if (unrolls) stage.unroll(down).unroll(across);
    stage.tensorize(row, intrin);
  }
  std::vector<LowerArgument> args() const { return {A, B, C}; }
  /// Returns the error of compiling; "" if it is accepted.
  std::string refusal(const Target& target = target_with_tiles()) const {
    try {
      static_cast<void>(compile(s, args(), target));
    } catch (const LowerError& error) {
      return error.what();
    }
    return "";
  }
};

testing::WaysToRun ways_with_tiles() {
  return {.compile = this_processor_has_tiles(), .compile_c = false, .build = {.opt_level = 3}};
}

TEST(TileRegisters, OfSchedulesByHandHaveTheRightSums) {
  for (const cpu::RegisterTile& tile :
       std::vector<cpu::RegisterTile>{{},
                                      {.m = 8, .n = 4, .k = 12},
                                      {.m = 16, .n = 16, .k = 64, .a = Int(8), .b = UInt(8)},
                                      {.m = 1, .n = 8, .k = 20, .a = UInt(8), .b = UInt(8)}}) {
    const ProductOfTiles p(tile, 2, 1);
    EXPECT_EQ(testing::compare_with_default(p.s, p.args(), ways_with_tiles()), "")
        << tile.m << " " << tile.n << " " << tile.k;
  }
}

TEST(TileRegisters, HaveTheRightSumsForAnyExtentsAndTypes) {
  for (const Types& types : kTypes)
    for (const auto& [m, n, k] :
         std::vector<std::tuple<int, int, int>>{{20, 33, 40}, {17, 18, 70}, {35, 9, 33}})
      for (const auto& [turns_a, turns_b] :
           {std::pair(false, false), {false, true}, {true, true}}) {
        const Product p = product(m, n, k, types, turns_a, turns_b);
        EXPECT_EQ(
            testing::compare_with_default(cpu::schedule_matmul(p.c, target_with_tiles().facts()),
                                          {p.a, p.b, p.c}, ways_with_tiles()),
            "")
            << types.a.str() << " " << types.b.str() << " " << m << " " << n << " " << k;
      }
}

TEST(TileRegisters, HaveTheRightSumsForManyExtentsOnThisProcessor) {
  if (!this_processor_has_tiles()) GTEST_SKIP() << "it has none";
  const Target target("llvm");
  std::mt19937 random(1);
  const auto extent = [&] { return static_cast<int>(random() % 70 + 1); };
  for (int n = 0; n < 60; ++n) {
    const Product p = product(extent(), extent(), extent(), kTypes[random() % kTypes.size()],
                              random() % 2, random() % 2);
    EXPECT_EQ(
        testing::compare_with_default(cpu::schedule_matmul(p.c, target.facts()), {p.a, p.b, p.c},
                                      {.compile_c = false, .interpret = false, .target = target}),
        "")
        << p.a.shape()[0] << " " << p.a.shape()[1] << " " << p.b.shape()[0] << " " << p.b.shape()[1]
        << " " << p.a.dtype().str();
  }
}

TEST(TileRegisters, HaveTheRightSumsIfTheLastGroupOfPanelsIsPartial) {
  // B exceeds the L2 cache, so several panels are packed together. Their number does not divide the
  // number of panels, but each panel is full.
  const Target target(target_with_tiles().str() + " -num-cores=1 -l2-bytes=4096");
  const Product p = product(9, 13 * 48, 64, kTypes[1]);
  EXPECT_EQ(testing::compare_with_default(cpu::schedule_matmul(p.c, target.facts()),
                                          {p.a, p.b, p.c}, ways_with_tiles()),
            "");
}

TEST(TileRegisters, HaveTheRightSumsInLayersAndBatches) {
  for (const Types& types : {kTypes[1], kTypes[4]}) {
    const Product p = product(37, 50, 30, types);
    const Tensor out = relu(multiply(Term(cast(p.c, Float(32))), Term(0.5f)));
    const te::Schedule s = te::create_schedule(out);
    schedule(s, {out}, target_with_tiles().facts());
    EXPECT_EQ(testing::compare_with_default(s, {p.a, p.b, out}, ways_with_tiles()), "");
    const Tensor A = te::placeholder({3, 18, 12}, "A", types.a),
                 B = te::placeholder({3, 12, 37}, "B", types.b);
    const Tensor C = batch_matmul(A, B, {.out_dtype = types.sum});
    EXPECT_EQ(testing::compare_with_default(cpu::schedule_matmul(C, target_with_tiles().facts()),
                                            {A, B, C}, ways_with_tiles()),
              "");
  }
}

TEST(TileRegisters, AreUsedOnlyWhereTheTargetHasThem) {
  for (const auto& [types, name] : {std::pair(kTypes[0], "tdpbssd"),
                                    {kTypes[1], "tdpbusd"},
                                    {kTypes[2], "tdpbsud"},
                                    {kTypes[3], "tdpbuud"},
                                    {kTypes[4], "tdpbf16ps"}}) {
    const Product p = product(64, 128, 64, types);
    const auto code = [&](const Target& target) {
      return compile(cpu::schedule_matmul(p.c, target.facts()), {p.a, p.b, p.c}, target)
          .source("asm");
    };
    const std::string text = code(target_with_tiles());
    for (const char* part : {name, "ldtilecfg", "tilezero", "tileloadd", "tilestored",
                             "tilerelease", "tenon_enable_tiles"})
      EXPECT_NE(text.find(part), std::string::npos) << part;
    EXPECT_EQ(code(Target("llvm -mcpu=cooperlake")).find("tile"), std::string::npos);
  }
}

TEST(TileRegisters, ThatDoNotExistAreRefused) {
  const std::string none = ProductOfTiles().refusal(Target("llvm -mcpu=cooperlake"));
  EXPECT_NE(none.find("the target's processor has none"), std::string::npos) << none;
  const std::string bytes = ProductOfTiles({.k = 64, .a = Int(8), .b = Int(8)})
                                .refusal(Target("llvm -mcpu=sapphirerapids -mattr=-amx-int8"));
  EXPECT_NE(bytes.find("requires the feature amx-int8"), std::string::npos) << bytes;
  const std::string many = ProductOfTiles({}, 4, 1).refusal();
  EXPECT_NE(many.find("more than the 8 tiles that exist"), std::string::npos) << many;
  const std::string rolled = ProductOfTiles({}, 2, 1, false).refusal();
  EXPECT_NE(rolled.find("unroll the loops over tiles"), std::string::npos) << rolled;
  EXPECT_THROW(cpu::multiply_tiles({.m = 17}), TypeError);
  EXPECT_THROW(cpu::load_tile_a("global", {.k = 34}), TypeError);
  EXPECT_THROW(cpu::load_tile_b("global", {.k = 3}), TypeError);
  EXPECT_THROW(cpu::store_tile("global", {.a = Int(8)}), TypeError);
}

TEST(TileRegisters, AreNotReadByElements) {
  // The last tile of rows is not whole, so loops over its elements store it.
  const std::string tail = ProductOfTiles({.m = 15}, 2, 1).refusal();
  EXPECT_NE(tail.find("is read or written by single elements"), std::string::npos) << tail;
}

TEST(TileRegisters, DoNotContainFragmentsWithoutMatrixOperations) {
  const Tensor A = te::placeholder({64}, "A");
  const Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) * 2; }, "B");
  const te::Schedule s = te::create_schedule(B);
  s.cache_read(A, "wmma.matrix_a", {B});
  EXPECT_EQ(testing::compare_with_default(s, {A, B}, {.compile_c = false}), "");
}

}  // namespace
}  // namespace tenon::topi
