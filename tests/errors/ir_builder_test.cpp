// Wrong buffers and wrong loop code written by hand: refused where they are written.
#include <gtest/gtest.h>

#include <optional>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using tir::Buffer;
using tir::decl_buffer;
using tir::Expr;

struct LoopCodeTest : ::testing::Test {
  Var i{"i"}, n{"n"}, x{"x", Float(32)}, p{"p", Handle()}, four{"four", Int(32, 4)};
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  const char* const null = nullptr;

  static void refused(const std::function<void()>& use, const std::vector<std::string>& parts,
                      SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<TypeError>(use, parts, where)) << where.line();
  }
  static void out_of_place(const std::function<void()>& use, const std::vector<std::string>& parts,
                           SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<LowerError>(use, parts, where)) << where.line();
  }
  Expr moved_from() const {
    Expr e = i + 1;
    const Expr taken = std::move(e);
    return e;
  }
};

// ---- buffers ------------------------------------------------------------------------------------

TEST_F(LoopCodeTest, ExtentsStridesAndOffsetsAreCounts) {
  auto declare = [](std::vector<Expr> shape, tir::BufferOptions options = {},
                    SourceLocation where = SourceLocation::current()) {
    options.name = "b";
    decl_buffer(std::move(shape), Float(32), std::move(options), where);
  };
  refused([&] { declare({2.5f}); }, {"`b`", "extent", "integer", "float32"});
  refused([&] { declare({-4}); }, {"`b`", "extent", "-4"});
  refused([&] { declare({i < 3}); }, {"`b`", "extent", "bool"});
  refused([&] { declare({moved_from()}); }, {"`b`", "extent", "moved from"});
  refused([&] { declare({4}, {.strides = {2.5f}}); }, {"`b`", "stride", "integer", "float32"});
  refused([&] { declare({4}, {.strides = {-1}}); }, {"`b`", "stride", "-1"});
  refused([&] { declare({4}, {.strides = {moved_from()}}); }, {"`b`", "stride", "moved from"});
  refused([&] { declare({4, 4}, {.strides = {1}}); }, {"`b`", "1 strides", "2 dimensions"});
  refused([&] { declare({4}, {.elem_offset = 2.5f}); }, {"`b`", "elem_offset", "float32"});
  refused([&] { declare({4}, {.elem_offset = -4}); }, {"`b`", "elem_offset", "-4"});
}

TEST_F(LoopCodeTest, BufferOptionsThatContradictThemselves) {
  auto declare = [](tir::BufferOptions options, SourceLocation where = SourceLocation::current()) {
    options.name = "b";
    decl_buffer({4, 4}, Float(32), std::move(options), where);
  };
  refused([&] { declare({.data_alignment = -1}); }, {"`b`", "alignment", "-1"});
  refused(
      [&] {
        decl_buffer({std::int64_t{1} << 40, std::int64_t{1} << 40}, Float(32), {.name = "b"});
      },
      {"`b`", "64-bit"});
  refused([&] { declare({.data_alignment = 48}); }, {"`b`", "alignment", "power of two", "48"});
  refused([&] { declare({.offset_factor = -1}); }, {"`b`", "factor"});
  refused([&] { declare({.elem_offset = 3, .offset_factor = 2}); },
          {"`b`", "elem_offset 3", "factor 2"});
  refused([&] { declare({.axis_separators = {3}}); }, {"`b`", "separators"});
  refused([&] { declare({.axis_separators = {1, 0}}); }, {"`b`", "separators"});
  refused([&] { declare({.data = x}); }, {"`b`", "`x`", "float32"});
  refused([&] { declare({.scope = null}); }, {"null pointer"});
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { declare({.scope = "sharedd"}); }, {"sharedd", "shared"}));
  refused([&] { decl_buffer({4}, Float(32), {.name = null}); }, {"null pointer"});
}

TEST_F(LoopCodeTest, ElementsOfBuffers) {
  const Buffer b = decl_buffer({4, 4}, Float(32), {.name = "b"});
  refused([&] { b({1}); }, {"`b`", "2 dimensions", "1"});
  refused([&] { b({}); }, {"`b`", "2 dimensions", "0"});
  refused([&] { b({1, Expr(2.5f)}); }, {"`b`", "integer", "float32"});
  refused([&] { b({i < 3, 1}); }, {"`b`", "integer", "bool"});
  refused([&] { b({four, 1}); }, {"`b`", "only the last index", "int32x4"});
  refused([&] { b({moved_from(), 1}); }, {"`b`", "moved from"});
}

