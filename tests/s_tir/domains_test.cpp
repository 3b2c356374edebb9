// Blocks in unusual domains: iterators that count down, triangles, and blocks below branches.
#include <gtest/gtest.h>

#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

// ---- iterators that count down ------------------------------------------------------------------

const char* const kDown = R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], C: T.Buffer[(16, 12), "float32"]) -> None:
    B = T.alloc_buffer([16, 12], dtype="float32")
    for i, j in T.grid(16, 12):
        with T.block("B"):
            vi = T.axis.spatial(16, 15 - i)
            vj = T.axis.spatial(12, j)
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 12):
        with T.block("C"):
            vi = T.axis.spatial(16, 15 - i)
            vj = T.axis.spatial(12, 11 - j)
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

TEST(CountingDown, AllowsComputeAt) {
  Scheduled s(kDown);
  s->compute_at(s.block("B"), s.loop("C", 0));
  EXPECT_TRUE(contains(s.script(), "vi = T.axis.spatial(16, 15 - i)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(CountingDown, AllowsReverseComputeAt) {
  Scheduled s(kDown);
  s->reverse_compute_at(s.block("C"), s.loop("B", 0));
  EXPECT_EQ(s.first_other(), "");
}

TEST(CountingDown, AllowsCaches) {
  Scheduled s(kDown);
  s->cache_write(s.block("B"), 0, "local");
  s->cache_read(s.block("C"), 0, "local");
  s->cache_write(s.block("C"), 0, "local");
  EXPECT_FALSE(contains(s.script(), "T.where")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

/// Block `c` reads an element of a tile of `b`.
std::string tiles(const std::string& element) {
  return R"(
@T.prim_func
def main(A: T.Buffer[12, "int32"], O: T.Buffer[4, "int32"]) -> None:
    B = T.alloc_buffer([12], dtype="int32")
    for i in T.serial(4):
        with T.block("b"):
            v = T.axis.spatial(4, i)
            B[v * 2] = A[v]
            B[v * 2 + 5] = A[v] + 100
    for i in T.serial(4):
        with T.block("c"):
            v = T.axis.spatial(4, i)
            O[v] = B[)" +
         element + "]\n";
}

TEST(Tiles, ThatOverlapAreComputedWhereOneHasTheElement) {
  for (const char* element : {"v * 2 + 5", "v * 2", "11 - v * 2"}) {
    Scheduled s(tiles(element));
    s->compute_at(s.block("b"), s.loop("c", 0));
    EXPECT_EQ(s.first_other(), "") << element;
  }
}

TEST(Tiles, ThatBeginAtANegativeMultipleAreRefused) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[6, "int32"], O: T.Buffer[6, "int32"]) -> None:
    B = T.alloc_buffer([6], dtype="int32")
    for i in T.serial(3):
        with T.block("b"):
            v = T.axis.spatial((-2, 1), i - 2)
            for k in T.serial(2):
                B[v * -2 + k] = A[v * -2 + k] + 1
    for i in T.serial(6):
        with T.block("c"):
            v = T.axis.spatial(6, i)
            O[v] = B[v] * 2
)");
  const LoopRV outer = s->split(s.loop("c", 0), {std::nullopt, 2})[0];
  const std::string sentence = refusal([&] { s->compute_at(s.block("b"), outer); });
  EXPECT_TRUE(contains(sentence, "cannot be determined")) << sentence;
}

TEST(CountingDown, AllowsInliningBothWays) {
  Scheduled into_reader(kDown), into_writer(kDown);
  into_reader->compute_inline(into_reader.block("B"));
  EXPECT_EQ(into_reader.first_other(), "");
  into_writer->reverse_compute_inline(into_writer.block("C"));
  EXPECT_EQ(into_writer.first_other(), "");
}

TEST(CountingDown, AllowsSplitAndBlockize) {
  Scheduled s(kDown);
  const auto parts = s->split(s.loop("B", 0), {std::nullopt, 4});
  s->blockize(parts[1]);
  EXPECT_EQ(s.first_other(), "");
}

// The init runs in the last iteration, and the sums before it do not count.
TEST(CountingDown, KeepsTheInitOfAReductionInItsPlace) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], C: T.Buffer[16, "float32"]) -> None:
    for i, k in T.grid(16, 12):
        with T.block("C"):
            vi = T.axis.spatial(16, 15 - i)
            vk = T.axis.reduce(12, 11 - k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  const std::string sentence =
      refusal([&] { s->decompose_reduction(s.block("C"), s.loop("C", 1)); });
  EXPECT_TRUE(contains(sentence, "the init of block `C` would run too early")) << sentence;
}

