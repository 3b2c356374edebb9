// Checks schedules by hand: TVM 0.9 texts of the first pages, handles and copies, sampling, and
// sentences of refusals.
#include "tenon/s_tir/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tenon/s_tir/script.h"
#include "tenon/s_tir/trace_steps.h"
#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"
#include "tests/s_tir/golden_cases.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/refusal.h"

namespace tenon::s_tir {
namespace {

/// The module under a heading of a golden text.
tir::IRModule known_module(const char* file, const char* heading) {
  return parse_script(normalized(golden_section(golden_text(file), heading)));
}

void expect_script(const Schedule& sch, const char* file, const char* heading) {
  EXPECT_EQ(normalized(print_script(sch.mod())),
            normalized(golden_section(golden_text(file), heading)));
}

class FirstPage : public ::testing::Test {
 protected:
  tir::IRModule mod = known_module("seed000.txt", "original");
  Schedule sch{mod};
};

TEST_F(FirstPage, EveryStepGivesTheKnownScript) {
  const BlockRV Y = sch.get_block("Y", "mm_relu");
  const auto loops = sch.get_loops(Y);
  ASSERT_EQ(loops.size(), 3u);
  const auto parts = sch.split(loops[1], {std::nullopt, 4});
  expect_script(sch, "seed000.txt", "split j [None,4]");
  Schedule literal = sch;
  literal.reverse_compute_at(literal.get_block("C", "mm_relu"), parts[0]);
  expect_script(literal, "seed000.txt",
                "reverse_compute_at WITHOUT reorder (as the seed text literally says)");
  sch.reorder({parts[0], loops[2], parts[1]});
  expect_script(sch, "seed000.txt", "reorder(j0,k,j1) (missing from seed 000)");
  sch.reverse_compute_at(sch.get_block("C", "mm_relu"), parts[0]);
  expect_script(sch, "seed000.txt", "reverse_compute_at(C, j0)");
  sch.decompose_reduction(Y, loops[2]);
  expect_script(sch, "seed000.txt", "decompose_reduction(Y, k)");
  EXPECT_EQ(normalized(sch.trace().text()),
            normalized(golden_section(golden_text("seed000.txt"), "trace (v0.9 repr)")));
}

TEST_F(FirstPage, AScheduleThatWasMovedFromIsStillThere) {
  const Schedule moved = std::move(sch);
  EXPECT_EQ(sch.get_loops(sch.get_block("Y", "mm_relu")).size(),
            3u);  // NOLINT(bugprone-use-after-move)
}

TEST_F(FirstPage, TheTraceGivesTheSameNumbersOnASmallerProgram) {
  std::string text = golden_section(golden_text("seed000.txt"), "original");
  for (std::size_t at = 0; (at = text.find("128", at)) != std::string::npos;)
    text.replace(at, 3, "12");
  const tir::IRModule small = parse_script(normalized(text));
  Schedule own(small);
  own.apply_trace(parse_trace(golden_section(golden_text("seed000.txt"), "trace (v0.9 repr)")));
  EXPECT_EQ(first_other_result(small.functions.at("mm_relu"), own.mod().functions.at("mm_relu")),
            "");
}

TEST_F(FirstPage, ACopyIsAScheduleOfItsOwn) {
  const auto loops = sch.get_loops(sch.get_block("Y", "mm_relu"));
  Schedule copy = sch;
  copy.split(loops[1], {std::nullopt, 4});
  EXPECT_EQ(sch.trace().steps.size(), 2u);
  EXPECT_EQ(copy.trace().steps.size(), 3u);
  EXPECT_EQ(normalized(print_script(sch.mod())), normalized(print_script(mod)));
}

TEST_F(FirstPage, MergingUndoesDecomposing) {
  const BlockRV Y = sch.get_block("Y", "mm_relu");
  const BlockRV init = sch.decompose_reduction(Y, sch.get_loops(Y)[2]);
  sch.merge_reduction(init, Y);
  EXPECT_EQ(print_script(sch.mod()), print_script(mod));
}

TEST_F(FirstPage, TheInitOfABlockOfBlocksIsNotMerged) {
  const BlockRV Y = sch.get_block("Y", "mm_relu");
  sch.blockize(sch.get_loops(Y)[1]);
  EXPECT_NE(refusal([&] {
              sch.merge_reduction(sch.get_block("Y_init", "mm_relu"), Y);
            }).find("is in the init of block `Y_o`"),
            std::string::npos);
}

TEST_F(FirstPage, AnUpdateInABlockIsNotCachedWithoutItsInit) {
  const BlockRV Y = sch.get_block("Y", "mm_relu");
  const BlockRV outer = sch.blockize(sch.get_loops(Y)[1]);
  sch.decompose_reduction(outer, sch.get_loops(outer)[0]);
  EXPECT_NE(refusal([&] { sch.cache_write(Y, 0, "local"); }).find("would write `Y` too late"),
            std::string::npos);
}

TEST_F(FirstPage, ARefusedTraceLeavesTheScheduleAsItWas) {
  Trace trace = parse_trace(
      "b0 = sch.get_block(name=\"Y\", func_name=\"mm_relu\")\n"
      "l1, l2, l3 = sch.get_loops(block=b0)\n"
      "sch.unroll(loop=l1)\n"
      "sch.parallel(loop=l3)");
  EXPECT_EQ(refusal([&] { sch.apply_trace(trace); }),
            "step 4 of the trace: parallel: loop `k` around block `Y` runs over the reduction "
            "iterator `vk` of block `Y`; rfactor it first");
  EXPECT_TRUE(sch.trace().steps.empty());
}

class Product : public ::testing::Test {
 protected:
  tir::IRModule mod = known_module("prims.txt", "original (note 0.0 literal)");
  Schedule sch{mod};
  BlockRV C = sch.get_block("C");
  std::vector<LoopRV> loops = sch.get_loops(C);
};

TEST_F(Product, ASplitThatDoesNotDivideIsGuarded) {
  sch.split(loops[1], {std::nullopt, 24});
  const std::string text = golden_section(golden_text("prims.txt"), "imperfect split 24");
  EXPECT_TRUE(normalized(text).starts_with(normalized(print_script(sch.mod()))));
}

TEST_F(Product, KindsOfLoopsAndNotes) {
  const auto i = sch.split(loops[0], {std::nullopt, 4});
  const auto j = sch.split(loops[1], {std::nullopt, 8});
  sch.reorder({i[0], j[0], loops[2], i[1], j[1]});
  sch.parallel(i[0]);
  sch.vectorize(j[1]);
  sch.unroll(i[1]);
  sch.annotate(loops[2], "pragma_auto_unroll_max_step", std::int64_t{16});
  const std::string text =
      golden_section(golden_text("prims.txt"), "parallel/vectorize/unroll/annotate");
  EXPECT_TRUE(normalized(text).starts_with(normalized(print_script(sch.mod()))));
}

TEST_F(Product, AnAnnotationIsAFiniteNumber) {
  for (const double value : {HUGE_VAL, std::nan("")})
    EXPECT_EQ(refusal([&] { sch.annotate(C, "note", value); }),
              "annotate: the value of `note` is not a finite number, which no trace can represent");
}

TEST_F(Product, ParallelWorksAfterDecomposing) {
  sch.decompose_reduction(C, loops[2]);
  sch.parallel(loops[0]);
  EXPECT_NE(print_script(sch.mod()).find("for i in T.parallel(128)"), std::string::npos);
}

TEST_F(Product, ThreadsMayShareAReductionAndBlocksMayNot) {
  EXPECT_EQ(refusal([&] { sch.bind(loops[2], "blockIdx.x"); }),
            "bind: loop `k` around block `C` runs over the reduction iterator `vk` of block `C`; "
            "rfactor it first, or bind it to threadIdx");
  sch.bind(loops[2], "threadIdx.x");
  const std::string text = golden_text("prims.txt");
  EXPECT_EQ(normalized(print_script(sch.mod())) + "(accepted)\n",
            normalized(golden_section(text, "bind(k, threadIdx.x) ok")));
}

TEST_F(Product, AnInitBelowALoopOfItsReductionIsRefused) {
  sch.reorder({loops[2], loops[0], loops[1]});
  EXPECT_NE(refusal([&] { sch.decompose_reduction(C, loops[0]); }).find("in the middle of the sum"),
            std::string::npos);
}

TEST_F(Product, FactorsThatAreTooFewAreRefused) {
  EXPECT_EQ(refusal([&] {
              sch.split(loops[1], {4, 4});
            }),
            "split: loop `j` around block `C` has 128 iterations, and the product of the factors "
            "is only 16");
}

TEST_F(Product, ABlockThatIsNotThereIsRefused) {
  EXPECT_EQ(refusal([&] { sch.get_block("nope"); }),
            "get_block: no block is called `nope` in function `main`; its blocks are `root`, `C`");
}

TEST_F(Product, RFactorGivesTheKnownScript) {
  const auto k = sch.split(loops[2], {std::nullopt, 16});
  sch.rfactor(k[1], 0);
  const std::string text = golden_section(golden_text("prims.txt"), "rfactor(k1,0)");
  EXPECT_TRUE(normalized(text).starts_with(normalized(print_script(sch.mod()))));
}

TEST_F(Product, CachesGiveTheKnownScripts) {
  const BlockRV copy = sch.cache_write(C, 0, "local");
  expect_script(sch, "prims.txt", "cache_write");
  const auto j = sch.split(loops[1], {std::nullopt, 8});
  const auto i = sch.split(loops[0], {std::nullopt, 8});
  sch.reorder({i[0], j[0], loops[2], i[1], j[1]});
  sch.reverse_compute_at(copy, j[0]);
  expect_script(sch, "prims.txt", "cache_write + reverse_compute_at");
  const BlockRV read = sch.cache_read(C, 0, "shared");
  sch.compute_at(read, loops[2]);
  const std::string text = golden_section(golden_text("prims.txt"), "cache_read + compute_at");
  EXPECT_TRUE(normalized(text).starts_with(normalized(print_script(sch.mod()))));
}

TEST_F(Product, ALoopThatWasSplitIsGone) {
  sch.split(loops[1], {std::nullopt, 4});
  EXPECT_NE(refusal([&] { sch.unroll(loops[1]); }).find("split, fused or moved"),
            std::string::npos);
}

TEST_F(Product, TilesAreDrawnEvenlyAmongThoseThatExist) {
  std::map<std::vector<std::int64_t>, int> drawn;
  const int draws = 2000;
  for (int seed = 0; seed < draws; ++seed) {
    Schedule own(mod, {.seed = static_cast<std::uint64_t>(seed)});
    const auto factors = own.sample_perfect_tile(own.get_loops(own.get_block("C"))[1], {.n = 2});
    ++drawn[{own.get(factors[0]), own.get(factors[1])}];
  }
  const std::set<std::vector<std::int64_t>> exist = {{128, 1}, {64, 2}, {32, 4}, {16, 8}, {8, 16}};
  ASSERT_EQ(drawn.size(), exist.size());
  double chi_square = 0;
  for (const auto& [tile, count] : drawn) {
    EXPECT_TRUE(exist.contains(tile)) << tile[0] << " " << tile[1];
    const double expected = draws / 5.0;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  // Four degrees of freedom: beyond this once in 100,000.
  EXPECT_LT(chi_square, 28.5);
}

TEST_F(Product, ADecisionIsRepairedWhereItDoesNotDivide) {
  Schedule own(mod);
  const auto factors = own.sample_perfect_tile(own.get_loops(own.get_block("C"))[1],
                                               {.n = 2, .decision = {{8, 12}}});
  EXPECT_EQ(own.get(factors[0]), 16);
  EXPECT_EQ(own.get(factors[1]), 8);
}

TEST_F(Product, IntegersOfATraceAreNotCut) {
  const auto refusal = [&](const std::string& step) {
    try {
      Schedule(mod).apply_trace(
          parse_trace("b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                      "l1, l2, l3 = sch.get_loops(block=b0)\n" +
                      step));
    } catch (const TypeError& error) {
      return error.sentence();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("b4 = sch.cache_read(block=b0, read_buffer_index=4294967296, "
                    "storage_scope=\"global\")"),
            "step 3 of the trace: cache_read: `read_buffer_index` is 4294967296, which is out of "
            "range");
  EXPECT_EQ(refusal("v4 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], "
                    "decision=4294967296)"),
            "step 3 of the trace: sample_categorical: `decision` is 4294967296, which is out of "
            "range");
  EXPECT_EQ(refusal("v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=4, "
                    "decision=[1.5, 2])"),
            "step 3 of the trace: sample_perfect_tile: the decision is not a list of integers");
}

TEST_F(Product, TilesOfManyFactorsAreDrawnWithoutListingThem) {
  const auto product = [&](int n) {
    Schedule own(mod, {.seed = 7});
    std::int64_t result = 1;
    const auto factors = own.sample_perfect_tile(own.get_loops(own.get_block("C"))[1], {.n = n});
    for (const ExprRV factor : factors) result *= own.get(factor);
    return factors.size() == static_cast<std::size_t>(n) ? result : 0;
  };
  EXPECT_NE(refusal([&] { product(1); }), "accepted") << "one factor of at most 16";
  EXPECT_EQ(product(40), 128);
  EXPECT_EQ(product(64), 128);
  EXPECT_EQ(refusal([&] { product(3000000); }), "sample_perfect_tile: n is 3000000, not 1 to 64");
}

TEST(PerfectTiles, AreDrawnEvenlyWhereTheyAreTooManyToCountExactly) {
  const tir::IRModule mod = parse_script(
      "@T.prim_func\ndef main(B: T.Buffer[4, \"float32\"]) -> None:\n"
      "    for i in T.serial(1099511627776):\n        with T.block(\"B\"):\n"
      "            vi = T.axis.spatial(4, i % 4)\n            B[vi] = 1.0\n");
  // 2^40 dealt out among 64 factors: each has 40 / 64 of the twos on average.
  double twos = 0;
  constexpr int kDraws = 200;
  for (int seed = 0; seed < kDraws; ++seed) {
    Schedule sch(mod, {.seed = static_cast<std::uint64_t>(seed)});
    const auto factors = sch.sample_perfect_tile(sch.get_loops(sch.get_block("B"))[0],
                                                 {.n = 64, .max_innermost_factor = 1 << 20});
    twos += std::log2(static_cast<double>(sch.get(factors.back())));
  }
  // The variance of one is about (40 / 64) * (1 + 40 / 64); this is six deviations of the mean.
  EXPECT_NEAR(twos / kDraws, 40.0 / 64, 6 * std::sqrt(40.0 / 64 * (1 + 40.0 / 64) / kDraws));
}

TEST(PerfectTiles, OfALoopWithoutIterationsAreRefused) {
  const tir::IRModule mod = parse_script(
      "@T.prim_func\ndef main(B: T.Buffer[4, \"float32\"]) -> None:\n"
      "    for i in T.serial(0):\n        with T.block(\"B\"):\n"
      "            vi = T.axis.spatial(4, i)\n            B[vi] = 1.0\n");
  Schedule sch(mod);
  const LoopRV loop = sch.get_loops(sch.get_block("B"))[0];
  EXPECT_NE(refusal([&] { sch.sample_perfect_tile(loop); }).find("has 0 iterations"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              sch.sample_perfect_tile(loop, {.decision = {{1, 1}}});
            }).find("has 0 iterations"),
            std::string::npos);
}

TEST_F(Product, AReplayDrawsAnewWhenAsked) {
  const auto factors = sch.sample_perfect_tile(loops[1], {.n = 2});
  sch.split(loops[1], factors);
  std::set<std::string> drawn;
  for (int seed = 0; seed < 20; ++seed) {
    Schedule again(mod, {.seed = static_cast<std::uint64_t>(seed)});
    again.apply_trace(sch.trace(), {.draw_anew = true});
    drawn.insert(again.trace().text());
  }
  EXPECT_GT(drawn.size(), 2u);
}

TEST(SpatialLabels, AReductionThatIsDeclaredSpatialDoesNotRunInParallel) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(16, 16), "float32"], C: T.Buffer[16, "float32"]) -> None:
    for i, k in T.grid(16, 16):
        with T.block("C"):
            vi, vk = T.axis.remap("SS", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  Schedule sch(mod);
  const auto loops = sch.get_loops(sch.get_block("C", mod.functions.begin()->first));
  EXPECT_NE(refusal([&] { sch.parallel(loops[1]); }).find("would race"), std::string::npos);
}

TEST(RepeatedInstances, AnInitIsNotHoistedAboveALoopThatRepeatsTheSum) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[4, "float32"]) -> None:
    for r, i, k in T.grid(3, 4, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  Schedule sch(mod);
  const BlockRV C = sch.get_block("C", mod.functions.begin()->first);
  const auto loops = sch.get_loops(C);
  EXPECT_NE(refusal([&] {
              sch.decompose_reduction(C, loops[0]);
            }).find("too early: it writes C[i], and `C` writes C[i]"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              sch.reorder({loops[2], loops[0]});
            }).find("reads C[i], and `C` writes C[i]"),
            std::string::npos);
  sch.decompose_reduction(C, loops[1]);
}

