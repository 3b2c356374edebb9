// Steps keep the instances that run and the order of those that depend on each other: programs that
// overwrite what they read, and that run a part of their declared domains.
#include <gtest/gtest.h>

#include "tenon/tir/compare.h"
#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

// ---- order --------------------------------------------------------------------------------------

const char* const kOverwrittenInput = R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], D: T.Buffer[16, "float32"]) -> None:
    B = T.alloc_buffer([16], dtype="float32")
    for i in T.serial(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(16):
        with T.block("W"):
            vi = T.axis.spatial(16, i)
            A[vi] = T.float32(0)
    for i in T.serial(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = B[vi] + T.float32(1)
)";

TEST(Dependences, ComputeAtRefusesToPassAWriteOfTheInput) {
  Scheduled s(kOverwrittenInput);
  const std::string sentence = refusal([&] { s->compute_at(s.block("B"), s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "reads A[i], and `A` writes A[i]")) << sentence;
}

TEST(Dependences, ComputeInlineRefusesToPassAWriteOfTheInput) {
  Scheduled s(kOverwrittenInput);
  const std::string sentence = refusal([&] { s->compute_inline(s.block("B")); });
  EXPECT_TRUE(contains(sentence, "reads A[i], and `A` writes A[i]")) << sentence;
}

TEST(Dependences, ReverseComputeAtRefusesToPassAReadOfTheOutput) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], D: T.Buffer[16, "float32"], E: T.Buffer[16, "float32"]) -> None:
    B = T.alloc_buffer([16], dtype="float32")
    for i in T.serial(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(16):
        with T.block("R"):
            vi = T.axis.spatial(16, i)
            E[vi] = D[vi]
    for i in T.serial(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = B[vi] + T.float32(1)
)");
  for (const bool inlined : {false, true}) {
    const std::string sentence = refusal([&] {
      if (inlined)
        s->reverse_compute_inline(s.block("D"));
      else
        s->reverse_compute_at(s.block("D"), s.loop("B", 0));
    });
    EXPECT_TRUE(contains(sentence, "writes D[i], and `E` reads D[i]")) << sentence;
  }
}

TEST(Dependences, CacheReadServesOnlyReadersBehindTheWriter) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], D: T.Buffer[16, "float32"], E: T.Buffer[16, "float32"]) -> None:
    for i in T.serial(16):
        with T.block("M"):
            vi = T.axis.spatial(16, i)
            D[vi] = A[vi] * T.float32(2)
    for i in T.serial(16):
        with T.block("W"):
            vi = T.axis.spatial(16, i)
            A[vi] = T.float32(3)
    for i in T.serial(16):
        with T.block("N"):
            vi = T.axis.spatial(16, i)
            E[vi] = A[vi]
)");
  s->cache_read(s.block("N"), 0, "local");
  EXPECT_TRUE(contains(s.script(), "D[vi] = A[vi] * T.float32(2)")) << s.script();
  EXPECT_TRUE(contains(s.script(), "E[vi] = A_local[vi]")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Dependences, CacheWriteDoesNotPassALaterWriter) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] * T.float32(2)
    for i in T.serial(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + T.float32(1)
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("X"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "writes C[i], and `C` writes C[i]")) << sentence;
}

TEST(Dependences, IterationsThatReadWhatLaterOnesWriteDoNotRunTogether) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[17, "float32"], B: T.Buffer[16, "float32"], C: T.Buffer[16, "float32"]) -> None:
    for i in T.serial(16):
        with T.block("X"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            A[vi + 1] = C[vi]
)");
  const LoopRV loop = s.loop("X", 0);
  for (const std::string& sentence :
       {refusal([&] { s->parallel(loop); }), refusal([&] { s->vectorize(loop); }),
        refusal([&] { s->bind(loop, "threadIdx.x"); })})
    EXPECT_TRUE(contains(sentence, "reads A[i], and `A` writes A[(i + 1)]")) << sentence;
}

/// Iteration (i, j) reads what (i + 1, j + `distance`) writes.
std::string diagonal(int distance) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(9, 10), "float32"]) -> None:
    for i, j in T.grid(8, 8):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj + 1] = A[vi + 1, vj)" +
         (distance < 0 ? "" : " + " + std::to_string(1 + distance)) + "] + T.float32(1)\n";
}

TEST(Dependences, ReorderAllowsDistancesThatStayForward) {
  for (const int distance : {0, 1}) {
    Scheduled s(diagonal(distance));
    s->reorder({s.loop("X", 1), s.loop("X", 0)});
    EXPECT_EQ(s.first_other(), "") << distance;
  }
}

TEST(Dependences, ReorderRefusesDistancesThatTurnBackward) {
  Scheduled s(diagonal(-1));
  const LoopRV i = s.loop("X", 0), j = s.loop("X", 1);
  const std::string sentence = refusal([&] { s->reorder({j, i}); });
  EXPECT_TRUE(contains(sentence, "reads A[(i + 1), j]")) << sentence;
  EXPECT_TRUE(contains(sentence, "writes A[i, (j + 1)]")) << sentence;
}

/// Each iteration of `r` sums anew; another block has filled the elements before.
TEST(Dependences, ReorderDoesNotMoveARepetitionIntoTheSum) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[4, "float32"]) -> None:
    for i in T.serial(4):
        with T.block("F"):
            vi = T.axis.spatial(4, i)
            C[vi] = T.float32(1)
    for i, r, k in T.grid(4, 3, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  const LoopRV r = s.loop("C", 1), k = s.loop("C", 2);
  const std::string sentence = refusal([&] { s->reorder({k, r}); });
  EXPECT_TRUE(contains(sentence, "reads C[i], and `C` writes C[i]")) << sentence;
}

TEST(Dependences, ReorderDoesNotMixSumsOfTheSameElement) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[4, "float32"]) -> None:
    for i, r, k in T.grid(4, 3, 8):
        with T.block("C"):
            vi, vr, vk = T.axis.remap("SSR", [i, r, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  const LoopRV r = s.loop("C", 1), k = s.loop("C", 2);
  EXPECT_TRUE(contains(refusal([&] { s->reorder({k, r}); }), "writes C[i]"));
}

TEST(Dependences, DecomposedInitsDoNotPassReadersOfOldElements) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 4), "float32"], C: T.Buffer[8, "float32"], D: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        with T.block("R"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[7 - vi]
        for k in T.serial(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
)");
  const std::string sentence =
      refusal([&] { s->decompose_reduction(s.block("C"), s.loop("C", 0)); });
  EXPECT_TRUE(contains(sentence, "writes C[i], and `D` reads C[(7 - i)]")) << sentence;
  s->decompose_reduction(s.block("C"), s.loop("C", 1));
  EXPECT_EQ(s.first_other(), "");
}

/// The operand reads elements that other instances of the sum have written.
const char* const kReadsItsTarget = R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[16, "int32"]) -> None:
    for i, j, k in T.grid(4, 6, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + (C[vj + 2] - A[vk])
)";

TEST(Sums, WhoseOperandsReadTheTargetAreNotReordered) {
  Scheduled s(kReadsItsTarget);
  const LoopRV j = s.loop("C", 1), k = s.loop("C", 2);
  const std::string sentence = refusal([&] { s->reorder({k, j}); });
  EXPECT_TRUE(contains(sentence, "`C` writes C[i] in one that would run on the other")) << sentence;
}

TEST(Sums, WhoseOperandsReadTheTargetAreNotSharedByThreads) {
  Scheduled s(kReadsItsTarget);
  const LoopRV k = s.loop("C", 2);
  const std::string sentence = refusal([&] { s->bind(k, "threadIdx.x"); });
  EXPECT_TRUE(contains(sentence, "would race")) << sentence;
}

