#include "tenon/interp/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {
namespace {

HostArray array(std::vector<float>& values) {
  return {values.data(), Float(32), {static_cast<std::int64_t>(values.size())}};
}

PrimFunc function(const std::string& body, int a = 8, int b = 8) {
  const std::string m = std::to_string(a), n = std::to_string(b);
  const std::string text =
      "@main = primfn(A_1: handle, B_1: handle) -> ()\n  attr = {\"global_symbol\": \"main\"}\n" +
      ("  buffers = {A: Buffer(A_2: Pointer(float32), float32, [" + m + "], []),\n") +
      "             B: Buffer(B_2: Pointer(float32), float32, [" + n + "], [])}\n" +
      "  buffer_map = {A_1: A, B_1: B}\n  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [" +
      m + "], []), B_1: B_3: Buffer(B_2, float32, [" + n + "], [])} {\n" + body + "\n}\n";
  return parse_module(text).functions.at("main");
}

std::vector<float> run(const PrimFunc& func, std::vector<float> a, std::size_t outputs) {
  std::vector<float> b(outputs, NAN);
  const std::vector<HostValue> args = {array(a), array(b)};
  evaluate(func, args, {.check_uninitialized = true});
  return b;
}

std::vector<float> counting(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(Evaluate, SumsIntoATemporary) {
  const PrimFunc func = function(R"(
    allocate(t: Pointer(global float32), float32, [1]), storage_scope = global {
      t_1: Buffer(t, float32, [1], [], align=4)[0] = 0f32
      for (k: int32, 0, 8) {
        t_1[0] = (t_1[0] + A[k])
      }
      B[0] = t_1[0]
    })",
                                 8, 1);
  EXPECT_EQ(run(func, counting(8), 1).front(), 36.0f);
}

TEST(Evaluate, VectorsLaneByLane) {
  const PrimFunc func = function("B[ramp(7, -1, 8)] = (A[ramp(0, 1, 8)]*broadcast(2f32, 8))");
  EXPECT_EQ(run(func, counting(8), 8), (std::vector<float>{16, 14, 12, 10, 8, 6, 4, 2}));
}

TEST(Evaluate, OneSideOfIfThenElseOnly) {
  const PrimFunc func = function(R"(for (i: int32, 0, 8) {
    B[i] = @tir.if_then_else((1 <= i), A[(i - 1)], 0f32, dtype=float32)
  })");
  EXPECT_EQ(run(func, counting(8), 8), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Evaluate, AShuffleOfAChosenSideReadsTheLanesThatItPicks) {
  const PrimFunc func = function(
      "B[ramp(0, 1, 4)] = select((ramp(0, 1, 4) == broadcast(3, 4)), shuffle([A[ramp(0, 1, 4)]], [3, 2, "
      "1, 0]), broadcast(9f32, 4))",
      4, 4);
  EXPECT_EQ(run(func, counting(4), 4), (std::vector<float>{9, 9, 9, 1}));
}

TEST(Evaluate, AccessOutsideIsAnErrorThatNamesIt) {
  const PrimFunc func = function("B[0] = A[8]");
  try {
    run(func, counting(8), 8);
    FAIL() << "accepted";
  } catch (const RuntimeError& error) {
    EXPECT_STREQ(error.what(), "a read outside buffer `A`: A[8]");
  }
}

TEST(Evaluate, ReadBeforeWriteIsAnErrorWhereAskedFor) {
  const PrimFunc func =
      function(R"(allocate(t: Pointer(global float32), float32, [4]), storage_scope = global;
    B[0] = t_1: Buffer(t, float32, [4], [], align=16)[2])");
  EXPECT_THROW(run(func, counting(8), 8), RuntimeError);
}

TEST(Evaluate, WrongArgumentsAreErrors) {
  const PrimFunc func = function("B[0] = A[0]");
  std::vector<float> seven(7), eight(8);
  EXPECT_THROW(evaluate(func, std::vector<HostValue>{array(seven), array(eight)}), RuntimeError);
  EXPECT_THROW(evaluate(func, std::vector<HostValue>{array(eight)}), RuntimeError);
}

TEST(Evaluate, ThreadsReduceTogether) {
  // 4 rows (threadIdx.y) of 8 threads (threadIdx.x), which sum their row.
  PrimFunc func = function(R"(
    attr [IterVar(threadIdx.y: int32, (nullptr), "ThreadIndex", "threadIdx.y")] "thread_extent" = 4;
    attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 8;
    allocate(reduce_temp0: Pointer(local float32), float32, [1]), storage_scope = local {
      attr [meta[tir.CommReducer][0]] "reduce_scope" = @tir.reinterpret(0u64, dtype=handle);
      @tir.tvm_thread_allreduce(1u32, A[((threadIdx.y*8) + threadIdx.x)], True, r: Buffer(reduce_temp0, float32, [1], [], scope="local")[0], threadIdx.x, dtype=handle)
      B[threadIdx.y] = r[0]
    })",
                           32, 4);
  // The text does not carry the reducer: put a sum in its place.
  const Var x("x", Float(32)), y("y", Float(32));
  auto sum = std::make_shared<const CommReducerNode>(
      CommReducerNode{{x}, {y}, {x + y}, {make_float(Float(32), 0)}, "sum"});
  func.body = rewrite(func.body, [&](const Attr& attr, const Stmt&) -> std::optional<Stmt> {
    if (attr.kind != AttrKind::ReduceScope) return std::nullopt;
    return make_stmt(Attr{attr.kind, sum, attr.key, attr.value, attr.body});
  });
  std::vector<float> expected;
  const std::vector<float> a = counting(32);
  for (std::size_t row = 0; row < 4; ++row)
    expected.push_back(std::accumulate(a.begin() + row * 8, a.begin() + row * 8 + 8, 0.0f));
  EXPECT_EQ(run(func, a, 4), expected);
}