TEST_F(LoopCodeTest, VectorsOfBuffers) {
  const Buffer b = decl_buffer({4, 8}, Float(32), {.name = "b"});
  refused([&] { b.vload({0}, Float(32, 4)); }, {"`b`", "2 dimensions", "1"});
  refused([&] { b.vload({0, 0}, Int(32, 4)); }, {"vload", "`b`", "float32", "int32x4"});
  refused(
      [&] {
        b.vload({0, four}, Float(32, 4));
      },
      {"vload", "`b`", "begins at one element", "4"});
  refused([&] { b.vstore({0, 0}, Var("v", Float(64, 4))); }, {"vstore", "`b`", "float64x4"});
  refused([&] { b.vstore({0, 0}, moved_from()); }, {"vstore", "`b`", "moved from"});
  const Buffer threes = decl_buffer({4}, Float(32, 3), {.name = "threes"});
  refused([&] { threes.vload({0}, Float(32, 4)); },
          {"vload", "`threes`", "float32x3", "float32x4"});
  const Buffer scalar = decl_buffer({}, Float(32), {.name = "scalar"});
  refused([&] { scalar.vload({}, Float(32, 4)); }, {"vload", "`scalar`", "float32x4"});
}

TEST_F(LoopCodeTest, AddressesOfBuffers) {
  const Buffer b = decl_buffer({4, 4}, Float(32), {.name = "b"});
  refused([&] { b.access_ptr("x"); }, {"`b`", "\"x\"", "rw"});
  refused([&] { b.access_ptr(""); }, {"`b`", "rw"});
  refused([&] { b.access_ptr(null); }, {"null pointer"});
  refused([&] { b.access_ptr("r", 2.5f); }, {"`b`", "offset", "float32"});
  refused([&] { b.access_ptr("r", moved_from()); }, {"`b`", "offset", "moved from"});
  refused([&] { b.offset_of({1}); }, {"`b`", "2 dimensions", "1"});
  const Buffer two = decl_buffer({4, 4}, Float(32), {.name = "two", .axis_separators = {1}});
  refused([&] { two.offset_of({1, 1}); }, {"`two`", "2 physical dimensions"});
}

// ---- stores -------------------------------------------------------------------------------------

TEST_F(LoopCodeTest, StoresOfOtherTypes) {
  tir::IRBuilder ib;
  const tir::BufferRef c = ib.allocate(Float(32), {4}, "c"),
                       small = ib.allocate(Int(8), {4}, "small");
  const tir::BufferRef wide = ib.allocate(Float(32, 4), {4}, "wide");
  refused([&] { c[0] = i; }, {"`c`", "float32", "int32"});
  refused([&] { c[0] = p; }, {"`c`", "float32", "handle"});
  refused([&] { c[0] = i < 3; }, {"`c`", "float32", "bool"});
  refused([&] { small[0] = 300; }, {"300", "int8"});
  refused([&] { small[0] = 2.5; }, {"`small`", "int8", "float32"});
  refused([&] { small[0] = c[0]; }, {"`small`", "int8", "float32"});
  refused([&] { wide[0] = Var("v", Float(32, 8)); }, {"`wide`", "float32x4", "float32x8"});
  refused([&] { c[0] = moved_from(); }, {"moved from"});
}

TEST_F(LoopCodeTest, IndicesOfStores) {
  tir::IRBuilder ib;
  const tir::BufferRef c = ib.allocate(Float(32), {4}, "c"),
                       flat = ib.allocate(Float(32), {4, 4}, "flat");
  const tir::BufferRef two = ib.buffer_ptr(decl_buffer({4, 4}, Float(32), {.name = "two"}));
  const tir::BufferRef one = ib.buffer_ptr(decl_buffer({}, Float(32), {.name = "one"}));
  refused([&] { c[2.5] = 1; }, {"`c`", "integer", "float32"});
  refused([&] { c[x] = 1; }, {"`c`", "integer", "float32"});
  refused([&] { c[i < 3] = 1; }, {"`c`", "integer", "bool"});
  refused([&] { c[moved_from()] = 1; }, {"moved from"});
  for (const tir::BufferRef& matrix : {two, flat}) {
    refused([&] { matrix[{1}] = 1; }, {"2 dimensions", "1"});
    refused([&] { matrix[{}] = 1; }, {"2 dimensions", "0"});
    refused([&] { matrix[{four, 1}] = 1; }, {"only the last index", "int32x4"});
  }
  refused([&] { one[1] = 1; }, {"`one`", "no dimension", "0"});
}

