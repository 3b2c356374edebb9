// Compares touched memory with inferred memory: a stage's memory is never smaller than what its
// readers read (the interpreter refuses such a read), and not larger if all indices are affine.
#include <gtest/gtest.h>

#include <set>

#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

struct Memory {
  std::int64_t allocated = 0;
  /// Elements, at their places in the flat memory, that are ever read.
  std::set<std::int64_t> read;
};

/// The memory of each stage that has its own.
std::map<std::string, Memory> memory_of(const te::Schedule& s,
                                        const std::vector<LowerArgument>& args) {
  LowerOptions options{.simple_mode = true};
  options.passes.disable_storage_rewrite = true;
  const tir::PrimFunc func = lower(s, args, options).functions.at("main");
  std::map<std::string, Memory> memory;
  tir::walk(func.body, [&](const tir::Allocate& allocate) {
    std::int64_t size = 1;
    for (const Expr& extent : allocate.extents)
      size *= tir::evaluate_int(extent, [](const Var&) { return 1; });
    memory[allocate.data.name()].allocated += size;
  });
  const Arguments a = make_arguments(args);
  tir::EvaluateOptions evaluation;
  evaluation.on_access = [&](const tir::Access& access) {
    auto found = memory.find(access.buffer->name);
    if (found != memory.end() && !access.is_write) found->second.read.insert(access.indices[0]);
  };
  tir::evaluate(func, a.values, evaluation);
  return memory;
}

/// The stage's box by its root axes' ranges.
std::int64_t inferred_elements(const te::Schedule& s, const te::Tensor& t) {
  const te::Schedule normal = s.normalize();
  const te::Bounds bounds = te::infer_bound(normal);
  std::int64_t elements = 1;
  for (const te::IterVar& axis : normal[t].op().axis())
    elements *=
        tir::evaluate_int(bounds[axis].extent, [](const Var&) -> std::int64_t { return 0; });
  return elements;
}

void expect_tight(const te::Schedule& s, const std::vector<LowerArgument>& args,
                  const te::Tensor& t) {
  const auto memory = memory_of(s, args);
  const auto found = memory.find(t.name());
  ASSERT_NE(found, memory.end()) << t.name();
  EXPECT_EQ(static_cast<std::int64_t>(found->second.read.size()), found->second.allocated)
      << t.name();
  EXPECT_EQ(inferred_elements(s, t), found->second.allocated) << t.name();
}

struct StencilTest : ::testing::Test {
  te::Tensor A = te::placeholder({40, 40}, "A");
  te::Tensor B = te::compute(
      {40, 40}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {36, 38}, {"i", "j"},
      [&](Var i, Var j) { return B(i, j) + B(i + 4, j + 2) + B(i + 2, j + 1); }, "C");
  te::Schedule s = te::create_schedule(C);
};

TEST_F(StencilTest, RowsPerRow) {
  s[B].compute_at(s[C], s[C].axis(0));
  // The rows that are read are three of five: a box has the others too.
  EXPECT_EQ(memory_of(s, {A, C}).at("B").allocated, 5 * 40);
}

TEST_F(StencilTest, ElementsPerElementAreABox) {
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(memory_of(s, {A, C}).at("B").allocated, 5 * 3);
}

TEST_F(StencilTest, TilesWithTheirHalo) {
  for (int factor : {1, 4, 6, 7, 36}) {
    te::Schedule t = te::create_schedule(C);
    const auto tiles = t[C].tile(t[C].axis(0), t[C].axis(1), factor, 38);
    t[B].compute_at(t[C], tiles.y_outer);
    const std::int64_t rows = factor + 4;
    const Memory memory = memory_of(t, {A, C}).at("B");
    EXPECT_EQ(memory.allocated, rows * 40) << factor;
    // A tile as high as the stencil leaves no row of the box unread.
    if (factor < 4) continue;
    EXPECT_GE(static_cast<std::int64_t>(memory.read.size()), rows * 38) << factor;
  }
}

struct AffineTest : ::testing::Test {
  te::Tensor A = te::placeholder({48, 48}, "A");
  te::Tensor B = te::compute(
      {48, 48}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");

  /// Reads B at what the function gives, at the loop of the given number of a 24 x 24 consumer
  /// tiled by 6 and 5.
  void expect_tight_at(int loop, const std::function<Expr(Var, Var)>& read) {
    te::Tensor C = te::compute(
        {24, 24}, {"i", "j"}, [&](Var i, Var j) { return read(i, j); }, "C");
    te::Schedule s = te::create_schedule(C);
    s[C].tile(s[C].axis(0), s[C].axis(1), 6, 5);
    s[B].compute_at(s[C], s[C].leaf_iter_vars()[static_cast<std::size_t>(loop)]);
    expect_tight(s, {A, C}, B);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  }
};

TEST_F(AffineTest, SameElement) {
  for (int loop : {0, 1, 2, 3}) expect_tight_at(loop, [&](Var i, Var j) { return B(i, j); });
}

TEST_F(AffineTest, Transposed) {
  for (int loop : {0, 1, 2, 3}) expect_tight_at(loop, [&](Var i, Var j) { return B(j, i + 3); });
}

TEST_F(AffineTest, Reversed) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(loop, [&](Var i, Var j) { return B(Expr(23) - i, j); });
}

TEST_F(AffineTest, Neighbours) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(
        loop, [&](Var i, Var j) { return B(i, j) + B(i + 1, j) + B(i, j + 1) + B(i + 1, j + 1); });
}

TEST_F(AffineTest, RowsOfPairs) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(loop, [&](Var i, Var j) { return B(i * 2, j) + B(i * 2 + 1, j); });
}

TEST_F(AffineTest, Halved) {
  for (int loop : {0, 1}) expect_tight_at(loop, [&](Var i, Var j) { return B(floordiv(i, 2), j); });
}

// ---- padding ------------------------------------------------------------------------------------

/// Each layer pads by one and sums three neighbours: nothing may grow from layer to layer.
TEST(PaddingTest, ChainsDoNotGrow) {
  te::Tensor A = te::placeholder({58}, "A");
  te::Tensor layer = A;
  std::vector<te::Tensor> padded;
  for (int n = 0; n < 3; ++n) {
    te::Tensor P = te::compute(
        {60}, {"i"}, [&](Var i) { return if_then_else(i >= 1 && i < 59, layer(i - 1), 0.0f); },
        "P" + std::to_string(n));
    te::IterVar r = te::reduce_axis({0, 3}, "r");
    layer = te::compute(
        {58}, {"i"}, [&](Var i) { return te::sum(P(i + r), {r}); }, "L" + std::to_string(n));
    padded.push_back(P);
  }
  te::Schedule s = te::create_schedule(layer);
  const auto memory = memory_of(s, {A, layer});
  for (const te::Tensor& P : padded) EXPECT_EQ(memory.at(P.name()).allocated, 60) << P.name();
  EXPECT_EQ(memory.at("L0").allocated, 58);
  EXPECT_EQ(memory.at("L1").allocated, 58);
  EXPECT_EQ(compare_with_default(s, {A, layer}), "");
}

TEST(PaddingTest, ClampedIndicesStayInside) {
  te::Tensor A = te::placeholder({20}, "A");
  te::Tensor B = te::compute(
      {20}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Tensor C = te::compute(
      {20}, {"i"}, [&](Var i) { return B(max(i - 2, 0)) + B(min(i + 2, 19)); }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 6);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
  EXPECT_LE(memory_of(s, {A, C}).at("B").allocated, 20);
}

}  // namespace
}  // namespace tenon::testing
