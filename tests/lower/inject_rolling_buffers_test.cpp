#include "lower/passes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using namespace tir;

Stmt loop(const Var& v, Expr extent, Stmt body, ForKind kind = ForKind::Serial) {
  return make_stmt(For{v, 0, std::move(extent), kind, std::move(body)});
}

/// C over [0, rows) x [0, columns) of sums of a window of B = A + 1, which is computed anew for
/// each tile.
struct Stencil {
  int rows = 12, columns = 10;
  int tile_rows = 1, tile_columns = 10;
  int window_rows = 3, window_columns = 1;
  ForKind row_kind = ForKind::Serial;
  bool has_condition = false;

  Buffer a =
      decl_buffer({rows + window_rows - 1, columns + window_columns - 1}, Int(32), {.name = "A"});
  Buffer b =
      decl_buffer({rows + window_rows - 1, columns + window_columns - 1}, Int(32), {.name = "B"});
  Buffer c = decl_buffer({rows, columns}, Int(32), {.name = "C"});

  PrimFunc function(bool rolls) const {
    const Var y("y"), x("x"), by("by"), bx("bx"), cy("cy"), cx("cx");
    const int height = tile_rows + window_rows - 1, width = tile_columns + window_columns - 1;
    const Expr top = y * tile_rows, left = x * tile_columns;
    const Stmt fill =
        loop(by, height,
             loop(bx, width, make_store(b, a({top + by, left + bx}) + 1, {top + by, left + bx})));
    Expr sum = 0;
    for (int dy = 0; dy < window_rows; ++dy) {
      for (int dx = 0; dx < window_columns; ++dx) sum = sum + b({top + cy + dy, left + cx + dx});
    }
    const Stmt use =
        loop(cy, tile_rows, loop(cx, tile_columns, make_store(c, sum, {top + cy, left + cx})));
    Realize::Traits traits;
    traits.rolling_buffer = rolls;
    Stmt tile = make_stmt(
        Realize{b,
                {Range::from_min_extent(top, height), Range::from_min_extent(left, width)},
                make_true(),
                make_seq({fill, use}),
                traits});
    if (has_condition) tile = make_stmt(If{y < 100, tile, std::nullopt});
    const Stmt body = loop(y, rows / tile_rows, loop(x, columns / tile_columns, tile), row_kind);
    PrimFunc func{{}, {}, body};
    for (const Buffer& buffer : {a, c}) {
      func.buffers.push_back({Var(buffer->name, Handle()), buffer, buffer});
      func.params.push_back(func.buffers.back().param);
    }
    return func;
  }

  struct Result {
    std::vector<std::int32_t> values;
    std::int64_t computed;  // stores to B
  };
  Result run(const PrimFunc& func) const {
    std::vector<std::int32_t> in((rows + window_rows - 1) * (columns + window_columns - 1)),
        out(rows * columns, -1);
    for (std::size_t n = 0; n < in.size(); ++n) in[n] = static_cast<std::int32_t>(n * n % 97);
    Result result{{}, 0};
    const std::vector<HostValue> args{
        HostArray{in.data(), Int(32), {rows + window_rows - 1, columns + window_columns - 1}},
        HostArray{out.data(), Int(32), {rows, columns}}};
    EvaluateOptions options{.check_uninitialized = true};
    options.on_access = [&](const Access& access) {
      if (access.is_write && access.buffer->name == "B") ++result.computed;
    };
    evaluate(func, args, options);
    result.values = std::move(out);
    return result;
  }
};

void expect_equal_results(const Stencil& stencil, std::int64_t computed) {
  const Stencil::Result plain = stencil.run(stencil.function(false));
  const PrimFunc rolling = inject_rolling_buffers(stencil.function(true), {});
  for (const Violation& v : verify(rolling, Form::MultiDimensional))
    ADD_FAILURE() << v.what << " " << v.where;
  const Stencil::Result result = stencil.run(rolling);
  EXPECT_EQ(result.values, plain.values);
  EXPECT_EQ(result.computed, computed);
}

TEST(InjectRollingBuffers, RowsAreComputedOnceEach) { expect_equal_results({}, 14 * 10); }

