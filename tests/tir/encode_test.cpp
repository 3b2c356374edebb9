#include "tenon/tir/encode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"

namespace tenon::tir {
namespace {

std::string bytes_of(const PrimFunc& func) {
  ByteWriter out;
  EXPECT_TRUE(encode(func, out));
  return out.bytes();
}

/// for i in 0..8: B[i] = A[i] * 2
struct Parts {
  std::string name = "f", loop = "i", array = "A";
  DataType dtype = Float(32);
  std::vector<Expr> shape = {8};
  ForKind kind = ForKind::Serial;
  Expr factor = make_const(Float(32), 2.0);
  bool noalias = true;
  Annotations notes = {};
  std::shared_ptr<const LoopTraits> traits = nullptr;
  std::function<Expr(Expr, Expr)> combine = [](Expr a, Expr b) { return a * b; };
};

PrimFunc make(const Parts& parts) {
  const Buffer A = decl_buffer(parts.shape, parts.dtype, {.name = parts.array});
  const Buffer B = decl_buffer({8}, Float(32), {.name = "B"});
  const Var i(parts.loop), a("a", Handle()), b("b", Handle());
  const Stmt store = make_store(B, parts.combine(cast(Float(32), A({i})), parts.factor), {i});
  PrimFunc func{.params = {a, b},
                .buffers = {{a, A, A}, {b, B, B}},
                .body = make_stmt(For{i, 0, 8, parts.kind, store, parts.traits})};
  func.attrs.global_symbol = parts.name;
  func.attrs.noalias = parts.noalias;
  if (!parts.notes.empty()) func.attrs.others = std::make_shared<const Annotations>(parts.notes);
  return func;
}

TEST(Encode, AFunctionMadeAgainHasTheSameBytes) {
  EXPECT_EQ(bytes_of(make({})), bytes_of(make({})));
}

TEST(Encode, AnyDifferenceChangesTheBytes) {
  const auto constant = [](double value) { return make_const(Float(32), value); };
  const Annotations note = {{"key", {make_string("value")}}};
  const std::vector<Parts> all = {
      {},
      {.name = "g"},
      {.loop = "j"},
      {.array = "D"},
      {.dtype = Float(16)},
      {.dtype = BFloat(16)},
      {.shape = {9}},
      {.kind = ForKind::Parallel},
      {.factor = constant(0.0)},
      {.factor = constant(-0.0)},
      {.factor = constant(std::nextafter(2.0f, 3.0f))},
      {.factor = constant(std::numeric_limits<double>::quiet_NaN())},
      {.noalias = false},
      {.notes = note},
      {.traits = std::make_shared<const LoopTraits>(LoopTraits{{}, note})},
      {.traits = std::make_shared<const LoopTraits>(LoopTraits{ThreadTag::parse("vthread"), {}})},
      {.combine = [](Expr a, Expr b) { return b * a; }},
      {.combine = [](Expr a, Expr b) { return a + b; }},
      {.combine = [](Expr a, Expr) { return a * a; }},
  };
  std::map<std::string, std::size_t> seen;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto [same, is_new] = seen.emplace(bytes_of(make(all[n])), n);
    EXPECT_TRUE(is_new) << n << " has the bytes of " << same->second;
  }
}

TEST(Encode, VariablesOfOneNameAreToldApart) {
  const auto func = [](bool is_inner) {
    const Buffer A = decl_buffer({8}, Float(32), {.name = "A"});
    const Var a("a", Handle()), outer("i"), inner("i");
    const Stmt store = make_store(A, make_const(Float(32), 1.0), {is_inner ? inner : outer});
    const Stmt loop = make_stmt(For{inner, 0, 8, ForKind::Serial, store});
    return PrimFunc{.params = {a},
                    .buffers = {{a, A, A}},
                    .body = make_stmt(For{outer, 0, 8, ForKind::Serial, loop})};
  };
  EXPECT_NE(bytes_of(func(true)), bytes_of(func(false)));
}

/// A tree of 2^60 operands has 60 nodes.
TEST(Encode, SharedExpressionsAreEncodedOnce) {
  const Var n("n");
  Expr sum = n;
  for (int k = 0; k < 60; ++k) sum = make_binary(BinaryOp::Add, sum, sum);
  const PrimFunc func{.params = {n}, .buffers = {}, .body = make_stmt(Evaluate{sum})};
  EXPECT_LT(bytes_of(func).size(), 1000u);
}

TEST(Encode, DeepExpressionsDoNotOverflowTheStack) {
  const Var n("n");
  Expr sum = n;
  for (int k = 0; k < 200000; ++k) sum = make_binary(BinaryOp::Add, sum, n);
  const PrimFunc func{.params = {n}, .buffers = {}, .body = make_stmt(Evaluate{sum})};
  EXPECT_GT(bytes_of(func).size(), 200000u);
}

}  // namespace
}  // namespace tenon::tir
