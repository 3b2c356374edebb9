// Calls of tensor intrinsics: the check that runs them beside their loops, and where the functions
// come from.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels.h"
#include "tenon/tir/stmt.h"

namespace tenon::testing {
namespace {

// ---- the check of intrinsics --------------------------------------------------------------------

/// Returns the check's report on a product with the tile's kernel, which may be wrong.
std::string report(const Tile& tile) {
  Product p(8, 16, 12);
  p.tensorize(tile);
  const Arguments arrays = make_arguments(p.args());
  const runtime::Module mod = build(p.s, p.args(), Target("llvm"), {.check_intrinsics = true});
  try {
    run_compiled(mod["main"], arrays);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST(IntrinsicCheck, NamesTheFirstElementThatDiffers) {
  const std::string text = report({.function = "tenon_test_wrong_gemm"});
  EXPECT_NE(text.find("`gemm` of stage `C` (update): element [3, 0] is 0, should be "),
            std::string::npos)
      << text;
}

TEST(IntrinsicCheck, FindsAWrongStride) {
  EXPECT_NE(report({.stride_of_b = 8}).find("`gemm` of stage `C` (update): element ["),
            std::string::npos);
  EXPECT_EQ(report({.stride_of_b = 16}), "");
}

TEST(IntrinsicCheck, ComparesIntegersExactly) {
  te::Tensor A = te::placeholder({4, 20}, "A", Int(8)), a = te::placeholder({8}, "a", Int(8));
  te::Tensor B = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 3; }, "B");
  te::Tensor b = te::compute(
      {8}, {"i"}, [&](Var i) { return a(i) + 3; }, "b");
  auto result = [&](int added) -> std::string {
    auto body = [&](std::span<const tir::Buffer> ins,
                    std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
      tir::IRBuilder ib;
      ib.for_range(0, 8, "l",
                   [&](Var l) { ib.emit(tir::make_store(outs[0], ins[0]({l}) + added, {l})); });
      return {.body = ib.get()};
    };
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(s[B].axis(1), 8).inner, te::decl_tensor_intrin(b.op(), body));
    const Arguments arrays = make_arguments({A, B});
    const runtime::Module mod = build(s, {A, B}, Target("llvm"), {.check_intrinsics = true});
    try {
      run_compiled(mod["main"], arrays);
    } catch (const RuntimeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(result(3), "");
  EXPECT_NE(result(4).find("of stage `B` (body): element [0, 0] is "), std::string::npos);
}

/// Returns the check's report on a schedule.
std::string report(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  const Arguments arrays = make_arguments(args);
  const runtime::Module mod = build(s, args, Target("llvm"), {.check_intrinsics = true});
  try {
    run_compiled(mod["main"], arrays);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST(IntrinsicCheck, NamesTheLaneOfAVectorThatDiffers) {
  const DataType type = Int(32, 4);
  te::Tensor A = te::placeholder({4, 20}, "A", type), a = te::placeholder({8}, "a", type);
  auto sum = [&](const Expr& e) { return e + make_const(type, 3); };
  te::Tensor B = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, j)); }, "B");
  te::Tensor b = te::compute(
      {8}, {"i"}, [&](Var i) { return sum(a(i)); }, "b");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    const Expr only_lane_two = cast(type, tir::make_ramp(0, 1, 4) == tir::make_broadcast(2, 4));
    tir::IRBuilder ib;
    ib.for_range(0, 8, "l", [&](Var l) {
      ib.emit(tir::make_store(outs[0], sum(ins[0]({l})) + only_lane_two, {l}));
    });
    return {.body = ib.get()};
  };
  te::Schedule s = te::create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(1), 8).inner, te::decl_tensor_intrin(b.op(), body));
  const std::string text = report(s, {A, B});
  EXPECT_NE(text.find("of stage `B` (body), lane 2: element [0, 0] is "), std::string::npos)
      << text;
}

