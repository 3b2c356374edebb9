#include "tenon/tir/builder.h"

#include <gtest/gtest.h>

#include "tenon/tir/print.h"

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

TEST(Buffers, AccessPointerNamesAnUnknownMode) {
  const Buffer b = decl_buffer({4, 8}, Float(32), {.name = "b"});
  EXPECT_THROW(b.access_ptr("x"), TypeError);
  EXPECT_EQ(print_expr(b.access_ptr("w")),
            "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), b, 0, 32, 2, dtype=handle)");
}

}  // namespace
}  // namespace tenon::tir
