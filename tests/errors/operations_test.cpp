// Wrong operations: what te::compute and its kin refuse, at the call.
#include <gtest/gtest.h>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using te::Expr;
using tir::Buffer;

struct OperationTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::Tensor I = te::placeholder({8}, "I", Int(32));
  te::IterVar k = te::reduce_axis({0, 6}, "k");

  void refused(const std::function<void()>& maker, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<TypeError>(maker, parts, where)) << where.line();
  }
  static te::Tensor ones(std::vector<Expr> shape,
                         SourceLocation where = SourceLocation::current()) {
    return te::compute(
        std::move(shape), [](std::span<const Var>) { return Expr(1.0f); }, "E", {}, where);
  }
};

// ---- shapes and axes ----------------------------------------------------------------------------

TEST_F(OperationTest, ExtentsAreCounts) {
  refused(
      [&] {
        te::placeholder({4, -1}, "P");
      },
      {"placeholder `P`", "extent 1", "negative", "-1"});
  refused([&] { te::placeholder({2.5f}, "P"); },
          {"placeholder `P`", "extent 0", "integer", "float32"});
  refused([&] { te::placeholder({I(0) < 3}, "P"); }, {"placeholder `P`", "extent 0", "bool"});
  refused([&] { te::placeholder({Var("v", Int(32, 4))}, "P"); }, {"extent 0", "int32x4"});
  refused([&] { ones({-3}); }, {"compute `E`", "extent 0", "-3"});
  refused(
      [&] {
        te::placeholder({std::int64_t{1} << 40, std::int64_t{1} << 40}, "P");
      },
      {"placeholder `P`", "elements"});
  refused([&] { te::placeholder({4}, "P", Handle()); }, {"placeholder `P`", "handle"});
  refused([&] { te::placeholder({~std::uint64_t{0}}, "P"); }, {"extent 0", "18446744073709551615"});
  refused([&] { te::placeholder({te::sum(I(k), {k})}, "P"); },
          {"placeholder `P`", "extent 0", "reduction"});
  refused([&] { ones({4, I(0)}); }, {"compute `E`", "extent 1", "reads tensor `I`", "te::var"});
}

TEST_F(OperationTest, BodiesTakeAVariablePerDimension) {
  refused(
      [&] {
        te::compute(
            {8, 6}, {"i", "j"}, [&](Var i) { return A(i, i); }, "E");
      },
      {"compute `E`", "1 variable", "2 dimensions"});
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var i, Var j) { return A(i, j); }, "E");
      },
      {"compute `E`", "2 variables", "1 dimension"});
  refused(
      [&] {
        te::compute(
            {8}, [&] { return A(0, 0); }, "E");
      },
      {"0 variables", "1 dimension"});
  refused(
      [&] {
        te::compute(
            {}, {}, [&](Var i) { return A(i, i); }, "E");
      },
      {"1 variable", "0 dimensions"});
  refused(
      [&] {
        te::compute(
            {8}, {"i", "j"}, [&](Var i) { return A(i, i); }, "E");
      },
      {"2 axis names", "1 dimension"});
  refused(
      [&] {
        te::compute(
            {8}, {}, [&](Var i) { return A(i, i); }, "E");
      },
      {"0 axis names"});
}

TEST_F(OperationTest, EmptyFunctions) {
  std::function<Expr(Var)> none;
  refused([&] { te::compute({8}, {"i"}, none, "E"); }, {"empty function"});
  refused([&] { te::extern_op({8}, {A}, nullptr, "E"); }, {"extern `E`", "empty function"});
  te::Reducer::Combine combine = [](std::span<const Var> x, std::span<const Var>) {
    return std::vector<Expr>{x[0]};
  };
  refused([&] { te::comm_reducer(combine, nullptr, "r"); }, {"`r`", "identity", "empty function"});
  refused([&] { te::comm_reducer(nullptr, nullptr, "r"); },
          {"`r`", "combination", "empty function"});
}

Expr plain_function(Var i) { return i * 2; }

TEST_F(OperationTest, PlainFunctionsAreBodies) {
  EXPECT_EQ(te::compute({8}, {"i"}, plain_function, "E").dtype(), Int(32));
  EXPECT_EQ(te::compute({8}, {"i"}, &plain_function, "E").ndim(), 1);
}

