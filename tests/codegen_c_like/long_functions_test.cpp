// Long functions are divided before a C compiler sees them; what they compute, and how they are
// left, stays.
#include "batch.h"
#include "tenon/codegen/compile_options.h"
#include "tenon/tir/ops.h"
#include "tests/common/large_statements.h"
#include "tests/common/occurrences.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;
using tenon::testing::count_of;

Artifact compiled(const Kernel& k, const Stmt& body) {
  IRModule module;
  module.functions.emplace("f", k.function(body, "f"));
  return compile_to_c({{module, {}}});
}

/// A[n % 64] = A[n % 64] * 3 + A[(n * 7) % 64], for n in 0..count.
Stmt unrolled(const Buffer& a, int count) {
  IRBuilder ib;
  for (int n = 0; n < count; ++n) {
    const Expr to(n % 64), from(n * 7 % 64);
    ib.emit(make_store(a, make_load(a, {to}) * 3 + make_load(a, {from}), {to}));
  }
  return ib.get();
}

TEST(LongFunctionInC, IsDividedAndComputesTheSame) {
  constexpr int kCount = 2'000;
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  const Artifact artifact = compiled(k, unrolled(a, kCount));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART void f_part"), 20u);
  std::vector<std::uint32_t> expected(64, 1);
  for (std::size_t n = 0; n < kCount; ++n)
    expected[n % 64] = expected[n % 64] * 3 + expected[n * 7 % 64];
  const std::vector<std::int32_t> ones(64, 1);
  const NDArray array = NDArray::from(std::span<const std::int32_t>(ones), {64});
  load(artifact)["f"](array);
  for (std::size_t i = 0; i < 64; ++i)
    ASSERT_EQ(static_cast<std::uint32_t>(array.data<std::int32_t>()[i]), expected[i]) << i;
}

// 900 nodes each, more than a part of several statements has.
TEST(LongFunctionInC, IsDividedWhereEachStatementIsLarge) {
  constexpr int kCount = 50, kTerms = 150;
  Kernel k;
  const Buffer a = k.array({256}, Int(32));
  EXPECT_EQ(count_of(compiled(k, tenon::testing::large_statements(a, kCount, kTerms)).source("c"),
                     "\nPART void f_part"),
            std::size_t{kCount});
}

TEST(LongFunctionInC, OfFewStatementsStaysWhole) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  EXPECT_EQ(count_of(compiled(k, unrolled(a, 50)).source("c"), "PART"), 0u);
}

TEST(LongFunctionInC, SeesInItsPartsTheVariablesAroundThem) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Int(32));
  const Buffer t = decl_buffer({Expr(8)}, Int(32), {.name = "T"});
  IRBuilder ib;
  ib.for_range(0, n, "i", [&](Var i) {
    for (int step = 0; step < 1'200; ++step) {
      const Expr at(step % 8);
      ib.emit(make_store(t, (step < 8 ? Expr(i) : make_load(t, {at})) * 3 + step, {at}));
    }
    ib.emit(make_store(a, make_load(t, {Expr(5)}), {i}));
  });
  const Artifact artifact =
      compiled(k, make_stmt(Allocate{t->data, Int(32), {Expr(8)}, make_true(), ib.get()}));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART void f_part"), 5u) << artifact.source("c");
  const NDArray array = NDArray::zeros({6}, Int(32));
  load(artifact)["f"](array);
  for (std::uint32_t i = 0; i < 6; ++i) {
    std::uint32_t expected = i * 3 + 5;
    for (std::uint32_t step = 13; step < 1'200; step += 8) expected = expected * 3 + step;
    EXPECT_EQ(static_cast<std::uint32_t>(array.data<std::int32_t>()[i]), expected);
  }
}

TEST(LongFunctionInC, FailsWhereAPartFails) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Int(32));
  const Stmt checked = make_stmt(Assert{Expr(n) != 65, "not 65", make_evaluate(Expr(0))});
  const Artifact artifact = compiled(k, make_seq({unrolled(a, 400), checked, unrolled(a, 400)}));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART int32_t f_part"), 0u);
  load(artifact)["f"](NDArray::zeros({64}, Int(32)));
  EXPECT_THROW(load(artifact)["f"](NDArray::zeros({65}, Int(32))), RuntimeError);
}

}  // namespace
}  // namespace tenon::codegen
