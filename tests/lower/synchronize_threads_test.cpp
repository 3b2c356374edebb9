#include "lower/passes.h"

#include <gtest/gtest.h>

#include "lower/checks/barrier_hazards.h"
#include "pass_text.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/processor_time.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// A kernel of 32 threads `t` with 64 elements `S` of such memory, around the body.
std::string kernel(std::string_view body, const std::string& scope = "shared") {
  return test::function_text(
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n"
      "    allocate(S_1: Pointer(" +
      scope + " float32), float32, [64]), storage_scope = " + scope + " {\n" + std::string(body) +
      "    }\n  }\n");
}

constexpr std::string_view kFill =
    "      S: Buffer(S_1, float32, [64], [], scope=\"shared\")[t] = A[t]\n";

std::string synchronized(std::string_view body) {
  return test::run(synchronize_threads, kernel(std::string(kFill) + std::string(body)));
}

/// The statements in order: "F" fills S, "|" is a barrier, "R" reads S, "{" and "}" are of loops
/// and conditions.
std::string order_of(const std::string& text) {
  std::string order;
  std::istringstream in(text);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find("allocate(") != std::string::npos) {
      inside = true;
    } else if (!inside) {
      continue;
    } else if (line.find("tvm_storage_sync") != std::string::npos) {
      order += '|';
    } else if (line.find("for (") != std::string::npos || line.find("if ") != std::string::npos) {
      order += '{';
    } else if (line.find_first_not_of(' ') == line.find('}')) {
      order += '}';
    } else if (line.find("= A[") != std::string::npos) {
      order += 'F';
    } else {
      order += 'R';
    }
  }
  return order.substr(0, order.find_last_not_of('}') + 1);
}

TEST(SynchronizeThreads, AReaderWaitsForTheThreadsThatWrite) {
  EXPECT_EQ(order_of(synchronized("      B[t] = S[(31 - t)]\n")), "F|R");
}

TEST(SynchronizeThreads, NobodyWaitsForItself) {
  EXPECT_EQ(order_of(synchronized("      B[t] = S[t]\n")), "FR");
}

TEST(SynchronizeThreads, ElementsApartNeedNoBarrier) {
  EXPECT_EQ(order_of(synchronized("      B[t] = S[(t + 32)]\n")), "FR");
}

TEST(SynchronizeThreads, OneBarrierServesAllReadersBehindIt) {
  EXPECT_EQ(order_of(synchronized("      B[t] = S[(31 - t)]\n      B[(t + 32)] = S[0]\n")), "F|RR");
}

TEST(SynchronizeThreads, AWriterWaitsForReaders) {
  EXPECT_EQ(order_of(synchronized("      B[t] = S[(31 - t)]\n      S[t] = A[(t + 32)]\n")),
            "F|R|F");
}

