#include "lower/passes.h"

#include <gtest/gtest.h>

#include "lower/loops/flat_buffers.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

// ---- flatten_storage ----------------------------------------------------------------------------

using namespace tir;
using test::body_text;
using test::normalized;

BufferParam param(const Buffer& buffer) { return {Var(buffer->name, Handle()), buffer, buffer}; }

PrimFunc function(std::vector<Buffer> buffers, Stmt body) {
  PrimFunc func{.params = {}, .buffers = {}, .body = std::move(body)};
  for (const Buffer& buffer : buffers) {
    func.buffers.push_back(param(buffer));
    func.params.push_back(func.buffers.back().param);
  }
  return func;
}

Stmt loop(const Var& var, Expr extent, Stmt body) {
  return make_stmt(For{var, 0, std::move(extent), ForKind::Serial, std::move(body)});
}

Buffer temporary(std::string name, std::vector<Expr> shape, DataType type = Float(32)) {
  return decl_buffer(std::move(shape), type, {.name = std::move(name)});
}

std::vector<Range> whole(const std::vector<Expr>& shape) {
  std::vector<Range> region;
  for (const Expr& extent : shape) region.emplace_back(0, extent);
  return region;
}

TEST(FlattenStorage, ParametersBecomeOneDimension) {
  const Buffer a = decl_buffer({1024, 64}, Float(32), {.name = "A"}),
               b = decl_buffer({64}, Float(32), {.name = "B"});
  Var i("i");
  const PrimFunc func = function({a, b}, loop(i, 64, make_store(b, a({i * 2, i}), {i})));
  EXPECT_EQ(
      test::text_of(flatten_storage(func, {})),
      normalized(
          R"(
@main = primfn(A_1: handle, B_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [65536], []),
             B: Buffer(B_2: Pointer(float32), float32, [64], [])}
  buffer_map = {A_1: A, B_1: B}
)"
          "  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [1024, 64], []), B_1: B_3: "
          "Buffer(B_2, float32, [64], [])} {\n"
          R"(
  for (i: int32, 0, 64) {
    B[i] = A[(i*129)]
  }
}
)"));
}