TEST(UnitIterators, AreLeftOutOfBindingsWhenAsked) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], B: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
)");
  const std::string name = mod.functions.begin()->first;
  const auto bindings = [&](bool preserve) {
    Schedule sch(mod);
    const auto parts = sch.split(sch.get_loops(sch.get_block("B", name))[0], {8, 1},
                                 {.preserve_unit_iters = preserve});
    std::string text = print_script(sch.mod());
    sch.fuse(parts, {.preserve_unit_iters = preserve});
    EXPECT_EQ(first_other_result(mod.functions.at(name), sch.mod().functions.at(name)), "");
    return text;
  };
  EXPECT_NE(bindings(true).find("T.axis.spatial(8, i_0 + i_1)"), std::string::npos)
      << bindings(true);
  EXPECT_NE(bindings(false).find("T.axis.spatial(8, i_0)"), std::string::npos) << bindings(false);
}

/// Loops that the predicate cuts off in the middle, and of which it leaves one iteration.
TEST(Predicates, StayWithABlockInABlock) {
  for (const int extent : {1, 3}) {
    const std::string size = std::to_string(extent);
    const tir::IRModule mod = parse_script(
        "@T.prim_func\n"
        "def main(A: T.Buffer[(4, " +
        size + "), \"float32\"], B: T.Buffer[4, \"float32\"]) -> None:\n" +
        "    for i, k in T.grid(4, 5):\n"
        "        with T.block(\"B\"):\n"
        "            vi = T.axis.spatial(4, i)\n"
        "            vk = T.axis.reduce(" +
        size + ", k)\n            T.where(k < " + size +
        ")\n"
        "            with T.init():\n"
        "                B[vi] = T.float32(0)\n"
        "            B[vi] = B[vi] + A[vi, vk]\n");
    Schedule sch(mod);
    const std::string name = mod.functions.begin()->first;
    for (int n = 0; n < 2; ++n) {
      sch.blockize(sch.get_loops(sch.get_block("B", name)).front());
      EXPECT_EQ(first_other_result(mod.functions.at(name), sch.mod().functions.at(name)), "")
          << print_script(sch.mod());
    }
  }
}