TEST(InjectRollingBuffers, TilesOfSeveralRowsMoveByTheirHeight) {
  expect_equal_results({.tile_rows = 2}, 14 * 10);
  expect_equal_results({.tile_rows = 4, .window_rows = 2}, 13 * 10);
}

TEST(InjectRollingBuffers, BothDirectionsKeepWhatTheyHave) {
  expect_equal_results({.tile_columns = 1, .window_columns = 3}, 14 * 12);
  expect_equal_results({.tile_rows = 3, .tile_columns = 5, .window_rows = 2, .window_columns = 4},
                       13 * 13);
}

TEST(InjectRollingBuffers, OnlyColumnsMove) {
  expect_equal_results({.tile_rows = 12, .tile_columns = 2, .window_rows = 1, .window_columns = 3},
                       12 * 12);
}

TEST(InjectRollingBuffers, ParallelRowsRollAlongTheirColumns) {
  // Each row starts anew with its three rows of B, whose columns then move.
  expect_equal_results({.tile_columns = 2, .window_columns = 3, .row_kind = ForKind::Parallel},
                       12 * 3 * 12);
}

TEST(InjectRollingBuffers, UnderAConditionNothingIsKept) {
  expect_equal_results({.has_condition = true}, 12 * 3 * 10);
}

TEST(InjectRollingBuffers, WithoutOverlapNothingIsGuarded) {
  const Stencil stencil{.window_rows = 1};
  expect_equal_results(stencil, 12 * 10);
}

/// C[i] = sum of B over the 2 x 2 elements from (i, i) on, where B = A + 1 is computed anew for
/// each.
PrimFunc diagonal(bool rolls) {
  const Buffer a = decl_buffer({9, 9}, Int(32), {.name = "A"}),
               b = decl_buffer({9, 9}, Int(32), {.name = "B"}),
               c = decl_buffer({8}, Int(32), {.name = "C"});
  const Var i("i"), by("by"), bx("bx");
  const Stmt fill =
      loop(by, 2, loop(bx, 2, make_store(b, a({i + by, i + bx}) + 1, {i + by, i + bx})));
  const Stmt use =
      make_store(c, b({i, i}) + b({i, i + 1}) + b({i + 1, i}) + b({i + 1, i + 1}), {i});
  Realize::Traits traits;
  traits.rolling_buffer = rolls;
  const Range window = Range::from_min_extent(i, 2);
  const Stmt body = loop(
      i, 8, make_stmt(Realize{b, {window, window}, make_true(), make_seq({fill, use}), traits}));
  PrimFunc func{{}, {}, body};
  for (const Buffer& buffer : {a, c}) {
    func.buffers.push_back({Var(buffer->name, Handle()), buffer, buffer});
    func.params.push_back(func.buffers.back().param);
  }
  return func;
}

TEST(InjectRollingBuffers, AWindowThatMovesInTwoDirectionsAtOnceKeepsItsValues) {
  const auto run = [](const PrimFunc& func) {
    std::vector<std::int32_t> in(81), out(8, -1);
    for (std::size_t n = 0; n < in.size(); ++n) in[n] = static_cast<std::int32_t>(n * n % 97);
    const std::vector<HostValue> args{HostArray{in.data(), Int(32), {9, 9}},
                                      HostArray{out.data(), Int(32), {8}}};
    evaluate(func, args, {.check_uninitialized = true});
    return out;
  };
  EXPECT_EQ(run(inject_rolling_buffers(diagonal(true), {})), run(diagonal(false)));
}

TEST(InjectRollingBuffers, TheTextShowsARing) {
  const Stencil stencil{.rows = 32, .columns = 1, .tile_columns = 1};
  PrimFunc func = inject_rolling_buffers(stencil.function(true), {});
  func = remove_no_ops(simplify(flatten_storage(func, {}), {}), {});
  const std::string text = test::body_text(func);
  EXPECT_TRUE(
      text.starts_with("allocate(B: Pointer(global int32), int32, [3]), storage_scope = global;\n"
                       "for (y: int32, 0, 32) {\n"))
      << text;
  EXPECT_NE(text.find("if @tir.likely(((y < 1) || (2 <= by)), dtype=bool) {\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("[floormod((y + by), 3)]"), std::string::npos) << text;
}

}  // namespace
}  // namespace tenon::lowering