TEST(CountingDown, DoesNotLetAReductionMoveToLoopsInAnotherOrder) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "int32"], D: T.Buffer[8, "int32"]) -> None:
    C = T.alloc_buffer([8], dtype="int32")
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, 7 - k)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)");
  const std::string sentence = refusal([&] { s->compute_at(s.block("C"), s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "the init of block `C` does not provably precede its updates"))
      << sentence;
  // The updates before the init would not read what the buffer holds.
  EXPECT_EQ(refusal([&] { s->cache_write(s.block("C"), 0, "local"); }).substr(0, 12),
            "cache_write:");
}

TEST(CountingDown, IsRecognizedInLoopsOfUnknownLength) {
  Scheduled s(R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, [n], dtype="float32")
    C = T.match_buffer(c, [n], dtype="float32")
    B = T.alloc_buffer([n], dtype="float32")
    for i in T.serial(n):
        with T.block("B"):
            vi = T.axis.spatial(n, n - 1 - i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(n):
        with T.block("C"):
            vi = T.axis.spatial(n, n - 1 - i)
            C[vi] = B[vi] + T.float32(1)
)");
  s->compute_at(s.block("B"), s.loop("C", 0));
  EXPECT_TRUE(contains(s.script(), "vi = T.axis.spatial(n, n - 1 - i)")) << s.script();
}

const char* const kShifted = R"(
@T.prim_func
def main(A: T.Buffer[16, "float32"], C: T.Buffer[16, "float32"]) -> None:
    B = T.alloc_buffer([18, 1], dtype="float32")
    for i in T.serial(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[17 - vi, 0] = A[vi]
    for i in T.serial(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi + 2, 0]
)";

TEST(CountingDown, IsAllowedInIndicesOfMovedBlocks) {
  Scheduled producer(kShifted), consumer(kShifted);
  producer->compute_at(producer.block("B"), producer.loop("C", 0));
  EXPECT_EQ(producer.first_other(), "");
  consumer->reverse_compute_at(consumer.block("C"), consumer.loop("B", 0));
  EXPECT_EQ(consumer.first_other(), "");
}

TEST(Conditions, WithoutALoopAreKeptByBlockize) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.float32(7)
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(T.popcount(3) > 5)
            C[vi] = A[vi] * T.float32(2)
)");
  s->blockize(s.loop("C", 0));
  EXPECT_TRUE(contains(s.script(), "T.where(T.popcount(3, dtype=\"int32\") > 5)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Blockize, IsRefusedIfTheBlockChangesItsConditionOrItsValues) {
  for (const char* lines : {"vi = T.axis.spatial(8, i)\n            T.where(C[2] < 3)",
                            "vi = T.axis.spatial(8, C[2] % 8)"}) {
    Scheduled s(std::string(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            )") +
                lines + R"(
            C[vi] = A[vi] * 2
)");
    const std::string why = refusal([&] { s->blockize(s.loop("C", 0)); });
    EXPECT_TRUE(contains(why, "reads `C`, which block `C` writes")) << why;
  }
}

TEST(Blockize, IsRefusedIfTheSizeOfADeclaredBufferUsesAnIterator) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], D: T.Buffer[4, "int32"]) -> None:
    for i in T.serial(4):
        with T.block("o"):
            vi = T.axis.spatial(4, i)
            R = T.alloc_buffer([vi + 1], dtype="int32")
            R[vi] = A[vi, 0]
            D[vi] = R[vi] + 1
)");
  const std::string why = refusal([&] { s->blockize(s.loop("o", 0)); });
  EXPECT_TRUE(contains(why, "use iterator `vi`")) << why;
}

TEST(NestedSums, WhoseLoopsAreFusedAndSplitBeginInTheirOuterBlock) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 3, 5), "int32"], C: T.Buffer[(4, 3), "int32"]) -> None:
    for o in T.serial(4):
        with T.block("O"):
            vo = T.axis.spatial(4, o)
            for i, k in T.grid(3, 5):
                with T.block("C"):
                    v, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vo, v] = 0
                    C[vo, v] = C[vo, v] + A[vo, v, vk]
)");
  s->split(s->fuse({s.loop("C", 0), s.loop("C", 1)}), {std::nullopt, 2});
  EXPECT_EQ(s.first_other(), "");
  EXPECT_EQ(refusal([&] { Schedule(s->mod()); }), "accepted");
}