TEST_F(LoopCodeTest, ConstantIndicesLieWithinTheShape) {
  tir::IRBuilder ib;
  const Buffer b = decl_buffer({4, n}, Float(32), {.name = "b"});
  const tir::BufferRef c = ib.allocate(Float(32), {4, 4}, "c"), two = ib.buffer_ptr(b);
  auto outside = [](const std::function<void()>& use, const std::vector<std::string>& parts,
                    SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<BoundError>(use, parts, where)) << where.line();
  };
  outside([&] { c[16] = 1; }, {"`c`", "16", "extent 16"});
  outside([&] { c[-1] = 1; }, {"`c`", "-1"});
  outside([&] { c[{1, 4}] = 1; }, {"`c`", "index 1 is 4", "extent 4"});
  outside([&] { two[{4, 0}] = 1; }, {"`b`", "index 0 is 4", "extent 4"});
  outside([&] { b({-1, 0}); }, {"`b`", "index 0 is -1"});
  outside([&] { decl_buffer({8}).vload({5}, Float(32, 4)); },
          {"index 0 is 5", "4 neighbours", "extent 8"});
  EXPECT_NO_THROW((two[{3, 99}] = 1));
  EXPECT_NO_THROW(c[n + 99] = 1);
}

TEST_F(LoopCodeTest, WhatALoopProgramCannotHold) {
  tir::IRBuilder ib;
  const tir::BufferRef c = ib.allocate(Float(32), {4}, "c");
  refused([&] { c[0] = A(0, 0) + 1.0f; }, {"tensor `A`", "buffer"});
  refused([&] { c[0] = te::sum(A(0, k), {k}); }, {"reduction"});
  refused([&] { c[cast(Int(32), A(0, 0))] = 1; }, {"tensor `A`"});
  refused([&] { ib.let("v", A(0, 0)); }, {"tensor `A`"});
  refused([&] { ib.if_scope(A(0, 0) > 0.0f, [] {}); }, {"tensor `A`"});
  refused([&] { ib.for_range(0, cast(Int(32), A(0, 0)), "i", [](Var) {}); }, {"tensor `A`"});
  refused([&] { ib.emit(A(0, 0)); }, {"tensor `A`"});
  refused([&] { ib.emit(moved_from()); }, {"moved from"});
}

// ---- scopes -------------------------------------------------------------------------------------

TEST_F(LoopCodeTest, LoopsOverWhatIsNoInteger) {
  tir::IRBuilder ib;
  auto loop = [&](const tir::Operand& begin, const tir::Operand& end,
                  tir::ForOptions options = {}) {
    ib.for_range(
        begin, end, "i", [](Var) {}, options);
  };
  refused([&] { loop(0, x); }, {"for_range", "`i`", "integer", "float32"});
  refused([&] { loop(2.5, 4); }, {"for_range", "`i`", "integer", "float32"});
  refused([&] { loop(0, i < 3); }, {"for_range", "`i`", "integer", "bool"});
  refused([&] { loop(0, p); }, {"for_range", "`i`", "integer", "handle"});
  refused([&] { loop(0, four); }, {"for_range", "`i`", "integer", "int32x4"});
  refused([&] { loop(moved_from(), 4); }, {"moved from"});
  refused([&] { loop(0, std::int64_t{1} << 40); }, {"1099511627776", "int32"});
  refused([&] { loop(4, 0); }, {"for_range", "`i`", "ends before it begins", "4"});
  refused([&] { loop(0, 4, {.dtype = Float(32)}); }, {"for_range", "`i`", "float32"});
  refused([&] { loop(0, 4, {.dtype = Int(8)}); }, {"for_range", "`i`", "int8"});
  refused([&] { loop(0, 4, {.kind = static_cast<ForKind>(17)}); },
          {"for_range", "`i`", "17", "Parallel"});
}