TEST(Sums, WhoseOperandsReadTheTargetAreNotCached) {
  Scheduled s(kReadsItsTarget);
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "reads C[(vj + 2)]")) << sentence;
}

/// Sums that run while C[0] is less than 2: `around` are statements around the block, `inside` is
/// its predicate.
std::string sums_while(const std::string& around, const std::string& inside,
                       const std::string& element = "vi") {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 4):
        )" +
         around +
         R"(with T.block("C"):
              vi, vk = T.axis.remap("SR", [i, k])
              )" +
         inside + "C[" + element + "] = C[" + element + "] + A[vk]\n";
}

TEST(Sums, WhosePredicateReadsTheTargetAreNotReordered) {
  Scheduled s(sums_while("", "T.where(C[0] < 2)\n              "));
  const LoopRV i = s.loop("C", 0), k = s.loop("C", 1);
  EXPECT_NE(refusal([&] { s->reorder({k, i}); }), "accepted");
}

TEST(Sums, InABranchThatReadsTheTargetAreNotReordered) {
  Scheduled s(sums_while("if C[0] < 2:\n          ", ""));
  const LoopRV i = s.loop("C", 0), k = s.loop("C", 1);
  EXPECT_NE(refusal([&] { s->reorder({k, i}); }), "accepted");
}

TEST(Sums, WhoseIndexReadsTheTargetAreNotReordered) {
  Scheduled s(sums_while("", "", "T.min(T.max(C[vi], 0), 3)"));
  const LoopRV i = s.loop("C", 0), k = s.loop("C", 1);
  EXPECT_NE(refusal([&] { s->reorder({k, i}); }), "accepted");
}

TEST(Sums, WhosePredicateReadsTheTargetAreNotSharedByThreads) {
  Scheduled s(sums_while("", "T.where(C[0] < 2)\n              "));
  EXPECT_TRUE(contains(refusal([&] { s->bind(s.loop("C", 1), "threadIdx.x"); }), "would race"));
}

TEST(Sums, WhosePredicateReadsTheTargetAreNotFactored) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i, k in T.grid(4, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where(C[i] < 3)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vk]
)");
  EXPECT_NE(refusal([&] { s->rfactor(s.loop("C", 1), 0); }), "accepted");
}

TEST(Sums, WhosePredicateReadsAnotherBufferAreReordered) {
  Scheduled s(sums_while("", "T.where(A[k] < 2)\n              "));
  const LoopRV i = s.loop("C", 0), k = s.loop("C", 1);
  s->reorder({k, i});
  EXPECT_EQ(s.first_other(), "");
}

/// Each instance begins the same sum anew.
const char* const kOneTarget = R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[3] = 0
            C[3] = C[3] + A[vi, vk]
)";

TEST(Sums, InitsOfSumsSharingAnElementAreNotMoved) {
  for (const char* const step : {"blockize", "decompose_reduction"}) {
    Scheduled s(kOneTarget);
    const std::string sentence = refusal([&] {
      if (std::string(step) == "blockize")
        s->blockize(s.loop("C", 0));
      else
        s->decompose_reduction(s.block("C"), s.loop("C", 0));
    });
    EXPECT_TRUE(contains(sentence, "writes C[3], and `C` writes C[3]")) << sentence;
  }
}

TEST(Sums, ThatShareAnElementAreNotFactored) {
  Scheduled s(kOneTarget);
  const std::string sentence = refusal([&] { s->rfactor(s.loop("C", 1), 0); });
  EXPECT_TRUE(contains(sentence, "depend on their order")) << sentence;
}

/// The init runs in the last iteration: what was added before is lost.
TEST(Sums, ThatBeginInTheLastIterationKeepTheirOrder) {
  const char* const script = R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, k, l in T.grid(8, 8, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, 7 - k)
            vl = T.axis.reduce(4, l)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vk]
)";
  const auto refused = [&](const std::function<void(Scheduled&)>& step) {
    Scheduled s(script);
    return refusal([&] { step(s); });
  };
  const std::vector<std::string> sentences = {
      refused([](Scheduled& s) {
        s->reorder({s.loop("C", 2), s.loop("C", 1)});
      }),
      refused([](Scheduled& s) { s->bind(s.loop("C", 1), "threadIdx.x"); }),
      refused([](Scheduled& s) { s->blockize(s.loop("C", 1)); }),
      refused([](Scheduled& s) { s->decompose_reduction(s.block("C"), s.loop("C", 1)); }),
      refused([](Scheduled& s) { s->rfactor(s.loop("C", 1), 0); })};
  for (const std::string& sentence : sentences) EXPECT_NE(sentence, "");
}

TEST(Sums, OfThreadsDoNotPassOtherWritersOfTheElement) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vk]
        with T.block("D"):
            vi, vk = T.axis.remap("SS", [i, k])
            C[vi] = A[vi] - A[vk]
)");
  const std::string sentence = refusal([&] { s->bind(s.loop("C", 1), "threadIdx.x"); });
  EXPECT_TRUE(contains(sentence, "`C` writes C[i]")) << sentence;
}

TEST(Sums, AreMergedOnlyWithAnInitOfTheSameElements) {
  for (const char* const count : {"8", "6"}) {
    Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("F"):
            vi = T.axis.spatial(8, i)
            C[vi] = 0
    for i, k in T.grid()" +
                std::string(count) + R"(, 8):
        with T.block("C"):
            vi = T.axis.spatial()" +
                std::string(count) + R"(, i)
            vk = T.axis.reduce(8, k)
            C[vi] = C[vi] + A[vk]
)");
    if (std::string(count) == "8") {
      s->merge_reduction(s.block("F"), s.block("C"));
      EXPECT_EQ(s.first_other(), "");
    } else {
      EXPECT_NE(refusal([&] { s->merge_reduction(s.block("F"), s.block("C")); }), "");
    }
  }
}

TEST(Sums, WithoutAnInitInstanceAreNotMoved) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = A[vi]
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.where(j != 0)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vj]
)");
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("C"), s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "provably begins with its init")) << sentence;
  EXPECT_NE(refusal([&] { s->cache_write(s.block("C"), 0, "local"); }), "");
}

TEST(Sums, ThatOthersChangeMeanwhileAreNotCached) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[4, "int32"]) -> None:
    for i, j in T.grid(4, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vj]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            C[vi] = C[vi] - A[0]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "reads C[i], and `C` writes C[i]")) << sentence;
}

/// The header lists a box around two elements of a row.
TEST(CachedBoxes, AreRefusedWhereTheyAreWrittenInPart) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[(8, 8), "int32"]) -> None:
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi, 0] = A[vi]
            C[vi, 5] = A[vi + 1]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "provably writes not all elements")) << sentence;
}

/// The loop in the block stores C[vi] vi % 2 times.
TEST(CachedBoxes, AreRefusedWhereALoopThatStoresThemMayBeEmpty) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            for k in T.serial(vi % 2):
                C[vi] = A[vi]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "provably writes not all elements")) << sentence;
}

TEST(CachedBoxes, AreRefusedWhereTheInitStoresThemUnderACondition) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                if vi % 2 == 0:
                    C[vi] = 0
            C[vi] = C[vi] + A[vk]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "reads C[vi], which neither its init")) << sentence;
}