// ---- symbolic sizes -----------------------------------------------------------------------------

std::string symbolic_sum(const std::string& predicate) {
  return R"(
@T.prim_func
def main(a: T.handle, c: T.handle) -> None:
    m = T.var("int32")
    n = T.var("int32")
    A = T.match_buffer(a, [m, n], "int32")
    C = T.match_buffer(c, [m], "int32")
    for i, k in T.grid(m, n):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            )" +
         predicate + R"(
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi, vk]
)";
}

TEST(SymbolicSums, BeginWithTheirInit) {
  const std::string sum = symbolic_sum("pass");
  const auto step = [&](auto apply) {
    return refusal([&] {
      Scheduled s(sum);
      apply(s);
    });
  };
  EXPECT_EQ(step([](Scheduled& s) { s->decompose_reduction(s.block("C"), s.loop("C", 1)); }),
            "accepted");
  EXPECT_EQ(step([](Scheduled& s) { s->rfactor(s.loop("C", 1), 0); }), "accepted");
  EXPECT_EQ(step([](Scheduled& s) { s->blockize(s.loop("C", 1)); }), "accepted");
  EXPECT_EQ(step([](Scheduled& s) { s->cache_write(s.block("C"), 0, "local"); }), "accepted");
}

TEST(SymbolicSums, OfNoTermsKeepTheirElementUnderACondition) {
  Scheduled s(symbolic_sum("T.where(i < 4)"));
  EXPECT_TRUE(contains(refusal([&] { s->decompose_reduction(s.block("C"), s.loop("C", 1)); }),
                       "would not run"));
}

// ---- triangles ----------------------------------------------------------------------------------

TEST(Triangles, AreCopiedByCacheWriteWithoutTheElementsOutside) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]) -> None:
    for i, j in T.grid(8, 8):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.float32(7)
    for i in T.serial(8):
        for j in T.serial(i + 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
)");
  s->cache_write(s.block("C"), 0, "local");
  EXPECT_TRUE(contains(s.script(), "T.where(ax1 < ax0 + 1)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Triangles, OfSumsAreCopiedByCacheWrite) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]) -> None:
    for i, j in T.grid(8, 8):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.float32(7)
    for i in T.serial(8):
        for j in T.serial(8 - i):
            for k in T.serial(8):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        C[vi, 7 - vj] = T.float32(0)
                    C[vi, 7 - vj] = C[vi, 7 - vj] + A[vi, vk]
)");
  s->cache_write(s.block("C"), 0, "local");
  EXPECT_EQ(s.first_other(), "");
}

TEST(Triangles, ThatDataBoundAreNotCopied) {
  Scheduled s(R"(
@T.prim_func
def main(I: T.Buffer[8, "int32"], A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    for i in T.serial(8):
        if I[i] > 3:
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi] * T.float32(2)
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("C"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "its iterators do not express which")) << sentence;
}

// ---- branches -----------------------------------------------------------------------------------

const char* const kBranches = R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]) -> None:
    B = T.alloc_buffer([8, 8], dtype="float32")
    for i, j in T.grid(8, 8):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.float32(7)
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i in T.serial(8):
        if i < 5:
            for j in T.serial(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] + T.float32(1)
)";

TEST(Branches, LetAProducerMoveIntoThem) {
  Scheduled s(kBranches);
  s->compute_at(s.block("B"), s.loop("C", 1));
  EXPECT_EQ(s.first_other(), "");
}