TEST_F(OperationTest, NamesAreNoNullPointers) {
  const char* const null = nullptr;
  refused([&] { te::placeholder({4}, null); }, {"null pointer"});
  refused([&] { te::compute({4}, {"i"}, plain_function, null); }, {"null pointer"});
  refused([&] { te::reduce_axis({0, 4}, null); }, {"null pointer"});
  refused([&] { te::thread_axis(null); }, {"null pointer"});
  refused([&] { te::size_var(null); }, {"null pointer"});
  refused([&] { Var{null}; }, {"null pointer"});
  refused([&] { call_extern(Int(32), null, 1); }, {"null pointer"});
  refused([&] { tir::decl_buffer({4}).access_ptr(null); }, {"null pointer"});
  refused([&] { Target{null}; }, {"null pointer"});
  te::Tensor B = te::compute({8}, {"i"}, plain_function, "B");
  te::Schedule s = te::create_schedule(B);
  refused([&] { s[B].set_scope(null); }, {"null pointer"});
  refused([&] { s[B].pragma(s[B].axis(0), null); }, {"null pointer"});
  refused([&] { s.cache_write(B, null); }, {"null pointer"});
  refused([&] { s.cache_read(B, null, {}); }, {"null pointer"});
}

TEST_F(OperationTest, NamesInOptionsAreNoNullPointersEither) {
  const char* const null = nullptr;
  te::Tensor B = te::compute({8}, {"i"}, plain_function, "B");
  te::Schedule s = te::create_schedule(B);
  refused([&] { te::compute({8}, {"i"}, plain_function, "E", {.tag = null}); }, {"null pointer"});
  refused([&] { tir::decl_buffer({8}, Int(32), {.name = null}); }, {"null pointer"});
  refused([&] { tir::decl_buffer({8}, Int(32), {.scope = null}); }, {"null pointer"});
  refused([&] { lower(s, {B}, {.name = null}); }, {"null pointer"});
  refused([&] { build(s, {B}, Target("llvm"), {.name = null}); }, {"null pointer"});
  refused([&] { te::create_prim_func({B}, {.name = null}); }, {"null pointer"});
  refused([&] { s[B].pragma(s[B].axis(0), "import_c", null); }, {"null pointer"});
  refused([&] { tir::IRBuilder().allocate(Int(32), {4}, null); }, {"null pointer"});
  refused([&] { te::decl_tensor_intrin(B.op(), {}, {.name = null}); }, {"null pointer"});
}

// ---- outputs ------------------------------------------------------------------------------------

TEST_F(OperationTest, OutputsOfOneKind) {
  refused(
      [&] {
        te::compute_multi(
            {8}, {"i"},
            [&](Var i) {
              return std::vector<Expr>{te::sum(A(i, k), {k}), A(i, 0)};
            },
            "E");
      },
      {"compute `E`", "either all outputs are reductions or none"});
  refused(
      [&] {
        te::compute_multi(
            {8}, {"i"},
            [&](Var i) {
              return std::vector<Expr>{te::sum(A(i, k), {k}), te::sum(A(i, k), {k})};
            },
            "E");
      },
      {"compute `E`", "one tuple reduction"});
  refused(
      [&] {
        te::compute_multi(
            {8}, {"i"}, [&](Var) { return std::vector<Expr>{}; }, "E");
      },
      {"compute `E`", "no output"});
}

TEST_F(OperationTest, ComponentsOfATupleReduction) {
  using List = std::vector<Expr>;
  te::Reducer pair = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return List{x[0] + y[0], max(x[1], y[1])};
      },
      [](std::span<const DataType> t) {
        return List{make_const(t[0], 0), min_value(t[1])};
      },
      "pair");
  auto some = [&](const std::function<List(const List&)>& pick,
                  SourceLocation where = SourceLocation::current()) {
    te::compute_multi(
        {8}, {"i"},
        [&](Var i) {
          return pick(pair({A(i, k), I(i)}, {k}));
        },
        "E", {}, where);
  };
  refused([&] { some([](const List& all) {
                  return List{all[1], all[0]};
                }); },
          {"compute `E`", "in order"});
  refused([&] { some([](const List& all) {
                  return List{all[0], all[0]};
                }); },
          {"compute `E`", "in order"});
  refused([&] { some([](const List& all) { return List{all[0]}; }); },
          {"compute `E`", "compute_multi"});
  refused(
      [&] {
        te::compute(
            {8}, {"i"},
            [&](Var i) {
              return pair({A(i, k), I(i)}, {k})[1];
            },
            "E");
      },
      {"compute `E`", "compute_multi"});
  EXPECT_NO_THROW(some([](const List& all) { return all; }));
}