TEST(SynchronizeThreads, TheNextIterationWaitsBeforeItOverwrites) {
  const std::string text = test::run(synchronize_threads, kernel(R"(
      for (i: int32, 0, 8) {
        S: Buffer(S_1, float32, [64], [], scope="shared")[t] = A[((i*32) + t)]
        B[((i*32) + t)] = S[(31 - t)]
      }
)"));
  EXPECT_EQ(order_of(text), "{|F|R");
}

TEST(SynchronizeThreads, ATemporaryInGlobalMemoryIsNotOverwrittenUnderAReader) {
  // All threads store the same value; one that is ahead would store that of the next i.
  const std::string body =
      "      for (i: int32, 0, 3) {\n        S: Buffer(S_1, float32, [64], [])[0] = A[i]\n"
      "        B[((t*3) + i)] = S[0]\n      }\n";
  EXPECT_EQ(order_of(test::run(synchronize_threads, kernel(body, "global"))), "{|F|R");
}

TEST(SynchronizeThreads, IterationsThatUseOtherElementsGoOn) {
  const std::string text = test::run(synchronize_threads, kernel(R"(
      for (i: int32, 0, 2) {
        S: Buffer(S_1, float32, [64], [], scope="shared")[((i*32) + t)] = A[((i*32) + t)]
        B[((i*32) + t)] = S[(((i*32) + 31) - t)]
      }
)"));
  EXPECT_EQ(order_of(text), "{F|R");
}

TEST(SynchronizeThreads, AllThreadsWaitBeforeACondition) {
  EXPECT_EQ(order_of(synchronized("      if (t < 16) {\n        B[t] = S[(31 - t)]\n      }\n")),
            "F|{R");
}

constexpr std::string_view kRead = "B[t] = S[(31 - t)]\n";
constexpr std::string_view kWrite = "S[t] = A[(t + 32)]\n";

TEST(SynchronizeThreads, AConditionThatIsTheSameForAllMayHoldABarrier) {
  EXPECT_EQ(order_of(synchronized("      if (A[0] < 4f32) {\n" + std::string(kRead) + "      }\n")),
            "F|{R");
  EXPECT_EQ(
      order_of(synchronized("      for (i: int32, 0, 8) {\n        if (i < 4) {\n" +
                            std::string(kRead) + std::string(kWrite) + "        }\n      }\n")),
      "F{|{R|F");
}

TEST(SynchronizeThreads, ALoopWaitsInEachIterationOrInNone) {
  // PoCL 3.1 crashes on loops that come to a barrier in some iterations only.
  EXPECT_EQ(order_of(synchronized("      for (i: int32, 0, 4) {\n        if (i < 3) {\n"
                                  "          S[((t + i) + 1)] = A[t]\n        }\n      }\n")),
            "F{|{F");
}

TEST(SynchronizeThreads, OneThreadDoesNotWaitForItself) {
  const std::string condition = "        if (t == 0) {\n  ";
  EXPECT_EQ(order_of(test::run(
                synchronize_threads,
                kernel("      for (i: int32, 0, 8) {\n" + condition +
                       "S: Buffer(S_1, float32, [64], [], scope=\"shared\")[i] = A[i]\n        }\n"
                       "        if (t < 1) {\n  S[i] = (S[i] + 1f32)\n        }\n      }\n" +
                       "      B[t] = S[t]\n"))),
            "{{F}{R}}|R");
}

/// The first so many threads fill 16 elements in each of four iterations.
std::string filled_by(int threads) {
  return order_of(test::run(
      synchronize_threads,
      kernel("      for (i: int32, 0, 4) {\n        if (t < " + std::to_string(threads) +
             ") {\n          S: Buffer(S_1, float32, [64], [], scope=\"shared\")[((i*16) + t)] = "
             "A[((i*16) + t)]\n        }\n      }\n")));
}

TEST(SynchronizeThreads, IterationsThatFewThreadsFillApartNeedNotWait) {
  EXPECT_EQ(filled_by(16), "{{F");
  EXPECT_EQ(filled_by(17), "{|{F");
}

TEST(SynchronizeThreads, BarriersConsiderOnlyThreadsThatReachTheRead) {
  const auto read = [](const std::string& who, const std::string& index) {
    return order_of(
        synchronized("      if (" + who + ") {\n        B[t] = S[(" + index + ")]\n      }\n"));
  };
  EXPECT_EQ(read("t < 8", "t + 25"), "F|{R");
  EXPECT_EQ(read("8 <= t", "t + 25"), "F{R");
  EXPECT_EQ(read("t == 7", "t + 25"), "F{R");
  EXPECT_EQ(read("t == 6", "t + 25"), "F|{R");
}

TEST(SynchronizeThreads, ThreadsOfOtherIndicesWaitForEachOther) {
  EXPECT_EQ(order_of(synchronized("      if (t == 0) {\n        S[0] = A[t]\n      }\n"
                                  "      if (t == 1) {\n        B[t] = S[0]\n      }\n")),
            "F{F}|{R");
}

TEST(SynchronizeThreads, ALoopIsWaitedForOnceWhereItsIterationsNeedNotWait) {
  EXPECT_EQ(
      order_of(synchronized("      for (i: int32, 0, 8) {\n" + std::string(kRead) + "      }\n")),
      "F|{R");
}

TEST(SynchronizeThreads, BeforeAConditionThatMayNotHoldAllWaitForAllThatFollows) {
  const std::string symbolic = "      let n: int32 = cast(int32, 3f32)\n      if (n < 4) {\n" +
                               std::string(kRead) + "      }\n" + std::string(kRead);
  const std::string text = synchronized(symbolic);
  EXPECT_EQ(order_of(text), "FRR|{R}}R") << "with braces around the barrier and the condition\n"
                                         << text;
}

TEST(SynchronizeThreads, ALoopThatMayNotRunForgetsNothing) {
  const std::string symbolic =
      "      let n: int32 = cast(int32, 3f32)\n      for (i: int32, 0, n) {\n" +
      std::string(kRead) + std::string(kWrite) + "      }\n" + std::string(kRead);
  EXPECT_EQ(order_of(synchronized(symbolic)), "FR{|R|F}|R");
}

TEST(SynchronizeThreads, AValueThatIsReadAheadIsWaitedFor) {
  EXPECT_EQ(order_of(synchronized("      let x: float32 = S[(31 - t)]\n      B[t] = x\n")), "F|RR");
}

TEST(SynchronizeThreads, ABarrierThatOnlySomeWouldReachIsRefused) {
  try {
    synchronized(
        "      if (t < 16) {\n        S[t] = A[(t + 32)]\n        B[t] = S[(15 - t)]\n      }\n");
    FAIL() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot wait for each other"), std::string::npos)
        << error.what();
  }
}

TEST(SynchronizeThreads, WhoeverIsGivenAnAddressMayReadAnything) {
  EXPECT_EQ(order_of(synchronized(
                "      @tir.call_extern(\"use\", @tir.tvm_access_ptr(@tir.type_annotation(, "
                "dtype=float32), S_1, 0, 64, 1, dtype=handle), dtype=int32)\n")),
            "F|R");
  EXPECT_EQ(
      order_of(synchronized(
          "      @tir.call_extern(\"use\", @tir.address_of(S[t], dtype=handle), dtype=int32)\n")),
      "F|R");
}

// ---- random kernels -----------------------------------------------------------------------------

TEST(SynchronizeThreads, EveryBarrierOfStraightCodeIsNeeded) {
  // Any one left out is noticed.
  const PrimFunc func =
      test::parse_function(kernel(std::string(kFill) + "      " + std::string(kRead) + "      " +
                                  std::string(kWrite) + "      " + std::string(kRead)));
  const Stmt body = synchronize_threads(func, {}).body;
  int barriers = 0;
  walk(body, [&](const Call& call) { barriers += call.is(Intrin::tvm_storage_sync); });
  EXPECT_EQ(barriers, 3);
  for (int left_out = 0; left_out < barriers; ++left_out) {
    int count = 0;
    PrimFunc without = func;
    without.body = rewrite(body, [&](const Evaluate& n, const Stmt&) -> std::optional<Stmt> {
      if (!as_call(n.value, Intrin::tvm_storage_sync) || count++ != left_out) return std::nullopt;
      return make_nop();
    });
    EXPECT_FALSE(find_barrier_hazards(without).empty()) << left_out;
  }
}

TEST(SynchronizeThreads, TheRunnerChecksTheBarriers) {
  PrimFunc racing = test::parse_function(kernel(std::string(kFill) + std::string(kRead)));
  const Pass none{"synchronize-threads",
                  [](const PrimFunc& func, const PassOptions&) { return func; }, Form::Lowered,
                  Form::Lowered, ""};
  EXPECT_THROW(run_passes(std::span(&none, 1), racing, {}), PassFailure);
}

// ---- cost ---------------------------------------------------------------------------------------

/// A twentieth of a second, in which each of these programs is done a dozen times.
constexpr double kLittle = 0.05;

double seconds_of(const std::string& text) {
  const PrimFunc func = test::parse_function(text);
  return testing::least_seconds(kLittle, [&] {
    const double start = testing::processor_seconds();
    const PrimFunc result = synchronize_threads(func, {});
    EXPECT_TRUE(find_barrier_hazards(result).empty());
    return testing::processor_seconds() - start;
  });
}

/// 12 loops around 200 uses, the elements of which `offset` says.
std::string nested_loops(const std::function<std::string(int)>& use) {
  std::string text;
  for (int n = 0; n < 12; ++n) text += "for (i" + std::to_string(n) + ": int32, 0, 2) {\n";
  for (int n = 0; n < 200; ++n) text += use(n) + "\n";
  for (int n = 0; n < 12; ++n) text += "}\n";
  return kernel(std::string(kFill) + text);
}

TEST(SynchronizeThreads, CostsInProportionToTheProgram) {
  const auto element = [](int n) {
    return "((t + " + std::to_string(32 * (n / 2)) + ") + (i" + std::to_string(n % 12) + "*6400))";
  };
  // Elements of each thread, elements of neighbours, and divisions.
  EXPECT_LT(seconds_of(nested_loops([&](int n) {
              return n % 2 == 0 ? "S[" + element(n) + "] = A[t]" : "B[t] = S[" + element(n) + "]";
            })),
            kLittle);
  EXPECT_LT(seconds_of(nested_loops([&](int n) {
              return n % 2 == 0 ? "S[" + element(n) + "] = A[t]"
                                : "B[t] = S[(31 - " + element(n) + ")]";
            })),
            kLittle);
  EXPECT_LT(seconds_of(nested_loops([&](int n) {
              return n % 2 == 0 ? "S[floordiv(" + element(n) + ", 3)] = A[t]"
                                : "B[t] = S[floormod(" + element(n) + ", 7)]";
            })),
            kLittle);
  std::string ifs;
  for (int n = 0; n < 24; ++n)
    ifs +=
        "if (n < " + std::to_string(n) + ") {\n" + std::string(n % 2 == 0 ? kRead : kWrite) + "}\n";
  EXPECT_LT(seconds_of(kernel("let n: int32 = cast(int32, 3f32)\n" + std::string(kFill) + ifs)),
            kLittle);
}

TEST(SynchronizeThreads, SharedMemoryOfTwoKernelsIsRefused) {
  const std::string thread =
      "attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32";
  const PrimFunc func = test::parse_function(test::function_text(
      "  allocate(S_1: Pointer(shared float32), float32, [64]), storage_scope = shared {\n    " +
      thread + " {\n" + std::string(kFill) + "    }\n    " + thread +
      " {\n      B[t] = S[t]\n    }\n  }\n"));
  try {
    synchronize_threads(func, {});
    FAIL() << "nothing is refused";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("shared memory `S_1`"), std::string::npos)
        << error.what();
  }
}

TEST(SynchronizeThreads, CodeWithoutSharedMemoryStaysAsItIs) {
  for (const test::KnownText& known : test::known_functions()) {
    if (known.text.find("shared") != std::string::npos) continue;
    const tir::PrimFunc func = test::parse_function(known.text);
    EXPECT_EQ(test::text_of(synchronize_threads(func, {})), test::text_of(func)) << known.name;
  }
}

}  // namespace
}  // namespace tenon::lowering