TEST(Branches, LetABlockBeCachedInThem) {
  Scheduled s(kBranches);
  s->cache_write(s.block("C"), 0, "local");
  EXPECT_TRUE(contains(s.script(), "T.where(ax0 < 5)")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Branches, LetAProducerBeInlinedIntoThem) {
  Scheduled s(kBranches);
  s->compute_inline(s.block("B"));
  EXPECT_EQ(s.first_other(), "");
}

const char* const kWriterInBranch = R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]) -> None:
    B = T.alloc_buffer([8, 8], dtype="float32")
    for i, j in T.grid(8, 8):
        if i < 5:
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        else:
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.float32(3)
    for i, j in T.grid(5, 8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.spatial(8, j)
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

TEST(Branches, LetAProducerMoveOutOfThem) {
  Scheduled s(kWriterInBranch);
  s->compute_at(s.block("B"), s.loop("C", 0));
  EXPECT_EQ(s.first_other(), "");
}

TEST(Branches, DoNotLetAConsumerMoveIntoThemThatRunsElsewhere) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        if i < 5:
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * T.float32(2)
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 5, B[vi], T.float32(1), dtype="float32")
)");
  refusal([&] { s->reverse_compute_at(s.block("C"), s.loop("B", 0)); });
  EXPECT_EQ(s.first_other(), "");
}

TEST(Branches, ThatReadWhatABlockWritesDoNotTakeIt) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(1):
        if B[0] > T.float32(0):
            for j in T.serial(8):
                with T.block("C"):
                    vj = T.axis.spatial(8, j)
                    C[vj] = B[vj] + T.float32(1)
)");
  const std::string sentence = refusal([&] { s->compute_at(s.block("B"), s.loop("C", 1)); });
  EXPECT_TRUE(contains(sentence, "may depend on block `B`")) << sentence;
}

const char* const kConditionOnABlock = R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(8):
        if B[7 - i] > T.float32(0):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi] + T.float32(1)
)";

TEST(Branches, KeepTheBlockThatTheirConditionReads) {
  Scheduled s(kConditionOnABlock);
  const std::string sentence = refusal([&] { s->compute_at(s.block("B"), s.loop("C", 0)); });
  EXPECT_TRUE(contains(sentence, "is outside of blocks")) << sentence;
}

TEST(Branches, LetNoBlockThatTheirConditionReadsRunLater) {
  Scheduled s(kConditionOnABlock);
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("B"), s.loop("C", 0), {.index = 1}); });
  EXPECT_TRUE(contains(sentence, "is outside of blocks")) << sentence;
}

TEST(Branches, TakeTheValueOfABlockWhoseInputsStay) {
  Scheduled s(kConditionOnABlock);
  s->compute_inline(s.block("B"));
  EXPECT_EQ(s.first_other(), "");
}

TEST(Branches, DoNotTakeTheValueOfABlockWhoseInputsChange) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([8], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)
    for i in T.serial(8):
        if B[7 - i] > T.float32(0):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(1)
)");
  const std::string sentence = refusal([&] { s->compute_inline(s.block("B")); });
  EXPECT_TRUE(contains(sentence, "is outside of blocks")) << sentence;
}

TEST(Branches, LetNoTasksShareWhatTheirConditionReads) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "float32"], C: T.Buffer[8, "float32"], D: T.Buffer[8, "float32"]) -> None:
    B = T.alloc_buffer([1], dtype="float32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[0] = A[vi]
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = B[0]
    for i in T.serial(8):
        if B[0] > T.float32(0):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi] + T.float32(1)
)");
  const std::string sentence = refusal([&] { s->parallel(s.loop("B", 0)); });
  EXPECT_TRUE(contains(sentence, "its iterations would race")) << sentence;
}

// ---- bindings, predicates and loop ranges that read data ----------------------------------------

const char* const kBoundByData = R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"], D: T.Buffer[8, "int32"]) -> None:
    B = T.alloc_buffer([8], dtype="int32")
    for i in T.serial(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] % 5
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, B[i] % 8)
            T.where(B[7 - i] < 3)
            C[vi] = A[vi] + 1
    for i in T.serial(8):
        for j in T.serial(B[i] % 5):
            with T.block("D"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j)
                D[vi] = A[vj]
)";