TEST(CachedBoxes, LargerThanTheStoreAreCopiedOnlyWhereItWrites) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[(8, 2), "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(C[vi, 0:2])
            C[vi, 1] = A[vi]
)");
  s->cache_write(s.block("C"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

TEST(CachedBoxes, AreCopiedWhereABlockOfBlocksWritesThem) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "int32"], C: T.Buffer[(8, 8), "int32"]) -> None:
    for i, j, k in T.grid(8, 2, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.spatial(8, j * 4 + k)
            C[vi, vj] = A[vi, vj] + 1
)");
  s->blockize(s.loop("C", 2));
  s->cache_write(s.block("C_o"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

TEST(BlockizedLoops, HaveIterations) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(4):
        for j in T.serial(1, 1):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial((1, 2), j)
                C[vi - vj + 1] = A[vi]
)");
  const std::string sentence = refusal([&] { s->blockize(s.loop("C", 1)); });
  EXPECT_TRUE(contains(sentence, "loop `j` around block `C` has no iterations")) << sentence;
}

TEST(BlockizedScripts, OfRegionsBelowTrianglesParseToThemselves) {
  Scheduled s(R"(
@T.prim_func
def main(C: T.Buffer[8, "int32"], A: T.Buffer[17, "int32"]) -> None:
    for i in T.serial(5):
        for j, k in T.grid(i + 1, 7):
            with T.block("C"):
                v0 = T.axis.spatial(9, k + 2)
                v1 = T.axis.spatial(5, j)
                C[v0 % 8] = C[v0 % 8] - T.min(T.max(A[v1], A[v0]), A[v0 - 1])
)");
  s->blockize(s.loop("C", 2));
  const tir::IRModule read = parse_script(s.script());
  EXPECT_TRUE(tir::structural_equal(read.functions.at("main"), s->mod().functions.at("main")))
      << s.script();
}

// ---- buffers that are updated in place ----------------------------------------------------------

const char* const kUpdatedInPlace = R"(
@T.prim_func
def main(X: T.Buffer[16, "float32"], C: T.Buffer[16, "float32"]) -> None:
    A = T.alloc_buffer([16], dtype="float32")
    for i in T.serial(16):
        with T.block("I"):
            vi = T.axis.spatial(16, i)
            A[vi] = X[vi] + T.float32(1)
    for i in T.serial(16):
        with T.block("U"):
            vi = T.axis.spatial(16, i)
            A[vi] = A[vi] * T.float32(3)
    for i in T.serial(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi] - T.float32(4)
)";

TEST(UpdatesInPlace, AreCopiedBehindTheUpdate) {
  Scheduled s(kUpdatedInPlace);
  s->cache_read(s.block("C"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

TEST(UpdatesInPlace, AreWrittenThroughACache) {
  Scheduled s(kUpdatedInPlace);
  s->cache_write(s.block("U"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

TEST(UpdatesInPlace, AreNotCalledReductionsWhereTheyAreRefused) {
  Scheduled s(kUpdatedInPlace);
  const std::string sentence = refusal([&] { s->compute_inline(s.block("I")); });
  EXPECT_TRUE(contains(sentence, "`A` is written by `U` as well")) << sentence;
  EXPECT_FALSE(contains(sentence, "reduction")) << sentence;
}

// ---- what runs ----------------------------------------------------------------------------------

TEST(PrivateMemory, IsNotCopiedBehindTheLoopWhoseLanesHaveIt) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], D: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.vectorized(8):
        for j in T.serial(8):
            with T.block("B"):
                vj = T.axis.spatial(8, j)
                B[vj] = A[vj]
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("B"), 0, "global"); });
  EXPECT_TRUE(contains(sentence, "loop `i` around block `B`: its iterations would race"))
      << sentence;
}

/// A program whose iteration 0 alone writes Y[0], by `store`.
std::string written_first(const std::string& store) {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32", scope="local")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            )" +
         store + R"(
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = Y[0]
)";
}

TEST(PrivateMemory, IsNotGivenToALoopThatWritesItInALoopWithoutIterations) {
  Scheduled s(written_first("for k in T.serial(1 - T.min(vi, 1)):\n                Y[0] = A[vi]"));
  const std::string sentence = refusal([&] { s->parallel(s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "would race")) << sentence;
}

TEST(PrivateMemory, IsNotGivenToALoopThatWritesItInAWhileLoop) {
  Scheduled s(written_first("while A[vi] < 1:\n                Y[0] = A[vi]"));
  const std::string sentence = refusal([&] { s->parallel(s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "would race")) << sentence;
}

TEST(PartialDomains, ComputeAtRunsTheInstancesThatTheLoopsRan) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], D: T.Buffer[8, "float32"]) -> None:
    C = T.alloc_buffer([8], dtype="float32")
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)");
  s->compute_at(s.block("C"), s.loop("D", 0));
  EXPECT_EQ(s.first_other(), "");
}

/// Iteration 3 reads Y[1], which iteration 1 computes but does not read itself.
TEST(PartialDomains, ComputeAtKeepsElementsThatLaterIterationsRead) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "float32"], D: T.Buffer[4, "float32"]) -> None:
    Y = T.alloc_buffer([4], dtype="float32")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi]
        for j in T.serial(1):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                D[vi] = Y[vi // 2]
)");
  const std::string sentence = refusal([&] { s->compute_at(s.block("Y"), s.loop("D", 1)); });
  EXPECT_TRUE(contains(sentence, "not all instances of block `Y` would provably run")) << sentence;
}

/// The consumer below the loop needs only Y[i, 0], and the block before the producer reads Y[i, 1].
TEST(PartialDomains, ComputeAtKeepsElementsThatTheNextIterationReadsFirst) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 2), "float32"], B: T.Buffer[4, "float32"], D: T.Buffer[4, "float32"]) -> None:
    Y = T.alloc_buffer([4, 2], dtype="float32")
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.where(i >= 1)
            B[vi] = Y[vi - 1, 1]
        for j in T.serial(2):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj]
        for j in T.serial(1):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                D[vi] = Y[vi, 0]
)");
  const std::string sentence = refusal([&] { s->compute_at(s.block("Y"), s.loop("D", 1)); });
  EXPECT_TRUE(contains(sentence, "not all instances of block `Y` would provably run")) << sentence;
}

TEST(PartialDomains, ComputeAtAllowsLaterReadsIfAllInstancesStillRun) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "float32"], D: T.Buffer[(2, 4), "float32"]) -> None:
    Y = T.alloc_buffer([4], dtype="float32")
    for t in T.serial(2):
        for i in T.serial(4):
            with T.block("Y"):
                vi = T.axis.spatial(4, i)
                T.where(t < 1)
                Y[vi] = A[vi]
        for i in T.serial(4):
            with T.block("D"):
                vt, vi = T.axis.remap("SS", [t, i])
                D[vt, vi] = Y[vi]
)");
  s->compute_at(s.block("Y"), s.loop("D", 1));
  EXPECT_EQ(s.first_other(), "");
}

/// Under i < 1, i // 2 is 0 alone.
TEST(PartialDomains, OfQuotientsAreKeptOrRefused) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"], D: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi]
    for i in T.serial(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i // 2)
            T.where(i * 4 + i < 3)
            C[vi + 2] = 2
)");
  refusal([&] { s->reverse_compute_at(s.block("C"), s.loop("D", 0)); });
  EXPECT_EQ(s.first_other(), "");
}

/// Rows of 1 to 8 elements. `domain`: what the iterator of the elements declares.
std::string triangle(const std::string& domain) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], D: T.Buffer[8, "float32"]) -> None:
    C = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        for k in T.serial(i + 1):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vk = T.axis.reduce()" +
         domain + R"(, k)
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)";
}

