// Functions that users bring: what create_prim_func, extern_primfunc, lower and build refuse of
// them.
#include <gtest/gtest.h>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

struct FunctionTest : ::testing::Test {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n, 4}, "A");
  te::Tensor B = te::compute(
      {n, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  const tir::PrimFunc add_one = te::create_prim_func({A, B}, {.name = "add_one"});

  /// A function of arrays and other parameters, of which a and c have n * 2 elements.
  tir::PrimFunc by_hand(const Stmt& body) const {
    tir::PrimFunc func{{handle_a, handle_c}, {{handle_a, a, a}, {handle_c, c, c}}, body};
    func.attrs.global_symbol = "hand";
    return func;
  }
  Stmt store_first(const Expr& value) const { return tir::make_store(c, value, {Expr(0)}); }

  tir::Buffer a = tir::decl_buffer({n * 2}, Float(32), {.name = "a"});
  tir::Buffer c = tir::decl_buffer({n * 2}, Float(32), {.name = "c"});
  Var handle_a{"a", Handle()}, handle_c{"c", Handle()};
};

// ---- operations as a function -------------------------------------------------------------------

TEST_F(FunctionTest, NeedsSomethingToCompute) {
  EXPECT_TRUE(refuses<TypeError>([&] { te::create_prim_func({A}, {.name = "f"}); },
                                 {"create_prim_func `f`", "no argument is computed"}));
  EXPECT_TRUE(refuses<TypeError>([&] { te::create_prim_func({}); }, {"create_prim_func `main`"}));
}

TEST_F(FunctionTest, NeedsEveryPlaceholder) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { te::create_prim_func({B}); },
                                     {"placeholder `A`", "not among the arguments"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { te::create_prim_func({A, A, B}); }, {"`A`", "twice"}));
}

TEST_F(FunctionTest, ABlockOverwritesNoElementsThatAreStillRead) {
  const te::Tensor X = te::placeholder({8}, "X");
  const te::Tensor Y = te::compute(
      {8}, {"i"}, [&](Var i) { return X(7 - i) * 2.0f; }, "Y");
  const tir::Buffer both = tir::decl_buffer({8}, Float(32), {.name = "both"});
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        te::create_prim_func({both}, {.binds = {{X, both}, {Y, both}}});
      },
      {"binds", "`both`", "`Y` reads other elements"}));
}

TEST_F(FunctionTest, OperationsReadInBounds) {
  const te::Tensor X = te::placeholder({8}, "X");
  const te::Tensor Y = te::compute(
      {8}, {"i"}, [&](Var i) { return X(i) * 2.0f; }, "Y");
  const te::Tensor Z = te::compute(
      {4}, {"i"}, [&](Var i) { return Y(i * 3); }, "Z");
  for (const bool blocks : {true, false})
    EXPECT_TRUE(refuses<BoundError>(
        [&] {
          te::create_prim_func({X, Z}, {.blocks = blocks});
        },
        {"compute `Z` reads tensor `Y`", "from 0 to 9", "has 8 elements"}));
}

// ---- a function as an operation -----------------------------------------------------------------

TEST_F(FunctionTest, OperationsReadAndWriteArraysOnly) {
  const tir::PrimFunc with_size = te::create_prim_func({A, n, B});
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({A}, with_size, "f"); },
                                 {"extern_primfunc `f`", "parameter `n`", "int32", "no array"}));
}

TEST_F(FunctionTest, SomeParameterIsAnOutput) {
  EXPECT_TRUE(refuses<TypeError>(
      [&] {
        te::extern_primfunc({A, A}, add_one);
      },
      {"extern_primfunc", "2 parameters for 2 inputs", "output"}));
  EXPECT_TRUE(refuses<TypeError>(
      [&] {
        te::extern_primfunc({A, A, A}, add_one);
      },
      {"2 parameters for 3 inputs"}));
}

TEST_F(FunctionTest, InputsAreWhatTheParametersSay) {
  const te::Tensor ints = te::placeholder({n, 4}, "ints", Int(32));
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({ints}, add_one); },
                                 {"input `ints` is int32", "parameter 0, `A`", "float32"}));
  const te::Tensor flat = te::placeholder({n}, "flat");
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({flat}, add_one); },
                                 {"input `flat` has 1 dimensions", "`A`", "has 2"}));
  const te::Tensor wide = te::placeholder({n, 5}, "wide");
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({wide}, add_one); },
                                 {"dimension 1 of input `wide` is 5", "`A`", "is 4"}));
}

