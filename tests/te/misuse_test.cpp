// Every way to misuse a primitive or a maker: the sentence, the user's line, and the schedule as it
// was.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

/// All that can be seen of a schedule, as text.
std::string picture(const Schedule& schedule) {
  std::ostringstream out;
  for (const Stage& stage : schedule.stages()) {
    const StageData& data = stage.data();
    out << data.op << " attach " << data.attach.index() << " relations " << data.relations.size()
        << " scope " << data.scope.has_value() << data.double_buffer << data.rolling_buffer
        << data.store_predicate.has_value() << " env " << data.env_threads.size() << " loops";
    for (const IterVar& axis : data.leaf_iter_vars) out << ' ' << axis.name() << axis.get();
    for (const auto& [axis, a] : data.attributes)
      out << " / " << axis.name() << a.run.has_value() << a.thread.has_value() << a.pragmas.size()
          << a.prefetches.size() << a.align.has_value();
    out << '\n';
  }
  return out.str();
}

struct MisuseTest : testing::Test {
  Tensor A = placeholder({16, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {16}, {"i"}, [&](Var i) { return sum(B(i, k), {k}); }, "C");
  Tensor D = compute(
      {16}, {"i"}, [&](Var i) { return C(i) * 2.0f; }, "D");
  Schedule s = create_schedule({D});

  /// The primitive throws a ScheduleError that says all the parts and names this file, and changes
  /// nothing.
  template <class F>
  void refuses(F primitive, std::vector<std::string> parts) {
    const std::string before = picture(s);
    try {
      primitive();
      ADD_FAILURE() << "accepted, should say: " << parts.front();
    } catch (const ScheduleError& error) {
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("misuse_test.cpp:"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(picture(s), before);
  }
};

TEST_F(MisuseTest, AxisOfAnotherStage) {
  refuses([&] { s[C].split(B.op().axis(0), 2); },
          {"split of axis `i` of stage `C`", "not part of this stage", "`i`, `k`"});
  refuses([&] { s[C].vectorize(B.op().axis(1)); }, {"vectorize of axis `j` of stage `C`"});
  refuses([&] { s[B].compute_at(s[C], B.op().axis(0)); }, {"compute_at", "axis `i` of stage `C`"});
}

TEST_F(MisuseTest, AxisThatIsGone) {
  s[C].split(C.op().axis(0), 2);
  refuses([&] { s[C].split(C.op().axis(0), 2); }, {"already been split", "`i.outer`, `i.inner`"});
  refuses([&] { s[C].reorder({C.op().axis(0), k}); }, {"already been split"});
  s[B].fuse(s[B].axis(0), s[B].axis(1));
  refuses([&] { s[B].unroll(s[B].axis(0)); }, {"already been fused into `i.j.fused`"});
}

TEST_F(MisuseTest, FactorsThatAreNotPositiveIntegers) {
  refuses([&] { s[C].split(s[C].axis(0), 0); },
          {"split of axis `i` of stage `C`", "factor must be positive, got 0"});
  refuses([&] { s[C].split(s[C].axis(0), -2); }, {"factor must be positive, got -2"});
  refuses([&] { s[C].split(s[C].axis(0), 2.5f); }, {"factor must be an integer", "float32"});
  refuses([&] { s[C].split_by_nparts(s[C].axis(0), -1); },
          {"number of parts must be positive, got -1"});
  refuses([&] { s[B].tile(s[B].axis(0), s[B].axis(1), 4, 0); }, {"tile of axis `j`", "got 0"});
}

TEST_F(MisuseTest, ThreadAxesAreNotSplit) {
  IterVar tx = thread_axis("threadIdx.x");
  s[D].bind(s[D].axis(0), tx);
  refuses([&] { s[D].split(s[D].axis(0), 4); }, {"already bound to `threadIdx.x`"});
  refuses([&] { s[D].split(tx, 4); }, {"split of axis `threadIdx.x`", "not part of this stage"});
}

TEST_F(MisuseTest, FuseOfLoopsThatAreNotNeighbours) {
  auto [io, ii] = s[B].split(s[B].axis(0), 4);
  refuses([&] { s[B].fuse(io, s[B].axis(1)); },
          {"fuse of axis `i.outer`", "not next to `j`", "`i.outer`, `i.inner`, `j`"});
  refuses([&] { s[B].fuse({ii, s[B].axis(1), io, io}); }, {"fuse"});
  s[B].reorder({ii, io});
  refuses([&] { s[B].fuse(ii, s[B].axis(1)); }, {"not next to"});
}

TEST_F(MisuseTest, ReorderWithAnAxisTwice) {
  refuses(
      [&] {
        s[B].reorder({s[B].axis(0), s[B].axis(0)});
      },
      {"reorder of axis `i` of stage `B`", "more than once"});
}

TEST_F(MisuseTest, VectorizeOfAReductionThroughSplitsAndFusions) {
  refuses([&] { s[C].vectorize(k); },
          {"vectorize of axis `k` of stage `C`", "carries a reduction", "rfactor"});
  auto [ko, ki] = s[C].split(k, 4);
  refuses([&] { s[C].vectorize(ki); }, {"carries a reduction"});
  IterVar fused = s[C].fuse(s[C].axis(0), ko);
  refuses([&] { s[C].vectorize(fused); }, {"carries a reduction"});
  refuses([&] { s[C].pragma(fused, "vectorize"); }, {"carries a reduction"});
}

TEST_F(MisuseTest, ParallelReductionIsAcceptedWithOneWarning) {
  for (int n = 0; n < 2; ++n) s[C].parallel(k);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_NE(s.warnings()[0].find("parallel of axis `k` of stage `C`"), std::string::npos);
}

TEST_F(MisuseTest, ComputeAtItselfInCirclesAndElsewhere) {
  refuses([&] { s[C].compute_at(s[C], s[C].axis(0)); },
          {"compute_at of stage `C`", "a loop of itself"});
  s[B].compute_at(s[C], s[C].axis(0));
  refuses([&] { s[C].compute_at(s[B], s[B].axis(0)); },
          {"stage `B` is itself computed inside of it"});
  refuses([&] { s[D].compute_at(s[C], s[C].axis(0)); }, {"it is an output"});
  Schedule other = create_schedule({D});
  refuses([&] { s[C].compute_at(other[D], D.op().axis(0)); }, {"of another schedule"});
}

TEST_F(MisuseTest, ComputeInline) {
  refuses([&] { s[D].compute_inline(); }, {"compute_inline of stage `D`", "an output"});
  refuses([&] { s[C].compute_inline(); }, {"a reduction"});
  refuses([&] { s[A].compute_inline(); }, {"only a compute"});
}

TEST_F(MisuseTest, ScopesAndBuffers) {
  refuses([&] { s[B].set_scope("sharedd"); },
          {"set_scope of stage `B`: `sharedd` is not a storage scope", "shared.dyn"});
  refuses([&] { s[D].set_scope("shared"); }, {"set_scope of stage `D`", "an output"});
  refuses([&] { s[D].double_buffer(); }, {"double_buffer of stage `D`", "an output"});
  refuses([&] { s[D].rolling_buffer(); }, {"rolling_buffer of stage `D`", "an output"});
  refuses([&] { s[B].storage_align(s[B].axis(0), 0, 1); }, {"factor must be positive"});
  refuses([&] { s[B].storage_align(s[C].axis(0), 8, 1); },
          {"not a dimension of the stored output"});
  refuses([&] { s[B].set_store_predicate(Expr(1)); }, {"must be Bool"});
  refuses([&] { s[C].env_threads({thread_axis("threadIdx.x")}); }, {"only a scan"});
}

TEST_F(MisuseTest, BindAndPrefetch) {
  refuses([&] { s[B].bind(s[B].axis(0), s[B].axis(1)); },
          {"bind of axis `i` of stage `B`", "`j` is a DataPar axis"});
  refuses([&] { s[D].prefetch(B, s[D].axis(0), 1); }, {"does not read tensor `B`"});
  EXPECT_THROW(thread_axis("foo.x"), ScheduleError);
}

TEST_F(MisuseTest, CacheRead) {
  refuses([&] { s.cache_read(C, "shared", {B}); },
          {"cache_read of tensor `C`", "stage `B` does not read it"});
  refuses([&] { s.cache_read(C, "foo", {D}); }, {"foo", "global"});
  Tensor stranger = placeholder({16}, "X");
  refuses([&] { s.cache_read(stranger, "local", {D}); }, {"`X` is not part of this schedule"});
  refuses([&] { s[stranger].compute_root(); }, {"operation `X` is not part of this schedule"});
}

TEST_F(MisuseTest, CacheWrite) {
  refuses([&] { s.cache_write(A, "local"); }, {"cache_write of stage `A`", "compute"});
  s[C].split(k, 4);
  refuses([&] { s.cache_write(C, "local"); },
          {"cache_write of axis `k.outer`", "before changing reduction axes"});
}

TEST_F(MisuseTest, CacheWriteOfOneOfSeveralOutputs) {
  std::vector<Tensor> T = compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{D(i), D(i) + 1.0f};
      },
      "T");
  s = create_schedule({T[0]});
  refuses([&] { s.cache_write(T[0], "local"); }, {"has 2 outputs", "list all"});
  refuses([&] { s.cache_write({T[1], T[0]}, "local"); }, {"in order"});
}

TEST_F(MisuseTest, DataflowRewritesKeepTheLoopsThatOthersAreComputedAt) {
  s[B].compute_at(s[C], k);
  refuses([&] { s.rfactor(C, k); }, {"stage `B` is computed at its loop `k`", "before compute_at"});
}

TEST_F(MisuseTest, Rfactor) {
  refuses([&] { s.rfactor(C, s[C].axis(0)); },
          {"rfactor of axis `i` of stage `C`", "only a reduction axis"});
  refuses([&] { s.rfactor(B, s[B].axis(0)); }, {"rfactor of stage `B`", "not a reduction"});
  refuses([&] { s.rfactor(C, k, 5); }, {"factor_axis is 5", "2 dimensions"});
  refuses([&] { s.rfactor(C, k, -3); }, {"factor_axis is -3"});
}

TEST_F(MisuseTest, RfactorAfterDataAxesHaveChanged) {
  IterVar fused = s[C].fuse(s[C].axis(0), k);
  refuses([&] { s.rfactor(C, fused); }, {"fused with data axis `i`"});
  s = create_schedule({D});
  s[C].split(s[C].axis(0), 4);
  refuses([&] { s.rfactor(C, k); }, {"data axis `i` has already been changed", "rfactor first"});
  s = create_schedule({D});
  s[C].bind(s[C].axis(0), thread_axis("threadIdx.x"));
  refuses([&] { s.rfactor(C, k); }, {"already bound to `threadIdx.x`"});
}

TEST_F(MisuseTest, GroupsThatIntersect) {
  s.create_group(C, A, false);
  refuses([&] { s.create_group(D, B, false); }, {"create_group", "intersect"});
}

TEST_F(MisuseTest, GroupMembersStayInside) {
  s.create_group(C, A, false);
  refuses([&] { s[B].compute_at(s[D], s[D].axis(0)); },
          {"it belongs to group", "stage `D` does not"});
}

TEST_F(MisuseTest, AttachedWhereAReaderCannotSeeIt) {
  Tensor E = compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return D(i) + B(i, j); }, "E");
  s = create_schedule({E});
  refuses([&] { s[B].compute_at(s[C], s[C].axis(0)); },
          {"compute_at of stage `B`: no loop of stage `C` can hold it: stage `E` reads it"});
  s[B].compute_at(s[E], s[E].axis(0));
  refuses([&] { freeze(s); }, {"compute_at of stage `B`", "stage `C` reads it outside"});
}