TEST(PartialDomains, ComputeAtRunsATriangle) {
  Scheduled s(triangle("8"));
  s->compute_at(s.block("C"), s.loop("D", 0));
  EXPECT_TRUE(contains(s.script(), "T.where")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

/// The element that D[i] reads depends on Y itself, so each iteration computes all of Y.
TEST(PartialDomains, ComputeAtDoesNotReadABoundFromTheBlockThatItMoves) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi]
    for i in T.serial(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = Y[T.min(T.max(Y[3 - vi], 0), 3)]
)");
  s->compute_at(s.block("Y"), s.loop("D", 0));
  EXPECT_TRUE(contains(s.script(), "for ax0 in T.serial(4):\n                with T.block(\"Y\")"))
      << s.script();
  EXPECT_EQ(s.first_other(), "");
}

/// `W`, which the block precedes, writes the position from which `D` reads.
TEST(PartialDomains, ComputeAtDoesNotReadABoundThatIsWrittenLater) {
  for (const int index : {-2, -1}) {
    Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], P: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = A[vi]
    for i in T.serial(4):
        with T.block("W"):
            vi = T.axis.spatial(4, i)
            P[vi] = 3 - A[vi]
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = Y[T.min(T.max(P[vi], 0), 3)]
)");
    s->compute_at(s.block("Y"), s.loop("D", 0), {.index = index});
    EXPECT_TRUE(
        contains(s.script(), "for ax0 in T.serial(4):\n                with T.block(\"Y\")"))
        << s.script();
    EXPECT_EQ(s.first_other(), "");
  }
}

/// Each iteration of `i` writes Y[P[i]] and reads Y[0].
TEST(PrivateMemory, IsNotGivenToALoopThatChangesThePositionOfTheElement) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], P: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32", scope="local")
    for i in T.serial(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[T.min(T.max(P[vi], 0), 3)] = A[vi]
        with T.block("P"):
            vi = T.axis.spatial(4, i)
            P[vi] = 0
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = Y[T.min(T.max(P[vi], 0), 3)]
)");
  const std::string sentence = refusal([&] { s->parallel(s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "would race")) << sentence;
}

TEST(PartialDomains, ComputeAtRefusesDomainsThatDependOnALoop) {
  Scheduled s(triangle("i + 1"));
  const std::string sentence = refusal([&] { s->compute_at(s.block("C"), s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "`vk` of block `C` depends on loop `i`")) << sentence;
}

TEST(PartialDomains, ReverseComputeAtRefusesConditionsThatFailInOtherIterations) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "float32"], D: T.Buffer[4, "float32"]) -> None:
    B = T.alloc_buffer([4], dtype="float32")
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vj = T.axis.spatial(4, j)
            T.where(i < 1)
            B[vj] = A[vj] * T.float32(2)
    for j in T.serial(4):
        with T.block("D"):
            vj = T.axis.spatial(4, j)
            D[vj] = B[vj] + T.float32(1)
)");
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("D"), s.loop("B", 1)); });
  EXPECT_TRUE(contains(sentence, "before block `B` writes them")) << sentence;
}

TEST(PartialDomains, ReverseComputeAtRefusesUnfinishedSums) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 4), "float32"], S: T.Buffer[(8, 4), "float32"]) -> None:
    E = T.alloc_buffer([8, 4], dtype="float32")
    R = T.alloc_buffer([8], dtype="float32")
    for j in T.serial(4):
        for i in T.serial(8):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = A[vi, vj] + T.float32(1)
            with T.block("R"):
                vi, vk = T.axis.remap("SR", [i, j])
                with T.init():
                    R[vi] = T.float32(0)
                R[vi] = R[vi] + E[vi, vk]
    for i, j in T.grid(8, 4):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = E[vi, vj] / R[vi]
)");
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("S"), s.loop("R", 0)); });
  EXPECT_TRUE(contains(sentence, "may read elements of `R` before block `R` writes them"))
      << sentence;
}

TEST(PartialDomains, DecomposeRefusesAnInitThatNeverRan) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 4), "float32"], C: T.Buffer[8, "float32"]) -> None:
    for i, k in T.grid(8, 3):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(4, k + 1)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_NE(refusal([&] { s->decompose_reduction(s.block("C"), s.loop("C", 1)); }), "accepted");
  EXPECT_NE(refusal([&] { s->rfactor(s.loop("C", 1), 0); }), "accepted");
  EXPECT_NE(refusal([&] { s->blockize(s.loop("C", 1)); }), "accepted");
}

TEST(PartialDomains, BlockizeKeepsDomainsThatDoNotBeginAtZero) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 12), "float32"], B: T.Buffer[(4, 12), "float32"]) -> None:
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial((4, 12), j + 4)
            B[vi, vj] = A[vi, vj] + T.float32(1)
)");
  s->blockize(s.loop("B", 1));
  EXPECT_EQ(s.first_other(), "");
}

TEST(DependentLoops, AreNotFusedWithTheLoopThatTheyDependOn) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 4, 4), "float32"], B: T.Buffer[(4, 4, 4), "float32"]) -> None:
    for i in T.serial(4):
        for j in T.serial(4):
            for k in T.serial(i + 1):
                with T.block("X"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    B[vi, vj, vk] = A[vi, vj, vk]
)");
  const std::string sentence = refusal([&] {
    s->fuse({s.loop("X", 0), s.loop("X", 1), s.loop("X", 2)});
  });
  EXPECT_TRUE(contains(sentence, "depends on loop `i`")) << sentence;
}

TEST(DependentLoops, AreSplitByAnOpenFactor) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], B: T.Buffer[(8, 8), "float32"]) -> None:
    for i in T.serial(8):
        for k in T.serial(i + 1):
            with T.block("X"):
                vi, vk = T.axis.remap("SS", [i, k])
                B[vi, vk] = A[vi, vk]
)");
  s->split(s.loop("X", 1), {std::nullopt, 4});
  EXPECT_EQ(s.first_other(), "");
}

// ---- matched buffers ----------------------------------------------------------------------------

/// Two blocks inside a block that matches row `vi` of O with M and N.
std::string rows(const std::string& first, const std::string& second) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "int32"], O: T.Buffer[(4, 4), "int32"], P: T.Buffer[(4, 4), "int32"]) -> None:
    for i in T.serial(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            M = T.match_buffer(O[vi, 0:4], [4], dtype="int32", offset_factor=1)
            N = T.match_buffer(O[vi, 0:4], [4], dtype="int32", offset_factor=1)
            for k in T.serial(4):
                with T.block("a"):
                    u = T.axis.spatial(4, k)
                    )" +
         first + R"(
            for k in T.serial(4):
                with T.block("b"):
                    u = T.axis.spatial(4, k)
                    )" +
         second + "\n";
}

using RowStep = void (*)(Scheduled&);

void expect_refused(const std::string& script, const std::vector<RowStep>& steps) {
  for (std::size_t n = 0; n < steps.size(); ++n) {
    Scheduled s(script);
    EXPECT_NE(refusal([&] { steps[n](s); }), "accepted") << "step " << n << " of " << script;
  }
}

