#include <gtest/gtest.h>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/lower/checks.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

using namespace tir;

namespace {

struct CheckAccessesTest : ::testing::Test {
  Buffer A = decl_buffer({20}, Float(32), {.name = "A"});
  Buffer I = decl_buffer({8}, Int(32), {.name = "I"});
  Buffer B = decl_buffer({8}, Float(32), {.name = "B"});
  Var i{"i"};

  PrimFunc func_of(Stmt body) const {
    PrimFunc func{{}, {}, std::move(body)};
    for (const Buffer& buffer : {A, I, B}) {
      const Var param(buffer->name, Handle());
      func.params.push_back(param);
      func.buffers.push_back({param, buffer, buffer});
    }
    return func;
  }

  Stmt loop(Stmt body) const { return make_stmt(For{i, 0, 8, ForKind::Serial, std::move(body)}); }

  std::string checked(Stmt body) const {
    return print_stmt(check_accesses(func_of(body), {}).body);
  }
};

TEST_F(CheckAccessesTest, ProvedAccessesStayAsTheyAre) {
  const PrimFunc func = func_of(loop(make_store(B, make_load(A, {i * 2 + 5}), {i})));
  EXPECT_TRUE(check_accesses(func, {}).body.same_as(func.body));
}

TEST_F(CheckAccessesTest, AnIndexThatIsDataIsCheckedBeforeTheStatement) {
  const std::string text = checked(loop(make_store(B, make_load(A, {make_load(I, {i})}), {i})));
  const std::size_t check = text.find("\"tenon_index_outside\", \"B: reads `A`\""),
                    store = text.find("] = A");
  ASSERT_NE(check, std::string::npos) << text;
  ASSERT_NE(store, std::string::npos) << text;
  EXPECT_LT(check, store) << text;
}

TEST_F(CheckAccessesTest, OneElementTooManyIsChecked) {
  EXPECT_EQ(checked(loop(make_store(B, make_load(A, {i * 2 + 5}), {i}))).find("outside"),
            std::string::npos);
  EXPECT_NE(checked(loop(make_store(B, make_load(A, {i * 2 + 6}), {i}))).find("outside"),
            std::string::npos);
  EXPECT_NE(checked(loop(make_store(B, make_load(A, {i * 2 - 1}), {i}))).find("outside"),
            std::string::npos);
}

TEST_F(CheckAccessesTest, AGuardProvesWhatItCovers) {
  const Stmt store = make_store(B, make_load(A, {i * 3}), {i});
  EXPECT_NE(checked(loop(store)).find("outside"), std::string::npos);
  const Stmt guarded = loop(make_stmt(If{likely(i * 3 < 20), store, std::nullopt}));
  EXPECT_EQ(checked(guarded).find("outside"), std::string::npos);
}

/// On the other side of a condition, it is false.
TEST_F(CheckAccessesTest, AnElseCaseHasTheOppositeFact) {
  const Stmt none = make_store(B, 0.0f, {i});
  const Stmt store = make_store(B, make_load(A, {i * 3}), {i});
  EXPECT_EQ(checked(loop(make_stmt(If{i * 3 >= 20, none, store}))).find("outside"),
            std::string::npos);
  EXPECT_NE(checked(loop(make_stmt(If{i * 3 >= 20, store, none}))).find("outside"),
            std::string::npos);
}

TEST_F(CheckAccessesTest, WhatIsAlwaysOutsideIsRefused) {
  EXPECT_THROW(checked(loop(make_store(B, make_load(A, {i + 20}), {i}))), BoundError);
  EXPECT_THROW(checked(loop(make_store(B, make_load(A, {i - 8}), {i}))), BoundError);
  // Under a condition it may never happen.
  const Stmt rare = make_stmt(
      If{make_load(I, {i}) > 5, make_store(B, make_load(A, {i + 20}), {i}), std::nullopt});
  EXPECT_NO_THROW(checked(loop(rare)));
}

/// The part of a tensor that is kept, not its shape.
TEST_F(CheckAccessesTest, ATemporaryHasTheRoomThatIsRealized) {
  const Buffer T = decl_buffer({100}, Float(32), {.name = "T"});
  const auto program = [&](int extent) {
    const Stmt body = loop(make_store(T, 1.0f, {i + 4}));
    return make_stmt(Realize{T, {Range::from_min_extent(4, extent)}, make_true(), body});
  };
  EXPECT_EQ(checked(program(8)).find("outside"), std::string::npos);
  EXPECT_NE(checked(program(7)).find("outside"), std::string::npos);
}

/// The program fills B[begin*2 : begin*2 + 2] through a view, for 4 values of `begin` from `i`.
struct ViewTest : CheckAccessesTest {
  PrimFunc through_view(const Expr& begin) const {
    const Buffer view = decl_buffer({2}, Float(32), {.name = "P", .offset_factor = 1});
    const Stmt shown = make_stmt(
        BufferView{view, B, {Range::from_min_extent(begin * 2, 2)}, make_store(view, 1.0f, {0})});
    PrimFunc func = func_of(make_stmt(For{i, 0, 4, ForKind::Serial, shown}));
    func.form = Form::MultiDimensional;
    return func;
  }
};

TEST_F(ViewTest, ARegionInsideItsBufferIsProved) {
  const PrimFunc func = through_view(i);
  EXPECT_TRUE(check_accesses(func, {}).body.same_as(func.body));
  EXPECT_TRUE(size_conditions(func).empty());
}

TEST_F(ViewTest, ARegionThatLeavesItsBufferInOneIterationIsRefused) {
  EXPECT_THROW(size_conditions(through_view(i + 1)), BoundError);
  EXPECT_THROW(size_conditions(through_view(i - 1)), BoundError);
}

TEST_F(ViewTest, ARegionThatStartsAtDataIsCheckedBeforeTheView) {
  const std::string text = print_stmt(check_accesses(through_view(make_load(I, {i})), {}).body);
  const std::size_t check = text.find("\"tenon_index_outside\", \"B: reads `B`\""),
                    store = text.find("P[0] = 1f32");
  ASSERT_NE(check, std::string::npos) << text;
  ASSERT_NE(store, std::string::npos) << text;
  EXPECT_LT(check, store) << text;
}

/// With the sizes of A and B known around the body.
std::string instrumented(const std::string& body) {
  return test::run(
      instrument_bounds,
      test::function_text("  attr [B_2] \"buffer_bound\" = @tir.tvm_tuple(256, dtype=handle);\n"
                          "  attr [A_2] \"buffer_bound\" = @tir.tvm_tuple(256, dtype=handle) {\n" +
                              body + "  }\n",
                          256, 256));
}

TEST(InstrumentBounds, GivesTheKnownText) {
  const PrimFunc func = test::parse_function(test::function_text(R"(
  for (i: int32, 0, 16) {
    for (j: int32, 0, 16) {
      attr [B_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
      attr [A_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
      B[((i*16) + j)] = (A[((i*16) + j)] + 1f32)
    }
  })",
                                                                 256, 256));
  EXPECT_EQ(test::body_text(eliminate_common_subexpressions(instrument_bounds(func, {}), {})),
            R"(for (i: int32, 0, 16) {
  for (j: int32, 0, 16) {
    let cse_var_3: int64 = cast(int64, ((i*16) + j))
    let cse_var_2: bool = ((cse_var_3 >= 0i64) && (cse_var_3 < cast(int64, 256)))
    let cse_var_1: bool = (cse_var_2 && cse_var_2)
    attr [B_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
    attr [A_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
    if cse_var_1 {
      let cse_var_4: int32 = ((i*16) + j)
      B[cse_var_4] = (A[cse_var_4] + 1f32)
    } else {
      assert(cse_var_1, "OUT OF THE BOUNDS")
      1
    }
  }
}
)");
}

TEST(InstrumentBounds, AVectorIsCheckedAtBothEnds) {
  const std::string text = instrumented("    B[ramp(0, 1, 4)] = A[ramp(7, -2, 4)]\n");
  EXPECT_NE(text.find("if (((cast(int64, 1) >= 0i64) && (cast(int64, 7) < cast(int64, 256))) && "
                      "((cast(int64, 0) >= 0i64) && (cast(int64, 3) < cast(int64, 256)))) {"),
            std::string::npos)
      << text;
}

TEST(InstrumentBounds, MemoryMayBeginBeforeThePointer) {
  const std::string text = test::run(
      instrument_bounds,
      test::function_text("  attr [B_2] \"buffer_bound\" = @tir.tvm_tuple(1, -9, dtype=handle) {\n"
                          "    for (i: int32, 0, 10) {\n      B[(i*-1)] = 0f32\n    }\n  }\n"));
  EXPECT_NE(text.find("(cast(int64, (i*-1)) >= cast(int64, -9)) && "
                      "(cast(int64, (i*-1)) < cast(int64, 1))"),
            std::string::npos)
      << text;
}

TEST(InstrumentBounds, ABranchIsCheckedOnlyWhereItIsTaken) {
  const std::string text = instrumented(
      "    for (i: int32, 0, 16) {\n"
      "      B[i] = @tir.if_then_else((1 <= i), A[(i - 1)], 0f32, dtype=float32)\n    }\n");
  EXPECT_NE(text.find("if (@tir.if_then_else((1 <= i), ((cast(int64, (i - 1)) >= 0i64) && "
                      "(cast(int64, (i - 1)) < cast(int64, 256))), True, dtype=bool) && "),
            std::string::npos)
      << text;
}

TEST(InstrumentBounds, TemporariesHaveTheSizeOfTheirBuffers) {
  const std::string text = instrumented(
      "    allocate(X: Pointer(global float32), float32, [64]), storage_scope = global {\n"
      "      X_1: Buffer(X, float32, [8], [])[3] = 0f32\n"
      "    }\n");
  EXPECT_NE(text.find("(cast(int64, 3) < cast(int64, 8))"), std::string::npos) << text;
}

TEST(InstrumentBounds, ElementsOfSeveralLanesCountAsScalars) {
  const std::string text = instrumented(
      "    allocate(X: Pointer(global float32x4), float32x4, [8]), storage_scope = global {\n"
      "      for (i: int32, 0, 8) {\n"
      "        X_1: Buffer(X, float32x4, [8], [])[i] = broadcast(0f32, 4)\n"
      "      }\n    }\n");
  EXPECT_NE(text.find("((cast(int64, i)*4i64) < cast(int64, 32))"), std::string::npos) << text;
}

}  // namespace

}  // namespace tenon::lowering