TEST_F(MisuseTest, AttachedToWhatIsInlined) {
  s[C].compute_at(s[D], s[D].axis(0));
  Tensor E = compute(
      {16}, {"i"}, [&](Var i) { return D(i) + 1.0f; }, "E");
  s = create_schedule({E});
  s[C].compute_at(s[D], s[D].axis(0));
  s[D].compute_inline();
  refuses([&] { freeze(s); }, {"compute_at of stage `C`", "stage `D` is inlined"});
}

// ---- makers -------------------------------------------------------------------------------------

template <class F>
void type_error(F make, std::vector<std::string> parts) {
  try {
    make();
    ADD_FAILURE() << "accepted, should say: " << parts.front();
  } catch (const TypeError& error) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("misuse_test.cpp:"), std::string::npos)
        << error.what();
  }
}

TEST_F(MisuseTest, IndicesOfTheWrongNumberOrType) {
  type_error([&] { A(1); }, {"tensor `A` has 2 dimensions, but is read with 1 index"});
  type_error([&] { A(1, 2, 3); }, {"3 indices"});
  type_error([&] { A(1.5f, 2); }, {"index 0 must be an integer", "float32"});
}

TEST_F(MisuseTest, ErrorsOfReadsNameTheLineOfTheRead) {
  const auto line = std::source_location::current().line() + 1;
  type_error([&] { A(k); }, {"misuse_test.cpp:" + std::to_string(line)});
}

