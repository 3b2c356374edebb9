#include "lower/loops/bind_view.h"

#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// The declaration beside rows of a 16 x 64 piece of a 512 x 64 matrix.
ViewBinding bound(const std::vector<Expr>& strides, const Expr& columns = 64) {
  const Buffer declared =
      decl_buffer({16, columns}, Float(32), {.name = "D", .strides = strides, .offset_factor = 1});
  const Buffer piece = decl_buffer({16, 64}, Float(32),
                                   {.name = "P", .strides = {64, 1}, .elem_offset = Expr(1024)});
  return bind_view(declared, piece, {}, arith::Facts());
}

std::string refusal_of(const std::vector<Expr>& strides) {
  try {
    bound(strides);
  } catch (const LowerError& error) {
    return error.what();
  }
  return "";
}

TEST(BindView, ConstantStridesFitTheMemory) {
  EXPECT_TRUE(bound({64, 1}).checks.empty());
  EXPECT_NE(refusal_of({32, 1}).find("strides[0] is declared as 32"), std::string::npos)
      << refusal_of({32, 1});
  EXPECT_NE(refusal_of({64, 2}).find("strides[1] is declared as 2"), std::string::npos);
}

TEST(BindView, AVariableStrideIsWhatTheMemoryHas) {
  const Var s("s1");
  const ViewBinding binding = bound({s, 1});
  bool found = false;
  for (const auto& [var, value] : binding.values)
    if (var.same_as(s)) found = is_constant_int(value, 64);
  EXPECT_TRUE(found);
}

TEST(BindView, OneVariableStandsForOneStride) {
  const Var s("s");
  EXPECT_NE(refusal_of({s, s}), "");
}

TEST(BindView, WhatIsNotKnownIsChecked) {
  const Var n("n");
  const Buffer declared = decl_buffer({16, 8}, Float(32), {.name = "D", .strides = {32, 1}});
  const Buffer piece = decl_buffer({16, 8}, Float(32), {.name = "P", .strides = {n, 1}});
  EXPECT_EQ(bind_view(declared, piece, {}, arith::Facts()).checks.size(), 1u);
}

TEST(BindView, ADimensionOfOneElementHasAnyStride) {
  const Buffer declared = decl_buffer({1, 8}, Float(32), {.name = "D", .strides = {99, 1}});
  const Buffer piece = decl_buffer({1, 8}, Float(32), {.name = "P", .strides = {8, 1}});
  EXPECT_TRUE(bind_view(declared, piece, {}, arith::Facts()).checks.empty());
}

}  // namespace
}  // namespace tenon::lowering