TEST(FlattenStorage, ARegionBeginsAtZeroInItsMemory) {
  const Buffer a = decl_buffer({32, 8}, Float(32), {.name = "A"}), t = temporary("T", {32, 8});
  Var i("i"), j("j");
  const Stmt body = make_stmt(Realize{t,
                                      {Range::from_min_extent(i, 2), Range(0, 8)},
                                      make_true(),
                                      loop(j, 8, make_store(t, a({i + 1, j}), {i + 1, j}))});
  EXPECT_EQ(body_text(flatten_storage(function({a}, loop(i, 31, body)), {})), normalized(R"(
for (i: int32, 0, 31) {
  allocate(T: Pointer(global float32), float32, [16]), storage_scope = global;
  for (j: int32, 0, 8) {
    T_1: Buffer(T, float32, [16], [], align=64)[(j + 8)] = A[(((i*8) + j) + 8)]
  }
}
)"));
}

TEST(FlattenStorage, StorageAlignPadsTheStride) {
  const Buffer t = temporary("T", {16, 8});
  Var i("i");
  const Stmt body = make_stmt(Realize{t,
                                      whole({16, 8}),
                                      make_true(),
                                      loop(i, 16, make_store(t, 0.0f, {i, 3})),
                                      {.align = {{0, 8, 1}}}});
  const std::string text = body_text(flatten_storage(function({}, body), {}));
  EXPECT_NE(text.find("[144])"), std::string::npos) << text;
  EXPECT_NE(text.find("[((i*9) + 3)]"), std::string::npos) << text;
}

TEST(FlattenStorage, TemporariesAreAlignedToTheirSize) {
  const std::vector<std::pair<int, int>> expected = {{1, 4},   {3, 8},    {8, 32},   {13, 32},
                                                     {16, 64}, {32, 128}, {100, 128}};
  for (auto [size, alignment] : expected) {
    const Buffer t = temporary("T", {size});
    const Stmt body = make_stmt(Realize{t, whole({size}), make_true(), make_store(t, 0.0f, {0})});
    int found = 0;
    walk(flatten_storage(function({}, body), {}).body,
         [&](const Store& store) { found = store.buffer->data_alignment; });
    EXPECT_EQ(found, alignment) << size << " floats";
  }
}

StorageScope deduced_scope(const std::vector<const char*>& threads) {
  const Buffer t = temporary("T", {4});
  Stmt body = make_stmt(Realize{
      t, whole({4}), make_true(), make_store(t, 0.0f, {0}), {.align = {}, .scope_is_set = false}});
  for (auto tag = threads.rbegin(); tag != threads.rend(); ++tag) {
    const IterVar axis(std::nullopt, Var(*tag), IterKind::ThreadIndex, ThreadTag::parse(*tag));
    body = make_stmt(Attr{AttrKind::ThreadExtent, axis, "", 4, body});
  }
  std::optional<StorageScope> scope;
  walk(flatten_storage(function({}, body), {}).body,
       [&](const Allocate& n) { scope = n.data.as<VarNode>()->pointer->scope; });
  return scope.value();
}

TEST(FlattenStorage, TheThreadsAroundGiveTheScope) {
  EXPECT_EQ(deduced_scope({}), StorageScope::Global);
  EXPECT_EQ(deduced_scope({"blockIdx.x"}), StorageScope::Shared);
  EXPECT_EQ(deduced_scope({"blockIdx.x", "threadIdx.x"}), StorageScope::Local);
}

TEST(FlattenStorage, BoolsAreKeptAsBytes) {
  const Buffer a = decl_buffer({4}, Bool(), {.name = "A"}), t = temporary("T", {4}, Bool());
  Var i("i");
  const Stmt body =
      make_stmt(Realize{t, whole({4}), make_true(), loop(i, 4, make_store(t, a({i}), {i}))});
  EXPECT_EQ(test::text_of(flatten_storage(function({a}, body), {})), normalized(R"(
@main = primfn(A_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(int8), int8, [4], [])}
  buffer_map = {A_1: A}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, bool, [4], [])} {
  allocate(T: Pointer(global int8), int8, [4]), storage_scope = global;
  for (i: int32, 0, 4) {
    T_1: Buffer(T, int8, [4], [], align=4)[i] = cast(int8, cast(bool, A[i]))
  }
}
)"));
}