TEST_F(OperationTest, ValuesThatAnArrayCannotHold) {
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var) { return Var("p", Handle()); }, "E");
      },
      {"compute `E`", "handle"});
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var) { return tir::make_string("text"); }, "E");
      },
      {"compute `E`", "handle"});
}

// ---- reductions ---------------------------------------------------------------------------------

TEST_F(OperationTest, AReductionIsTheWholeBody) {
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}) + 1.0f; }, "E");
      },
      {"compute `E`", "whole body"});
  refused([&] { te::sum(te::sum(A(0, k), {k}), {k}); }, {"sum", "reduced value", "whole body"});
  refused([&] { te::sum(A(0, k), {k}, {.where = te::max(A(0, k), {k}) > 0.0f}); },
          {"sum", "condition", "whole body"});
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var i) { return A(te::max(I(k), {k}), i); }, "E");
      },
      {"compute `E`", "whole body"});
}

TEST_F(OperationTest, AxesOfReductions) {
  const te::IterVar data = ones({8}).op().axis(0), thread = te::thread_axis("threadIdx.x");
  refused([&] { te::sum(A(0, k), {}); }, {"sum", "at least one axis"});
  refused([&] { te::sum(A(0, k), {data}); }, {"sum", "`i0`", "reduce_axis"});
  refused([&] { te::max(A(0, k), {thread}); }, {"max", "`threadIdx.x`", "reduce_axis"});
  refused([&] { te::sum(A(0, k), {k, k}); }, {"sum", "`k`", "twice"});
}

TEST_F(OperationTest, TermsOfReductions) {
  auto computed = [](const Expr& e, SourceLocation where = SourceLocation::current()) {
    te::compute(
        {}, {}, [&] { return e; }, "E", {}, where);
  };
  refused([&] { computed(te::sum(A(0, k) < 1.0f, {k})); },
          {"compute `E`", "sum of bool", "all or any"});
  refused([&] { computed(te::min(A(0, k) < 1.0f, {k})); }, {"compute `E`", "min of bool"});
  refused([&] { te::prod(Var("p", Handle()), {k}); }, {"prod", "handle"});
  refused([&] { te::all(A(0, k), {k}); }, {"all", "Bool", "float32"});
  refused([&] { te::any(I(k), {k}); }, {"any", "Bool", "int32"});
}

TEST_F(OperationTest, ConditionsAndInits) {
  refused([&] { te::sum(A(0, k), {k}, {.where = I(k)}); }, {"sum", "condition", "Bool", "int32"});
  refused([&] { te::sum(A(0, k), {k}, {.init = {A(0, 0) + 1.0f}}); }, {"sum", "init", "constant"});
  refused([&] { te::sum(A(0, k), {k}, {.init = {0.0f, 1.0f}}); }, {"sum", "2 inits", "1"});
  refused([&] { te::sum(A(0, k), {k}, {.init = {I(0)}}); }, {"sum", "init 0", "int32", "float32"});
  refused([&] { te::sum(I(k), {k}, {.init = {make_const(Float(32), 2.5)}}); },
          {"sum", "init 0", "int32"});
  refused([&] { te::sum(A(0, k), {k}, {.init = {A(k, 0)}}); }, {"sum", "init 0", "A[k, 0]", "`k`"});
}

TEST_F(OperationTest, OwnReducers) {
  using List = std::vector<Expr>;
  auto first = [](std::span<const Var> x, std::span<const Var>) { return List{x[0]}; };
  auto zeros = [](std::span<const DataType> t) {
    List zeros;
    for (DataType type : t) zeros.push_back(make_const(type, 0));
    return zeros;
  };
  te::Reducer one = te::comm_reducer(first, zeros, "one");
  refused([&] { one(List{}, {k}); }, {"one", "at least one component"});
  refused([&] { one(List{A(0, k), I(k)}, {k}); }, {"one", "combination", "1", "2"});
  refused(
      [&] {
        te::compute(
            {8}, {"i"}, [&](Var i) { return one(List{A(i, k)}, {})[0]; }, "E");
      },
      {"one", "at least one axis"});
  te::Reducer wide =
      te::comm_reducer([](auto x, auto) { return List{cast(Float(64), x[0])}; }, zeros, "wide");
  refused([&] { wide(A(0, k), {k}); }, {"wide", "combination", "float64", "float32"});
  te::Reducer lost = te::comm_reducer(
      first, [](auto) { return List{}; }, "lost");
  refused([&] { lost(A(0, k), {k}); }, {"lost", "identity", "0", "1"});
}