TEST(DataOutsideBlocks, IsReadFromTheBufferOfTheNewScope) {
  Scheduled s(kBoundByData);
  s->set_scope(s.block("B"), 0, "shared");
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, IsReadAtItsNewPlace) {
  Scheduled s(kBoundByData);
  s->transform_layout(s.block("B"), 0, "write",
                      [](const tir::Var& at) { return std::vector<tir::Expr>{7 - at}; });
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, IsReadByTheBlockThatTheLoopBecomes) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[(8, 8), "int32"]) -> None:
    for i in T.serial(8):
        for j in T.serial(A[0] % 8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j)
                C[vi, vj] = 1
)");
  s->blockize(s.loop("C", 0));
  EXPECT_TRUE(contains(s.script(), "T.reads(A[0])")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, IsReadOnlyInIterationsThatExist) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[(8, 8), "int32"]) -> None:
    for i in T.serial(8):
        for j in T.serial(A[i] % 8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                vj = T.axis.spatial(8, j)
                T.where(A[i] < 5)
                C[vi, vj] = 1
)");
  s->split(s.loop("C", 0), {std::nullopt, 3});
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, IsReadAfterTheGuardOfASplit) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(A[i] < 5)
            C[vi] = 1
)");
  s->split(s.loop("C", 0), {std::nullopt, 3});
  EXPECT_TRUE(contains(s.script(), "T.where(i_0 * 3 + i_1 < 8 and A[i_0 * 3 + i_1] < 5)"))
      << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, ThatALoopChangesKeepsTheLoopWhole) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i, j in T.grid(4, A[0] % 8):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(8, j)
            A[(vi + vj) % 8] = C[vj]
)");
  const LoopRV outer = s.loop("C", 0), inner = s.loop("C", 1);
  for (const std::string& sentence : {refusal([&] {
                                        s->split(inner, {std::nullopt, 2});
                                      }),
                                      refusal([&] {
                                        s->fuse({outer, inner});
                                      }),
                                      refusal([&] {
                                        s->reorder({inner, outer});
                                      })})
    EXPECT_TRUE(contains(sentence, "writes `A`")) << sentence;
}

TEST(DataOutsideBlocks, ThatSumsChangeKeepsTheirInit) {
  for (const char* loops :
       {"    for i, k in T.grid(B[0] % 4, 8):\n", "    for i, k in T.grid(4, 8):\n"}) {
    const bool is_range = std::string(loops).find("B") != std::string::npos;
    Scheduled s(std::string(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "int32"], B: T.Buffer[8, "int32"]) -> None:
)") + loops + R"(        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
)" + (is_range ? "" : "            T.where(B[7] > 2)\n") +
                R"(            with T.init():
                B[vi] = 0
            B[vi] = B[vi] + A[vi, vk]
)");
    const std::string sentence =
        refusal([&] { s->decompose_reduction(s.block("B"), s.loop("B", 0)); });
    EXPECT_TRUE(
        contains(sentence, is_range ? "writes `B`" : "reads `B`, which the init would overwrite"))
        << sentence;
  }
}

TEST(Regions, OfNestedBlocksAreReindexed) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[(8, 4), "int32"]) -> None:
    for i in T.serial(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            for j in T.serial(4):
                with T.block("C"):
                    vj = T.axis.spatial(4, j)
                    C[vi, vj] = A[vi] + 1
)");
  s->reindex(s.block("O"), 0, "read");
  EXPECT_FALSE(contains(s.script(), "A[vi]")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Regions, ThatUseALetAroundTheBlockAreNotReindexed) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        x: T.int32 = i % 3
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[x + vi % 2] + 1
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("C"), 0, "read"); });
  EXPECT_TRUE(contains(sentence, "do not determine")) << sentence;
}

TEST(Regions, OfPartOfADomainThatCountsDownAreCopied) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(10):
        with T.block("C"):
            vi = T.axis.spatial(10, i)
            T.where(i <= 4)
            C[7 - vi] = A[vi] + 1
)");
  s->cache_write(s.block("C"), 0, "shared");
  EXPECT_TRUE(contains(s.script(), "for ax0 in T.serial(5):")) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Reductions, ThatRunAnInstanceTwiceAreNotMoved) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"], D: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi]
    for i, j, k in T.grid(8, 4, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            vj = T.axis.reduce(2, j // 2)
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + A[vi]
)");
  const std::string sentence =
      refusal([&] { s->reverse_compute_at(s.block("C"), s.loop("D", 0)); });
  EXPECT_TRUE(contains(sentence, "may run an instance several times in loop `j`")) << sentence;
}