TEST_F(LoopCodeTest, LoopsCountInTheWiderType) {
  tir::IRBuilder ib;
  const Var far("far", Int(64)), small("small", Int(8));
  auto type_of = [&](const tir::Operand& end, tir::ForOptions options = {}) {
    DataType type = Int(8);
    ib.for_range(
        0, end, "i", [&](Var v) { type = v.dtype(); }, options);
    return type;
  };
  EXPECT_EQ(type_of(4), Int(32));
  EXPECT_EQ(type_of(n), Int(32));
  EXPECT_EQ(type_of(small), Int(32));
  EXPECT_EQ(type_of(far), Int(64));
  EXPECT_EQ(type_of(n, {.dtype = Int(64)}), Int(64));
  EXPECT_EQ(type_of(std::int64_t{1} << 40, {.dtype = Int(64)}), Int(64));
}

TEST_F(LoopCodeTest, ConditionsAndBodies) {
  tir::IRBuilder ib;
  refused([&] { ib.if_scope(i, [] {}); }, {"if_scope", "bool", "int32"});
  refused([&] { ib.if_scope(2.5, [] {}); }, {"if_scope", "bool", "float32"});
  refused([&] { ib.while_loop(i, [] {}); }, {"while_loop", "bool", "int32"});
  refused([&] { ib.while_loop(four < 3, [] {}); }, {"while_loop", "bool", "boolx4"});
  refused([&] { ib.if_scope(i < 3, nullptr); }, {"if_scope", "empty function"});
  refused([&] { ib.while_loop(i < 3, nullptr); }, {"while_loop", "empty function"});
  refused([&] { ib.for_range(0, 4, "i", nullptr); }, {"for_range", "`i`", "empty function"});
  refused([&] { ib.else_scope(nullptr); }, {"else_scope", "empty function"});
  refused([&] { ib.for_range(0, 4, null, [](Var) {}); }, {"null pointer"});
  refused([&] { ib.let(null, 1); }, {"null pointer"});
}

TEST_F(LoopCodeTest, AnElseFollowsItsIf) {
  tir::IRBuilder ib;
  auto expect_refused = [&](SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<LowerError>([&] { ib.else_scope([] {}, where); },
                                    {"else_scope", "if_scope"}, where))
        << where.line();
  };
  expect_refused();
  ib.if_scope(i < 3, [&] { expect_refused(); });
  ib.else_scope([] {});
  expect_refused();
  ib.if_scope(i < 3, [] {});
  ib.emit(call_extern(Int(32), "f"));
  expect_refused();
}

TEST_F(LoopCodeTest, GetInsideAnOpenScope) {
  tir::IRBuilder ib;
  out_of_place([&] { ib.for_range(0, 4, "i", [&](Var) { ib.get(); }); }, {"get()", "open scope"});
  out_of_place([&] { ib.if_scope(i < 3, [&] { ib.get(); }); }, {"get()", "open scope"});
  // All open scopes are closed again.
  EXPECT_EQ(tir::print_stmt(ib.get()), tir::print_stmt(tir::make_nop()));
}

TEST_F(LoopCodeTest, BuffersEndWithTheirScope) {
  tir::IRBuilder ib;
  std::optional<tir::BufferRef> inner;
  ib.for_range(0, 4, "i", [&](Var) { inner = ib.allocate(Float(32), {4}, "inner"); });
  out_of_place([&] { (*inner)[0] = 1; }, {"`inner`", "outside of the scope"});
  const tir::BufferRef outer = ib.allocate(Float(32), {4}, "outer");
  ib.get();
  out_of_place([&] { outer[0] = 1; }, {"`outer`", "outside of the scope"});
  std::optional<tir::BufferRef> orphan;
  {
    tir::IRBuilder other;
    orphan = other.buffer_ptr(decl_buffer({4}, Float(32), {.name = "orphan"}));
  }
  out_of_place([&] { (*orphan)[0] = 1; }, {"`orphan`", "IRBuilder is gone"});
}