TEST(Predicates, OfPartialSumsMoveWithTheirBlock) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(4, 3), "float32"], B: T.Buffer[4, "float32"]) -> None:
    for i, k_0, k_1 in T.grid(4, 2, 2):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(3, k_0 * 2 + k_1)
            T.where(k_0 * 2 + k_1 < 3)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)");
  Schedule sch(mod);
  const std::string name = mod.functions.begin()->first;
  const BlockRV B = sch.get_block("B", name);
  const BlockRV partial = sch.rfactor(sch.get_loops(B)[1]);
  sch.compute_at(partial, sch.get_loops(B)[0]);
  EXPECT_NE(print_script(sch.mod()).find("T.where(ax0 * 2 + ax1 < 3)"), std::string::npos)
      << print_script(sch.mod());
  EXPECT_EQ(first_other_result(mod.functions.at(name), sch.mod().functions.at(name)), "");
}

// ---- handles ------------------------------------------------------------------------------------

TEST(Handles, OfBlocksOfOneNameWithoutIteratorsStayApart) {
  Schedule s(parse_script(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], O: T.Buffer[4, "int32"]) -> None:
    S = T.alloc_buffer([], dtype="int32")
    R = T.alloc_buffer([], dtype="int32")
    with T.block("op"):
        S[()] = A[0] + 1
    with T.block("op"):
        R[()] = 5
    for i in T.serial(4):
        with T.block("c"):
            v = T.axis.spatial(4, i)
            O[v] = S[()] + R[()]
)"));
  const std::vector<BlockRV> blocks = s.get_child_blocks(s.get_block("root"));
  s.compute_inline(blocks[0]);
  EXPECT_EQ(s.get(blocks[1]).block->writes[0].buffer->name, "R");
}

