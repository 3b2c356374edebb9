#include "lower/passes.h"

#include <gtest/gtest.h>

#include "lower/checks/barrier_hazards.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// 32 threads `t` with two copies of 128 elements in shared memory, of which an iteration fills one
/// and reads the other.
std::string kernel(const std::string& filling, const std::string& condition = "") {
  const std::string open = condition.empty() ? "" : "      if " + condition + " {\n";
  return test::function_text(
      R"(  attr [IterVar(t: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 32 {
    allocate(S_1: Pointer(shared float32), float32, [256]), storage_scope = shared {
      for (j: int32, 0, 4) {
        S: Buffer(S_1, float32, [256], [], scope="shared")[((t*4) + j)] = A[((t*4) + j)]
      }
)" + open +
      R"(
      for (i: int32, 0, 7) {
        attr [S_1] "double_buffer_write" = 1;
)" + filling +
      R"(
        for (j_1: int32, 0, 4) {
          B[(((i*128) + (t*4)) + j_1)] = S[(((floormod(i, 2)*128) + 127) - ((t*4) + j_1))]
        }
      }
)" + (condition.empty() ? "" : "      }\n") +
      "    }\n  }\n");
}

const std::string kByFours =
    "        S: Buffer(S_1, float32, [256], [], scope=\"shared\")"
    "[ramp(((floormod((i + 1), 2)*128) + (t*4)), 1, 4)] = A[ramp((((i + 1)*128) + (t*4)), 1, 4)]\n";
const std::string kByOnes =
    "        for (j_2: int32, 0, 4) {\n"
    "          S: Buffer(S_1, float32, [256], [], scope=\"shared\")"
    "[(((floormod((i + 1), 2)*128) + (t*4)) + j_2)] = A[((((i + 1)*128) + (t*4)) + j_2)]\n"
    "        }\n";

PrimFunc copied(const std::string& text) {
  PrimFunc func = inject_async_copies(test::parse_function(text), {});
  for (const Violation& violation : verify(func, Form::Lowered))
    ADD_FAILURE() << violation.what << ": " << violation.where;
  return func;
}

int count(const PrimFunc& func, Intrin intrin) {
  int found = 0;
  walk(func.body, [&](const Call& n) { found += n.is(intrin); });
  return found;
}

/// The bytes of each copy.
std::vector<std::int64_t> sizes(const PrimFunc& func) {
  std::vector<std::int64_t> found;
  walk(func.body, [&](const Call& n) {
    if (n.is(Intrin::ptx_cp_async)) found.push_back(*constant_int(n.args[2]));
  });
  return found;
}

TEST(InjectAsyncCopies, AVectorIsOneCopy) {
  EXPECT_EQ(sizes(copied(kernel(kByFours))), std::vector<std::int64_t>{16});
}

TEST(InjectAsyncCopies, AnElementAloneIsACopyOfItsBytes) {
  EXPECT_EQ(sizes(copied(kernel(kByOnes))), std::vector<std::int64_t>{4});
}

TEST(InjectAsyncCopies, AVectorThatIsNotAlignedGoesByParts) {
  std::string filling = kByFours;
  filling.replace(filling.find("A[ramp((((i + 1)*128) + (t*4))"), 30,
                  "A[ramp((((i + 1)*126) + (t*4))");
  EXPECT_EQ(sizes(copied(kernel(filling))), (std::vector<std::int64_t>{8, 8}));
}

TEST(InjectAsyncCopies, WhatComputesStaysAStore) {
  std::string filling = kByOnes;
  filling.replace(filling.find("= A[((((i + 1)*128) + (t*4)) + j_2)]"), 36,
                  "= (2f32*A[((((i + 1)*128) + (t*4)) + j_2)])");
  const PrimFunc func = copied(kernel(filling));
  EXPECT_EQ(count(func, Intrin::ptx_cp_async), 0);
  EXPECT_EQ(count(func, Intrin::ptx_wait_group), 0);
}

/// A copy is not there before it is waited for, not even for the thread that has begun it.
TEST(InjectAsyncCopies, WhatTheFillingReadsItselfStaysAStore) {
  const PrimFunc func = copied(kernel(
      R"(        allocate(D_1: Pointer(shared float32), float32, [32]), storage_scope = shared {
          D: Buffer(D_1, float32, [32], [], scope="shared")[t] = A[(((i + 1)*128) + t)]
          S: Buffer(S_1, float32, [256], [], scope="shared")[((floormod((i + 1), 2)*128) + t)] = D[t]
        }
)"));
  EXPECT_EQ(count(func, Intrin::ptx_cp_async), 0);
}

TEST(InjectAsyncCopies, ThreadsWaitForTheirCopiesAndThenForEachOther) {
  const PrimFunc func = synchronize_threads(copied(kernel(kByFours)), {});
  EXPECT_EQ(count(func, Intrin::ptx_commit_group), 1);
  EXPECT_EQ(count(func, Intrin::ptx_wait_group), 1);
  // One in the loop, and one for what is filled before it.
  EXPECT_EQ(count(func, Intrin::tvm_storage_sync), 2);
  EXPECT_TRUE(find_barrier_hazards(func).empty());
}