/// Lowers code over an output of n elements.
struct LoweredCodeTest : LoopCodeTest {
  using Buffers = std::span<const Buffer>;
  void lower_code(const std::function<void(tir::IRBuilder&, const tir::BufferRef&)>& write,
                  SourceLocation where) {
    te::Tensor E = te::extern_op(
        {n}, {A},
        [&](Buffers, Buffers outs) {
          tir::IRBuilder ib;
          write(ib, ib.buffer_ptr(outs[0]));
          return ib.get();
        },
        "E");
    lower(te::create_schedule(E), {A, E}, {}, where);
  }
};

TEST_F(LoweredCodeTest, SymbolicLoopsThatNeedAConstant) {
  for (ForKind kind : {ForKind::Vectorized, ForKind::Unrolled}) {
    auto symbolic = [&](SourceLocation where = SourceLocation::current()) {
      lower_code(
          [&](tir::IRBuilder& ib, const tir::BufferRef& out) {
            ib.for_range(0, n, "v", [&](Var v) { out[v] = 1; }, {.kind = kind});
          },
          where);
    };
    EXPECT_TRUE(refuses<LowerError>([&] { symbolic(); }, {"`v`", "n"}));
  }
}

TEST_F(LoopCodeTest, VariablesEndWithTheirScope) {
  tir::IRBuilder ib;
  const tir::BufferRef c = ib.allocate(Float(32), {4}, "c");
  std::vector<Var> kept;
  ib.for_range(0, 4, "v", [&](Var v) {
    kept = {v, ib.let("w", v + 1)};
    c[kept[1]] = 1;
  });
  out_of_place([&] { c[kept[0]] = 1; }, {"`v`", "outside"});
  out_of_place([&] { c[0] = cast(Float(32), kept[1] * 2); }, {"`w`", "outside"});
  out_of_place([&] { ib.if_scope(kept[0] < 3, [] {}); }, {"`v`"});
  out_of_place([&] { ib.for_range(0, kept[0], "u", [](Var) {}); }, {"`v`"});
  out_of_place([&] { ib.let("u", kept[0]); }, {"`v`"});
  out_of_place([&] { ib.emit(call_extern(Int(32), "f", kept[0])); }, {"`v`"});
}

TEST_F(LoopCodeTest, Allocations) {
  tir::IRBuilder ib;
  refused([&] { ib.allocate(Float(32), {2.5f}, "c"); }, {"`c`", "extent", "float32"});
  refused([&] { ib.allocate(Float(32), {-1}, "c"); }, {"`c`", "extent", "-1"});
  refused([&] { ib.allocate(Float(32), {i < 3}, "c"); }, {"`c`", "extent", "bool"});
  refused([&] { ib.allocate(Float(32), {moved_from()}, "c"); }, {"`c`", "extent", "moved from"});
  refused([&] { ib.allocate(Float(32), {cast(Int(32), A(0, 0))}, "c"); }, {"tensor `A`"});
  refused([&] { ib.allocate(Float(32), {4}, null); }, {"null pointer"});
  refused([&] { ib.allocate(Float(32), {4}, "c", null); }, {"null pointer"});
  EXPECT_TRUE(refuses<ScheduleError>([&] { ib.allocate(Float(32), {4}, "c", "sharedd"); },
                                     {"sharedd", "shared"}));
}

TEST_F(LoopCodeTest, AttributesOfScopes) {
  tir::IRBuilder ib;
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  using tir::AttrKind;
  refused([&] { ib.scope_attr(tx, AttrKind::ThreadExtent, 2.5); },
          {"`threadIdx.x`", "integer", "float32"});
  refused([&] { ib.scope_attr(tx, AttrKind::ThreadExtent, 0); },
          {"`threadIdx.x`", "positive", "0"});
  refused([&] { ib.scope_attr(tx, AttrKind::ThreadExtent, moved_from()); }, {"moved from"});
  refused([&] { ib.scope_attr(k, AttrKind::ThreadExtent, 4); }, {"`k`", "thread_axis"});
  refused([&] { ib.scope_attr(tx, AttrKind::BufferBound, 4); }, {"`threadIdx.x`", "ThreadExtent"});
  refused([&] { ib.scope_attr(null, 1); }, {"null pointer"});
  refused([&] { ib.scope_attr("", 1); }, {"key", "empty"});
  ib.scope_attr(tx, AttrKind::ThreadExtent, n);
  EXPECT_NE(tir::print_stmt(ib.get()).find("\"thread_extent\" = max(1, n: int32)"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::testing