TEST(Evaluate, SharedMemoryIsOneAndLocalIsPerThread) {
  const PrimFunc func = function(R"(
    allocate(s: Pointer(shared float32), float32, [8]), storage_scope = shared;
    allocate(l: Pointer(local float32), float32, [1]), storage_scope = local;
    attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 8 {
      l_1: Buffer(l, float32, [1], [], scope="local", align=4)[0] = A[threadIdx.x]
      s_1: Buffer(s, float32, [8], [], scope="shared", align=32)[threadIdx.x] = l_1[0]
      B[threadIdx.x] = (s_1[(7 - threadIdx.x)] + l_1[0])
    })");
  EXPECT_EQ(run(func, counting(8), 8), std::vector<float>(8, 9.0f));
}

TEST(Evaluate, EveryVirtualThreadOfAWarpHasMemoryOfItsOwn) {
  const PrimFunc func = function(R"(
    attr [IterVar(v: int32, (nullptr), "ThreadIndex", "vthread")] "virtual_thread" = 2;
    attr [IterVar(t: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 4;
    allocate(w: Pointer(warp float32), float32, [4]), storage_scope = warp {
      w_1: Buffer(w, float32, [4], [], scope="warp")[t] = A[((v*4) + t)]
      B[((v*4) + t)] = w_1[(3 - t)]
    })");
  EXPECT_EQ(run(func, counting(8), 8), (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(Evaluate, VirtualThreadsShareWhatTheirThreadHasAroundThem) {
  // Two threads: each of them writes its two elements by two virtual threads, and reads them
  // behind.
  const PrimFunc func = function(R"(
    attr [IterVar(t: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 2;
    allocate(l: Pointer(local float32), float32, [2]), storage_scope = local {
      attr [IterVar(v: int32, (nullptr), "ThreadIndex", "vthread")] "virtual_thread" = 2 {
        l_1: Buffer(l, float32, [2], [], scope="local")[v] = A[((t*2) + v)]
        B[((t*2) + v)] = l_1[(1 - v)]
      }
      B[(t + 4)] = (l_1[0] + l_1[1])
    })",
                                 4, 6);
  EXPECT_EQ(run(func, counting(4), 6), (std::vector<float>{2, 1, 4, 3, 3, 7}));
}

TEST(Evaluate, WarpMemoryOfTheFirstVirtualThreadIsSeenAroundIt) {
  const PrimFunc func = function(R"(
    allocate(w: Pointer(warp float32), float32, [1]), storage_scope = warp {
      attr [IterVar(v: int32, (nullptr), "ThreadIndex", "cthread")] "virtual_thread" = 1 {
        w_1: Buffer(w, float32, [1], [], scope="warp")[0] = A[3]
      }
      B[0] = w_1[0]
    })",
                                 8, 1);
  EXPECT_EQ(run(func, counting(8), 1), (std::vector<float>{counting(8)[3]}));
}

TEST(Evaluate, Float16RoundsToNearestEven) {
  // Between 2048 and 4096 a float16 counts in twos: 2049 is halfway, and goes to the even 2048;
  // 2051 to 2052.
  for (auto [given, rounded] : {std::pair{2049.0, 2048.0}, {2051.0, 2052.0}})
    EXPECT_EQ(std::get<double>(evaluate(make_cast(Float(16), make_float(Float(32), given)))),
              rounded);
}

TEST(Evaluate, IntegersOfExpressions) {
  const Var i("i"), j("j");
  auto value = [&](const Var& v) -> std::int64_t { return v.same_as(i) ? -7 : 3; };
  EXPECT_EQ(evaluate_int(floordiv(i, j), value), -3);
  EXPECT_EQ(evaluate_int(truncdiv(i, j), value), -2);
  EXPECT_EQ(evaluate_int(floormod(i, j), value), 2);
  EXPECT_EQ(evaluate_int(truncmod(i, j), value), -1);
}

// ---- what threads might do in another order -----------------------------------------------------

/// Eight threads `t` that share S, around the statements.
PrimFunc block_of_threads(const std::string& statements) {
  return function(R"(
    attr [IterVar(t: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 8 {
      allocate(S: Pointer(shared float32), float32, [8]), storage_scope = shared {
        S_1: Buffer(S, float32, [8], [], scope="shared")[t] = A[t]
)" + statements + "      }\n    }");
}

std::string error_of_threads(const std::string& statements) {
  std::vector<float> a = counting(8), b(8, NAN);
  try {
    evaluate(block_of_threads(statements), std::vector<HostValue>{array(a), array(b)},
             {.check_races = true});
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return b == std::vector<float>{8, 7, 6, 5, 4, 3, 2, 1} ? "" : "wrong numbers";
}

constexpr const char* kBarrier = "        @tir.tvm_storage_sync(\"shared\", dtype=int32)\n";

TEST(EvaluateRaces, AReadOfWhatAnotherThreadMayStillWrite) {
  const std::string error = error_of_threads("        B[t] = S_1[(7 - t)]\n");
  EXPECT_NE(error.find("a race: S_1[7] is read"), std::string::npos) << error;
}

TEST(EvaluateRaces, ABarrierBetweenMakesItRight) {
  EXPECT_EQ(error_of_threads(kBarrier + std::string("        B[t] = S_1[(7 - t)]\n")), "");
}

TEST(EvaluateRaces, AWriteOfWhatAnotherThreadMayStillRead) {
  const std::string error = error_of_threads(
      kBarrier + std::string("        B[t] = S_1[(7 - t)]\n        S_1[t] = 0f32\n"));
  EXPECT_NE(error.find("a race: S_1[0] is written"), std::string::npos) << error;
}

constexpr const char* kAllWriteZero = "        S_1[0] = 0f32\n";

TEST(EvaluateRaces, ThreadsThatAllWriteTheSameValueAndReadItThemselves) {
  EXPECT_EQ(error_of_threads(kBarrier + std::string(kAllWriteZero) +
                             "        B[t] = (S_1[0] + A[(7 - t)])\n"),
            "");
}

TEST(EvaluateRaces, AThreadThatReadsWhatAllOthersWriteTheSame) {
  const std::string error = error_of_threads(kBarrier + std::string("        if (0 < t) {\n  ") +
                                             kAllWriteZero + "        }\n        B[t] = S_1[0]\n");
  EXPECT_NE(error.find("a race: S_1[0] is read"), std::string::npos) << error;
}

TEST(EvaluateRaces, AChangeOfWhatAllThreadsHaveWrittenTheSame) {
  const std::string error =
      error_of_threads(kBarrier + std::string(kAllWriteZero) +
                       "        if (t == 3) {\n          S_1[0] = 1f32\n        }\n");
  EXPECT_NE(error.find("a race: S_1[0] is written"), std::string::npos) << error;
}

TEST(EvaluateRaces, AWriteOfTheOldValueThatAnotherThreadHasRead) {
  const std::string error =
      error_of_threads(kBarrier + std::string("        B[t] = S_1[0]\n") +
                       "        if (t == 3) {\n          S_1[0] = 1f32\n        }\n");
  EXPECT_NE(error.find("a race: S_1[0] is written"), std::string::npos) << error;
}

TEST(EvaluateRaces, ABarrierThatSomeNeverReach) {
  const std::string error =
      error_of_threads("        if (t < 4) {\n  " + std::string(kBarrier) + "        }\n");
  EXPECT_NE(error.find("only 4 of 8 threads"), std::string::npos) << error;
}

// ---- what blocks might do in another order ------------------------------------------------------

/// Four blocks `b` that run the statements.
std::string error_of_blocks(const std::string& statements) {
  const PrimFunc func = function(
      "attr [IterVar(b: int32, (nullptr), \"ThreadIndex\", \"blockIdx.x\")] \"thread_extent\" = 4 "
      "{\n" +
      statements + "}\n");
  std::vector<float> a = counting(8), b(8, 0.0f);
  try {
    evaluate(func, std::vector<HostValue>{array(a), array(b)}, {.check_races = true});
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST(EvaluateRaces, FindAReadOfWhatAnotherBlockHasWritten) {
  EXPECT_EQ(error_of_blocks("if (b == 0) {\n B[0] = 1f32\n }\n B[(b + 1)] = B[0]\n"),
            "a race: B[0] is read by one block and used by another of the same launch, which "
            "nothing orders");
}

TEST(EvaluateRaces, FindAWriteOfWhatAnotherBlockHasRead) {
  EXPECT_EQ(error_of_blocks("B[(b + 1)] = B[0]\n if (b == 3) {\n B[0] = 1f32\n }\n"),
            "a race: B[0] is written by one block and used by another of the same launch, which "
            "nothing orders");
}

TEST(EvaluateRaces, FindASumThatEveryBlockComputes) {
  EXPECT_NE(error_of_blocks("B[0] = 0f32\n for (k: int32, 0, 8) {\n B[0] = (B[0] + A[k])\n }\n"),
            "");
}

TEST(EvaluateRaces, AllowBlocksToReadWhatEachOfThemHasWritten) {
  EXPECT_EQ(error_of_blocks("B[0] = A[0]\n B[(b + 1)] = B[0]\n"), "");
}

TEST(EvaluateRaces, AreNotSoughtBetweenLaunches) {
  EXPECT_EQ(error_of_blocks("B[b] = A[b]\n}\nattr [IterVar(c: int32, (nullptr), \"ThreadIndex\", "
                            "\"blockIdx.x\")] \"thread_extent\" = 4 {\n B[(c + 4)] = B[(3 - c)]\n"),
            "");
}

}  // namespace
}  // namespace tenon::tir
