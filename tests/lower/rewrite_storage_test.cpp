#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using namespace tir;
using test::function_text;

std::string rewritten(std::string_view body) {
  return test::run(rewrite_storage, function_text(body, 64, 64));
}

TEST(RewriteStorage, SerialTemporariesGoToTheTopInOrderOfFirstWrite) {
  EXPECT_EQ(rewritten(R"(
  for (i: int32, 0, 8) {
    allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global;
    allocate(X: Pointer(global float32), float32, [100]), storage_scope = global {
      for (j: int32, 0, 8) {
        X_1: Buffer(X, float32, [100], [])[(j + 50)] = A[((i*8) + j)]
      }
      for (j_1: int32, 0, 8) {
        Y_1: Buffer(Y, float32, [8], [], align=32)[j_1] = X_1[(50 - j_1)]
      }
      for (j_2: int32, 0, 8) {
        B[((i*8) + j_2)] = Y_1[j_2]
      }
    }
  })"),
            R"(allocate(X: Pointer(global float32), float32, [100]), storage_scope = global;
allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global;
for (i: int32, 0, 8) {
  for (j: int32, 0, 8) {
    X_1: Buffer(X, float32, [100], [])[(j + 50)] = A[((i*8) + j)]
  }
  for (j_1: int32, 0, 8) {
    Y_1: Buffer(Y, float32, [8], [], align=32)[j_1] = X_1[(50 - j_1)]
  }
  for (j_2: int32, 0, 8) {
    B[((i*8) + j_2)] = Y_1[j_2]
  }
}
)");
}

/// Four elementwise stages; the size of the third and whether it reverses.
std::string chain(int third = 64, bool reverses = false) {
  const std::string n = std::to_string(third);
  return R"(
  allocate(P: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Q: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(R: Pointer(global float32), float32, [)" +
         n + R"(]), storage_scope = global {
    for (i: int32, 0, 64) {
      P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
    }
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
    }
    for (k: int32, 0, 64) {
      R_1: Buffer(R, float32, [)" +
         n + R"(], [])[k] = (Q_1[)" + (reverses ? "(63 - k)" : "k") + R"(] + 1f32)
    }
    for (l: int32, 0, 64) {
      B[l] = R_1[l]
    }
  })";
}

TEST(RewriteStorage, ElementwiseChainsShareOneAllocation) {
  EXPECT_EQ(rewritten(chain()),
            R"(allocate(P: Pointer(global float32), float32, [64]), storage_scope = global {
  for (i: int32, 0, 64) {
    P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
  }
  for (j: int32, 0, 64) {
    P_2: Buffer(P, float32, [64], [])[j] = (P_1[j]*2f32)
  }
  for (k: int32, 0, 64) {
    P_3: Buffer(P, float32, [64], [])[k] = (P_2[k] + 1f32)
  }
  for (l: int32, 0, 64) {
    B[l] = P_3[l]
  }
}
)");
}

std::string allocations(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while ((at = text.find("allocate(", at)) != std::string::npos) {
    const std::size_t end = text.find(")", text.find("[", at));
    result += text.substr(at, end - at + 1) + "\n";
    at = end;
  }
  return result;
}

TEST(RewriteStorage, InPlaceNeedsTheSameIndex) {
  // The reversing stage needs memory of its own.
  EXPECT_EQ(allocations(rewritten(chain(64, true))),
            "allocate(P: Pointer(global float32), float32, [64])\n"
            "allocate(R: Pointer(global float32), float32, [64])\n");
}

TEST(RewriteStorage, InPlaceNeedsTheSameSize) {
  EXPECT_EQ(allocations(rewritten(chain(65))),
            "allocate(P: Pointer(global float32), float32, [64])\n"
            "allocate(R: Pointer(global float32), float32, [65])\n");
}

