#include "lower/passes/synchronize_threads.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/support/error.h"

namespace tenon::lowering {
namespace {

/// A kernel of 32 threads `t` with 64 elements `S` of shared memory, around the body.
std::string kernel(std::string_view body) {
  return test::function_text(
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n"
      "    allocate(S_1: Pointer(shared float32), float32, [64]), storage_scope = shared {\n" +
      std::string(body) + "    }\n  }\n");
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

TEST(SynchronizeThreads, AConditionThatIsTheSameForAllMayHoldABarrier) {
  EXPECT_EQ(
      order_of(synchronized(
          "      for (i: int32, 0, 8) {\n        if (i < 4) {\n          B[((i*32) + t)] = S[(31 - "
          "t)]\n        }\n      }\n")),
      "F{{|R");
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

TEST(SynchronizeThreads, CodeWithoutSharedMemoryStaysAsItIs) {
  for (const test::KnownText& known : test::known_functions()) {
    if (known.text.find("shared") != std::string::npos) continue;
    const tir::PrimFunc func = test::parse_function(known.text);
    EXPECT_EQ(test::text_of(synchronize_threads(func, {})), test::text_of(func)) << known.name;
  }
}

}  // namespace
}  // namespace tenon::lowering