TEST(IntrinsicCheck, KnowsWhereAReductionOfATensorStarts) {
  te::Tensor A = te::placeholder({4, 12}, "A"), S = te::placeholder({4}, "S");
  te::Tensor a = te::placeholder({4}, "a"), start = te::placeholder({1}, "start");
  te::IterVar k = te::reduce_axis({0, 12}, "k"), r = te::reduce_axis({0, 4}, "r");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.init = {S(i)}}); }, "B");
  te::Tensor b = te::compute(
      {1}, {"i"}, [&](Var i) { return te::sum(a(r), {r}, {.init = {start(i)}}); }, "b");
  for (float added : {0.0f, 1.0f}) {
    auto code = [&](std::span<const tir::Buffer> ins,
                    std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
      const tir::Buffer &from = ins[b.op().inputs()[0].same_as(start) ? 0 : 1],
                        &terms = ins[b.op().inputs()[0].same_as(start) ? 1 : 0];
      tir::IRBuilder update;
      update.for_range(0, 4, "l", [&](Var l) {
        update.emit(tir::make_store(outs[0], outs[0]({0}) + terms({l}), {0}));
      });
      return {.reset = tir::make_store(outs[0], from({0}) + added, {0}), .update = update.get()};
    };
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(k, 4).inner, te::decl_tensor_intrin(b.op(), code));
    const std::string text = report(s, {A, S, B});
    EXPECT_EQ(text.find("of stage `B` (reset): element [0] is ") != std::string::npos,
              added != 0.0f)
        << text;
    EXPECT_EQ(text.empty(), added == 0.0f) << text;
  }
}

TEST(IntrinsicCheck, LetsRightOnesPass) {
  const WaysToRun checked = with_kernels({.build = {.check_intrinsics = true, .opt_level = 1}});
  for (const Parts& parts : {Parts{}, Parts{.reset = false}, Parts{.body = false}}) {
    Product p(11, 21, 14);
    p.tensorize({.parts = parts});
    EXPECT_EQ(compare_with_default(p.s, p.args(), checked), "");
  }
}

TEST(IntrinsicCheck, IsThereForTheInterpreterToo) {
  Product p(8, 16, 12);
  p.tensorize({.parts = {true, false, true}, .function = "tenon_test_wrong_gemm"});
  const Arguments arrays = make_arguments(p.args());
  const tir::PrimFunc func = lower_to_loops(p.s, p.args(), {.check_intrinsics = true});
  EXPECT_THROW(tir::evaluate(func, arrays.values, {.call_extern = with_kernels().call_extern}),
               RuntimeError);
}

// ---- where the called function comes from -------------------------------------------------------

const char* const kAddOfC = R"(
int tenon_test_imported_add(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return 0;
}
)";

const char* const kAddOfLlvm = R"(
define i32 @tenon_test_imported_add(ptr %c, ptr %a, ptr %b, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr float, ptr %a, i32 %i
  %pb = getelementptr float, ptr %b, i32 %i
  %pc = getelementptr float, ptr %c, i32 %i
  %x = load float, ptr %pa
  %y = load float, ptr %pb
  %z = fadd float %x, %y
  store float %z, ptr %pc
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i32 0
}
)";

/// Compiled alone: the interpreter cannot look into imported source.
std::string compiled_difference(const Sum& p, const BuildOptions& options = {}) {
  const Arguments right = make_arguments(p.args()), actual = make_arguments(p.args());
  tir::evaluate(lower_to_loops(te::create_schedule(p.C), p.args()), right.values);
  run_compiled(build(p.s, p.args(), Target("llvm"), options)["main"], actual);
  return first_difference(right, actual);
}

TEST(IntrinsicSources, APragmaOfTheTensorizedAxisOrOfOneAroundIt) {
  for (const auto& [key, source] :
       {std::pair("import_c", kAddOfC), std::pair("import_llvm", kAddOfLlvm)})
    for (bool around : {false, true}) {
      Sum p(6, 64);
      auto [outer, inner] = p.s[p.C].split(p.s[p.C].axis(1), 16);
      p.s[p.C].tensorize(inner, vadd(16, "tenon_test_imported_add"));
      p.s[p.C].pragma(around ? outer : inner, key, source);
      EXPECT_EQ(compiled_difference(p), "") << key << around;
    }
}

TEST(IntrinsicSources, ALibraryThatIsLinked) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon_intrinsics_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string source = folder / "add.c", library = folder / "libadd.so";
  std::ofstream(source) << kAddOfC;
  ASSERT_EQ(std::system(("cc -shared -fPIC -o " + library + " " + source).c_str()), 0);
  Sum p(6, 64);
  p.s[p.C].tensorize(p.s[p.C].split(p.s[p.C].axis(1), 16).inner,
                     vadd(16, "tenon_test_imported_add"));
  EXPECT_EQ(compiled_difference(p, {.link = {library}}), "");
  std::filesystem::remove_all(folder);
}

TEST(IntrinsicSources, AFunctionThatIsNowhereIsNamed) {
  Sum p(6, 64);
  p.s[p.C].tensorize(p.s[p.C].axis(1), vadd(64, "tenon_test_nowhere"));
  try {
    build(p.s, p.args());
    FAIL() << "was built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tenon_test_nowhere"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenon::testing