TEST(RewriteStorage, WhatIsWrittenTwiceIsNotWrittenInPlace) {
  const auto text = [](const char* loop) {
    return std::string(R"(
  allocate(P: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Q: Pointer(global float32), float32, [64]), storage_scope = global {
    for (i: int32, 0, 64) {
      P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
    }
)") + loop +
           R"(
    for (l: int32, 0, 64) {
      B[l] = Q_1[l]
    }
  })";
  };
  const std::string both =
      "allocate(P: Pointer(global float32), float32, [64])\nallocate(Q: Pointer(global float32), float32, "
      "[64])\n";
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = 0f32
      Q_1[j] = (P_1[j]*2f32)
    })"))),
            both);
  // Every round of r doubles again.
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (r: int32, 0, 2) {
      for (j: int32, 0, 64) {
        Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
      }
    })"))),
            both);
  // A write of the source after the read.
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
      P_1[j] = 0f32
    })"))),
            both);
}

/// D of size `b` is made when P of size `a` is done; both are sums, so nothing is in place.
std::string two(int a, int b, std::string scope = "global", std::string a_type = "float32",
                std::string b_type = "float32") {
  const auto shape = [](int n) { return "[" + std::to_string(n) + "]"; };
  const std::string scope_field = scope == "global" ? "" : ", scope=\"" + scope + "\"";
  return "  allocate(P: Pointer(" + scope + " " + a_type + "), " + a_type + ", " + shape(a) +
         "), storage_scope = " + scope + ";\n  allocate(D: Pointer(" + scope + " " + b_type +
         "), " + b_type + ", " + shape(b) + "), storage_scope = " + scope + " {\n" +
         "P_1: Buffer(P, " + a_type + ", " + shape(a) + ", []" + scope_field + ")[0] = cast(" +
         a_type + ", A[0])\n" + "B[0] = cast(float32, P_1[0])\n" + "D_1: Buffer(D, " + b_type +
         ", " + shape(b) + ", []" + scope_field + ")[0] = cast(" + b_type + ", A[0])\n" +
         "B[1] = cast(float32, D_1[0])\n}\n";
}

TEST(RewriteStorage, FreeMemoryIsUsedAgainAndGrows) {
  EXPECT_EQ(allocations(rewritten(two(13, 100))),
            "allocate(P: Pointer(global float32), float32, [100])\n");
  EXPECT_EQ(allocations(rewritten(two(100, 13))),
            "allocate(P: Pointer(global float32), float32, [100])\n");
  EXPECT_EQ(allocations(rewritten(two(16, 16, "global", "float32", "float16"))),
            "allocate(P: Pointer(global float32), float32, [16])\n");
}

TEST(RewriteStorage, MemoryOfAnotherKindIsNotUsedAgain) {
  const auto count = [](const std::string& text) {
    const std::string all = allocations(rewritten(text));
    return std::count(all.begin(), all.end(), '\n');
  };
  EXPECT_EQ(count(two(4, 100)), 2);                                  // more than 16 times larger
  EXPECT_EQ(count(two(100, 100, "local")), 2);                       // registers
  EXPECT_EQ(count(two(1, 1)), 2);                                    // a value
  EXPECT_EQ(count(two(16, 16, "global", "float16", "float32")), 2);  // growing needs the same type
  EXPECT_EQ(count(two(16, 20, "shared")), 1);
}

TEST(RewriteStorage, IterationsThatRunSideBySideDoNotShare) {
  const char* nest = R"(
  for (i: int32, 0, 4) "parallel" {
    for (j: int32, 0, 4) KIND{
      allocate(X: Pointer(global float32), float32, [4]), storage_scope = global {
        for (k: int32, 0, 4) {
          X_1: Buffer(X, float32, [4], [])[k] = A[(((i*16) + (j*4)) + k)]
        }
        for (k_1: int32, 0, 4) {
          B[(((i*16) + (j*4)) + k_1)] = X_1[(3 - k_1)]
        }
      }
    }
  })";
  const auto with = [&](const std::string& kind) {
    std::string text = nest;
    return text.replace(text.find("KIND"), 4, kind);
  };
  EXPECT_TRUE(rewritten(with("")).starts_with(
      "for (i: int32, 0, 4) \"parallel\" {\n  allocate(X: Pointer(global float32), float32, [4])"));
  EXPECT_TRUE(rewritten(with("\"parallel\" "))
                  .starts_with(
                      "for (i: int32, 0, 4) \"parallel\" {\n  for (j: int32, 0, 4) \"parallel\" {\n"
                      "    allocate(X: Pointer(global float32), float32, [4])"));
}