TEST_F(MisuseTest, ReductionsInsideExpressions) {
  type_error(
      [&] {
        compute(
            {16}, {"i"}, [&](Var i) { return sum(B(i, k), {k}) + 1.0f; }, "E");
      },
      {"compute `E`: a reduction must be the whole body"});
  type_error(
      [&] {
        compute(
            {16}, {"i"}, [&](Var i) { return sum(sum(B(i, k), {k}), {k}); }, "E");
      },
      {"whole body"});
}

TEST_F(MisuseTest, OutputsThatAreReductionsOnlyInPart) {
  auto mixed = [&](Var i) { return std::vector<Expr>{sum(B(i, k), {k}), A(i, i)}; };
  type_error([&] { compute_multi({16}, {"i"}, mixed, "E"); },
             {"either all outputs are reductions or none"});
  auto separate = [&](Var i) { return std::vector<Expr>{sum(B(i, k), {k}), sum(A(i, k), {k})}; };
  type_error([&] { compute_multi({16}, {"i"}, separate, "E"); }, {"one tuple reduction"});
}

TEST_F(MisuseTest, AxesOfReductions) {
  type_error([&] { sum(B(0, k), {}); }, {"at least one axis"});
  type_error([&] { sum(B(0, k), {B.op().axis(0)}); }, {"sum: `i` is a DataPar axis"});
  type_error(
      [&] {
        compute(
            {16}, {"i"},
            [&](Var i) {
              return sum(B(i, k), {k, k});
            },
            "E");
      },
      {"`k` is listed twice"});
  type_error([&] { reduce_axis({5, 0}, "r"); }, {"reduce_axis `r`", "ends before it begins"});
  EXPECT_NO_THROW(reduce_axis({3, 3}, "r"));
}

