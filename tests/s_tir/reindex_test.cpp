// reindex, transform_block_layout and add_unit_loop: the programs of TVM's documentation, refusals,
// and the same results.
#include <gtest/gtest.h>

#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

using tir::Expr;
using tir::Var;
using Indices = std::vector<Expr>;

const char* const kTransposed = R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], B: T.Buffer[(12, 16), "float32"]) -> None:
    for i, j in T.grid(12, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi] * T.float32(2)
)";

TEST(Reindex, CopiesWhatABlockReadsInTheOrderOfItsIterators) {
  Scheduled s(kTransposed);
  s->reindex(s.block("B"), 0, "read");
  EXPECT_TRUE(contains(s.script(), R"(        A_reindex = T.alloc_buffer([12, 16], dtype="float32")
        for ax0, ax1 in T.grid(12, 16):
            with T.block("A_reindex"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(A[v1, v0])
                T.writes(A_reindex[v0, v1])
                A_reindex[v0, v1] = A[v1, v0]
        for i, j in T.grid(12, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A_reindex[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A_reindex[vi, vj] * T.float32(2)
)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

const char* const kConvolution = R"(
@T.prim_func
def main(X: T.Buffer[(9, 11, 3), "float32"], W: T.Buffer[(3, 2, 3, 4), "float32"], Y: T.Buffer[(4, 5, 4), "float32"]) -> None:
    P = T.alloc_buffer([9, 11, 3], dtype="float32")
    for i, j, k in T.grid(9, 11, 3):
        with T.block("P"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            P[vi, vj, vk] = X[vi, vj, vk]
    for y, x, c, r, s, d in T.grid(4, 5, 4, 3, 2, 3):
        with T.block("Y"):
            vy, vx, vc, vr, vs, vd = T.axis.remap("SSSRRR", [y, x, c, r, s, d])
            with T.init():
                Y[vy, vx, vc] = T.float32(0)
            Y[vy, vx, vc] = Y[vy, vx, vc] + P[vy * 2 + vr, vx * 2 + vs, vd] * W[vr, vs, vd, vc]
)";

/// Only the step 2 writes; the copy has no steps.
TEST(Reindex, RefusesElementsThatAreWrittenInSomeStepsOnly) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[6, "int32"], B: T.Buffer[(8, 8), "int32"]) -> None:
    for i, j in T.grid(6, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.where(j == 2)
            T.reads(A[vi])
            T.writes(B[vi + 2, vi])
            B[vi + 2, vi] = A[vi]
)");
  EXPECT_NE(refusal([&] { s->reindex(s.block("B"), 0, "write"); }).find("determine the element"),
            std::string::npos);
}

TEST(Reindex, RefusesABodyThatStoresUnderACondition) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], B: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            if vi % 2 == 0:
                B[vi] = A[vi]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "write"); });
  EXPECT_TRUE(contains(sentence, "may leave an element of `B` as it is")) << sentence;
}

TEST(Reindex, RefusesAnInitThatStoresUnderACondition) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], B: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                if vi % 2 == 0:
                    B[vi] = 0
            B[vi] = B[vi] + A[vk]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "write"); });
  EXPECT_TRUE(contains(sentence, "may leave an element of `B` as it is")) << sentence;
}

TEST(Reindex, RefusesAnInitThatReadsThePreviousValue) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], B: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = B[vi] + 1
            B[vi] = B[vi] + A[vk]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "write"); });
  EXPECT_TRUE(contains(sentence, "reads and writes `B`")) << sentence;
}

