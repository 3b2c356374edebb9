#include "lower/passes.h"

#include <gtest/gtest.h>

#include <random>

#include "lower/checks/barrier_hazards.h"
#include "lower/gpu/shared_uses.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"
#include "tests/common/processor_time.h"

namespace tenon::lowering {
namespace {

// ---- barriers -----------------------------------------------------------------------------------

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

/// Fills elements of S under a condition, in a loop over `o`.
std::string fill_under_a_condition(const std::string& index) {
  return "      for (o: int32, 0, 2) {\n        if (((o*32) + t) < 15) {\n"
         "          S: Buffer(S_1, float32, [64], [], scope=\"shared\")[" +
         index + "] = A[((o*32) + t)]\n        }\n      }\n";
}

TEST(SynchronizeThreads, ThreadsThatFillRowsWithGapsDoNotWait) {
  const std::string index = "((floordiv(((o*32) + t), 3)*12) + floormod(((o*64) + (t*2)), 6))";
  EXPECT_EQ(order_of(test::run(synchronize_threads, kernel(fill_under_a_condition(index)))), "{{F");
}

TEST(SynchronizeThreads, ARefusalNamesTheAccessesThatConflict) {
  try {
    test::run(synchronize_threads,
              kernel("      if (t < 15) {\n        for (o: int32, 0, 2) {\n"
                     "          S: Buffer(S_1, float32, [64], [], scope=\"shared\")"
                     "[floormod((o + t), 5)] = A[t]\n        }\n      }\n"));
    ADD_FAILURE() << "nothing was refused";
  } catch (const LowerError& error) {
    const std::string access = "writes S[floormod((o + t), 5)]";
    EXPECT_EQ(std::string(error.what())
                  .find("several threads of a block may access an element: one " + access +
                        " and another one " + access + ", inside of a condition or a loop"),
              0u)
        << error.what();
  }
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

/// Three times the seconds that the slowest of these programs takes. Work that grows with the
/// product of the loops' extents, or with the square of the divisions, takes seconds.
constexpr double kLittle = 0.15;

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

// ---- uses of shared memory ----------------------------------------------------------------------

/// Barriers in a kernel of 32 threads `t`.
int barriers_in(const std::string& body) {
  const std::string text = test::function_text(
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n" +
      body + "  }\n");
  const PrimFunc func = synchronize_threads(test::parse_function(text), {});
  int barriers = 0;
  walk(func.body, [&](const Call& call) { barriers += call.is(Intrin::tvm_storage_sync); });
  return barriers;
}

TEST(SharedUses, GlobalMemoryThatOtherThreadsHaveWrittenIsWaitedFor) {
  EXPECT_EQ(barriers_in("      B[t] = A[t]\n      B[(t + 32)] = B[(31 - t)]\n"), 1);
}

TEST(SharedUses, NobodyWaitsForItsOwnElementsOfGlobalMemory) {
  EXPECT_EQ(barriers_in("      B[t] = 0f32\n      for (k: int32, 0, 8) {\n"
                        "        B[t] = (B[t] + A[((t*8) + k)])\n      }\n"),
            0);
}

/// The statements with a matrix of 16 x 16 sums, and 1024 floats of the block beside it.
int barriers_of_matrices(const std::string& body) {
  return barriers_in(
      "    allocate(S_1: Pointer(shared float32), float32, [1024]), storage_scope = shared {\n"
      "    allocate(F: Pointer(wmma.accumulator float32), float32, [256]), storage_scope = "
      "wmma.accumulator {\n" +
      body + "    }\n    }\n");
}

/// Loads or stores a matrix in S from there on, whose rows are so far apart.
std::string matrix(bool is_store, const std::string& from, int stride) {
  return std::string("      @tir.") + (is_store ? "tvm_store" : "tvm_load") +
         "_matrix_sync(F, 16, 16, 16, 0, "
         "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), S_1, " +
         from + ", 256, " + (is_store ? "2" : "1") + ", dtype=handle), " + std::to_string(stride) +
         ", \"row_major\", dtype=handle)\n";
}

TEST(SharedUses, AMatrixThatThreadsReadIsWaitedFor) {
  const std::string read =
      "      B[t] = S: Buffer(S_1, float32, [1024], [], scope=\"shared\")[t]\n";
  EXPECT_EQ(barriers_of_matrices(matrix(true, "0", 16) + read), 1);
  EXPECT_EQ(barriers_of_matrices(matrix(true, "512", 16) + read), 0);
}

TEST(SharedUses, WhatThreadsHaveWrittenIsWaitedForBeforeAMatrixIsLoaded) {
  const std::string fill =
      "      S: Buffer(S_1, float32, [1024], [], scope=\"shared\")[t] = A[t]\n";
  EXPECT_EQ(barriers_of_matrices(fill + matrix(false, "0", 16)), 1);
  EXPECT_EQ(barriers_of_matrices(fill + matrix(false, "32", 16)), 0);
}

TEST(SharedUses, MatricesSideBySideAreStoredWithoutWaiting) {
  const auto stored = [](int columns) {
    return barriers_of_matrices("      for (j: int32, 0, 2) {\n" +
                                matrix(true, "(j*" + std::to_string(columns) + ")", 32) +
                                "      }\n");
  };
  EXPECT_EQ(stored(16), 0);
  EXPECT_EQ(stored(8), 1);
}

// ---- random kernels -----------------------------------------------------------------------------

// Barriers of random kernels: what they leave racing, the interpreter sees.

/// Kernels of 4 x 2 threads that fill and read shared memory in loops and under conditions.
class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}