TEST(Handles, OfTheInitsOfTwoFullSumsStayApart) {
  Schedule s(parse_script(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], S: T.Buffer[1, "int32"], R: T.Buffer[1, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("sum"):
            k = T.axis.reduce(4, i)
            with T.init():
                S[0] = 0
            S[0] = S[0] + A[k]
    for i in T.serial(4):
        with T.block("sum"):
            k = T.axis.reduce(4, i)
            with T.init():
                R[0] = 1
            R[0] = R[0] * A[k]
)"));
  std::vector<BlockRV> inits;
  for (const BlockRV& sum : s.get_child_blocks(s.get_block("root")))
    inits.push_back(s.decompose_reduction(sum, s.get_loops(sum)[0]));
  EXPECT_EQ(s.get(inits[0]).block->writes[0].buffer->name, "S");
  EXPECT_EQ(s.get(inits[1]).block->writes[0].buffer->name, "R");
}

TEST(CopiedBlocks, AreToldApart) {
  const tir::Buffer a = tir::decl_buffer({2}, Int(32), {.name = "A"});
  tir::Block x{.iters = {},
               .reads = {},
               .writes = {{a, {tir::Range::from_min_extent(0, 1)}}},
               .name = "x",
               .init = std::nullopt,
               .body = tir::make_store(a, 1, {0})};
  tir::Block y = x;
  y.name = "y";
  const tir::Var pointer("a", Handle());
  const tir::Stmt both = tir::make_seq({tir::make_block({}, x), tir::make_block({}, y)});
  Schedule s(tir::IRModule{{{"main",
                             {{pointer},
                              {{pointer, a, a}},
                              tir::make_root_block({}, both),
                              {.global_symbol = "main"},
                              tir::Form::Blocks}}}});
  EXPECT_EQ(s.get(s.get_block("x")).block->name, "x");
  EXPECT_EQ(s.get(s.get_block("y")).block->name, "y");
}

}  // namespace
}  // namespace tenon::s_tir