/// `count` sums, of which each iteration of loop `k` adds a part and reads the results so far.
std::string partial_sums(const std::string& count, const std::string& element) {
  return R"(
@T.prim_func
def main(A: T.Buffer[(3, 8), "int32"], C: T.Buffer[(2, 3), "int32"]) -> None:
    B = T.alloc_buffer([3], dtype="int32")
    for k in T.serial(2):
        for i, l in T.grid()" +
         count + R"(, 4):
            with T.block("B"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(8, k * 4 + l)
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for j in T.serial(3):
            with T.block("C"):
                vk, vj = T.axis.remap("SS", [k, j])
                C[vk, vj] = B[)" +
         element + "]\n";
}

TEST(Reductions, OfWhichALoopWouldRepeatAPartAreNotMovedIntoIt) {
  Scheduled s(partial_sums("1", "0"));
  const std::string sentence = refusal([&] { s->compute_at(s.block("B"), s.loop("C", 1)); });
  EXPECT_TRUE(contains(sentence, "may run an instance several times in loop `j`")) << sentence;
}

TEST(Reductions, OfWhichALoopRunsEachPartOnceAreMovedIntoIt) {
  Scheduled s(partial_sums("3", "vj"));
  s->compute_at(s.block("B"), s.loop("C", 1));
  EXPECT_EQ(s.first_other(), "") << s.script();
}

TEST(Reductions, ThatBeginInEachIterationAreRepeatedByALoop) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "int32"], C: T.Buffer[(2, 3), "int32"]) -> None:
    B = T.alloc_buffer([2], dtype="int32")
    for i in T.serial(2):
        for k in T.serial(4):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for j in T.serial(3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi]
)");
  s->compute_at(s.block("B"), s.loop("C", 1));
  EXPECT_EQ(s.first_other(), "") << s.script();
}

TEST(Regions, OfATriangleThatCountsDownAreReindexed) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(1, 16), "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(1):
        for j in T.serial(1 - i):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, i])
                vr = T.axis.reduce(1, 0 - j)
                T.where((not(j < 0)) != (i >= 0))
                with T.init():
                    C[vj] = 2
                C[vj] = C[vj] + A[0 - vr, 15 - vi]
)");
  s->reindex(s.block("C"), 0, "write");
  EXPECT_NO_THROW(parse_script(s.script())) << s.script();
  EXPECT_EQ(s.first_other(), "");
}

TEST(Blockize, KeepsTheOnlyValueOfAnIteratorThatBeginsAtOne) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(1):
        for j in T.serial(1 - i):
            with T.block("C"):
                vj = T.axis.spatial((1, 2), j + 1)
                C[vj] = A[vj]
)");
  s->blockize(s.loop("C", 0));
  EXPECT_EQ(s.first_other(), "");
}

TEST(DataOutsideBlocks, InAPredicateDoesNotSayWhichElementsAreWritten) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[8, "int32"], C: T.Buffer[16, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(C[i] >= 0)
            C[vi + 1] = A[vi]
)");
  const std::string sentence = refusal([&] { s->reindex(s.block("C"), 0, "write"); });
  EXPECT_TRUE(contains(sentence, "cannot be expressed in")) << sentence;
}

// ---- inits that read what they write ------------------------------------------------------------

TEST(Inits, ThatReadTheWrittenBufferAreNotCachedAcrossRounds) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 4), "int32"], C: T.Buffer[8, "int32"]) -> None:
    for t, i, k in T.grid(3, 8, 4):
        with T.block("C"):
            vt = T.axis.opaque(3, t)
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = C[vi] * 2
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_NE(refusal([&] { s->cache_write(s.block("C"), 0, "local"); }), "");
}

TEST(Inits, ThatStoreMoreThanTheBodyAreNotCached) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(2, 4), "int32"], D: T.Buffer[(2, 8), "int32"]) -> None:
    for i, k in T.grid(2, 4):
        with T.block("D"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                for j in T.serial(8):
                    D[vi, j] = 5
            D[vi, 7] = D[vi, 7] + A[vi, vk]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("D"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "its iterators do not express which")) << sentence;
}

// ---- loops without iterations -------------------------------------------------------------------

/// A block in the loops of `header`. Every element of `N` is less than 9.
std::string repeated(const std::string& header, const std::string& param = "") {
  return R"(
@T.prim_func
def main(N: T.Buffer[1, "int32"], A: T.Buffer[8, "int32"], B: T.Buffer[8, "int32"])" +
         param + R"() -> None:
    for )" +
         header + R"(:
        for i in T.serial(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] * 2
)";
}

