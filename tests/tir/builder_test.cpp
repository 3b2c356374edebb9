#include "tenon/tir/builder.h"

#include <gtest/gtest.h>

#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {
namespace {

TEST(IRBuilder, NestsLoopsAndConditions) {
  const Buffer b = decl_buffer({16}, Float(32), {.name = "b"});
  IRBuilder ib;
  auto out = ib.buffer_ptr(b);
  ib.for_range(0, 16, "i", [&](Var i) {
    ib.if_scope(i < 8, [&] { out[i] = 0; });
    ib.else_scope([&] { out[i] = out[i - 8] + 1.0f; });
  });
  EXPECT_EQ(print_stmt(ib.get()),
            "for (i: int32, 0, 16) {\n"
            "  if (i < 8) {\n"
            "    b: Buffer(b_1: Pointer(float32), float32, [16], [])[i] = 0f32\n"
            "  } else {\n"
            "    b[i] = (b[(i - 8)] + 1f32)\n"
            "  }\n"
            "}");
}

TEST(IRBuilder, ARangeOfMorePointsThanItsTypeCountsIsATypeError) {
  IRBuilder ib;
  try {
    ib.for_range(-1500000000, 1500000000, "i", [](const Var&) {});
    FAIL() << "accepted";
  } catch (const TypeError& e) {
    EXPECT_NE(std::string(e.what()).find("has more points than int32 counts"), std::string::npos)
        << e.what();
  }
}

TEST(IRBuilder, AllocationCoversWhatFollows) {
  IRBuilder ib;
  auto t = ib.allocate(Int(32), {4}, "t", "local");
  t[0] = 1;
  t[1] = t[0];
  EXPECT_EQ(print_stmt(ib.get()),
            "allocate(t: Pointer(local int32), int32, [4]), storage_scope = local {\n"
            "  t_1: Buffer(t, int32, [4], [], scope=\"local\")[0] = 1\n"
            "  t_1[1] = t_1[0]\n"
            "}");
}

TEST(IRBuilder, ElseNeedsAnIf) {
  IRBuilder ib;
  EXPECT_THROW(ib.else_scope([] {}), LowerError);
}

TEST(IRBuilder, StoreOfAnotherTypeIsATypeError) {
  const Buffer b = decl_buffer({16}, Int(8), {.name = "b"});
  IRBuilder ib;
  auto out = ib.buffer_ptr(b);
  EXPECT_THROW(out[0] = 1.5f, TypeError);
  EXPECT_THROW(out[0] = 300, TypeError);
}

TEST(IRBuilder, GetInsideAScopeIsALowerError) {
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var) { EXPECT_THROW(ib.get(), LowerError); });
}

TEST(IRBuilder, AListIndexesTheShapeThatIsAllocated) {
  IRBuilder ib;
  auto t = ib.allocate(Float(32), {4, 8, 2}, "t");
  const Var i("i"), j("j");
  t[{i, j, 1}] = 0;
  t[5] = t[{0, 2, 1}];
  EXPECT_EQ(print_stmt(ib.get()),
            "allocate(t: Pointer(global float32), float32, [64]), storage_scope = global {\n"
            "  t_1: Buffer(t, float32, [64], [])[((((i: int32*8) + j: int32)*2) + 1)] = 0f32\n"
            "  t_1[5] = t_1[5]\n"
            "}");
}

TEST(IRBuilder, OneIndexCountsTheElementsOfAMatrix) {
  const Buffer b = decl_buffer({4, 8}, Float(32), {.name = "b"});
  const Buffer one = decl_buffer({}, Float(32), {.name = "one"});
  IRBuilder ib;
  ib.buffer_ptr(b)[13] = ib.buffer_ptr(one)[0];
  EXPECT_EQ(print_stmt(ib.get()), print_stmt(make_store(b, one({}), {1, 5})));
}

TEST(IRBuilder, CopiesBuildOneProgram) {
  IRBuilder ib;
  const IRBuilder other = ib;
  IRBuilder taken = std::move(ib);
  IRBuilder(other).emit(call_extern(Int(32), "f"));
  ib.emit(call_extern(Int(32), "g"));
  EXPECT_EQ(print_stmt(taken.get()),
            "@tir.call_extern(\"f\", dtype=int32)\n@tir.call_extern(\"g\", dtype=int32)");
}

TEST(Buffers, LoadAndStoreNeighbours) {
  const Buffer b = decl_buffer({4, 8}, Float(32), {.name = "b"}),
               v = decl_buffer({4}, Float(32, 2), {.name = "v"});
  const Expr row = Var("i") * 1;
  EXPECT_EQ(b.vload({row, 4}, Float(32, 4)).dtype(), Float(32, 4));
  EXPECT_EQ(print_expr(b.vload({row, 4}, Float(32, 4))), print_expr(b({row, make_ramp(4, 1, 4)})));
  EXPECT_EQ(print_expr(b.vload({row, 4})), print_expr(b({row, 4})));
  EXPECT_EQ(print_expr(v.vload({0}, Float(32, 4))), print_expr(v({make_ramp(0, 1, 2)})));
  const Expr value = Var("x", Float(32, 4));
  EXPECT_EQ(print_stmt(b.vstore({row, 4}, value)),
            print_stmt(make_store(b, value, {row, make_ramp(4, 1, 4)})));
}

TEST(Buffers, OffsetsFollowStridesAndStart) {
  const Var s("s"), i("i"), j("j");
  const Buffer compact = decl_buffer({4, 8});
  const Buffer strided = decl_buffer({4, 8}, Float(32), {.strides = {s, 2}, .elem_offset = 3});
  EXPECT_EQ(print_expr(compact.offset_of({i, j})), "((i*8) + j)");
  EXPECT_EQ(print_expr(strided.offset_of({i, j})), "(3 + ((i*s) + (j*2)))");
  EXPECT_EQ(print_expr(decl_buffer({}).offset_of({})), "0");
  EXPECT_EQ(decl_buffer({4}, Float(32), {.scope = "shared"}).scope(), StorageScope::Shared);
}

TEST(Buffers, ThatBroadcastHaveAStrideForEveryDimension) {
  const Var n("n"), wide("wide", Int(64));
  const Buffer b = decl_buffer({n, wide}, Float(32), {.kind = BufferKind::AutoBroadcast});
  ASSERT_EQ(b.strides().size(), 2u);
  EXPECT_NE(b.strides()[0].as<VarNode>(), nullptr);
  EXPECT_EQ(b.strides()[1].dtype(), Int(64));
  EXPECT_TRUE(decl_buffer({}, Float(32), {.kind = BufferKind::AutoBroadcast}).strides().empty());
}

TEST(Buffers, AccessPointerCoversTheDimensionOfTheLargestStride) {
  for (const std::vector<Expr>& strides : {std::vector<Expr>{8, 1}, {1, 8}}) {
    const Buffer a = decl_buffer({4, 8}, Float(32), {.name = "A", .strides = strides});
    EXPECT_EQ(constant_int(a.access_ptr("r").as<Call>()->args[3]),
              constant_int(strides[0]) == 8 ? 32 : 64);
  }
}

TEST(Buffers, AccessPointerNamesAnUnknownMode) {
  const Buffer b = decl_buffer({4, 8}, Float(32), {.name = "b"});
  EXPECT_THROW(b.access_ptr("x"), TypeError);
  EXPECT_EQ(
      print_expr(b.access_ptr("w")),
      "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), b, 0, 32, 2, dtype=handle)");
}

}  // namespace
}  // namespace tenon::tir