/// Barriers where the copies, of 128 elements, lie at such a distance.
int barriers_of_double_buffer(int distance) {
  std::string text = kernel(kByOnes);
  const std::string length = "floormod((i + 1), 2)*128", read = "floormod(i, 2)*128";
  const std::string apart = std::to_string(distance);
  text.replace(text.find(length), length.size(), "floormod((i + 1), 2)*" + apart);
  text.replace(text.find(read), read.size(), "floormod(i, 2)*" + apart);
  return count(synchronize_threads(test::parse_function(text), {}), Intrin::tvm_storage_sync);
}

// One copy is filled while the other is read: threads wait for each other once in an iteration.
TEST(InjectAsyncCopies, TheCopiesOfADoubleBufferAreToldApart) {
  EXPECT_EQ(barriers_of_double_buffer(128), 1);
}

TEST(InjectAsyncCopies, CopiesThatOverlapAreNot) { EXPECT_EQ(barriers_of_double_buffer(127), 2); }

TEST(InjectAsyncCopies, ALoopThatNotAllThreadsComeToIsLeftAlone) {
  EXPECT_EQ(count(copied(kernel(kByFours, "(t < 16)")), Intrin::ptx_cp_async), 0);
}

/// A barrier between the copy and the reads of the other part would not wait for the copy.
TEST(InjectAsyncCopies, CopiesOfABufferWhosePartsOverlapStayStores) {
  std::string text = kernel(kByFours);
  for (const std::string part : {"floormod((i + 1), 2)*", "floormod(i, 2)*"})
    text.replace(text.find(part) + part.size(), 3, "124");
  EXPECT_EQ(count(copied(text), Intrin::ptx_cp_async), 0);
}

/// The function without calls of the intrinsic.
PrimFunc without(PrimFunc func, Intrin intrin) {
  func.body = rewrite(func.body, [&](const Evaluate& n, const Stmt&) -> std::optional<Stmt> {
    if (as_call(n.value, intrin)) return make_nop();
    return std::nullopt;
  });
  return func;
}

TEST(InjectAsyncCopies, TheCheckOfBarriersFindsAMissingOne) {
  const PrimFunc func = copied(kernel(kByFours));
  EXPECT_FALSE(find_barrier_hazards(without(func, Intrin::tvm_storage_sync)).empty());
}

TEST(InjectAsyncCopies, TheCheckOfBarriersFindsCopiesThatNobodyWaitsFor) {
  const PrimFunc func = synchronize_threads(copied(kernel(kByFours)), {});
  EXPECT_FALSE(find_barrier_hazards(without(func, Intrin::ptx_wait_group)).empty());
}

std::vector<float> run(const PrimFunc& func, const EvaluateOptions& options = {}) {
  std::vector<float> a(1024), b(1024, -1.0f);
  for (std::size_t n = 0; n < a.size(); ++n) a[n] = static_cast<float>(n * 7 % 1009);
  const std::vector<HostValue> args = {HostArray{a.data(), Float(32), {1024}},
                                       HostArray{b.data(), Float(32), {1024}}};
  evaluate(func, args, options);
  return b;
}

TEST(InjectAsyncCopies, TheProgramComputesTheSame) {
  for (const std::string& filling : {kByFours, kByOnes}) {
    const PrimFunc before = synchronize_threads(test::parse_function(kernel(filling)), {});
    const PrimFunc after = synchronize_threads(copied(kernel(filling)), {});
    EXPECT_EQ(run(after, {.check_uninitialized = true, .check_races = true}), run(before));
  }
}

/// `text` with twice as many threads, of which two each do the same.
std::string twice(std::string text) {
  const std::string first = "  attr [IterVar(t: int32";
  text.insert(text.find(first),
              "  attr [IterVar(u: int32, (nullptr), \"ThreadIndex\", \"threadIdx.y\")] "
              "\"thread_extent\" = 2;\n");
  return text;
}

TEST(InjectAsyncCopies, ThreadsThatCopyTheSameDoNotRace) {
  const PrimFunc before = synchronize_threads(test::parse_function(kernel(kByFours)), {});
  const PrimFunc after = synchronize_threads(copied(twice(kernel(kByFours))), {});
  ASSERT_GT(count(after, Intrin::ptx_cp_async), 0);
  EXPECT_EQ(run(after, {.check_uninitialized = true, .check_races = true}), run(before));
}

/// Elements of A that differ, at one place.
TEST(InjectAsyncCopies, ThreadsThatCopyOtherValuesToOnePlaceRace) {
  std::string others = kByFours;
  const std::string from = "((i + 1)*128)";
  others.replace(others.rfind(from), from.size(), "(((i + 1)*128) - (u*4))");
  const PrimFunc func = synchronize_threads(copied(twice(kernel(others))), {});
  ASSERT_GT(count(func, Intrin::ptx_cp_async), 0);
  try {
    run(func, {.check_races = true});
    ADD_FAILURE() << "no race was found";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("a race"), std::string::npos) << error.what();
  }
}

TEST(InjectAsyncCopies, TheInterpreterGivesNoValueToWhatIsBeingCopied) {
  const PrimFunc func =
      without(synchronize_threads(copied(kernel(kByFours)), {}), Intrin::ptx_wait_group);
  EXPECT_THROW(run(func, {.check_uninitialized = true}), RuntimeError);
}

}  // namespace
}  // namespace tenon::lowering