TEST(RewriteStorage, TasksOfARegionKeepWhatOthersMayStillRead) {
  EXPECT_EQ(
      allocations(rewritten("attr [0] \"pragma_parallel_launch_point\" = 1 {" + chain() + "}")),
      "allocate(P: Pointer(global float32), float32, [64])\n"
      "allocate(Q: Pointer(global float32), float32, [64])\n"
      "allocate(R: Pointer(global float32), float32, [64])\n");
}

TEST(RewriteStorage, AKernelsMemoryIsMadeInsideItsFirstThreadAttribute) {
  const std::string text = rewritten(R"(
  attr [IterVar(blockIdx.x: int32, (nullptr), "ThreadIndex", "blockIdx.x")] "thread_extent" = 4;
  attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 16;
  allocate(X: Pointer(local float32), float32, [1]), storage_scope = local {
    X_1: Buffer(X, float32, [1], [], scope="local", align=4)[0] = A[((blockIdx.x*16) + threadIdx.x)]
    B[((blockIdx.x*16) + threadIdx.x)] = X_1[0]
  })");
  EXPECT_LT(text.find("blockIdx.x: "), text.find("allocate(X"));
  EXPECT_LT(text.find("allocate(X"), text.find("threadIdx.x: "));
}

TEST(RewriteStorage, ASizeThatVariesBecomesItsUpperBound) {
  const std::string size = "[(max(((i*8) - max(((i*8) - 1), 0)), 0) + 8)]";
  EXPECT_EQ(rewritten("for (i: int32, 0, 8) {\n  allocate(X: Pointer(global float32), float32, " +
                      size + "), storage_scope = global {\n    X_1: Buffer(X, float32, " + size +
                      ", [])[i] = A[i]\n    B[i] = X_1[i]\n  }\n}\n"),
            R"(allocate(X: Pointer(global float32), float32, [9]), storage_scope = global;
for (i: int32, 0, 8) {
  X_1: Buffer(X, float32, [9], [])[i] = A[i]
  B[i] = X_1[i]
}
)");
}

TEST(RewriteStorage, ASizeWithoutABoundStaysWhereItIsKnown) {
  const std::string text = R"(for (i: int32, 0, 8) {
  let n: int32 = cast(int32, A[i])
  allocate(X: Pointer(global float32), float32, [n]), storage_scope = global {
    X_1: Buffer(X, float32, [n], [])[0] = A[i]
    B[i] = X_1[0]
  }
}
)";
  EXPECT_EQ(rewritten(text), text);
}

TEST(RewriteStorage, AnAddressKeepsMemoryAlive) {
  // X is last used through its address, or by its pointer, after Y is made: they must not share.
  for (const std::string used : {"@tir.address_of(X_1[0], dtype=handle)", "X"})
    EXPECT_EQ(allocations(rewritten(R"(
  allocate(X: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Y: Pointer(global float32), float32, [64]), storage_scope = global {
    X_1: Buffer(X, float32, [64], [])[0] = A[0]
    Y_1: Buffer(Y, float32, [64], [])[1] = A[1]
    @tir.call_extern("f", )" + used +
                                    R"(, dtype=int32)
    B[0] = Y_1[1]
  })")),
              "allocate(X: Pointer(global float32), float32, [64])\n"
              "allocate(Y: Pointer(global float32), float32, [64])\n")
        << used;
}

}  // namespace
}  // namespace tenon::lowering
