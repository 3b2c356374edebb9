// Checks that the blocks which primitives make declare what they access.
#include <gtest/gtest.h>

#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

/// A reduction that starts from a bias, which another block computes.
std::string biased_sum() {
  return R"(
@T.prim_func
def main(E: T.Buffer[4, "int32"], A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    D = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = E[vi] + 1
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = D[vi]
            C[vi] = C[vi] + A[vi, vk]
)";
}

using StepOf = void (*)(Scheduled&);

const StepOf kSeparations[] = {
    [](Scheduled& sch) { sch->decompose_reduction(sch.block("C"), sch.loop("C", 0)); },
    [](Scheduled& sch) { sch->decompose_reduction(sch.block("C"), sch.loop("C", 1)); },
    [](Scheduled& sch) { sch->blockize(sch.loop("C", 0)); },
    [](Scheduled& sch) { sch->blockize(sch.loop("C", 1)); },
    [](Scheduled& sch) {
      sch->decompose_reduction(sch.block("C"), sch.loop("C", 0));
      sch->merge_reduction(sch.block("C_init"), sch.block("C_update"));
    },
};

TEST(SeparateInit, ReadsFollowChangesOfTheirBuffer) {
  const StepOf changes[] = {
      [](Scheduled& sch) { sch->compute_inline(sch.block("D")); },
      [](Scheduled& sch) { sch->set_scope(sch.block("D"), 0, "local"); },
      [](Scheduled& sch) {
        sch->transform_layout(sch.block("D"), 0, "write",
                              [](tir::Var i) { return std::vector<tir::Expr>{3 - i}; });
      },
  };
  for (const StepOf separation : kSeparations)
    for (const StepOf change : changes) {
      Scheduled sch(biased_sum());
      separation(sch);
      change(sch);
      EXPECT_EQ(sch.first_other(), "") << sch.script();
      EXPECT_NO_THROW(parse_script(sch.script())) << sch.script();
    }
}

TEST(DecomposeReduction, InitDeclaresItsReadsAndTheUpdateDoesNot) {
  Scheduled sch(biased_sum());
  sch->decompose_reduction(sch.block("C"), sch.loop("C", 1));
  EXPECT_PRED2(contains, sch.script(), "T.reads(D[vi])");
  EXPECT_PRED2(contains, sch.script(), "T.reads(C[vi], A[vi, vk])");
  sch->compute_at(sch.block("D"), sch.loop("C_update", 0));
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

TEST(DecomposeReduction, UpdateDeclaresOtherElementsOfItsOutput) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk] * C[vi + 4]
)");
  sch->decompose_reduction(sch.block("C"), sch.loop("C", 1));
  EXPECT_PRED2(contains, sch.script(), "T.reads(C[vi : vi + 5], A[vi, vk])");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

/// The outer block declares A[-2:6], of which A has the elements from 0 to 5.
TEST(CacheRead, InABlockThatDeclaresMoreThanThereIsCopiesWhatThereIs) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[16, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi - 2])
            T.writes(C[vi])
            C[vi] = T.if_then_else(vi >= 2, A[vi - 2], 0, dtype="int32")
)");
  sch->blockize(sch.loop("C", 0));
  sch->cache_read(sch.block("C"), 0, "global");
  EXPECT_PRED2(contains, sch.script(), "in T.serial(6)");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

/// The copy is in the body, which the init of the outer block precedes.
TEST(CacheRead, InABlockLeavesTheInitThatReadsTheSameBuffer) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[3, "int32"], C: T.Buffer[3, "int32"]) -> None:
    for i, k in T.grid(3, 2):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = A[vi]
            C[vi] = C[vi] + A[vi]
)");
  sch->blockize(sch.loop("C", 0));
  sch->cache_read(sch.block("C"), 1, "global");
  EXPECT_PRED2(contains, sch.script(), "C[vi_init] = A[vi_init]");
  EXPECT_PRED2(contains, sch.script(), "C[vi] = C[vi] + A_global[vi]");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