TEST_F(MisuseTest, AReductionAxisTakesTheIntegersThatAShapeTakes) {
  for (const DataType type : {Int(8), UInt(16), UInt(32), UInt(64)}) {
    const Var n("n", type);
    const DataType expected = placeholder({n}, "P").shape()[0].dtype();
    EXPECT_EQ(reduce_axis({0, n}, "r").dom()->extent.dtype(), expected) << type.str();
  }
  type_error([&] { reduce_axis(tir::Range::from_min_extent(0, Var("f", Float(32))), "r"); },
             {"reduce_axis `r`: the extent must be an integer", "float32"});
}

TEST_F(MisuseTest, ALiteralInitHasTheTypeOfItsComponent) {
  const Tensor D = placeholder({4}, "D", Float(64));
  const IterVar r = reduce_axis({0, 4}, "r");
  const std::vector<Expr> exprs = {tir::make_const(Float(64), 0.1)};
  const Expr total = sum(D(r), {r}, {.init = {0.1}});
  const Expr& init = total.as<tir::Reduce>()->reduction->init[0];
  EXPECT_EQ(init.as<tir::FloatImm>()->value, 0.1);
  EXPECT_NO_THROW(max(D(r), {r}, {.init = {1e300}}));
  EXPECT_NO_THROW(sum(D(r), {r}, {.init = exprs}));
}

TEST_F(MisuseTest, InitsOfReductions) {
  type_error([&] { sum(B(0, k), {k}, {.init = {A(0, 0) + 1.0f}}); },
             {"constant or an element of a tensor"});
  type_error([&] { sum(B(0, k), {k}, {.init = {0.0f, 1.0f}}); }, {"2 inits for 1"});
  type_error([&] { sum(B(0, k), {k}, {.where = Expr(1)}); }, {"must be Bool"});
}