TEST_F(OperationTest, WhatReducersAreMadeOf) {
  using List = std::vector<Expr>;
  using Pair = std::span<const Var>;
  auto add = [](Pair x, Pair y) { return List{x[0] + y[0]}; };
  auto zero = [](std::span<const DataType> t) { return List{make_const(t[0], 0)}; };
  auto combining = [&](const std::function<Expr(Var, Var)>& f) {
    te::comm_reducer([=](Pair x, Pair y) { return List{f(x[0], y[0])}; }, zero, "r")(A(0, k), {k});
  };
  auto starting_at = [&](const Expr& identity, const Expr& term) {
    te::comm_reducer(
        add, [=](auto) { return List{identity}; }, "r")(term, {k});
  };
  refused([&] { combining([&](Var x, Var) { return te::sum(x, {k}); }); },
          {"r", "combination", "whole body"});
  refused([&] { combining([&](Var x, Var) { return x + A(0, 0); }); }, {"r", "combination", "`A`"});
  refused([&] { starting_at(A(0, 0), A(0, k)); }, {"r", "identity", "`A`", "init"});
  refused([&] { starting_at(2.5, I(k)); }, {"r", "identity", "float32", "int32"});
  refused([&] { starting_at(300, cast(Int(8), I(k))); }, {"r", "identity", "int32", "int8"});
}

// ---- scans --------------------------------------------------------------------------------------

struct ScanErrorTest : OperationTest {
  te::Tensor X = te::placeholder({10, 4}, "X");
  te::Tensor state = te::placeholder({10, 4}, "state");
  te::Tensor init = te::compute(
      {1, 4}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor update = te::compute(
      {10, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
};

TEST_F(ScanErrorTest, StatesInitsAndUpdatesAgree) {
  refused(
      [&] {
        te::scan({init}, {update}, {state, state}, {X}, "S");
      },
      {"scan `S`", "1, 1 and 2"});
  refused([&] { te::scan(std::vector<te::Tensor>{}, {}, {}, {}, "S"); },
          {"scan `S`", "0, 0 and 0"});
  refused(
      [&] {
        te::scan(init, update, te::placeholder({10, 4}, "d", Float(64)), {X}, "S");
      },
      {"scan `S`", "float64", "float32"});
  refused(
      [&] {
        te::scan(init, update, te::placeholder({11, 4}, "d"), {X}, "S");
      },
      {"scan `S`", "11", "10"});
  refused(
      [&] {
        te::scan(init, update, te::placeholder({10, 5}, "d"), {X}, "S");
      },
      {"scan `S`", "dimension 1", "5", "4"});
  refused([&] { te::scan(init, update, te::placeholder({10}, "d"), {X}, "S"); },
          {"scan `S`", "number of dimensions"});
  refused([&] { te::scan(init, update, update, {X}, "S"); },
          {"scan `S`", "`update`", "placeholder"});
  te::Tensor scalar = te::placeholder({}, "scalar");
  refused([&] { te::scan(scalar, scalar, scalar, {}, "S"); }, {"scan `S`", "time"});
  refused([&] { te::scan(ones({12, 4}), update, state, {X}, "S"); }, {"scan `S`", "12", "10"});
}

TEST_F(ScanErrorTest, UpdatesReadEarlierSteps) {
  auto reading = [&](int ahead, SourceLocation where = SourceLocation::current()) {
    te::Tensor next = te::compute(
        {10, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t + ahead, i) + X(t, i); }, "next");
    te::scan(init, next, state, {X}, "S", where);
  };
  refused([&] { reading(0); }, {"scan `S`", "update `next`", "`state`", "step t"});
  refused([&] { reading(1); }, {"scan `S`", "update `next`", "`state`", "(t + 1)"});
  EXPECT_NO_THROW(reading(-1));
  te::Tensor blind = te::compute(
      {10, 4}, {"t", "i"}, [&](Var t, Var i) { return X(t, i); }, "blind");
  refused([&] { te::scan(init, blind, state, {X}, "S"); },
          {"scan `S`", "no update reads state `state`"});
  refused(
      [&] {
        te::scan({init, init}, {update, update}, {state, state}, {X}, "S");
      },
      {"scan `S`", "`state`", "twice"});
}

TEST_F(ScanErrorTest, AStateBelongsToOneScan) {
  const te::Tensor other = te::compute(
      {10, 4}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) * 2.0f; }, "other");
  const te::Tensor S = te::scan(init, update, state, {X}, "S"),
                   T = te::scan(init, other, state, {X}, "T");
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        te::create_schedule({S.op(), T.op()});
      },
      {"scan `T`", "`state`", "scan `S`", "placeholder for each"}, T.op().where()));
}