TEST(CacheRead, InABlockCopiesWhatTheBlockDeclares) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[(4, 6), "int32"]) -> None:
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
)");
  sch->blockize(sch.loop("C", 1));
  sch->cache_read(sch.block("C"), 0, "global");
  EXPECT_PRED2(contains, sch.script(), "T.grid(1, 6)");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

/// A block that declares two regions of its input. The block in it reads the second one.
const char* const kTwoRegions = R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], D: T.Buffer[(4, 2), "int32"]) -> None:
    for i in T.serial(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:2], A[vi, 6:8])
            T.writes(D[vi, 0:2])
            for j in T.serial(2):
                with T.block("D"):
                    vj = T.axis.spatial(2, j)
                    D[vi, vj] = A[vi, vj + 6]
)";

TEST(CacheRead, InABlockCopiesAllRegionsThatTheBlockDeclares) {
  Scheduled sch(kTwoRegions);
  sch->cache_read(sch.block("D"), 0, "global");
  EXPECT_PRED2(contains, sch.script(), "T.grid(1, 8)");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

TEST(Reindex, InABlockReadsAllRegionsThatTheBlockDeclares) {
  Scheduled sch(kTwoRegions);
  sch->reindex(sch.block("D"), 0, "read");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

TEST(CacheWrite, CopiesAllRegionsThatTheBlockDeclares) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], B: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[0:4], B[vi])
            B[vi] = A[vi] * 2
)");
  sch->cache_write(sch.block("B"), 0, "global");
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

TEST(LetsAroundBlocks, AreNotUsedByLoopsThatPrecedeThem) {
  const std::string script = R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], O: T.Buffer[4, "int32"], P: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi]
    for i in T.serial(2):
        y: T.int32 = 2 - i * 2
        for j in T.serial(2):
            z: T.int32 = y + j
            with T.block("O"):
                vi = T.axis.spatial(4, z)
                O[vi] = Y[vi]
    for i in T.serial(4):
        y: T.int32 = 3 - i
        with T.block("P"):
            vi = T.axis.spatial(4, y)
            P[vi] = P[vi] + A[vi]
)";
  const StepOf steps[] = {
      [](Scheduled& sch) { sch->compute_at(sch.block("Y"), sch.loop("O", 0)); },
      [](Scheduled& sch) { sch->cache_read(sch.block("P"), 0, "global"); },
      [](Scheduled& sch) { sch->cache_read(sch.block("O"), 0, "global"); },
  };
  for (const StepOf step : steps) {
    Scheduled sch(script);
    step(sch);
    EXPECT_TRUE(tir::verify(sch.func(), tir::Form::Blocks).empty()) << sch.script();
    EXPECT_EQ(sch.first_other(), "") << sch.script();
  }
  Scheduled sch(script);
  sch->compute_at(sch.block("Y"), sch.loop("O", 0));
  EXPECT_TRUE(contains(sch.script(), "vi = T.axis.spatial(4, 2 - i * 2 + ax0)")) << sch.script();
}

TEST(SeparateInit, IsRefusedIfTheInitUsesABufferOfTheBlock) {
  for (const std::string declaration :
       {"T.alloc_buffer([1], dtype=\"int32\")", "T.match_buffer(A[vi, 0], [1], dtype=\"int32\")"}) {
    const std::string script = R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A[vi, vk], A[vi, 0])
            T.writes(C[vi])
            W = )" + declaration +
                               R"(
            with T.init():
                C[vi] = W[0] - W[0]
            C[vi] = C[vi] + A[vi, vk]
)";
    for (const StepOf separation : {kSeparations[1], kSeparations[3]}) {
      Scheduled sch(script);
      EXPECT_PRED2(contains, refusal([&] { separation(sch); }),
                   "the init of block `C` uses `W`, which exists only inside of that block");
    }
  }
}

