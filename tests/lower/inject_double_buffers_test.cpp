#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// Parses a program in which a mark stands around each filling, and marks the allocations.
PrimFunc marked(std::string_view body) {
  PrimFunc func = test::parse_function(test::function_text(body, 256, 256));
  func.body = rewrite(func.body, [](const Allocate& n, const Stmt&) -> std::optional<Stmt> {
    Allocate copy = n;
    copy.double_buffer = true;
    return make_stmt(std::move(copy));
  });
  return func;
}

std::string injected(std::string_view body, int split = 1) {
  PrimFunc func = inject_double_buffers(marked(body), {.double_buffer_split = split});
  func = remove_no_ops(simplify(func, {}), {});
  const auto violations = verify(func, Form::Flat);
  for (const Violation& violation : violations)
    ADD_FAILURE() << violation.what << ": " << violation.where;
  return test::body_text(func);
}

std::string row_wise(const std::string& loop = "for (i: int32, 0, 16) {",
                     const std::string& filling = "(A[((i*16) + j)] + 1f32)") {
  return "  " + loop + R"(
    allocate(Y: Pointer(global float32), float32, [16]), storage_scope = global {
      attr [Y] "double_buffer_write" = 1;
      for (j: int32, 0, 16) {
        Y_1: Buffer(Y, float32, [16], [], align=64)[j] = )" +
         filling + R"(
      }
      for (k: int32, 0, 16) {
        B[((i*16) + k)] = (Y_1[k]*2f32)
      }
    }
  })";
}

TEST(InjectDoubleBuffers, FillsAheadAndTakesTheLastIterationOut) {
  EXPECT_EQ(injected(row_wise()),
            R"(allocate(Y: Pointer(global float32), float32, [32]), storage_scope = global {
  for (j: int32, 0, 16) {
    Y_1: Buffer(Y, float32, [32], [], align=64)[j] = (A[j] + 1f32)
  }
  for (i.outer: int32, 0, 15) {
    attr [Y] "double_buffer_write" = 1;
    for (j_1: int32, 0, 16) {
      Y_1[((floormod((i.outer + 1), 2)*16) + j_1)] = (A[(((i.outer*16) + j_1) + 16)] + 1f32)
    }
    for (k: int32, 0, 16) {
      B[((i.outer*16) + k)] = (Y_1[((floormod(i.outer, 2)*16) + k)]*2f32)
    }
  }
  for (k_1: int32, 0, 16) {
    B[(k_1 + 240)] = (Y_1[(k_1 + 16)]*2f32)
  }
}
)");
}

TEST(InjectDoubleBuffers, ASplitOfTwoNeedsNoModulo) {
  const std::string text = injected(row_wise(), 2);
  EXPECT_EQ(text.find("floormod"), std::string::npos) << text;
  EXPECT_NE(text.find("for (i.outer: int32, 0, 7)"), std::string::npos) << text;
}

/// The loop is kept and the buffer single.
void expect_single(const std::string& body) {
  const std::string text = injected(body);
  EXPECT_EQ(text.find("[32]"), std::string::npos) << text;
  EXPECT_EQ(text.find(".outer"), std::string::npos) << text;
  EXPECT_EQ(text.find("double_buffer_write"), std::string::npos) << text;
}

TEST(InjectDoubleBuffers, ReductionsFillTheCopyThatTheyRead) {
  const std::string text =
      injected(row_wise("for (i: int32, 0, 16) {", "(Y_1[j] + A[((i*16) + j)])"));
  EXPECT_NE(
      text.find(
          "Y_1[((floormod((i.outer + 1), 2)*16) + j_1)] = (Y_1[((floormod((i.outer + 1), 2)*16) + j_1)] +"),
      std::string::npos)
      << text;
}

TEST(InjectDoubleBuffers, WhatTheLoopComputesCannotBeCopiedAhead) {
  expect_single(R"(
  for (i: int32, 0, 16) {
    allocate(X: Pointer(global float32), float32, [16]), storage_scope = global;
    allocate(Y: Pointer(global float32), float32, [16]), storage_scope = global {
      for (j: int32, 0, 16) {
        X_1: Buffer(X, float32, [16], [], align=64)[j] = A[((i*16) + j)]
      }
      attr [Y] "double_buffer_write" = 1;
      for (j_1: int32, 0, 16) {
        Y_1: Buffer(Y, float32, [16], [], align=64)[j_1] = X_1[j_1]
      }
      for (j_2: int32, 0, 16) {
        B[((i*16) + j_2)] = Y_1[j_2]
      }
    }
  })");
}

TEST(InjectDoubleBuffers, IterationsThatRunSideBySideKeepTheirOwn) {
  expect_single(row_wise("for (i: int32, 0, 16) \"parallel\" {"));
}

TEST(InjectDoubleBuffers, WithoutALoopTheBufferIsSingle) {
  expect_single(R"(
  allocate(Y: Pointer(global float32), float32, [16]), storage_scope = global {
    attr [Y] "double_buffer_write" = 1;
    for (j: int32, 0, 16) {
      Y_1: Buffer(Y, float32, [16], [], align=64)[j] = A[j]
    }
    for (j_1: int32, 0, 16) {
      B[j_1] = Y_1[(15 - j_1)]
    }
  })");
}

TEST(InjectDoubleBuffers, AFillingUnderAConditionOfTheLoopStays) {
  expect_single(R"(
  for (i: int32, 0, 16) {
    allocate(Y: Pointer(global float32), float32, [16]), storage_scope = global {
      if (A[i] < 1f32) {
        attr [Y] "double_buffer_write" = 1;
        for (j: int32, 0, 16) {
          Y_1: Buffer(Y, float32, [16], [], align=64)[j] = A[j]
        }
      }
      B[i] = Y_1[3]
    }
  })");
}

TEST(InjectDoubleBuffers, ALoopThatMayBeEmptyFillsNothing) {
  const std::string text = injected(R"(
  let n: int32 = cast(int32, A[0])
)" + row_wise("for (i: int32, 0, n) {"));
  const std::size_t guard = text.find("if (0 < n) {");
  ASSERT_NE(guard, std::string::npos) << text;
  EXPECT_LT(guard, text.find("for (j: int32"));
}

/// The output of the program for an A that holds its positions.
std::vector<float> result_of(const PrimFunc& func) {
  std::vector<float> in(256), out(256, -1);
  for (std::size_t n = 0; n < in.size(); ++n) in[n] = static_cast<float>(n);
  const std::vector<HostValue> args{HostArray{in.data(), Float(32), {256}},
                                    HostArray{out.data(), Float(32), {256}}};
  evaluate(func, args, {.check_uninitialized = true});
  return out;
}

TEST(InjectDoubleBuffers, ALoopThatBeginsElsewhereFillsItsOwnIterations) {
  const std::string body = row_wise("for (i: int32, 3, 13) {");
  for (const int split : {1, 2, 4}) {
    const PrimFunc func = marked(body);
    EXPECT_EQ(result_of(inject_double_buffers(func, {.double_buffer_split = split})),
              result_of(func))
        << split;
  }
}

}  // namespace
}  // namespace tenon::lowering