TEST(MatchedBuffers, AreTheMemoryOfTheirSourceInOneBlock) {
  expect_refused(rows("M[u] = O[vi, (u + 1) % 4]", "P[vi, u] = A[vi, u]"),
                 {
                     [](Scheduled& s) { s->parallel(s.loop("a", 0)); },
                     [](Scheduled& s) { s->vectorize(s.loop("a", 0)); },
                     [](Scheduled& s) {
                       const std::vector<LoopRV> parts = s->split(s.loop("a", 0), {2, 2});
                       s->reorder({parts[1], parts[0]});
                     },
                     [](Scheduled& s) { s->cache_read(s.block("a"), 0, "local"); },
                     [](Scheduled& s) { s->cache_write(s.block("a"), 0, "local"); },
                     [](Scheduled& s) { s->reindex(s.block("a"), 0, "read"); },
                     [](Scheduled& s) { s->reindex(s.block("a"), 0, "write"); },
                     [](Scheduled& s) {
                       s->transform_block_layout(
                           s.block("a"), [](tir::Var i) { return std::vector<tir::Expr>{3 - i}; });
                     },
                 });
}

/// A block that matches all of O, or its element, with M.
std::string by_view(const std::string& region, const std::string& body) {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], O: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            M = T.match_buffer(O[)" +
         region + "], dtype=\"int32\", offset_factor=1)\n" + body;
}

std::string refused_copy(const std::string& script) {
  Scheduled s(script);
  const std::string sentence = refusal([&] { s->cache_write(s.block("b"), 0, "global"); });
  EXPECT_EQ(s.first_other(), "") << s.script();
  return sentence;
}

TEST(MatchedBuffers, AStoreUnderAConditionDoesNotCoverTheRegion) {
  const std::string script = by_view("vi:vi + 1], [1", R"(
            if A[vi] > 2:
                M[0] = A[vi]
)");
  EXPECT_PRED2(contains, refused_copy(script), "writes not all elements");
}

/// Stores `element` in `extent` iterations of k. M is O[0:4], and N is M[1:4].
std::string elements_by_view(const std::string& element, int extent) {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], O: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(1):
        with T.block("b"):
            vi = T.axis.spatial(1, i)
            M = T.match_buffer(O[0:4], [4], dtype="int32", offset_factor=1)
            N = T.match_buffer(M[1:4], [3], dtype="int32", offset_factor=1)
            T.reads(A[0:4])
            T.writes(O[0:4])
            for k in T.serial()" +
         std::to_string(extent) + "):\n                " + element + " = A[k]\n";
}

TEST(MatchedBuffers, StoresOfSomeElementsDoNotCoverTheRegion) {
  for (const std::string& script :
       {elements_by_view("M[k * 3]", 2), elements_by_view("M[k]", 3), elements_by_view("N[k]", 3)})
    EXPECT_PRED2(contains, refused_copy(script), "writes not all elements");
}

TEST(MatchedBuffers, SeveralStoresCoverTheRegionTogether) {
  for (const char* buffer : {"M", "O"})
    for (const int last : {2, 3}) {
      std::string body = "            T.reads(A[0:4])\n            T.writes(O[0:4])\n";
      for (int n = 0; n <= last; ++n) {
        const std::string at = "[" + std::to_string(n) + "] = A[";
        body += "            " + (buffer + at) + std::to_string(3 - n) + "]\n";
      }
      std::string script = by_view("0:4], [4", body);
      script.replace(script.find("serial(4)"), 9, "serial(1)");
      EXPECT_EQ(refused_copy(script) == "accepted", last == 3) << script;
    }
}

TEST(MatchedBuffers, StoresOfAllElementsCoverTheRegion) {
  EXPECT_EQ(refused_copy(elements_by_view("M[k]", 4)), "accepted");
  EXPECT_EQ(refused_copy(by_view("vi:vi + 1], [1", "            M[0] = A[vi]\n")), "accepted");
}

TEST(CacheWrite, CopiesARegionThatALoopOfSymbolicExtentStores) {
  const auto script = [](const std::string& extent, const std::string& buffer) {
    return R"(
@T.prim_func
def main(a: T.handle, o: T.handle) -> None:
    n = T.var("int32")
    A = T.match_buffer(a, [n], dtype="int32")
    O = T.match_buffer(o, [n], dtype="int32")
    for i in T.serial(1):
        with T.block("b"):
            vi = T.axis.spatial(1, i)
            T.reads(A[0:n])
            T.writes(O[0:n])
            M = T.match_buffer(O[0:n], [n], dtype="int32", offset_factor=1)
            for k in T.serial()" +
           extent + "):\n                " + buffer + "[k] = A[k]\n";
  };
  for (const char* buffer : {"O", "M"})
    for (const char* extent : {"n", "n - 1"}) {
      Scheduled s(script(extent, buffer));
      EXPECT_EQ(refusal([&] { s->cache_write(s.block("b"), 0, "global"); }) == "accepted",
                std::string(extent) == "n");
    }
}

TEST(MatchedBuffers, AnInitInEveryInstanceCoversTheRegion) {
  const std::string script = by_view("vi:vi + 1], [1", R"(
            with T.init():
                M[0] = 0
            if A[vi] > 2:
                M[0] = A[vi]
)");
  EXPECT_EQ(refused_copy(script), "accepted");
}

/// Block `b` passes an address of B[0:8], or of a part that it matches with M, to a call.
std::string by_call(const std::string& address) {
  return R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], O: T.Buffer[8, "int32"]) -> None:
    B = T.alloc_buffer([8], dtype="int32")
    for i in T.serial(2):
        with T.block("b"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi])
            T.writes(B[vi * 4:vi * 4 + 4])
            M = T.match_buffer(B[vi * 4:vi * 4 + 4], [4], dtype="int32", offset_factor=1)
            T.evaluate(T.call_extern("f", T.tvm_access_ptr(T.type_annotation(dtype="int32"), )" +
         address + R"(, 4, 2, dtype="handle"), A[vi], dtype="int32"))
    for j in T.serial(8):
        with T.block("c"):
            vj = T.axis.spatial(8, j)
            O[vj] = B[vj]
)";
}

TEST(MatchedBuffers, ACallThatReceivesTheAddressIsAssumedToCoverTheRegion) {
  for (const char* address : {"M.data, 0", "B.data, vi * 4"}) {
    Scheduled s(by_call(address));
    EXPECT_EQ(refusal([&] { s->reverse_compute_at(s.block("c"), s.loop("b", 0)); }), "accepted")
        << address;
  }
}

TEST(CacheWrite, ReplacesTheSourceOfAMatchedBufferButNoAddress) {
  for (const char* address : {"M.data, 0", "B.data, vi * 4"}) {
    Scheduled s(by_call(address));
    EXPECT_EQ(refusal([&] { s->cache_write(s.block("b"), 0, "global"); }) == "accepted",
              contains(address, "M"))
        << address;
  }
}

TEST(MatchedBuffers, InstancesThatStoreDistinctElementsAreIndependent) {
  Scheduled s(by_view("0:4], [4", "            M[vi] = A[vi]\n"));
  EXPECT_EQ(refusal([&] { s->parallel(s.loop("b", 0)); }), "accepted");
  EXPECT_EQ(s.first_other(), "") << s.script();
  Scheduled t(by_view("0:4], [4", "            M[vi // 2] = A[vi]\n"));
  EXPECT_NE(refusal([&] { t->parallel(t.loop("b", 0)); }), "accepted");
}

TEST(CacheWrite, RefusesAnUpdateThatReadsThePreviousValueByAMatchedBuffer) {
  for (const char* update : {"M[0] = M[0] + A[vi]", "O[vi] = M[0] + A[vi]"})
    EXPECT_PRED2(
        contains,
        refused_copy(by_view("vi:vi + 1], [1", "            " + std::string(update) + "\n")),
        "reads the previous values of `O` by a buffer that it matches");
  EXPECT_EQ(refused_copy(by_view("vi:vi + 1], [1", "            M[0] = O[vi] + A[vi]\n")),
            "accepted");
}