TEST(MergeReduction, RefusesAnInitWithBuffersOfItsOwn) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("C_init"):
            vi = T.axis.spatial(4, i)
            W = T.match_buffer(A[vi, 0], [1], dtype="int32")
            C[vi] = W[0]
    for i, k in T.grid(4, 6):
        with T.block("C_update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_PRED2(contains,
               refusal([&] { sch->merge_reduction(sch.block("C_init"), sch.block("C_update")); }),
               "block `C_init` declares buffer `W`, which exists only inside of it");
}

/// Both blocks declare half of what they access.
TEST(Schedule, ExtendsRegionsThatAreTooSmall) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(2):
        with T.block("outer"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi * 4 : vi * 4 + 2])
            T.writes(C[vi * 4 : vi * 4 + 2])
            for j in T.serial(2):
                with T.block("C"):
                    vj = T.axis.spatial(2, j)
                    T.reads(A[vi * 4 + vj * 2])
                    T.writes(C[vi * 4 + vj * 2])
                    for k in T.serial(2):
                        C[vi * 4 + vj * 2 + k] = A[vi * 4 + vj * 2 + k]
)");
  EXPECT_PRED2(contains, sch.script(), "T.writes(C[vi * 4 : vi * 4 + 4])");
  EXPECT_PRED2(contains, sch.script(), "T.writes(C[vi * 4 + vj * 2 : vi * 4 + vj * 2 + 2])");
  sch->cache_write(sch.block("outer"), 0, "global");
  EXPECT_EQ(sch.first_other(), "");
}

// Elements chosen by a computed index. A step that replaces or removes the buffer of the index also
// changes the regions that contain the index.

std::string chosen_elements() {
  return R"(
@T.prim_func
def main(I: T.Buffer[4, "int32"], A: T.Buffer[(8, 4), "int32"], C: T.Buffer[4, "int32"]) -> None:
    J = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("J"):
            vi = T.axis.spatial(4, i)
            J[vi] = I[vi]
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[J[vi], vi]
)";
}

TEST(CacheRead, ReplacesAnAllocatedBufferInTheIndicesOfDeclaredRegions) {
  Scheduled sch(chosen_elements());
  sch->cache_read(sch.block("C"), 1, "local");
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[J_local[vi], vi], J_local[vi])");
  sch->reverse_compute_inline(sch.block("J_local"));
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[J_local[vi], vi], J_local[vi])");
  EXPECT_EQ(sch.first_other(), "");
}

TEST(Reindex, ReplacesTheBufferInTheIndicesOfDeclaredRegions) {
  Scheduled sch(chosen_elements());
  sch->reindex(sch.block("C"), 1, "read");
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[J_reindex[vi], vi], J_reindex[vi])");
  EXPECT_EQ(sch.first_other(), "");
}

TEST(TransformLayout, ReplacesAParameterInTheIndicesOfDeclaredRegions) {
  Scheduled sch(chosen_elements());
  sch->compute_inline(sch.block("J"));
  sch->cache_read(sch.block("C"), 1, "local");
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[I[vi], vi], I_local[vi])");
  sch->transform_layout(sch.block("I_local"), 0, "read", [](tir::Var i) {
    return std::vector<tir::Expr>{floordiv(i, 2), floormod(i, 2)};
  });
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[I[vi // 2, vi % 2], vi], I_local[vi])");
}

/// Afterwards, the old buffer does not exist.
TEST(SetScope, ReplacesTheBufferInTheIndicesOfDeclaredRegions) {
  Scheduled sch(chosen_elements());
  sch->set_scope(sch.block("J"), 0, "local");
  EXPECT_PRED2(contains, sch.script(), "T.reads(A[J_local[vi], vi], J_local[vi])");
  EXPECT_EQ(sch.first_other(), "");
}

TEST(StorageAlign, RefusesToChangeAStrideThatAMatchedBufferDeclares) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], C: T.Buffer[(4, 8), "int32"]) -> None:
    B = T.alloc_buffer([4, 8], dtype="int32")
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            W = T.match_buffer(B[vi, vj], [1, 1], dtype="int32", strides=[8, 1], offset_factor=1)
            C[vi, vj] = W[0, 0]
)");
  EXPECT_PRED2(contains, refusal([&] {
                 sch->storage_align(sch.block("B"), {.axis = 0, .factor = 8, .offset = 3});
               }),
               "block `C` declares a constant stride of `W`, a part of `B`");
}