TEST_F(FunctionTest, OneVariableIsOneSize) {
  const te::Tensor X = te::placeholder({n}, "X"), Y = te::placeholder({n}, "Y");
  const te::Tensor Z = te::compute(
      {n}, {"i"}, [&](Var i) { return X(i) + Y(i); }, "Z");
  const tir::PrimFunc sum = te::create_prim_func({X, Y, Z});
  const te::Tensor five = te::placeholder({5}, "five"), six = te::placeholder({6}, "six");
  EXPECT_TRUE(refuses<TypeError>(
      [&] {
        te::extern_primfunc({five, six}, sum);
      },
      {"input `six` is 6", "`Y`", "is 5"}));
}

TEST_F(FunctionTest, TheInputsSayAllSizes) {
  const te::Tensor ten = te::placeholder({10}, "ten");
  const Stmt body = store_first(tir::make_load(a, {Expr(0)}));
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({ten}, by_hand(body)); },
                                 {"do not determine `n`", "parameter 0, `a`", "(n*2)"}));
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({}, add_one); },
                                 {"do not determine `n`", "output `A`"}));
}

TEST_F(FunctionTest, OperationsHaveDimensions) {
  const tir::PrimFunc flat = lower(add_one).functions.at("add_one");
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({A}, flat); },
                                 {"parameter `A`", "flat", "before"}));
}

TEST_F(FunctionTest, OperationsAreWellFormed) {
  const te::Tensor ten = te::placeholder({10}, "ten");
  EXPECT_TRUE(refuses<TypeError>(
      [&] { te::extern_primfunc({ten}, by_hand(store_first(1.0f * Var("x"))), "f"); },
      {"extern_primfunc `f`", "malformed", "`x`", "not defined"}));
}

// ---- lower and build ----------------------------------------------------------------------------

struct BroughtFunctionTest : FunctionTest {
  /// Both lower and build refuse it.
  void refused(const tir::PrimFunc& func, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<LowerError>([&] { lower(func, {}, where); }, parts, where)) << where.line();
    const tir::IRModule module{{{func.attrs.global_symbol, func}}};
    EXPECT_TRUE(
        refuses<LowerError>([&] { build(module, Target("llvm"), {}, where); }, parts, where))
        << where.line();
  }
};

TEST_F(BroughtFunctionTest, VariablesAreDefined) {
  refused(by_hand(store_first(1.0f * Var("x"))), {"function `hand`", "`x`", "not defined"});
}

TEST_F(BroughtFunctionTest, VariablesAreDefinedOnce) {
  const Var i("i");
  const Stmt store = tir::make_store(c, Expr(1.0f), {Expr(i)});
  const Stmt loop = tir::make_stmt(tir::For{i, 0, 4, ForKind::Serial, store});
  refused(by_hand(tir::make_stmt(tir::For{i, 0, 4, ForKind::Serial, loop})),
          {"`hand`", "`i`", "own scope"});
}

TEST_F(BroughtFunctionTest, BuffersHaveMemory) {
  const tir::Buffer stranger = tir::decl_buffer({4}, Float(32), {.name = "stranger"});
  refused(by_hand(store_first(tir::make_load(stranger, {Expr(0)}))),
          {"`hand`", "buffer `stranger`", "memory"});
}

TEST_F(BroughtFunctionTest, TensorsAreNoBuffers) {
  refused(by_hand(store_first(A(0, 0))), {"`hand`", "tensor"});
}

TEST_F(BroughtFunctionTest, ArraysAreParameters) {
  tir::PrimFunc func = by_hand(store_first(1.0f));
  func.params.pop_back();
  refused(func, {"`hand`", "array `c`", "not a parameter"});
  func = by_hand(store_first(1.0f));
  func.buffers.push_back({handle_c, a, a});
  refused(func, {"`hand`", "array `a`", "parameter `c`", "another array"});
  const Var number("number");
  refused({{number}, {{number, a, a}}, tir::make_nop(), {.global_symbol = "hand"}},
          {"array `a`", "`number`", "handle", "int32"});
}

TEST_F(BroughtFunctionTest, ArraysHaveMemoryOfTheirOwn) {
  const tir::Buffer same = tir::decl_buffer({n * 2}, Float(32), {.name = "same", .data = a->data});
  tir::PrimFunc func = by_hand(tir::make_store(same, Expr(1.0f), {Expr(0)}));
  func.buffers[1] = {handle_c, same, same};
  refused(func, {"`hand`", "array `same`", "another parameter"});
  EXPECT_TRUE(refuses<TypeError>([&] { te::extern_primfunc({}, func); }, {"malformed", "`same`"}));
}