TEST(MatchedBuffers, AreTheMemoryOfTheirSourceInAnotherBlock) {
  for (const char* read : {"O[vi, 3 - u]", "N[3 - u]"})
    expect_refused(rows("M[u] = A[vi, u]", std::string("P[vi, u] = ") + read),
                   {
                       [](Scheduled& s) { s->reverse_compute_at(s.block("b"), s.loop("a", 0)); },
                       [](Scheduled& s) { s->compute_at(s.block("a"), s.loop("b", 0)); },
                       [](Scheduled& s) { s->cache_write(s.block("a"), 0, "local"); },
                       [](Scheduled& s) { s->cache_read(s.block("b"), 0, "local"); },
                       [](Scheduled& s) { s->compute_inline(s.block("a")); },
                       [](Scheduled& s) { s->reverse_compute_inline(s.block("b")); },
                   });
}

TEST(MatchedBuffers, OfMemoryThatIsOnlyReadAreIndependent) {
  Scheduled s(rows("P[vi, u] = M[u] + 1", "A[vi, u] = N[3 - u]"));
  s->vectorize(s.loop("a", 0));
  s->cache_read(s.block("b"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

// ---- numbers of iterations ----------------------------------------------------------------------

TEST(IterationCounts, BeyondTheLoopVariablesTypeAreRefused) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(50000, 50000), "int8"], B: T.Buffer[(50000, 50000), "int8"]) -> None:
    for i, j in T.grid(50000, 50000):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)");
  const LoopRV i = s.loop("X", 0), j = s.loop("X", 1);
  EXPECT_TRUE(contains(refusal([&] { s->fuse({i, j}); }), "2500000000"));
  EXPECT_TRUE(contains(refusal([&] { s->split(i, {65536, 65537}); }), "4295032832"));
  // 5 * 429497000 is 2147485000.
  EXPECT_TRUE(contains(refusal([&] { s->split(i, {std::nullopt, 429497000, 5}); }), "2147485000"));
}

// ---- what a block reads and writes, stated by its regions ---------------------------------------

const char* const kCarriedBesideTheSum = R"(
@T.prim_func
def main(A: T.Buffer[(2, 3, 1), "int32"], Q: T.Buffer[(2, 3), "int32"]) -> None:
    P = T.alloc_buffer([1], dtype="int32")
    for i, j, k in T.grid(2, 3, 1):
        with T.block("b"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Q[vi, vj] = 0
            Q[vi, vj] = Q[vi, vj] + A[vi, vj, vk] + T.if_then_else(vi + vj > 0, P[0], 0)
            P[0] = Q[vi, vj]
)";

TEST(Dependences, ReorderRefusesToReverseValuesThatAReductionCarriesInAnotherBuffer) {
  Scheduled s(kCarriedBesideTheSum);
  const std::string sentence = refusal([&] { s->reorder({s.loop("b", 1), s.loop("b", 0)}); });
  EXPECT_TRUE(contains(sentence, "P[0]")) << sentence;
}

TEST(Dependences, ParallelRefusesValuesThatAReductionCarriesInAnotherBuffer) {
  Scheduled s(kCarriedBesideTheSum);
  EXPECT_NE(refusal([&] { s->parallel(s.loop("b", 0)); }), "accepted");
}

TEST(Dependences, ComputeInlineRefusesAValueThatAnotherBufferOfItsReductionChanges) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 3), "int32"], P: T.Buffer[4, "int32"], Q: T.Buffer[4, "int32"]) -> None:
    Y = T.alloc_buffer([4], dtype="int32")
    X = T.alloc_buffer([4], dtype="int32")
    for r in T.serial(2):
        for i, k in T.grid(4, 3):
            with T.block("w"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = 0
                Y[vi] = Y[vi] + A[vi, vk] * P[vi]
                P[vi] = Y[vi] % 7 + 1
        for i in T.serial(4):
            with T.block("p"):
                vi = T.axis.spatial(4, i)
                T.where(r < 1)
                X[vi] = Y[vi] + 1
    for i in T.serial(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            Q[vi] = X[vi]
)");
  EXPECT_NE(refusal([&] { s->compute_inline(s.block("p")); }), "accepted");
  EXPECT_NE(refusal([&] { s->compute_at(s.block("p"), s.loop("b", 0)); }), "accepted");
}

TEST(Dependences, CacheWriteRefusesABufferThatIsReadBeforeTheInstanceStoresIt) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], Q: T.Buffer[1, "int32"], P: T.Buffer[1, "int32"]) -> None:
    for k in T.serial(4):
        with T.block("b"):
            vk = T.axis.reduce(4, k)
            with T.init():
                Q[0] = 0
            Q[0] = Q[0] + A[vk] * P[0]
            P[0] = Q[0]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("b"), 1, "global"); });
  EXPECT_TRUE(contains(sentence, "reads P[0], which neither its init")) << sentence;
  s->cache_write(s.block("b"), 0, "global");
  EXPECT_EQ(s.first_other(), "");
}

TEST(Dependences, ASchedulesBlockUsesLoopsOnlyByItsIterators) {
  EXPECT_EQ(
      refusal([] {
        Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], Q: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            Q[vi] = A[vi] + i
)");
      }),
      "Schedule: block `b` uses loop variable `i`, which is not one of its iterators; bind an "
      "iterator to the loop");
}

TEST(Dependences, ASchedulesBlockDeclaresTheBuffersThatItReads) {
  const std::string sentence = refusal([] {
    Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], Q: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes(Q[vi])
            Q[vi] = A[vi]
)");
  });
  EXPECT_TRUE(contains(sentence, "block `b` reads `A`, which its declared regions omit"))
      << sentence;
}

TEST(Dependences, CacheReadCopiesAfterACallThatTakesTheAddress) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[1, "int32"], Q: T.Buffer[8, "int32"]) -> None:
    O = T.alloc_buffer([8], dtype="int32")
    with T.block("c"):
        vi = T.axis.spatial(1, 0)
        T.evaluate(T.call_extern("memset", O.data, A[0], 32, dtype="handle"))
    for i in T.serial(8):
        with T.block("q"):
            vi = T.axis.spatial(8, i)
            Q[vi] = O[vi]
)");
  s->cache_read(s.block("q"), 0, "global");
  const std::string script = s.script();
  EXPECT_LT(script.find("memset"), script.find("O_global[v0] = O[v0]")) << script;
}

TEST(Dependences, ComputeInlineKeepsTheDeclaredRegionsOfACall) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[1, "int32"], Q: T.Buffer[8, "int32"]) -> None:
    O = T.alloc_buffer([8], dtype="int32")
    P = T.alloc_buffer([1], dtype="int32")
    for i in T.serial(1):
        with T.block("p"):
            vi = T.axis.spatial(1, i)
            P[vi] = A[vi] + 1
    with T.block("c"):
        vi = T.axis.spatial(1, 0)
        T.reads(P[0])
        T.writes(O[0:8])
        T.evaluate(T.call_extern("memset", O.data, P[0], 32, dtype="handle"))
    for i in T.serial(8):
        with T.block("q"):
            vi = T.axis.spatial(8, i)
            Q[vi] = O[vi]
)");
  s->compute_inline(s.block("p"));
  EXPECT_TRUE(contains(s.script(), "T.writes(O[0 : 8])")) << s.script();
}