/// The init stores every element.
TEST(Reindex, CopiesSumsThatAddUnderACondition) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], B: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 4):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0
            if vk < vi:
                B[vi] = B[vi] + A[vk]
)");
  s->reindex(s.block("B"), 0, "write");
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, GivesTheCopyIteratorsOfOneValueForThoseThatDoNotMatter) {
  Scheduled s(kConvolution);
  s->reindex(s.block("Y"), 1, "read");
  EXPECT_TRUE(
      contains(s.script(), R"(        for ax0, ax1, ax2, ax3, ax4, ax5 in T.grid(1, 1, 4, 3, 2, 3):
            with T.block("W_reindex"):
                v0, v1, v2, v3, v4, v5 = T.axis.remap("SSSSSS", [ax0, ax1, ax2, ax3, ax4, ax5])
                T.reads(W[v3, v4, v5, v2])
                T.writes(W_reindex[v2, v3, v4, v5])
                W_reindex[v2, v3, v4, v5] = W[v3, v4, v5, v2]
)")) << s.script();
  s->reindex(s.block("Y"), 0, "read");
  s->reindex(s.block("Y"), 0, "write");
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, CopiesWhatABlockWritesAfterItsLoops) {
  Scheduled s(kConvolution);
  s->reindex(s.block("Y"), 0, "write");
  EXPECT_TRUE(
      contains(s.script(), R"(        for ax0, ax1, ax2, ax3, ax4, ax5 in T.grid(4, 5, 4, 1, 1, 1):
            with T.block("Y_reindex"):
                v0, v1, v2, v3, v4, v5 = T.axis.remap("SSSSSS", [ax0, ax1, ax2, ax3, ax4, ax5])
                T.reads(Y_reindex[v0, v1, v2])
                T.writes(Y[v0, v1, v2])
                Y[v0, v1, v2] = Y_reindex[v0, v1, v2]
)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, CopiesOnlyTheElementsThatABlockWrites) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], B: T.Buffer[16, "float32"]) -> None:
    for i in T.serial(16):
        with T.block("Z"):
            vi = T.axis.spatial(16, i)
            B[vi] = T.float32(7)
    for i in T.serial(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.where(i < 10)
            B[15 - vi] = A[vi]
)");
  s->reindex(s.block("B"), 0, "write");
  EXPECT_TRUE(contains(s.script(), "T.where(ax0 < 10)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, ReadsOnlyElementsThatExist) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], B: T.Buffer[18, "float32"]) -> None:
    for i in T.serial(18):
        with T.block("B"):
            vi = T.axis.spatial(18, i)
            B[vi] = T.if_then_else(vi >= 1 and vi < 17, A[vi - 1], T.float32(0), dtype="float32")
)");
  s->reindex(s.block("B"), 0, "read");
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, RefusesTwoListsOfIndices) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"]) -> None:
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi] + A[vi, vj]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "read"); });
  EXPECT_TRUE(contains(sentence, "block `B` accesses `A` at more than one list of indices"))
      << sentence;
}

TEST(Reindex, RefusesACopyThatWouldBeEarlierThanAWrite) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], B: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(3)
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "read"); });
  EXPECT_TRUE(contains(sentence, "too early")) << sentence;
  const std::string late = refusal([&] { s->reindex(s.block("A"), 0, "write"); });
  EXPECT_TRUE(contains(late, "too late")) << late;
}

/// The condition of the copy would read elements that the copy has just written.
TEST(Reindex, RefusesABlockWhoseOwnValuesEndItsLoop) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], B: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(B[0] % 4 + 1):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[7 - vi]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("B"), 0, "write"); });
  EXPECT_TRUE(contains(sentence, "the instances of block `B` depend on `B`")) << sentence;
}

// ---- transform_block_layout ---------------------------------------------------------------------