  PrimFunc function() {
    const IterVar y(Range(0, 2), ty_, IterKind::ThreadIndex, ThreadTag::parse("threadIdx.y")),
        x(Range(0, 4), tx_, IterKind::ThreadIndex, ThreadTag::parse("threadIdx.x"));
    Stmt body = block(0);
    for (const Buffer& s : shared_) {
      // All of it holds something before it is read.
      const Expr thread = ty_ * 4 + tx_;
      for (int n = 0; n < kSize; n += 8) body = make_seq({make_store(s, 1, {thread + n}), body});
    }
    for (const Buffer& s : shared_)
      body = make_stmt(Allocate{s->data, s->dtype, s->shape, make_true(), body});
    body = make_stmt(Attr{AttrKind::ThreadExtent, x, "", 4, body});
    body = make_stmt(Attr{AttrKind::ThreadExtent, y, "", 2, body});
    PrimFunc func{{}, {}, body};
    func.buffers.push_back({Var("out", Handle()), out_, out_});
    func.params.push_back(func.buffers.back().param);
    return func;
  }

 private:
  static constexpr int kSize = 32;
  static Buffer shared(const std::string& name) {
    const Var data(name, PointerType{Int(32), StorageScope::Shared});
    return decl_buffer({kSize}, Int(32), {.name = name, .data = data});
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// For stores one element of each thread, so that a statement does not race with itself.
  Expr index(bool is_store) {
    const Expr thread = ty_ * 4 + tx_;
    Expr e = pick(3) == 0 ? 7 - thread : thread;
    if (!is_store) {
      if (pick(4) == 0) e = floordiv(thread, 2);
      if (pick(6) == 0) e = Expr(tx_);
      if (pick(8) == 0) e = pick(8);
    }
    if (!loops_.empty() && pick(2) == 0) {
      const Var& loop = loops_[static_cast<std::size_t>(pick(static_cast<int>(loops_.size())))];
      e = e + (pick(3) == 0 ? floormod(loop, 2) * 8 : loop * (pick(2) == 0 ? 8 : 1));
    }
    return pick(4) == 0 ? e + 8 : e;
  }

  Stmt leaf() {
    const Buffer& s = shared_[static_cast<std::size_t>(pick(2))];
    if (pick(2) == 0) return make_store(s, 1, {index(true)});
    return make_store(out_, s({index(false)}), {ty_ * 4 + tx_});
  }

  Stmt block(int depth) {
    std::vector<Stmt> stmts;
    for (int n = 1 + pick(3); n >= 0; --n) {
      const int kind = depth < 3 ? pick(6) : 5;
      if (kind == 0) {
        const Var loop("i" + std::to_string(depth));
        loops_.push_back(loop);
        const Stmt body = block(depth + 1);
        loops_.pop_back();
        stmts.push_back(make_stmt(For{loop, pick(2), 1 + pick(2), ForKind::Serial, body}));
      } else if (kind == 1 && !loops_.empty()) {
        const Expr condition = loops_.back() < 1;
        Stmt then_case = block(depth + 1);
        std::optional<Stmt> else_case;
        if (pick(2) == 0) else_case = block(depth + 1);
        stmts.push_back(make_stmt(If{condition, then_case, else_case}));
      } else if (kind == 2) {
        const Expr conditions[] = {tx_ < 2,  tx_ < 1,  tx_ == 3, all(ty_ == 1, tx_ == 0),
                                   tx_ >= 1, 1 <= tx_, ty_ < 1,  all(tx_ >= 1, tx_ < 3)};
        stmts.push_back(make_stmt(If{conditions[pick(8)], leaf(), std::nullopt}));
      } else {
        stmts.push_back(leaf());
      }
    }
    return make_seq(std::move(stmts));
  }

  std::mt19937 random_;
  Var tx_{"tx"}, ty_{"ty"};
  std::vector<Buffer> shared_{shared("S"), shared("T")};
  Buffer out_ = decl_buffer({8}, Int(32), {.name = "out"});
  std::vector<Var> loops_;
};

bool races(const PrimFunc& func) {
  std::vector<std::int32_t> out(8);
  const std::vector<HostValue> args{HostArray{out.data(), Int(32), {8}}};
  try {
    evaluate(func, args, {.check_races = true});
  } catch (const RuntimeError&) {
    return true;
  }
  return false;
}

TEST(SynchronizeThreads, RandomKernelsDoNotRace) {
  int racing = 0, synchronized = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const PrimFunc before = RandomKernel(seed).function();
    const bool raced = races(before);
    racing += raced;
    // A kernel without hazards must not race.
    EXPECT_TRUE(!raced || !find_barrier_hazards(before).empty()) << print_function(before);
    try {
      const PrimFunc after = synchronize_threads(before, {});
      const std::vector<Violation> hazards = find_barrier_hazards(after);
      EXPECT_TRUE(hazards.empty()) << seed << " " << hazards.front().where << print_function(after);
      EXPECT_FALSE(races(after)) << seed << print_function(after);
      ++synchronized;
    } catch (const LowerError&) {
      // A barrier would have to stand where not all threads come.
    }
  }
  EXPECT_GT(racing, 200);
  EXPECT_GT(synchronized, 200);
}

}  // namespace
}  // namespace tenon::lowering