TEST(Dependences, AlignmentAndScopeOfABufferWhoseAddressIsTakenAreRefused) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], Q: T.Buffer[(4, 8), "int32"]) -> None:
    O = T.alloc_buffer([4, 8], dtype="int32")
    for i, j in T.grid(4, 8):
        with T.block("p"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = A[vi, vj] + 1
    with T.block("c"):
        vi = T.axis.spatial(1, 0)
        T.reads(O[0:4, 0:8])
        T.writes(Q[0:4, 0:8])
        T.evaluate(T.call_extern("memcpy", Q.data, O.data, 128, dtype="handle"))
)");
  EXPECT_TRUE(contains(
      refusal([&] { s->storage_align(s.block("p"), {.axis = 0, .factor = 16, .offset = 3}); }),
      "the address of `O` is taken"));
  EXPECT_TRUE(contains(refusal([&] { s->set_scope(s.block("p"), 0, "local"); }),
                       "the address of `O` is taken"));
}

TEST(Dependences, TwoUpdatesOfOneElementAreNoReductionOfTuples) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "uint8"], Q: T.Buffer[1, "uint8"]) -> None:
    for i, k in T.grid(2, 2):
        with T.block("b"):
            vk = T.axis.reduce(4, i * 2 + k)
            with T.init():
                Q[0] = T.uint8(0)
                Q[0] = T.uint8(0)
            Q[0] = Q[0] + A[vk]
            Q[0] = T.max(Q[0], A[vk] * T.uint8(3))
)");
  EXPECT_NE(refusal([&] { s->reorder({s.loop("b", 1), s.loop("b", 0)}); }), "accepted");
  EXPECT_TRUE(contains(refusal([&] { s->rfactor(s.loop("b", 0), 0); }), "is not a sum"));
}

TEST(Dependences, RfactorRefusesABlockThatMatchesBuffers) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], Q: T.Buffer[1, "int32"]) -> None:
    for k in T.serial(4):
        with T.block("b"):
            vk = T.axis.reduce(4, k)
            M = T.match_buffer(A[vk], [1], dtype="int32", offset_factor=1)
            with T.init():
                Q[0] = 0
            Q[0] = Q[0] + M[0]
)");
  const std::string sentence = refusal([&] { s->rfactor(s.loop("b", 0), 0); });
  EXPECT_TRUE(contains(sentence, "declares buffer `M`")) << sentence;
}

TEST(Dependences, ReverseComputeAtRefusesAReaderThatDeclaresOtherElementsThanItReads) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], Q: T.Buffer[8, "int32"]) -> None:
    P = T.alloc_buffer([9], dtype="int32")
    for i in T.serial(9):
        with T.block("p"):
            vi = T.axis.spatial(9, i)
            P[vi] = T.if_then_else(vi < 8, A[vi], 0) + 1
    for i in T.serial(8):
        with T.block("q"):
            vi = T.axis.spatial(8, i)
            T.reads(P[vi])
            T.writes(Q[vi])
            Q[vi] = P[vi + 1]
)");
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("q"), s.loop("p", 0)); });
  EXPECT_TRUE(contains(sentence, "block `q` touches [vi, 2 more]")) << sentence;
}

/// A block around a reduction of which each instance runs one update.
std::string nested_partial_sums(const std::string& regions) {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], C: T.Buffer[4, "int32"]) -> None:
    B = T.alloc_buffer([1], dtype="int32")
    for i in T.serial(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
)" + regions +
         R"(            with T.block("B"):
                vb = T.axis.spatial(1, 0)
                vk = T.axis.reduce(4, vi)
                with T.init():
                    B[vb] = 0
                B[vb] = B[vb] + A[vk]
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[0]
)";
}

TEST(Sums, OfANestedBlockThatBeganInAnotherInstanceKeepTheirOrder) {
  Scheduled s(nested_partial_sums(""));
  const std::vector<LoopRV> parts = s->split(s.loop("outer", 0), {2, 2});
  const std::string sentence = refusal([&] { s->reorder({parts[1], parts[0]}); });
  EXPECT_TRUE(contains(sentence, "`B` writes B[0]")) << sentence;
}

TEST(Sums, OfANestedBlockThatBeganInAnotherInstanceAreDeclaredReads) {
  const std::string sentence = refusal([] {
    Scheduled s(nested_partial_sums("            T.reads(A[vi])\n            T.writes(B[0])\n"));
  });
  EXPECT_TRUE(contains(sentence, "reads `B`, which its declared regions omit")) << sentence;
}

TEST(Sums, OfANestedBlockWithoutAnInitInstanceAreNotCachedByTheOuterBlock) {
  Scheduled s(R"(
@T.prim_func
def main(C: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            for k in T.serial(2):
                with T.block("C"):
                    vc = T.axis.spatial(4, vi)
                    vk = T.axis.reduce(3, k + 1)
                    with T.init():
                        C[vc] = 0
                    C[vc] = C[vc] + 1
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("outer"), 0, "global"); });
  EXPECT_TRUE(contains(sentence, "block `outer` updates `C`")) << sentence;
}

TEST(Sums, OfANestedBlockThatAreDecomposedAreScheduledFurther) {
  for (const std::size_t loop : {0, 1}) {
    Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 4, 8), "int32"], C: T.Buffer[(4, 4), "int32"]) -> None:
    for i in T.serial(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            for j, k in T.grid(4, 8):
                with T.block("C"):
                    vc = T.axis.spatial(4, vi)
                    vj, vk = T.axis.remap("SR", [j, k])
                    with T.init():
                        C[vc, vj] = 0
                    C[vc, vj] = C[vc, vj] + A[vc, vj, vk]
)");
    s->decompose_reduction(s.block("C"), s.loop("C", loop));
    EXPECT_EQ(refusal([&] { const Schedule further(s->mod()); }), "accepted") << s.script();
    EXPECT_EQ(s.first_other(), "") << s.script();
  }
}

// ---- statements outside of blocks ---------------------------------------------------------------

/// A sum over rows, and a statement after it in the same iteration.
std::string sums_with(const std::string& statement) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], C: T.Buffer[4, "float32"], D: T.Buffer[5, "float32"]) -> None:
    for i in T.serial(4):
        for k in T.serial(4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
        )" +
         statement + "\n";
}

TEST(OutsideOfBlocks, AStoreOfAnEarlierIterationIsNotPassedByReads) {
  Scheduled s(sums_with("if i < 3:\n            A[i + 1, 0] = D[i]"));
  for (const std::string& sentence : {refusal([&] { s->rfactor(s.loop("C", 1), 0); }),
                                      refusal([&] { s->cache_read(s.block("C"), 0, "global"); }),
                                      refusal([&] { s->reindex(s.block("C"), 0, "read"); })})
    EXPECT_TRUE(contains(sentence, "reads A[i, k], and `A` writes A[(i + 1), 0]")) << sentence;
}

TEST(OutsideOfBlocks, AReadOfALaterIterationIsNotPassedByWrites) {
  Scheduled s(sums_with("D[i] = C[3 - i]"));
  for (const std::string& sentence :
       {refusal([&] { s->decompose_reduction(s.block("C"), s.loop("C", 0)); }),
        refusal([&] { s->reindex(s.block("C"), 0, "write"); })})
    EXPECT_TRUE(contains(sentence, "writes C[i], and `D` reads C[(3 - i)]")) << sentence;
}

TEST(OutsideOfBlocks, AReadFollowsTheCopyFromAWriteCache) {
  Scheduled s(sums_with("D[i] = C[3 - i]"));
  s->cache_write(s.block("C"), 0, "global");
  EXPECT_EQ(s.first_other(), "") << s.script();
}