TEST_F(BroughtFunctionTest, RegionsHaveTheDimensionsOfTheirBuffers) {
  const tir::Buffer part = tir::decl_buffer({4}, Float(32), {.name = "part"});
  const Stmt store = tir::make_store(part, Expr(1.0f), {Expr(1)});
  const std::vector<te::Range> square = {te::Range(0, 2), te::Range(0, 2)};
  refused(by_hand(tir::make_stmt(tir::Realize{part, square, tir::make_true(), store})),
          {"`hand`", "buffer `part`", "2 dimensions instead of 1"});
  refused(by_hand(tir::make_stmt(tir::BufferView{part, a, square, store})),
          {"buffer `a`", "2 dimensions instead of 1"});
  const tir::Buffer wide = tir::decl_buffer({2, 2}, Float(32), {.name = "wide"});
  refused(by_hand(tir::make_stmt(tir::BufferView{wide, a, {te::Range(0, 2)}, store})),
          {"view `wide`", "more dimensions"});
  refused(by_hand(tir::make_stmt(tir::BufferView{part, wide, square, store})),
          {"buffer `wide`", "memory"});
  refused(by_hand(tir::make_stmt(tir::Prefetch{a, square})),
          {"buffer `a`", "2 dimensions instead of 1"});
}

TEST_F(BroughtFunctionTest, ThreadsRunForAxes) {
  refused(by_hand(tir::make_stmt(
              tir::Attr{tir::AttrKind::ThreadExtent, Expr(0), "", 4, store_first(1.0f)})),
          {"`hand`", "thread launch", "no axis"});
}

TEST_F(BroughtFunctionTest, OneWithoutArraysIsLoweredAsWell) {
  const tir::PrimFunc nothing{{}, {}, tir::make_nop(), {.global_symbol = "nothing"}};
  EXPECT_NO_THROW(build(lower(nothing)));
}

TEST_F(BroughtFunctionTest, LoweringOnceIsEnough) {
  const tir::PrimFunc lowered = lower(add_one).functions.at("add_one");
  EXPECT_TRUE(refuses<LowerError>([&] { lower(lowered); }, {"`add_one`", "already"}));
}

TEST_F(BroughtFunctionTest, APartlyLoweredFunctionIsRefused) {
  tir::PrimFunc half = lower(add_one).functions.at("add_one");
  const Var i("i");
  const tir::Buffer flat = half.buffers[1].buffer;
  half.body = tir::make_stmt(
      tir::For{i, 0, 4, ForKind::Vectorized, tir::make_store(flat, Expr(1.0f), {Expr(i)})});
  refused(half, {"`add_one`", "vectorized loop"});
}

TEST_F(BroughtFunctionTest, NamesAreNotEmpty) {
  EXPECT_TRUE(refuses<LowerError>([&] { lower(add_one, {.name = ""}); }, {"name", "empty"}));
}

// ---- functions for several targets --------------------------------------------------------------

TEST_F(FunctionTest, TargetsOfOneModuleGoTogether) {
  const tir::IRModule f = lower(add_one, {.name = "f"}), g = lower(add_one, {.name = "g"});
  const Target here("llvm");
  const std::string other = here.facts().triple.starts_with("x86_64") ? "aarch64-unknown-linux-gnu"
                                                                      : "x86_64-unknown-linux-gnu";
  EXPECT_TRUE(refuses<TargetError>(
      [&] {
        build({{f, here}, {g, Target("llvm -mtriple=" + other)}});
      },
      {other, "one module"}));
  EXPECT_TRUE(refuses<TargetError>(
      [&] {
        build({{f, here}, {g, Target("llvm -system-lib")}});
      },
      {"-system-lib", "same"}));
  EXPECT_TRUE(refuses<TargetError>([&] { build({{f, here}, {g, Target("cuda")}}); }, {"`cuda`"}));
  EXPECT_TRUE(refuses<TargetError>(
      [&] {
        build({{f, here}, {g, Target("c")}});
      },
      {"`c`", "one kind of target"}));
  EXPECT_TRUE(refuses<LowerError>([&] { build({{f, here}, {f, here}}); }, {"`f`", "twice"}));
  EXPECT_TRUE(refuses<LowerError>([&] { build(std::vector<TargetedModule>()); }, {"no functions"}));
}

TEST(SystemLibrary, IsThereOnlyIfItWasLinked) {
  EXPECT_TRUE(refuses<RuntimeError>([&] { runtime::Module::system_library("absent_"); },
                                    {"system_library", "`absent_`", "-system-lib"}));
  const char* const null = nullptr;
  EXPECT_TRUE(refuses<TypeError>([&] { runtime::Module::system_library(null); }, {"null pointer"}));
}

}  // namespace
}  // namespace tenon::testing