TEST(BlockLayouts, FuseIterators) {
  Scheduled s(kTransposed);
  s->transform_block_layout(s.block("B"), [](Var i, Var j) { return Indices{i * 16 + j}; });
  EXPECT_TRUE(contains(s.script(), R"(        for ax0 in T.serial(192):
            with T.block("B"):
                bv0 = T.axis.spatial(192, ax0)
                T.reads(A[bv0 % 16, bv0 // 16])
                T.writes(B[bv0 // 16, bv0 % 16])
                B[bv0 // 16, bv0 % 16] = A[bv0 % 16, bv0 // 16] * T.float32(2)
)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(BlockLayouts, MakeAMatrixProductOfAConvolution) {
  Scheduled s(kConvolution);
  const BlockRV Y = s.block("Y");
  s->transform_block_layout(Y, [](Var y, Var x, Var c, Var r, Var t, Var d) {
    return Indices{y * 5 + x, c, r * 6 + t * 3 + d};
  });
  EXPECT_TRUE(contains(s.script(), "for ax0, ax1, ax2 in T.grid(20, 4, 18):")) << s.script();
  EXPECT_TRUE(contains(s.script(), "T.axis.remap(\"SSR\", [ax0, ax1, ax2])")) << s.script();
  EXPECT_EQ(s.first_other(), "");
  // The handle still refers to the block.
  s->reindex(Y, 0, "read");
  EXPECT_EQ(s.first_other(), "");
}

TEST(BlockLayouts, RefuseMapsThatAreNotBijections) {
  Scheduled s(kTransposed);
  const std::string sentence = refusal([&] {
    s->transform_block_layout(s.block("B"), [](Var i, Var j) { return Indices{i + j}; });
  });
  EXPECT_TRUE(contains(sentence, "is not a bijection of block `B`")) << sentence;
}

TEST(BlockLayouts, RefuseIteratorsOfTwoKinds) {
  Scheduled s(kConvolution);
  const std::string sentence = refusal([&] {
    s->transform_block_layout(s.block("Y"), [](Var y, Var x, Var c, Var r, Var t, Var d) {
      return Indices{y * 5 + x, c * 3 + r, t * 3 + d};
    });
  });
  EXPECT_TRUE(contains(sentence, "uses spatial and reduction iterators of block `Y`")) << sentence;
}

TEST(Reindex, OfANestedBlockReadsWhatTheOuterBlockDeclares) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(16, 16), "int32"], B: T.Buffer[(16, 16), "int32"]) -> None:
    for i in T.serial(16):
        with T.block("outer"):
            vi = T.axis.spatial(16, i)
            for j in T.serial(4, 6):
                with T.block("inner"):
                    wi = T.axis.spatial(16, vi)
                    wj = T.axis.spatial(16, j)
                    B[wi, wj] = A[wi, wj]
)");
  s->reindex(s.block("inner"), 0, "read");
  EXPECT_TRUE(contains(s.script(), "T.where(4 <= ax1 and ax1 < 6)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reindex, OfANestedBlockCopiesTheOneElementThatTheOuterBlockDetermines) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], B: T.Buffer[(8, 8), "int32"]) -> None:
    for i in T.serial(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            for j in T.serial(4):
                with T.block("sum"):
                    v = T.axis.spatial(11, 7 - vi)
                    r = T.axis.reduce(4, j)
                    with T.init():
                        B[v, v] = 0
                    B[v, v] = B[v, v] + A[v]
)");
  const BlockRV init = s->decompose_reduction(s.block("sum"), s.loop("sum", 0));
  s->reindex(init, 0, "write");
  EXPECT_TRUE(s->get_loops(s.block("B_reindex")).empty()) << s.script();
  EXPECT_EQ(s.first_other(), "");
  EXPECT_EQ(refusal([&] { Schedule(s->mod()); }), "accepted");
}

TEST(BlockLayouts, RefuseAPartOfTheDomain) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], B: T.Buffer[16, "float32"]) -> None:
    for i in T.serial(10):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
)");
  const std::string sentence = refusal(
      [&] { s->transform_block_layout(s.block("B"), [](Var i) { return Indices{15 - i}; }); });
  EXPECT_TRUE(contains(sentence, "does not provably run its whole domain")) << sentence;
}

// ---- add_unit_loop ------------------------------------------------------------------------------

TEST(UnitLoops, EncloseBlocksAndLoops) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(), "int32"], C: T.Buffer[(), "int32"]) -> None:
    with T.block("C"):
        vi = T.axis.spatial(1, 0)
        C[()] = A[()] + 1
)");
  const LoopRV inner = s->add_unit_loop(s.block("C"));
  const LoopRV outer = s->add_unit_loop(inner);
  EXPECT_TRUE(contains(s.script(), "for u, u_1 in T.grid(1, 1):")) << s.script();
  EXPECT_EQ(s->get_loops(s.block("C")).size(), 2u);
  s->bind(outer, "threadIdx.x");
  EXPECT_EQ(refusal([&] { s->add_unit_loop(s.block("root")); }),
            "add_unit_loop: block `root` is the root of the function, which is in no loop");
}

// ---- traces -------------------------------------------------------------------------------------

TEST(NewPrimitives, AreReplayedFromTextAndJson) {
  Scheduled s(kConvolution);
  const BlockRV Y = s.block("Y");
  s->transform_block_layout(Y, [](Var y, Var x, Var c, Var r, Var t, Var d) {
    return Indices{y * 5 + x, c, r * 6 + t * 3 + d};
  });
  const BlockRV copy = s->reindex(Y, 0, "read");
  s->add_unit_loop(copy);
  s->add_unit_loop(s->get_loops(copy)[0]);
  const std::string text = s->trace().text();
  EXPECT_TRUE(contains(text, R"(sch.reindex(block=b0, buffer_index=0, buffer_index_type="read"))"))
      << text;
  EXPECT_TRUE(contains(text, "= sch.add_unit_loop(block_or_loop=b")) << text;
  EXPECT_TRUE(contains(text, "sch.transform_block_layout(block=b0, index_map=lambda ")) << text;
  for (const Trace& trace : {parse_trace(text), parse_trace(s->trace().json())}) {
    Schedule again(parse_script(kConvolution));
    again.apply_trace(trace);
    EXPECT_EQ(print_script(again.mod()), s.script());
  }
}

}  // namespace
}  // namespace tenon::s_tir