TEST(OutsideOfBlocks, AStoreMakesASumOfTheSameBufferNoReduction) {
  Scheduled s(sums_with("C[3 - i] = T.float32(9)"));
  const std::string sentence = refusal([&] { s->rfactor(s.loop("C", 1), 0); });
  EXPECT_TRUE(contains(sentence, "`C` is written by a statement outside of blocks as well"))
      << sentence;
}

TEST(OutsideOfBlocks, AnIndependentStoreIsPassed) {
  Scheduled s(sums_with("D[i + 1] = D[i]"));
  s->cache_read(s.block("C"), 0, "global");
  s->decompose_reduction(s.block("C"), s.loop("C", 0));
  EXPECT_EQ(s.first_other(), "") << s.script();
}

TEST(OutsideOfBlocks, AStoreOfAnotherIterationRaces) {
  Scheduled s(sums_with("D[i + 1] = D[i]"));
  const std::string sentence = refusal([&] { s->parallel(s.loop("C", 0)); });
  EXPECT_TRUE(contains(sentence, "reads D[i], and `D` writes D[(i + 1)]")) << sentence;
}

TEST(OutsideOfBlocks, AStoreKeepsItsPlaceInTheOrderOfLoops) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], C: T.Buffer[(4, 4), "float32"]) -> None:
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.float32(1)
        C[3 - i, 0] = A[0, j]
)");
  const std::string sentence = refusal([&] { s->reorder({s.loop("C", 1), s.loop("C", 0)}); });
  EXPECT_TRUE(contains(sentence, "`C` writes C[i, j]")) << sentence;
}

/// A producer and its consumer in one loop, with a store to the producer's input.
const char* const kStoredInput = R"(
@T.prim_func
def main(A: T.Buffer[(4, 4), "float32"], C: T.Buffer[(4, 4), "float32"]) -> None:
    B = T.alloc_buffer([4, 4], dtype="float32")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i in T.serial(4):
        for j in T.serial(4):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * T.float32(2)
        if i < 3:
            A[i + 1, 0] = T.float32(100)
)";

TEST(OutsideOfBlocks, AStoreToTheInputInTheLoopIsNotPassedByAProducer) {
  Scheduled s(kStoredInput);
  for (const std::string& sentence : {refusal([&] { s->compute_at(s.block("B"), s.loop("C", 0)); }),
                                      refusal([&] { s->compute_inline(s.block("B")); })})
    EXPECT_TRUE(contains(sentence, "and `A` writes A[(i + 1), 0]")) << sentence;
}

/// A block, and a statement between the block and its reader.
std::string interrupted_by(const std::string& statement, const std::string& reader) {
  return R"(
@T.prim_func
def main(X: T.Buffer[4, "int32"], C: T.Buffer[4, "int32"]) -> None:
    N = T.alloc_buffer([4], dtype="int32")
    for i in T.serial(4):
        with T.block("N"):
            vi = T.axis.spatial(4, i)
            N[vi] = T.max(T.min(X[vi], 4), 0)
    )" + statement +
         R"(
    for j in T.serial()" +
         reader + R"():
        with T.block("C"):
            vj = T.axis.spatial(4, j)
            C[vj] = )" +
         (reader == "4" ? "N[vj]\n" : "1\n");
}

TEST(OutsideOfBlocks, AStoreToTheInputKeepsAValueFromBeingInlinedIntoARange) {
  Scheduled s(interrupted_by("X[0] = 3", "N[0]"));
  const std::string sentence = refusal([&] { s->compute_inline(s.block("N")); });
  EXPECT_TRUE(contains(sentence, "`N[0]`, which is outside of blocks, reads `N`")) << sentence;
}

TEST(OutsideOfBlocks, AStoreToTheBufferKeepsItFromBeingInlined) {
  Scheduled s(interrupted_by("N[3] = 7", "4"));
  const std::string inlined = refusal([&] { s->compute_inline(s.block("N")); });
  EXPECT_TRUE(contains(inlined, "`N` is written by a statement outside of blocks as well"))
      << inlined;
  const std::string moved = refusal([&] { s->reverse_compute_inline(s.block("C")); });
  EXPECT_TRUE(contains(moved, "block `N` is not complete")) << moved;
}

TEST(OutsideOfBlocks, AnExtentThatReadsMemoryIsNoReadOfTheCachedBuffer) {
  Scheduled s(R"(
@T.prim_func
def main(X: T.Buffer[6, "int32"], A: T.Buffer[(6, 8), "float32"], C: T.Buffer[(6, 8), "float32"]) -> None:
    N = T.alloc_buffer([6], dtype="int32")
    for i in T.serial(6):
        with T.block("N"):
            vi = T.axis.spatial(6, i)
            N[vi] = T.max(T.min(X[vi] + 3, 8), 0)
    for i in T.serial(6):
        for j in T.serial(N[i]):
            with T.block("C"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(8, j)
                C[vi, vj] = A[vi, vj] * T.float32(2)
)");
  s->cache_read(s.block("C"), 0, "local");
  EXPECT_EQ(s.first_other(), "") << s.script();
  s->cache_write(s.block("N"), 0, "local");
  EXPECT_EQ(s.first_other(), "") << s.script();
}

// ---- while loops --------------------------------------------------------------------------------

/// A producer, and a `while` around its consumer and a block that overwrites `target`.
std::string repeated_writes_of(const std::string& target) {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "float32"], C: T.Buffer[4, "float32"]) -> None:
    t = T.alloc_buffer([1], dtype="int32")
    B = T.alloc_buffer([4], dtype="float32")
    t[0] = 0
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * T.float32(2)
    while t[0] < 3:
        for i in T.serial(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = B[vi] + T.float32(1)
        for i in T.serial(4):
            with T.block("D"):
                vi = T.axis.spatial(4, i)
                )" +
         target + R"([vi] = C[vi]
        t[0] = t[0] + 1
)";
}

TEST(WhileLoops, CarryWritesThatACopyWouldMiss) {
  Scheduled s(repeated_writes_of("B"));
  for (const std::string& sentence : {refusal([&] { s->cache_read(s.block("C"), 0, "global"); }),
                                      refusal([&] { s->reindex(s.block("C"), 0, "read"); })})
    EXPECT_TRUE(contains(sentence, "reads B[i], and `B` writes B[i]")) << sentence;
}

TEST(WhileLoops, CarryWritesOfTheInputsOfAnInlinedValue) {
  Scheduled s(repeated_writes_of("A"));
  const std::string sentence = refusal([&] { s->compute_inline(s.block("B")); });
  EXPECT_TRUE(contains(sentence, "reads A[i], and `A` writes A[i]")) << sentence;
}

TEST(WhileLoops, CarryElementsThatOnlyALaterIterationReads) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[4, "float32"], D: T.Buffer[8, "float32"]) -> None:
    t = T.alloc_buffer([1], dtype="int32")
    B = T.alloc_buffer([8], dtype="float32")
    t[0] = 0
    while t[0] < 2:
        for i in T.serial(8):
            with T.block("D"):
                vi = T.axis.spatial(8, i)
                T.where(0 < t[0])
                D[vi] = B[vi]
        for i in T.serial(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2)
        for i in T.serial(4):
            with T.block("C"):
                vi = T.axis.spatial(4, i)
                C[vi] = B[vi] + T.float32(1)
        t[0] = t[0] + 1
)");
  EXPECT_NE(refusal([&] { s->compute_at(s.block("B"), s.loop("C", 0)); }), "accepted")
      << s.script();
}

}  // namespace
}  // namespace tenon::s_tir