/// A producer is placed where all elements exist that the init reads, not only those of the update.
/// B[4, 8], and a block that matches `rows` rows of it with a buffer without strides.
std::string compact_rows(int rows) {
  const std::string n = std::to_string(rows);
  return R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], C: T.Buffer[4, "int32"]) -> None:
    B = T.alloc_buffer([4, 8], dtype="int32")
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            W = T.match_buffer(B[vi // 2:vi // 2 + )" +
         n + ", 0:8], [" + n + R"(, 8], dtype="int32", offset_factor=1)
            C[vi] = W[0, vi]
)";
}

TEST(StorageAlign, RefusesToChangeTheStrideOfACompactMatchedBuffer) {
  for (const int rows : {1, 2}) {
    Scheduled sch(compact_rows(rows));
    const std::string sentence =
        refusal([&] { sch->storage_align(sch.block("B"), {.axis = 0, .factor = 8, .offset = 3}); });
    EXPECT_EQ(contains(sentence, "declares a constant stride of `W`"), rows == 2) << sentence;
  }
}

TEST(MergeReduction, JoinsTheReadsOfInitAndUpdate) {
  Scheduled sch(R"(
@T.prim_func
def main(E: T.Buffer[6, "int32"], A: T.Buffer[(4, 6), "int32"], C: T.Buffer[4, "int32"]) -> None:
    D = T.alloc_buffer([6], dtype="int32")
    for i in T.serial(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = E[vi] + 1
    for i in T.serial(4):
        with T.block("C_init"):
            vi = T.axis.spatial(4, i)
            C[vi] = D[vi + 2]
    for i, k in T.grid(4, 6):
        with T.block("C_update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + A[vi, vk] * D[vi]
)");
  sch->merge_reduction(sch.block("C_init"), sch.block("C_update"));
  EXPECT_PRED2(contains, sch.script(), "T.reads(D[vi : vi + 3], A[vi, vk])");
  sch->compute_at(sch.block("D"), sch.loop("C", 0));
  EXPECT_EQ(sch.first_other(), "") << sch.script();
}

// ---- loads that a condition protects ------------------------------------------------------------

/// A gather that reads `idx[k[v]]` only where k[v] < 6.
std::string guarded_gather(const std::string& predicate, const std::string& value) {
  return R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], k: T.Buffer[4, "int32"], idx: T.Buffer[6, "int32"],
         C: T.Buffer[4, "int32"]) -> None:
    P = T.alloc_buffer([8], dtype="int32")
    for i in T.serial(8):
        with T.block("P"):
            v = T.axis.spatial(8, i)
            P[v] = A[v] * 2
    for i in T.serial(4):
        with T.block("C"):
            v = T.axis.spatial(4, i)
            )" +
         predicate + "\n            C[v] = " + value + "\n";
}

TEST(GuardedLoads, BoundNoLoopsOutsideOfTheirCondition) {
  for (const std::string& program :
       {guarded_gather("T.where(k[i] < 6)", "P[idx[k[v]]]"),
        guarded_gather("pass", "T.if_then_else(k[v] < 6, P[idx[k[v]]], -1, dtype=\"int32\")")}) {
    Scheduled s(program);
    s->compute_at(s.block("P"), s.loop("C", 0));
    const std::vector<LoopRV> loops = s->get_loops(s.block("P"));
    ASSERT_EQ(loops.size(), 2U) << s.script();
    EXPECT_EQ(tir::constant_int(s->get(loops[1]).extent), 8) << s.script();
  }
}

}  // namespace
}  // namespace tenon::s_tir