TEST_F(MisuseTest, BodiesOfAnotherArity) {
  type_error(
      [&] {
        compute(
            {16, 16}, {"i", "j"}, [&](Var i) { return A(i, i); }, "E");
      },
      {"compute `E`: the body takes 1 variable, but the shape has 2 dimensions"});
  type_error(
      [&] {
        compute(
            {16}, {"i", "j"}, [&](Var i) { return A(i, i); }, "E");
      },
      {"2 axis names for 1 dimension"});
}

TEST_F(MisuseTest, ShapesThatAreNoCounts) {
  type_error([&] { placeholder({2.5f}, "P"); },
             {"placeholder `P`: extent 0 must be an integer", "float32"});
  type_error([&] { placeholder({4, -1}, "P"); }, {"extent 1 is negative: -1"});
  EXPECT_NO_THROW(placeholder({0}, "P"));
}

TEST_F(MisuseTest, Scans) {
  Var m = size_var("m");
  Tensor X = placeholder({m, 16}, "X");
  Tensor state = placeholder({m, 16}, "state");
  Tensor init = compute(
      {1, 16}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor update = compute(
      {m, 16}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  EXPECT_EQ(scan(init, update, state, {X}, "scan").ndim(), 2);
  type_error([&] { scan({init}, {update}, {state, state}); }, {"same length, got 1, 1 and 2"});
  Tensor wide = compute(
      {1, 17}, {"t", "i"}, [&](Var, Var) { return Expr(0.0f); }, "init");
  type_error([&] { scan(wide, update, state, {X}); }, {"dimension 1 must be the same", "17"});
  Tensor longer = placeholder({m + 1, 16}, "state");
  type_error([&] { scan(init, update, longer, {X}); }, {"state 0 has (m + 1) steps, the update m"});
  Tensor doubles = placeholder({m, 16}, "state", Float(64));
  type_error([&] { scan(init, update, doubles, {X}); }, {"float64", "float32"});
}

TEST_F(MisuseTest, CachedStatesOutsideOfTheTimeLoop) {
  Tensor X = placeholder({8, 16}, "X"), state = placeholder({8, 16}, "state");
  Tensor init = compute(
      {1, 16}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor update = compute(
      {8, 16}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  Tensor all = scan(init, update, state, {X}, "scan");
  s = create_schedule({all});
  Tensor cached = s.cache_read(state, "local", {update});
  refuses([&] { freeze(s); },
          {"stage `state.local`", "state `state` of stage `scan`", "outside of its time loop"});
  s[cached].compute_at(s[update], s[update].axis(0));
  EXPECT_NO_THROW(freeze(s));
}

TEST_F(MisuseTest, Externs) {
  auto call = [](std::span<const tir::Buffer>, std::span<const tir::Buffer>) {
    return tir::make_nop();
  };
  type_error([&] { extern_op({16}, {}, call); }, {"type of the output does not follow"});
  type_error(
      [&] { extern_op({16}, {A}, call, "e", {.input_buffers = std::vector<tir::Buffer>{}}); },
      {"0 buffers for 1"});
}

TEST_F(MisuseTest, Intrinsics) {
  auto code = [](std::span<const tir::Buffer>, std::span<const tir::Buffer>) -> TensorIntrinBody {
    return {.body = tir::make_nop()};
  };
  type_error([&] { decl_tensor_intrin(A.op(), code); }, {"`A` is not a compute"});
  type_error([&] { decl_tensor_intrin(C.op(), code); }, {"input `B` is itself computed"});
  auto none = [](std::span<const tir::Buffer>, std::span<const tir::Buffer>) -> TensorIntrinBody {
    return {};
  };
  type_error([&] { decl_tensor_intrin(B.op(), none); }, {"neither a body nor an update"});
  tir::Buffer small = tir::decl_buffer({16, 8});
  type_error(
      [&] {
        decl_tensor_intrin(B.op(), code, {.binds = {{A, small}}});
      },
      {"extent 1 is 8, that of the tensor is 16"});
}

}  // namespace
}  // namespace tenon::te