TEST_F(ScanErrorTest, OnlyAScanHasATimeAxis) {
  refused([&] { A.op().scan_axis(); }, {"`A`", "not a scan"});
}

// ---- externs ------------------------------------------------------------------------------------

TEST_F(OperationTest, Externs) {
  auto body = [](std::span<const Buffer>, std::span<const Buffer>) { return tir::make_nop(); };
  using Buffers = std::vector<Buffer>;
  refused([&] { te::extern_op({8}, {}, body, "E"); }, {"extern `E`", "dtype"});
  refused([&] { te::extern_op({8}, {A, I}, body, "E"); }, {"extern `E`", "dtype"});
  refused([&] { te::extern_op({-8}, {A}, body, "E"); }, {"extern `E`", "-8"});
  refused([&] { te::extern_multi({}, {A}, body, "E"); }, {"extern `E`", "at least one output"});
  refused(
      [&] {
        te::extern_multi({{8}, {8}}, {A}, body, "E", {.dtypes = {Float(32)}});
      },
      {"extern `E`", "1 types", "2 outputs"});
  refused([&] { te::extern_op({8}, {A}, body, "E", {.input_buffers = Buffers{}}); },
          {"extern `E`", "inputs", "0 buffers for 1"});
  refused([&] { te::extern_op({8}, {A}, body, "E", {.output_buffers = Buffers{}}); },
          {"extern `E`", "outputs", "0 buffers for 1"});
  auto elsewhere = [](std::span<const Buffer>, std::span<const Buffer>) {
    tir::IRBuilder ib;
    ib.buffer_ptr(tir::decl_buffer({4}, Float(32), {.name = "nowhere"}))[0] = 1.0f;
    return ib.get();
  };
  refused([&] { te::extern_op({8}, {A}, elsewhere, "E"); },
          {"extern `E`", "`nowhere`", "allocated"});
  const Buffer small = tir::decl_buffer({4, 4}), ints = tir::decl_buffer({8, 6}, Int(32));
  refused([&] { te::extern_op({8}, {A}, body, "E", {.input_buffers = Buffers{small}}); },
          {"extern `E`", "`A`", "[8, 6]", "[4, 4]"});
  refused([&] { te::extern_op({8}, {A}, body, "E", {.input_buffers = Buffers{ints}}); },
          {"extern `E`", "`A`", "float32", "int32"});
}

TEST_F(OperationTest, WhatExternBodiesReturn) {
  using Buffers = std::span<const Buffer>;
  auto returning = [&](const Expr& e, SourceLocation where = SourceLocation::current()) {
    te::extern_op(
        {8}, {A}, [&](Buffers, Buffers) { return e; }, "E", {}, where);
  };
  refused([&] { returning(te::sum(A(0, k), {k})); }, {"extern `E`", "reduction"});
  refused([&] { returning(A(0, 0)); }, {"extern `E`", "tensor `A`", "buffer"});
  Expr gone = A(0, 0) + 1.0f;
  const Expr taken = std::move(gone);
  refused([&] { returning(gone); }, {"extern `E`", "moved from"});
  const Buffer wide = tir::decl_buffer({8, 8}, Float(32), {.name = "wide"});
  auto nothing = [](Buffers, Buffers) { return tir::make_nop(); };
  refused([&] { te::extern_op({8}, {A}, nothing, "E", {.output_buffers = std::vector{wide}}); },
          {"extern `E`", "output 0", "[8]", "[8, 8]"});
}

}  // namespace
}  // namespace tenon::testing