TEST(FlattenStorage, StridesOffsetsAndSeparators) {
  const Var n("n"), stride0("stride"), stride1("stride"), offset("off");
  const Buffer a = decl_buffer(
      {n, 8}, Float(32),
      {.name = "A", .strides = {stride0, stride1}, .elem_offset = offset, .offset_factor = 4});
  const Buffer b = decl_buffer({4, 4, 8}, Float(32), {.name = "B", .axis_separators = {2}});
  Var i("i");
  const PrimFunc func = function({a, b}, loop(i, n, make_store(b, a({i, 3}), {i, 1, i})));
  EXPECT_EQ(body_text(flatten_storage(func, {})), normalized(R"(
for (i: int32, 0, n) {
  B[((i*4) + 1), i] = A[(((stride_1*3) + (i*stride)) + off)]
}
)"));
}

std::string flat_allocation(const std::vector<Expr>& shape, const std::vector<Expr>& strides) {
  const Buffer t = decl_buffer(shape, Float(32), {.name = "T", .strides = strides});
  const Stmt store = make_store(t, 0.0f, std::vector<Expr>(shape.size(), Expr(0)));
  return body_text(
      flatten_storage(function({}, make_stmt(Realize{t, whole(shape), make_true(), store})), {}));
}

TEST(FlattenStorage, AnAllocationHoldsTheDimensionOfTheLargestStride) {
  const std::vector<std::pair<std::vector<Expr>, std::string>> cases = {
      {{4, 1}, "[16]"}, {{1, 4}, "[16]"}, {{8, 1}, "[32]"}, {{1, 8}, "[32]"}, {{8, 2}, "[32]"}};
  for (const auto& [strides, size] : cases)
    EXPECT_NE(flat_allocation({4, 4}, strides).find("float32, " + size), std::string::npos)
        << flat_allocation({4, 4}, strides);
  EXPECT_NE(flat_allocation({1, 4}, {1, 1}).find("float32, [4]"), std::string::npos);
  EXPECT_NE(flat_allocation({4, 1}, {1, 2}).find("float32, [4]"), std::string::npos);
}

TEST(FlattenStorage, AnAllocationWhoseElementsMayOverlapIsRefused) {
  const Var n("n"), m("m");
  EXPECT_NO_THROW(flat_allocation({n, m}, {m, 1}));
  EXPECT_THROW(flat_allocation({n, m}, {n, 1}), LowerError);
  for (const std::vector<Expr>& strides : {std::vector<Expr>{1, 1}, {0, 0}, {3, 1}, {1, 3}, {4, 0}})
    EXPECT_THROW(flat_allocation({4, 4}, strides), LowerError) << print_expr(strides[0]);
}

TEST(FlattenStorage, RankZeroIsOneElement) {
  const Buffer a = decl_buffer({}, Float(32), {.name = "A"}), t = temporary("T", {});
  const Stmt body = make_stmt(Realize{t, {}, make_true(), make_store(t, a({}) + 1.0f, {})});
  EXPECT_EQ(body_text(flatten_storage(function({a}, body), {})), normalized(R"(
allocate(T: Pointer(global float32), float32, [1]), storage_scope = global;
T_1: Buffer(T, float32, [1], [], align=4)[0] = (A[0] + 1f32)
)"));
}

TEST(FlattenStorage, TheFlagOfDoubleBuffersReachesTheAllocation) {
  const Buffer t = temporary("T", {4});
  const Stmt body = make_stmt(Realize{
      t, whole({4}), make_true(), make_store(t, 0.0f, {0}), {.align = {}, .double_buffer = true}});
  bool found = false;
  walk(flatten_storage(function({}, body), {}).body,
       [&](const Allocate& n) { found = n.double_buffer; });
  EXPECT_TRUE(found);
}

// The intrinsic of the TVM 0.9 text 18_tensorize: sixteen rows of B, one row of A, sixteen elements
// of C.
TEST(FlattenStorage, ViewsGiveTheirVariablesValues) {
  const Buffer b = decl_buffer({512, 64}, Float(32), {.name = "B"}),
               c = decl_buffer({1024, 512}, Float(32), {.name = "C"});
  const Var s1("s1");
  const Buffer bb =
      decl_buffer({16, 64}, Float(32), {.name = "b", .strides = {s1, 1}, .offset_factor = 1});
  const Buffer cc = decl_buffer({16}, Float(32), {.name = "c", .strides = {1}, .offset_factor = 1});
  Var i("i"), j("j");
  const Expr call = call_extern(Int(32), "gemv_update", cc.access_ptr("w"), bb.access_ptr("r"), s1);
  Stmt body = make_stmt(
      BufferView{bb, b, {Range::from_min_extent(j * 16, 16), Range(0, 64)}, make_evaluate(call)});
  body = make_stmt(
      BufferView{cc, c, {Range::from_min_extent(i, 1), Range::from_min_extent(j * 16, 16)}, body});
  const PrimFunc flat = flatten_storage(function({b, c}, loop(i, 1024, loop(j, 32, body))), {});
  EXPECT_EQ(
      body_text(simplify(flat, {})),
      normalized(
          R"(
for (i: int32, 0, 1024) {
  for (j: int32, 0, 32) {
)"
          "    @tir.call_extern(\"gemv_update\", @tir.tvm_access_ptr(@tir.type_annotation(, "
          "dtype=float32), C_2, ((i*512) + (j*16)), 16, 2, dtype=handle), "
          "@tir.tvm_access_ptr(@tir.type_annotation(, dtype=float32), B_2, (j*1024), 1024, 1, "
          "dtype=handle), 64, dtype=int32)\n"
          R"(
  }
}
)"));
}

TEST(FlattenStorage, ElementsOfAViewAreElementsOfItsSource) {
  const Buffer a = decl_buffer({8, 16}, Float(32), {.name = "A"});
  const Buffer view = decl_buffer({4}, Float(32), {.name = "v", .offset_factor = 1});
  Var i("i"), k("k");
  const Stmt body =
      make_stmt(BufferView{view,
                           a,
                           {Range::from_min_extent(i, 1), Range::from_min_extent(4, 4)},
                           loop(k, 4, make_store(view, 1.0f, {k}))});
  EXPECT_EQ(body_text(flatten_storage(function({a}, loop(i, 8, body)), {})), normalized(R"(
for (i: int32, 0, 8) {
  for (k: int32, 0, 4) {
    A[(((i*16) + k) + 4)] = 1f32
  }
}
)"));
}

TEST(FlattenStorage, AViewOfAViewWorks) {
  const Buffer a = decl_buffer({64}, Float(32), {.name = "A"});
  const Buffer outer = decl_buffer({16}, Float(32), {.name = "o", .offset_factor = 1});
  const Buffer inner = decl_buffer({4}, Float(32), {.name = "i", .offset_factor = 1});
  Stmt body = make_stmt(
      BufferView{inner, outer, {Range::from_min_extent(3, 4)}, make_store(inner, 1.0f, {1})});
  body = make_stmt(BufferView{outer, a, {Range::from_min_extent(32, 16)}, body});
  EXPECT_EQ(body_text(flatten_storage(function({a}, body), {})), normalized("A[36] = 1f32\n"));
}

TEST(FlattenStorage, AViewThatDoesNotFitIsRefused) {
  const Buffer a = decl_buffer({8, 16}, Float(32), {.name = "A"});
  auto view_of = [&](const Buffer& view, std::vector<Range> region) {
    const Stmt body =
        make_stmt(BufferView{view, a, std::move(region), make_evaluate(call_extern(Int(32), "f"))});
    return flatten_storage(function({a}, body), {});
  };
  const Range row = Range::from_min_extent(2, 1), part = Range::from_min_extent(0, 8),
              rows = Range::from_min_extent(0, 4);
  // Another extent, no offset, no strides.
  EXPECT_THROW(view_of(decl_buffer({7}, Float(32), {.name = "v", .offset_factor = 1}), {row, part}),
               LowerError);
  EXPECT_THROW(view_of(decl_buffer({8}, Float(32), {.name = "v"}), {row, part}), LowerError);
  EXPECT_THROW(
      view_of(decl_buffer({4, 8}, Float(32), {.name = "v", .offset_factor = 1}), {rows, part}),
      LowerError);
  EXPECT_THROW(view_of(decl_buffer({8}, Int(32), {.name = "v", .offset_factor = 1}), {row, part}),
               LowerError);
}

TEST(FlattenStorage, UnprovedViewShapesAreAsserted) {
  const Var n("n");
  const Buffer a = decl_buffer({n}, Float(32), {.name = "A"});
  const Buffer view = decl_buffer({8}, Float(32), {.name = "v", .offset_factor = 1});
  const Stmt body = make_stmt(BufferView{view, a, {Range(0, n)}, make_store(view, 1.0f, {0})});
  const std::string text = body_text(flatten_storage(function({a}, body), {}));
  EXPECT_NE(text.find("assert((8 == n)"), std::string::npos) << text;
}

TEST(FlattenStorage, FusedAxesTakenApartMeetAgain) {
  const Var f("f"), i("i"), n("n"), m("m");
  const Buffer constant = decl_buffer({8, 14, 14}), symbolic = decl_buffer({n, 4, m});
  EXPECT_EQ(print_expr(flat_index(
                constant, {floordiv(f, 196), floormod(floordiv(f, 14), 14), floormod(f, 14)})[0]),
            "f");
  EXPECT_EQ(print_expr(flat_index(symbolic, {i, floordiv(f, m), floormod(f, m)})[0]),
            "(((i*4)*m) + f)");
}

/// The indices that a fused axis gives to the dimensions of a buffer, as bound inference makes
/// them.
std::vector<Expr> taken_apart(Expr fused, const std::vector<int>& shape) {
  std::vector<Expr> indices(shape.size(), Expr(0));
  for (std::size_t n = shape.size(); n-- > 1;) {
    indices[n] = floormod(fused, shape[n]);
    fused = floordiv(fused, shape[n]);
  }
  indices[0] = fused;
  return indices;
}

TEST(FlattenStorage, AxesThatAreFusedSplitAndBoundMeetAgain) {
  // 128 is no multiple of 11, nor 1024 of 6 * 6 * 8, so that simplification would reduce the factor
  // in the remainders.
  const Var block("block"), thread("thread");
  EXPECT_EQ(print_expr(flat_index(decl_buffer({5, 7, 11}),
                                  taken_apart(thread + block * 128, {5, 7, 11}))[0]),
            "((block*128) + thread)");
  EXPECT_EQ(print_expr(flat_index(decl_buffer({1, 4, 6, 6, 8}),
                                  taken_apart(thread + block * 1024, {1, 4, 6, 6, 8}))[0]),
            "((block*1024) + thread)");
}

TEST(FlattenStorage, FusedAxesMeetBehindAnotherTerm) {
  const Var i("i"), outer("outer"), inner("inner");
  const Expr fused = inner + outer * 32;
  EXPECT_EQ(print_expr(
                flat_index(decl_buffer({5, 7, 7}), {i, floordiv(fused, 7), floormod(fused, 7)})[0]),
            "(((i*49) + (outer*32)) + inner)");
}

TEST(FlattenStorage, FusedAxesMeetWhereTheBufferBeginsElsewhere) {
  // A tile of 7 x 7 at (row, column), written by one fused loop of threads.
  const Var row("row"), column("column"), outer("outer"), inner("inner");
  const Expr fused = inner + outer * 32;
  const Expr y = (floordiv(fused, 7) + row) - row, x = (floormod(fused, 7) + column) - column;
  EXPECT_EQ(print_expr(flat_index(decl_buffer({7, 7}), {y, x})[0]), "((outer*32) + inner)");
  EXPECT_EQ(print_expr(flat_index(decl_buffer({7, 7}), {floordiv(fused, 7) + 0, x})[0]),
            "((outer*32) + inner)");
}

TEST(FlattenStorage, PositionsAreThoseOfRowMajorOrder) {
  // All splits of fused axes: right for every value, whatever comes together.
  const Var outer("outer"), inner("inner"), i("i");
  for (const int factor : {1, 4, 6, 32})
    for (const int columns : {1, 3, 7}) {
      const Expr fused = inner + outer * factor;
      const std::vector<Expr> indices = {i, floordiv(fused, columns) + 0,
                                         (floormod(fused, columns) + i) - i};
      const Expr flat = flat_index(decl_buffer({3, 9, columns}), indices)[0];
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 5; ++b)
          for (int c = 0; c < factor; ++c) {
            const std::int64_t position = tir::evaluate_int(flat, [&](const Var& v) {
              return v.same_as(i) ? a : v.same_as(outer) ? b : c;
            });
            EXPECT_EQ(position, a * 9 * columns + b * factor + c) << print_expr(flat);
          }
    }
}

TEST(FlattenStorage, PositionsPastInt32AreInt64) {
  const Var i("i"), j("j");
  const Expr large = flat_index(decl_buffer({65536, 65536}), {i, j})[0];
  EXPECT_EQ(large.dtype(), Int(64));
  EXPECT_EQ(print_expr(large), "((cast(int64, i)*65536i64) + cast(int64, j))");
  // The last position, 2^31 - 1, still fits.
  EXPECT_EQ(flat_index(decl_buffer({8, 1 << 28}), {i, j})[0].dtype(), Int(32));
  EXPECT_EQ(flat_index(decl_buffer({8, (1 << 28) + 1}), {i, j})[0].dtype(), Int(64));
  EXPECT_EQ(print_expr(flat_buffer(decl_buffer({65536, 65536}))->shape[0]), "4294967296i64");
}

// The length of a row times the tile size exceeds int32, but no position does.
TEST(FlattenStorage, LongRowsThatAreFusedAndSplitHavePositionsInInt32) {
  const Var outer("outer"), inner("inner");
  const Expr flat =
      flat_index(decl_buffer({8, 681797}), taken_apart(inner + outer * 8192, {8, 681797}))[0];
  EXPECT_EQ(flat.dtype(), Int(32));
  EXPECT_EQ(print_expr(flat), "((outer*8192) + inner)");
}

TEST(FlattenStorage, InstrumentedStoresKnowTheSizes) {
  const Buffer x = decl_buffer({16, 16}, Float(32), {.name = "X"}),
               y = decl_buffer({16, 16}, Float(32), {.name = "Y"});
  Var i("i");
  const PrimFunc func = function({x, y}, loop(i, 16, make_store(y, x({i, 0}), {i, 0})));
  EXPECT_EQ(body_text(flatten_storage(func, {.keep_buffer_sizes = true})), normalized(R"(
for (i: int32, 0, 16) {
  attr [Y_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
  attr [X_2] "buffer_bound" = @tir.tvm_tuple(256, dtype=handle);
  Y[(i*16)] = X[(i*16)]
}
)"));
}

TEST(FlattenStorage, InstrumentedSizesReachTheLastElementWhateverTheStrides) {
  // Columns one after the other, from element 5 on: the last of 3 by 4 is 5 + 2*1 + 3*8.
  const Buffer x =
      decl_buffer({3, 4}, Float(32), {.name = "X", .strides = {1, 8}, .elem_offset = Expr(5)});
  const PrimFunc func = function({x}, make_store(x, make_float(Float(32), 0), {2, 3}));
  EXPECT_EQ(body_text(flatten_storage(func, {.keep_buffer_sizes = true})), normalized(R"(
attr [X_2] "buffer_bound" = @tir.tvm_tuple(32, dtype=handle);
X[31] = 0f32
)"));
}

TEST(FlattenStorage, InstrumentedSizesOfSymbolicStridesMayBeginBeforeThePointer) {
  const Var s("s");
  const Buffer x = decl_buffer({3, 4}, Float(32), {.name = "X", .strides = {8, s}});
  const PrimFunc func = function({x}, make_store(x, make_float(Float(32), 0), {2, 0}));
  EXPECT_EQ(body_text(flatten_storage(func, {.keep_buffer_sizes = true})), normalized(R"(
attr [X_2] "buffer_bound" = @tir.tvm_tuple(((16 + max((3*s), 0)) + 1), min((3*s), 0), dtype=handle);
X[16] = 0f32
)"));
}

// ---- views --------------------------------------------------------------------------------------

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

TEST(BindView, ACompactBufferFitsStridedMemoryThatIsContiguous) {
  const auto bind = [](const std::vector<Expr>& declared, const std::vector<Expr>& shape) {
    const Buffer piece = decl_buffer(shape, Float(32), {.name = "P", .strides = {16, 1}});
    return bind_view(decl_buffer(declared, Float(32), {.name = "D"}), piece, {}, arith::Facts());
  };
  EXPECT_TRUE(bind({8}, {1, 8}).checks.empty());
  EXPECT_TRUE(bind({1, 8}, {1, 8}).checks.empty());
  EXPECT_TRUE(bind({4, 16}, {4, 16}).checks.empty());
  EXPECT_THROW(bind({4, 8}, {4, 8}), LowerError);
}

TEST(BindView, ADimensionOfOneElementHasAnyStride) {
  const Buffer declared = decl_buffer({1, 8}, Float(32), {.name = "D", .strides = {99, 1}});
  const Buffer piece = decl_buffer({1, 8}, Float(32), {.name = "P", .strides = {8, 1}});
  EXPECT_TRUE(bind_view(declared, piece, {}, arith::Facts()).checks.empty());
}

}  // namespace
}  // namespace tenon::lowering