TEST(EmptyLoops, WriteNothingThatCacheWriteCopies) {
  for (const char* const header :
       {"r in T.serial(N[0] - 9)", "r in T.serial(9, N[0])", "r, q in T.grid(N[0] - 9, 2)"}) {
    Scheduled s(repeated(header));
    s->cache_write(s.block("B"), 0, "local");
    EXPECT_EQ(s.first_other(), "") << s.script();
  }
  Scheduled s(repeated("r in T.serial(N[0] - 9)"));
  s->reorder({s.loop("B", 1), s.loop("B", 0)});
  s->cache_write(s.block("B"), 0, "local");
  EXPECT_EQ(s.first_other(), "") << s.script();
}

TEST(EmptyLoops, GuardTheCopyOfABlockOfWhichTheyMayRunNoInstance) {
  Scheduled s(repeated("r in T.serial(n)", ", n: T.int32"));
  s->blockize(s.loop("B", 1));
  s->cache_write(s.block("B_o"), 0, "local");
  EXPECT_PRED2(contains, s.script(), "T.where(0 < n)");
}

TEST(EmptyLoops, OfALengthThatVariesAreNotCached) {
  Scheduled s(repeated("r in T.serial(2):\n      for q in T.serial(r * N[0])"));
  const std::string sentence = refusal([&] { s->cache_write(s.block("B"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "its iterators do not express which")) << sentence;
}

TEST(EmptyLoops, GuardTheCopyOfTilesThatOverlap) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[16, "int32"], B: T.Buffer[16, "int32"], n: T.int32) -> None:
    for i in T.serial(n):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            for q in T.serial(3):
                B[vi * 2 + q] = A[vi * 2 + q]
)");
  s->cache_write(s.block("B"), 0, "local");
  EXPECT_PRED2(contains, s.script(), "T.where(ax0 < 16 and 0 < n)");
}

TEST(EmptyLoops, ThatAnIndexOnlyMentionsDoNotCoverARegion) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "int32"], D: T.Buffer[(4, 8), "int32"], n: T.int32) -> None:
    for i in T.serial(4):
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            for j in T.serial(n):
                D[vi, j % 1] = A[vi, j]
)");
  const std::string sentence = refusal([&] { s->cache_write(s.block("D"), 0, "local"); });
  EXPECT_TRUE(contains(sentence, "its iterators do not express which")) << sentence;
}

/// A buffer that a loop of the given extent writes in iterations of `t`, which read it.
std::string last_written(const std::string& extent, const std::string& let = "") {
  return R"(
@T.prim_func
def main(A: T.Buffer[4, "int32"], D: T.Buffer[4, "int32"], n: T.int32) -> None:
    B = T.alloc_buffer([1], dtype="int32")
    for t in T.serial(4):
)" + let +
         R"(        for r in T.serial()" + extent + R"():
            with T.block("B"):
                vt = T.axis.spatial(4, t)
                B[0] = A[vt]
        with T.block("D"):
            vt = T.axis.spatial(4, t)
            D[vt] = B[0]
)";
}

TEST(EmptyLoops, LeaveTheValueOfAnEarlierIteration) {
  Scheduled s(last_written("3 - t")), bound(last_written("m", "        m: T.int32 = 3 - t\n"));
  EXPECT_TRUE(contains(refusal([&] { s->parallel(s.loop("D", 0)); }), "would race"));
  EXPECT_TRUE(contains(refusal([&] { bound->parallel(bound.loop("D", 0)); }), "would race"));
}

TEST(EmptyLoops, ThatAreEmptyInEachIterationLeaveNoValue) {
  Scheduled s(last_written("n"));
  EXPECT_EQ(refusal([&] { s->parallel(s.loop("D", 0)); }), "accepted");
}

TEST(EmptyLoops, LetAConsumerFollowTheUpdateInThem) {
  Scheduled s(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "int32"], B: T.Buffer[8, "int32"], D: T.Buffer[8, "int32"]) -> None:
    for i in T.serial(8):
        with T.block("B_init"):
            vi = T.axis.spatial(8, i)
            B[vi] = 0
        for k in T.serial(i):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                B[vi] = B[vi] + A[vi, vk]
    for i in T.serial(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = B[vi] + 1
)");
  s->reverse_compute_at(s.block("D"), s.loop("B", 0));
  EXPECT_EQ(s.first_other(), "") << s.script();
}

}  // namespace
}  // namespace tenon::s_tir
