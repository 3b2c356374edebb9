// Conditions that keep reads and stores in bounds.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/common/guarded_memory.h"
#include "tests/common/processor_time.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- reads --------------------------------------------------------------------------------------

// Reads that conditions keep inside of a tensor: the ends of loops that code generators take apart.

/// Processor time of the fastest build, with checks, which make many blocks. Stops at a build that
/// takes less than `enough`.
double seconds_to_build(const te::Schedule& s, const std::vector<LowerArgument>& args,
                        double enough) {
  return least_seconds(enough, [&] {
    const double start = processor_seconds();
    build(s, args, Target("llvm"), {.instrument_bounds = true, .opt_level = 3});
    return processor_seconds() - start;
  });
}

/// LLVM 22 crashed: it peeled a loop that it had peeled before (src/codegen/llvm/llvm_faults.md).
TEST(GuardedReads, OfARowAndItsPaddedMultiplesInALoopOfAnyLength) {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 9}, "A", Int(8));
  const te::Tensor B = te::compute(
      {n + 3}, {"i"},
      [&](Var i) {
        const Expr row = floormod(i, n), twice = i * 2;
        const Expr padded =
            if_then_else(twice >= 5 && twice < n + 5, cast(Int(32), A(twice - 5, min(i, 8))), 0);
        const Expr own = cast(Int(32), A(row, 5));
        const Expr start =
            if_then_else(Expr(1) <= twice && twice - 1 < 9, cast(Int(32), A(row, twice - 1)), 1);
        return select(A(row, 8) == A(row, floormod(i, 9)), select(padded < own, padded, own + 1),
                      start);
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {n, A, B}, {.build = {.opt_level = 3}}),
            "");
}

/// LLVM's GVN takes nine seconds for it, and took half a minute for what the fuzzer found.
TEST(GuardedReads, InLoopsThatLLVMUnrollsAreCompiledInSeconds) {
  const te::Tensor A = te::placeholder({3, 17}, "A"), T = te::placeholder({4}, "T");
  const te::Tensor B = te::compute(
      {2, 17, 33}, {"h", "i", "j"},
      [&](Var h, Var i, Var j) {
        const Expr above = if_then_else(i >= 3, A(floormod(j, 3), i - 3), 0.0f);
        const Expr below = if_then_else(i + 5 < 17, A(floormod(j, 3), i + 5), 1.0f);
        const Expr turn = if_then_else(floormod(h, 2) == 0, i * 2 + 1, j * 3 + 2);
        return select(T(floordiv(h, 2)) < T(floormod(h + j, 4)),
                      T(floormod(turn, 4)) + above + below,
                      T(floormod(if_then_else(h < 1, j * 2, h), 2)));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [h, i, j] = std::tuple(B.op().axis(0), B.op().axis(1), B.op().axis(2));
  s[B].reorder({j, h, i}).unroll(i).unroll(j).pragma(j, "unroll_explicit", 0);
  constexpr double kLimit = 1;
  EXPECT_LT(seconds_to_build(s, {A, T, B}, kLimit), kLimit);
}

/// All reads are in bounds, so only the checks of flat memory are left. LLVM can unroll the loops
/// with their checks, which takes 7 seconds here.
TEST(GuardedReads, InUnrolledConvolutionsAreCompiledInSeconds) {
  const te::Tensor A = te::placeholder({4, 8, 8}, "A"), W = te::placeholder({6, 4, 3, 3}, "W");
  const te::Tensor P = te::compute(
      {4, 10, 10}, {"c", "i", "j"},
      [&](Var c, Var i, Var j) {
        return if_then_else(i >= 1 && i < 9 && j >= 1 && j < 9, A(c, i - 1, j - 1), 0.0f);
      },
      "P");
  const te::IterVar rc = te::reduce_axis({0, 4}, "rc"), ky = te::reduce_axis({0, 3}, "ky"),
                    kx = te::reduce_axis({0, 3}, "kx");
  const te::Tensor O = te::compute(
      {6, 8, 8}, {"o", "i", "j"},
      [&](Var o, Var i, Var j) {
        return te::sum(P(rc, i + ky, j + kx) * W(o, rc, ky, kx), {rc, ky, kx});
      },
      "O");
  const te::Tensor R = te::compute(
      {6, 8, 8}, {"o", "i", "j"},
      [&](Var o, Var i, Var j) { return max(O(o, i, j), 0.0f) + O(o, 7 - i, j); }, "R");
  te::Schedule s = te::create_schedule(R);
  s[O].compute_at(s[R], s[R].axis(1));
  s[R].unroll(s[R].axis(1));
  constexpr double kLimit = 2;
  EXPECT_LT(seconds_to_build(s, {A, W, R}, kLimit), kLimit);
}

/// LLVM can examine all conditions on the way to a loop for every loop, which takes 20 seconds
/// here.
TEST(GuardedReads, InHundredsOfLoopsOneBehindTheOtherAreCompiledInSeconds) {
  const te::Tensor A = te::placeholder({6, 4, 7}, "A", UInt(64));
  const te::IterVar k = te::reduce_axis({0, 33}, "k");
  const te::Tensor B = te::compute(
      {2, 16, 10}, {"h", "i", "j"},
      [&](Var h, Var i, Var j) {
        const Expr row = floormod(if_then_else(floormod(i, 2) == 0, j * 4 + 1, i * 3 + 3), 4);
        const Expr column = floormod(select(floormod(k, 2) == 0, i * 4, j * 4), 7);
        return te::sum(A(row, 3 - h, column), {k}, {.where = k <= h + 2});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  const te::IterVar strand = s[B].split(k, 16).inner;
  const te::Tensor parts = s.rfactor(B, strand, -1);
  const te::Stage part = s[parts], sum = s[s.outputs()[0]];
  part.vectorize(parts.op().axis(3));
  part.reorder({part.axis(0), part.axis(1), part.axis(2), part.reduce_axis(0), parts.op().axis(3)});
  part.compute_at(sum, sum.reduce_axis(0)).rolling_buffer();
  sum.unroll(sum.axis(1)).unroll(sum.reduce_axis(0));
  constexpr double kLimit = 3;
  EXPECT_LT(seconds_to_build(s, {A, sum.op().output(0)}, kLimit), kLimit);
}

/// LLVM can compare every two of a condition's thousands of uses, which takes 15 seconds here. A
/// single statement is not divided.
TEST(GuardedReads, OfMoreThanCanBeOptimisedAreCompiledInSeconds) {
  constexpr int kReads = 128 * 40;
  const te::Tensor A = te::placeholder({4, kReads}, "A", Int(32));
  const te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        Expr sum = 0;
        for (int d = 0; d < kReads; ++d) sum = sum + if_then_else(i >= 1, A(i - 1, d), d);
        return sum;
      },
      "B");
  const te::Schedule s = te::create_schedule(B);
  constexpr double kLimit = 5;
  EXPECT_LT(seconds_to_build(s, {A, B}, kLimit), kLimit);
  const runtime::Module module = build(s, {A, B}, Target("llvm"), {.instrument_bounds = true});
  EXPECT_NE(module.get_source("ll").find("not optimised"), std::string::npos);
  const Arguments right = make_arguments({A, B}), actual = make_arguments({A, B});
  tir::evaluate(lower_to_loops(te::create_schedule(B), {A, B}), right.values);
  run_compiled(module["main"], actual);
  EXPECT_EQ(first_difference(right, actual, 0), "");
}

te::Tensor stencil(const te::Tensor& A, int h, int w,
                   const std::function<Expr(Expr, int)>& position) {
  return te::compute(
      {h, w}, {"y", "x"},
      [&](Var y, Var x) {
        Expr sum = A(position(y, h), position(x, w)) * 2.0f;
        for (int d : {-2, 1, 3}) sum = sum + A(position(y + d, h), position(x - d, w));
        return sum;
      },
      "B");
}

/// Repeated edges, wrapped around, and each side alone.
TEST(GuardedReads, ClampedAndWrappedIndicesReadTheSameInEverySchedule) {
  const std::vector<std::function<Expr(Expr, int)>> positions = {
      [](const Expr& x, int n) { return max(min(x, n - 1), 0); },
      [](const Expr& x, int n) { return min(max(x, 0), n - 1); },
      [](const Expr& x, int n) { return floormod(x, n); },
      [](const Expr& x, int n) { return min(max(x, 2), n - 5); }};
  const te::Tensor A = te::placeholder({13, 70}, "A");
  for (const auto& position : positions) {
    const te::Tensor B = stencil(A, 13, 70, position);
    EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
    te::Schedule s = te::create_schedule(B);
    auto [o, i] = s[B].split(s[B].axis(1), 8);
    s[B].vectorize(i).parallel(s[B].axis(0));
    EXPECT_EQ(compare_with_default(s, {A, B}), "");
    te::Schedule fused = te::create_schedule(B);
    auto [outer, inner] = fused[B].split(fused[B].fuse(fused[B].axis(0), fused[B].axis(1)), 10);
    fused[B].unroll(inner);
    EXPECT_EQ(compare_with_default(fused, {A, B}), "");
  }
}

TEST(GuardedReads, ClampedIndicesOfSymbolicSizesReadTheSameInEverySchedule) {
  const Var n = te::size_var("n"), m = te::size_var("m");
  const te::Tensor A = te::placeholder({n, m}, "A");
  const te::Tensor B = te::compute(
      {n, m}, {"y", "x"},
      [&](Var y, Var x) {
        return A(max(min(y + 2, n - 1), 0), x) + A(y, max(min(x - 3, m - 1), 0));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  auto [o, i] = s[B].split(s[B].axis(1), 4);
  s[B].vectorize(i);
  for (const te::Schedule& each : {te::create_schedule(B), s})
    EXPECT_EQ(compare_with_default(each, {n, m, A, B}, {.symbols = {1, 2, 3, 4, 5, 21}}), "");
}

/// Bounds of an index that are computed in a narrow or unsigned type can wrap.
TEST(GuardedReads, ConfinedDataOfEveryTypeReadTheSameInEverySchedule) {
  const auto number = [](const Expr& x, std::int64_t value) {
    return make_const(x.dtype(), value);
  };
  const auto clamp = [](const Expr& x, const Expr& low, const Expr& high) {
    return min(max(x, low), high);
  };
  struct Case {
    DataType type;
    int first, step;
    std::function<Expr(const Expr&)> confine;
  };
  const std::vector<Case> cases = {
      {UInt(8), 10, 30, [&](const Expr& x) { return truncmod(x, number(x, 16)); }},
      {UInt(32), 10, 30, [&](const Expr& x) { return min(truncmod(x, number(x, 3)), 2); }},
      {UInt(64), 10, 7, [&](const Expr& x) { return floormod(x, max_value(x.dtype())); }},
      {UInt(32), 10, 7,
       [&](const Expr& x) { return clamp(x, number(x, 1), max_value(x.dtype())); }},
      {Int(8), -56, 7,
       [&](const Expr& x) {
         return truncdiv(clamp(x, min_value(x.dtype()), max_value(x.dtype())), number(x, -1));
       }},
      {Int(64), 0, 1,
       [&](const Expr& x) { return clamp(x, min_value(x.dtype()) + number(x, 1), number(x, 2)); }}};
  for (const Case& each : cases) {
    const te::Tensor data = te::compute(
        {8}, {"i"}, [&](Var i) { return cast(each.type, i * each.step + each.first); }, "data");
    const te::Tensor P = te::compute(
        {128}, {"j"}, [](Var j) { return j + 1000; }, "P");
    const te::Tensor C = te::compute(
        {8}, {"i"}, [&](Var i) { return P(each.confine(data(i))); }, "C");
    te::Schedule inlined = te::create_schedule(C);
    inlined[P].compute_inline();
    EXPECT_EQ(compare_with_default(inlined, {C}), "") << each.type.str() << " " << each.first;
  }
}

/// A read where the condition does not hold would be uninitialized, or out of bounds.
TEST(GuardedReads, ReductionsWithAConditionReadWhereItHolds) {
  const te::Tensor A = te::placeholder({40}, "A"), P = te::placeholder({40}, "P", Int(32));
  te::IterVar k = te::reduce_axis({0, 9}, "k");
  const te::Tensor B = te::compute(
      {40}, {"i"},
      [&](Var i) { return te::sum(A(i + k - 4), {k}, {.where = i + k >= 4 && i + k - 4 < 40}); },
      "B");
  const te::Tensor C = te::compute(
      {40}, {"i"},
      [&](Var i) {
        return te::sum(select(P(i) >= 0 && P(i) + k < 40, A(P(i) + k), 1.0f), {k},
                       {.where = P(floormod(i + k, 40)) > 0});
      },
      "C");
  for (const te::Tensor& out : {B, C}) {
    const std::vector<LowerArgument> args =
        out.same_as(B) ? std::vector<LowerArgument>{A, B} : std::vector<LowerArgument>{A, P, C};
    EXPECT_EQ(compare_with_default(te::create_schedule(out), args), "");
    for (int factor : {8, 7}) {
      te::Schedule s = te::create_schedule(out);
      auto [o, i] = s[out].split(s[out].axis(0), factor);
      s[out].reorder({o, s[out].reduce_axis(0), i}).vectorize(i);
      EXPECT_EQ(compare_with_default(s, args), "") << factor;
      te::Schedule unrolled = te::create_schedule(out);
      auto [oo, ii] = unrolled[out].split(unrolled[out].axis(0), factor);
      unrolled[out].unroll(ii);
      EXPECT_EQ(compare_with_default(unrolled, args), "") << factor;
    }
  }
}

// ---- reads outside ------------------------------------------------------------------------------

// Programs that read beyond an end: their text shows it, and no code is made of them, or none that
// runs with sizes for which they do.

TEST(ReadsOutside, ThatAreSomeOfAllPrintAndAreNotBuilt) {
  te::Tensor A = te::placeholder({100}, "A");
  te::IterVar k = te::reduce_axis({0, 100}, "k"), k2 = te::reduce_axis({2, 5}, "k2");
  te::Tensor B = te::compute(
      {1}, {"i"},
      [&](Var) {
        return te::max(A(k + k2 - 2), {k, k2});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(lower(s, {A, B}).functions.size(), 1u);
  try {
    compile(s, {A, B}, Target("llvm"));
    FAIL() << "was compiled";
  } catch (const BoundError& error) {
    const std::string text = error.what();
    for (const char* part : {"`B`", "`A`", "0 to 101", "100 elements"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

/// Calls a compute of `count` elements that copies an array of `size`, and returns whether it
/// wrote 0, 1, 2, ...
bool copies(const runtime::Module& copy, int size, int count) {
  runtime::NDArray a = runtime::NDArray::zeros({size}, Float(32), cpu(0));
  runtime::NDArray b = runtime::NDArray::full({count}, Float(32), -1, cpu(0));
  for (int i = 0; i < size; ++i) a.data<float>()[i] = static_cast<float>(i);
  copy["main"](a, b);
  for (int i = 0; i < count; ++i)
    if (b.data<float>()[i] != (size == 1 ? 0.0f : static_cast<float>(i))) return false;
  return true;
}

TEST(ReadsOutside, OfSymbolicSizesAreRefusedByTheCall) {
  const tir::Var n("n"), m("m");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [outer, inner] = s[B].split(B.op().axis()[0], 16);
  s[B].parallel(outer);
  s[B].vectorize(inner);
  for (const char* target : {"llvm", "c"}) {
    const runtime::Module copy = build(s, {A, B}, Target(target));
    for (const int count : {0, 1, 99, 100}) EXPECT_TRUE(copies(copy, 100, count)) << count;
    EXPECT_TRUE(copies(copy, 1, 20)) << "one element is broadcast";
    try {
      copies(copy, 100, 101);
      ADD_FAILURE() << "read element 100 of 100";
    } catch (const RuntimeError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("reads tensor `A` at index 0 from 0 to (m - 1), but "
                          "this dimension has n elements"),
                std::string::npos)
          << error.what();
    }
  }
}

// ---- conditions of reads ------------------------------------------------------------------------

// Sizes and scalar arguments that put reads out of bounds: the call refuses them.

using runtime::NDArray;

const tir::Var n("n"), m("m");

NDArray zeros(std::int64_t count) { return NDArray::zeros({count}, Float(32), cpu(0)); }

TEST(ReadConditions, HoldForOffsetsThatExceedTheTypeOfTheSum) {
  for (const DataType type : {Int(32), Int(64)}) {
    const tir::Var first("first", type);
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::compute(
        {m}, {"i"}, [&](Var i) { return A(i + first); }, "B");
    const runtime::Module copy = build(te::create_schedule(B), {A, first, B}, Target("llvm"));
    const std::int64_t largest = type == Int(32) ? std::numeric_limits<std::int32_t>::max()
                                                 : std::numeric_limits<std::int64_t>::max();
    NDArray a = zeros(8), b = zeros(4);
    EXPECT_NO_THROW(copy["main"](a, 4, b));
    for (const std::int64_t start : {largest, largest - 1, std::int64_t{5}, std::int64_t{-1}})
      EXPECT_THROW(copy["main"](a, start, b), RuntimeError) << start;
  }
}

TEST(ReadConditions, HoldForABufferThatDoesNotBroadcast) {
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(i); }, "B");
  const tir::Buffer compact = tir::decl_buffer({n}, Float(32), {.name = "compact", .strides = {1}});
  const runtime::Module copy =
      build(te::create_schedule(B), {A, B}, Target("llvm"), {.binds = {{A, compact}}});
  NDArray one = zeros(1), many = zeros(10);
  EXPECT_THROW(copy["main"](one, many), RuntimeError);
  EXPECT_NO_THROW(copy["main"](many, one));
}

TEST(ReadConditions, DemandAnElementWhereOnlyDataKnowsTheIndex) {
  te::Tensor A = te::placeholder({n}, "A"), I = te::placeholder({m}, "I", Int(32));
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(max(min(I(i), n - 1), 0)); }, "B");
  const runtime::Module gather = build(te::create_schedule(B), {A, I, B}, Target("llvm"));
  NDArray nothing = zeros(0), one = zeros(1), b = zeros(4);
  NDArray indices = NDArray::zeros({4}, Int(32), cpu(0));
  EXPECT_NO_THROW(gather["main"](one, indices, b));
  EXPECT_TRUE(refuses<RuntimeError>([&] { gather["main"](nothing, indices, b); },
                                    {"reads tensor `A` at index 0, but", "has n elements"}));
  NDArray no_indices = NDArray::zeros({0}, Int(32), cpu(0));
  EXPECT_NO_THROW(gather["main"](nothing, no_indices, nothing));
}

TEST(ReadConditions, LeaveOutStagesThatTheCallSkips) {
  const tir::Var flag("flag");
  te::Tensor A = te::placeholder({n}, "A"), bias = te::placeholder({m}, "bias");
  te::Tensor T = te::compute(
      {n}, {"i"}, [&](Var i) { return bias(i) * 2.0f; }, "T");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return tir::if_then_else(flag > 0, A(i) + T(i), A(i)); }, "B");
  const runtime::Module add = build(te::create_schedule(B), {A, bias, flag, B}, Target("llvm"));
  NDArray a = zeros(8), nothing = zeros(0), b = zeros(8);
  EXPECT_NO_THROW(add["main"](a, nothing, 0, b));
  EXPECT_THROW(add["main"](a, nothing, 1, b), RuntimeError);
}

// ---- sizes of functions -------------------------------------------------------------------------

/// Builds a function of A with `m` elements and B with `n`, both float32.
runtime::Module build_function(const std::string& statements) {
  std::string body;
  for (std::size_t begin = 0; begin < statements.size();) {
    const std::size_t end = statements.find('\n', begin);
    body += "    " + statements.substr(begin, end - begin) + "\n";
    begin = end == std::string::npos ? statements.size() : end + 1;
  }
  return build(
      s_tir::parse_script("@T.prim_func\n"
                          "def main(a: T.handle, b: T.handle) -> None:\n"
                          "    m = T.var(\"int32\")\n"
                          "    n = T.var(\"int32\")\n"
                          "    A = T.match_buffer(a, (m,))\n"
                          "    B = T.match_buffer(b, (n,))\n" +
                          body));
}

TEST(SizesOfFunctions, ThatPutAReadOutOfBoundsAreRefused) {
  const runtime::Module copy = build_function(
      "for i in T.serial(n):\n"
      "    B[i] = A[i * 2 + 1]");
  NDArray a = zeros(8), b = zeros(4);
  EXPECT_NO_THROW(copy["main"](a, b));
  EXPECT_NO_THROW(copy["main"](zeros(0), zeros(0)));
  NDArray more = zeros(5);
  EXPECT_TRUE(refuses<RuntimeError>(
      [&] { copy["main"](a, more); },
      {"B reads A[((i*2) + 1)] at index 0 from 1 to ((n*2) - 1)", "has m elements"}));
}

TEST(SizesOfFunctions, ThatPutAWriteOutOfBoundsAreRefused) {
  const runtime::Module copy = build_function(
      "for i in T.serial(m):\n"
      "    B[m - 1 - i] = A[i]");
  EXPECT_NO_THROW(copy["main"](zeros(4), zeros(4)));
  EXPECT_THROW(copy["main"](zeros(5), zeros(4)), RuntimeError);
}

TEST(SizesOfFunctions, AreCheckedForIndicesThatAreCastOrBound) {
  EXPECT_THROW(build_function("x: T.int32 = n\nB[x] = 0.0"), BoundError);
  EXPECT_THROW(build_function("for i in T.serial(T.int64(0), T.cast(n, \"int64\")):\n"
                              "    B[T.cast(i, \"int32\") + 1] = 0.0"),
               BoundError);
  const runtime::Module fill = build_function(
      "for i in T.serial(8):\n"
      "    B[i // 3 + 1] = 0.0");
  EXPECT_NO_THROW(fill["main"](zeros(1), zeros(4)));
  EXPECT_THROW(fill["main"](zeros(1), zeros(3)), RuntimeError);
}

TEST(SizesOfFunctions, AreCheckedForIndicesThatOnlyMemoryKnows) {
  const runtime::Module gather = build_function(
      "I = T.alloc_buffer((4,), \"int32\")\n"
      "for i in T.serial(4):\n"
      "    I[i] = i\n"
      "for i in T.serial(4):\n"
      "    B[i] = A[T.max(T.min(I[i], m - 1), 0)]");
  EXPECT_NO_THROW(gather["main"](zeros(1), zeros(4)));
  EXPECT_THROW(gather["main"](zeros(0), zeros(4)), RuntimeError);
}

TEST(SizesOfFunctions, LeaveOutAccessesUnderConditions) {
  const runtime::Module copy = build_function(
      "for i in T.serial(n):\n"
      "    if i < m:\n"
      "        B[i] = A[i]");
  EXPECT_NO_THROW(copy["main"](zeros(4), zeros(8)));
}

TEST(SizesOfFunctions, LeaveOutLoopsThatDependOnOthers) {
  const runtime::Module copy = build_function(
      "for i in T.serial(n):\n"
      "    for j in T.serial(T.max(i - 4, 0)):\n"
      "        B[i] = A[j]");
  EXPECT_NO_THROW(copy["main"](zeros(4), zeros(8)));
}

TEST(SizesOfFunctions, OfWhichAReductionHasNoIterationAreRefused) {
  const runtime::Module sum = build_function(
      "for i, k in T.grid(n, m):\n"
      "    with T.block(\"B\"):\n"
      "        vi, vk = T.axis.remap(\"SR\", [i, k])\n"
      "        with T.init():\n"
      "            B[vi] = T.float32(0)\n"
      "        B[vi] = B[vi] + A[vk]");
  EXPECT_NO_THROW(sum["main"](zeros(1), zeros(3)));
  EXPECT_NO_THROW(sum["main"](zeros(0), zeros(0)));
  NDArray nothing = zeros(0), b = zeros(3);
  EXPECT_TRUE(refuses<RuntimeError>([&] { sum["main"](nothing, b); },
                                    {"block `B` reduces over m iterations of `k`"}));
}

/// The number of iterations is not known at the call.
TEST(SizesOfFunctions, LeaveOutReductionsOverData) {
  const runtime::Module sum = build(s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(8,), "int32"], B: T.Buffer[(1,), "int32"]) -> None:
    C = T.alloc_buffer([1], dtype="int32")
    with T.block("C"):
        C[0] = A[0]
    for k in T.serial(C[0] % 8 + 1):
        with T.block("B"):
            vk = T.axis.reduce(8, k)
            with T.init():
                B[0] = 0
            B[0] = B[0] + A[vk]
)"));
  const NDArray a = NDArray::from(std::vector<int>{2, 10, 20, 40, 0, 0, 0, 0}, {8});
  const NDArray b = NDArray::zeros({1}, Int(32));
  sum["main"](a, b);
  EXPECT_EQ(b.to_vector<int>()[0], 32);
}

TEST(SizesOfFunctions, LeaveOutReductionsUnderConditions) {
  const runtime::Module sum = build_function(
      "for i in T.serial(n):\n"
      "    if m > 0:\n"
      "        for k in T.serial(m):\n"
      "            with T.block(\"B\"):\n"
      "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
      "                with T.init():\n"
      "                    B[vi] = T.float32(0)\n"
      "                B[vi] = B[vi] + A[vk]");
  EXPECT_NO_THROW(sum["main"](zeros(0), zeros(3)));
}

TEST(ConstantAccesses, OutOfBoundsInSomeIterationAreRefused) {
  EXPECT_TRUE(refuses<BoundError>(
      [] {
        build(
            s_tir::parse_script("@T.prim_func\n"
                                "def main(A: T.Buffer[(8,), \"float32\"], B: T.Buffer[(8,), "
                                "\"float32\"]) -> None:\n"
                                "    for i in T.serial(8):\n"
                                "        B[i] = A[i + 4]\n"));
      },
      {"B reads A[(i + 4)] at index 0 from 4 to 11", "has 8 elements"}));
}

// ---- stores -------------------------------------------------------------------------------------

// Branches that each lane of a vectorized loop takes for itself: masked stores.

using codegen::testing::GuardedMemory;
using tir::BufferRef;
using tir::ForKind;
using tir::IRBuilder;

constexpr int kElements = 1024;

float element(int i) { return static_cast<float>(i % 7) - 3; }
std::int32_t position(int i) {
  return i % 3 == 0 ? i * 5 % kElements : i % 3 == 1 ? -100000000 : 0;
}
bool is_position(std::int32_t p) { return p >= 0 && p < kElements; }

/// A statement of each iteration i of a vectorized loop: it reads A[0..1023] and P[0..1023], and
/// stores to C. `expected`: what C[i] is, of C[i] = i before.
struct StoreProgram {
  const char* name;
  std::function<void(IRBuilder& ib, const BufferRef& a, const BufferRef& p, const BufferRef& c,
                     const Expr& i)>
      body;
  std::function<float(int i)> expected;
};

const std::vector<StoreProgram>& store_programs() {
  constexpr int n = kElements;
  static const std::vector<StoreProgram> table = {
      {"AConditionOfData",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(a[i] > 0.0f, [&] { c[i] = a[i] * 2.0f; });
       },
       [](int i) { return element(i) > 0 ? element(i) * 2 : static_cast<float>(i); }},
      {"TheEndOfTheArray",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 5 < n, [&] { c[i + 5] = a[i + 5]; });
       },
       [](int i) { return i >= 5 ? element(i) : static_cast<float>(i); }},
      {"TheBeginOfTheArray",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i >= 5, [&] { c[i - 5] = a[i - 5] + 1.0f; });
       },
       [](int i) { return i < n - 5 ? element(i) + 1 : static_cast<float>(i); }},
      {"ASumUnderTheGuard",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 3 < n, [&] { c[i + 3] = c[i + 3] + a[i + 3]; });
       },
       [](int i) { return static_cast<float>(i) + (i >= 3 ? element(i) : 0); }},
      {"BothSides",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(a[i] > 0.0f, [&] { c[i] = 1.0f; });
         ib.else_scope([&] { c[i] = a[i] - 1.0f; });
       },
       [](int i) { return element(i) > 0 ? 1.0f : element(i) - 1; }},
      {"NestedBranches",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i > 0, [&] {
           ib.if_scope(a[i - 1] > 0.0f, [&] { c[i] = a[i - 1]; });
           ib.else_scope([&] { c[i] = 7.0f; });
         });
       },
       [](int i) { return i == 0               ? 0.0f
                          : element(i - 1) > 0 ? element(i - 1)
                                               : 7.0f; }},
      {"TwoStatements",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(c[i] < 512.0f, [&] {
           c[i] = 1000.0f;
           c[i] = c[i] + a[i];
         });
       },
       [](int i) { return i < 512 ? 1000.0f + element(i) : static_cast<float>(i); }},
      {"PositionsFromData",
       [](auto& ib, auto& a, auto& p, auto& c, auto& i) {
         ib.if_scope(p[i] >= 0 && p[i] < n, [&] { c[i] = a[p[i]]; });
       },
       [](int i) {
         return is_position(position(i)) ? element(position(i)) : static_cast<float>(i);
       }},
      {"EverySecondElement",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i * 2 < n, [&] { c[i * 2] = a[i * 2] * 3.0f; });
       },
       [](int i) { return i % 2 == 0 ? element(i) * 3 : static_cast<float>(i); }},
      {"EveryFifthElement",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i * 5 < n, [&] { c[i * 5] = a[i * 5] * 3.0f; });
       },
       [](int i) { return i % 5 == 0 ? element(i) * 3 : static_cast<float>(i); }},
      {"ElementsFromTheEnd",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i > 0, [&] { c[n - i] = a[n - i] + 4.0f; });
       },
       [](int i) { return i > 0 ? element(i) + 4 : 0.0f; }},
      {"AScalarThatOnlyTakersRead",
       [](auto& ib, auto& a, auto& p, auto& c, auto& i) {
         ib.if_scope(i > n, [&] { c[i] = a[p[1]]; });
       },
       [](int i) { return static_cast<float>(i); }},
      {"ALoopInside",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 4 < n,
                     [&] { ib.for_range(0, 4, "k", [&](Var k) { c[i] = c[i] + a[i + k + 1]; }); });
       },
       [](int i) {
         float sum = static_cast<float>(i);
         for (int k = 1; k <= 4 && i + 4 < n; ++k) sum += element(i + k);
         return sum;
       }},
      {"ADivisionByZero",
       [](auto& ib, auto&, auto& p, auto& c, auto& i) {
         ib.if_scope(p[i] != 0, [&] { c[i] = cast(Float(32), truncdiv(100000, Expr(p[i]))); });
       },
       [](int i) {
         return position(i) == 0 ? static_cast<float>(i) : static_cast<float>(100000 / position(i));
       }},
  };
  return table;
}

/// "" if the program gives what it must. Arrays are whole pages between pages that nobody may
/// touch.
std::string run(const StoreProgram& program, int lanes, bool is_parallel, const Target& target) {
  const te::Tensor a = te::placeholder({kElements}, "A");
  const te::Tensor p = te::placeholder({kElements}, "P", Int(32));
  const te::Tensor c = te::extern_op(
      {kElements}, {a, p},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        IRBuilder ib;
        const BufferRef from_a = ib.buffer_ptr(ins[0]), from_p = ib.buffer_ptr(ins[1]),
                        to_c = ib.buffer_ptr(outs[0]);
        ib.for_range(0, kElements / lanes, "o",
                     [&](Var o) {
                       ib.for_range(
                           0, lanes, "i",
                           [&](Var i) { program.body(ib, from_a, from_p, to_c, o * lanes + i); },
                           {.kind = ForKind::Vectorized});
                     },
                     {.kind = is_parallel ? ForKind::Parallel : ForKind::Serial});
        return ib.get();
      },
      "C", {.dtype = Float(32)});
  const GuardedMemory page_a, page_p, page_c;
  float *elements = page_a.begin<float>(), *results = page_c.begin<float>();
  std::int32_t* positions = page_p.begin<std::int32_t>();
  for (int i = 0; i < kElements; ++i)
    elements[i] = element(i), positions[i] = position(i), results[i] = static_cast<float>(i);
  BuildOptions options;
  // C has no registers of its own, and vectors where it is told of some.
  if (target.str() == "c") options.passes.vector_registers = {.bits = 256, .count = 16};
  const runtime::Module m = build(te::create_schedule(c), {a, p, c}, target, options);
  m["main"](NDArray::wrap(elements, {kElements}), NDArray::wrap(positions, {kElements}),
            NDArray::wrap(results, {kElements}));
  for (int i = 0; i < kElements; ++i)
    if (results[i] != program.expected(i))
      return "element " + std::to_string(i) + " is " + std::to_string(results[i]) + ", expected " +
             std::to_string(program.expected(i));
  return "";
}

void PrintTo(const StoreProgram& program, std::ostream* out) { *out << program.name; }

class GuardedStores : public ::testing::TestWithParam<StoreProgram> {};
INSTANTIATE_TEST_SUITE_P(Programs, GuardedStores, ::testing::ValuesIn(store_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GuardedStores, TouchNothingWhereTheirLaneIsLeftOut) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell", "c"})
    for (const int lanes : {8, 64})
      for (const bool is_parallel : {false, true})
        EXPECT_EQ(run(GetParam(), lanes, is_parallel, Target(target)), "")
            << target << ", " << lanes << " lanes";
}

/// C[i] of n elements, in vectors of 16 lanes of which the last ones are left out, beside a sum
/// over k under the same guard.
std::string compare_uneven(DataType type, int n) {
  const te::Tensor a = te::placeholder({n}, "A", type), b = te::placeholder({3, n}, "B", type);
  const te::IterVar k = te::reduce_axis({0, 3}, "k");
  const auto is_positive = [&](const Expr& x) { return cast(Float(32), x) > 0.0f; };
  const te::Tensor c = te::compute(
      {n}, {"i"}, [&](Var i) { return if_then_else(is_positive(a(i)), a(i) * a(i), a(i) + a(i)); },
      "C");
  const te::Tensor d = te::compute(
      {n}, {"i"}, [&](Var i) { return te::sum(b(k, i) * c(i), {k}); }, "D");
  te::Schedule s = te::create_schedule(d);
  for (const te::Tensor& t : {c, d}) {
    const auto [outer, inner] = s[t].split(s[t].axis(0), 16);
    s[t].vectorize(inner);
  }
  const auto [outer, inner] = std::pair(s[d].leaf_iter_vars()[0], s[d].leaf_iter_vars()[1]);
  s[d].reorder({outer, k, inner});
  return tenon::testing::compare_with_default(s, {a, b, c, d}, {.compile_c = n % 16 == 5});
}

TEST(UnevenVectors, OfEachTypeComputeWhatTheInterpreterDoes) {
  for (const DataType type :
       {Float(32), Float(64), Float(16), BFloat(16), Int(8), UInt(8), Int(16), Int(32), Int(64)})
    for (int n = 1; n <= 70; n += n < 8 ? 1 : 7)
      EXPECT_EQ(compare_uneven(type, n), "") << type.str() << ", " << n << " elements";
}

std::string assembly_of_a_guarded_store(const char* target, DataType type) {
  const te::Tensor a = te::placeholder({1024}, "A", type);
  const te::Tensor c = te::extern_op(
      {1024}, {a},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        IRBuilder ib;
        const BufferRef from = ib.buffer_ptr(ins[0]), to = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 1024, "i",
                     [&](Var i) {
                       Expr power = from[i];
                       for (int n = 0; n < 10; ++n) power = power * from[i];
                       ib.if_scope(from[i] > make_const(type, 0), [&] { to[i] = power; });
                     },
                     {.kind = ForKind::Vectorized});
        return ib.get();
      },
      "C", {.dtype = type});
  return compile(te::create_schedule(c), {a, c}, Target(target)).source("asm");
}

TEST(GuardedStore, IsAMaskedInstructionWhereTheProcessorHasOne) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=haswell", Float(32)), "vmaskmovps"));
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=skylake-avx512", Float(32)), "{%k"));
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=skylake-avx512", Int(8)), "vmovdqu8"));
  const char* arm = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
  EXPECT_TRUE(has(assembly_of_a_guarded_store(arm, Float(32)), ".4s"));
}

// ---- choices ------------------------------------------------------------------------------------

// Choices by lanes whose other side would read outside: arrays of one page each, between pages that
// nobody may touch.

struct ChoiceProgram {
  const char* name;
  std::function<Expr(const te::Tensor& a, const te::Tensor& p, const Var& i)> body;
  std::function<float(int i)> expected;
};

const std::vector<ChoiceProgram>& choice_programs() {
  constexpr int n = kElements;
  static const std::vector<ChoiceProgram> table = {
      {"TheRightSideOfOr",
       [](auto& a, auto&, auto& i) {
         return select(any(i >= n - 1, a(i + 1) > 1.0f), make_const(Float(32), 1),
                       make_const(Float(32), 2));
       },
       [](int i) { return i >= n - 1 || element(i + 1) > 1 ? 1.0f : 2.0f; }},
      {"TheRightSideOfAnd",
       [](auto& a, auto&, auto& i) {
         return select(all(i > 0, a(i - 1) > 1.0f), a(i), make_const(Float(32), 2));
       },
       [](int i) { return i > 0 && element(i - 1) > 1 ? element(i) : 2.0f; }},
      {"TheNeighbourBefore", [](auto& a, auto&, auto& i) { return select(i > 0, a(i - 1), 0.0f); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"TheNeighbourBeforeInIfThenElse",
       [](auto& a, auto&, auto& i) { return if_then_else(i > 0, a(i - 1), 0.0f); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"TheOtherSide", [](auto& a, auto&, auto& i) { return select(i < 1, 0.0f, a(i - 1)); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"NestedSelects",
       [](auto& a, auto&, auto& i) {
         return select(i > 0, select(i < n - 1, a(i - 1) + a(i + 1), a(i - 1)), a(i + 1));
       },
       [](int i) {
         return i > 0 ? i < n - 1 ? element(i - 1) + element(i + 1) : element(i - 1)
                      : element(i + 1);
       }},
      {"AConditionThatReadsUnderAnother",
       [](auto& a, auto&, auto& i) {
         return select(i > 0, if_then_else(a(i - 1) > 0.0f, a(i - 1), a(i)), 5.0f);
       },
       [](int i) { return i > 0 ? element(i - 1) > 0 ? element(i - 1) : element(i) : 5; }},
      {"PositionsFromData",
       [](auto& a, auto& p, auto& i) { return select(all(p(i) >= 0, p(i) < n), a(p(i)), 0.0f); },
       [](int i) { return is_position(position(i)) ? element(position(i)) : 0; }},
      {"PositionsFromDataInIfThenElse",
       [](auto& a, auto& p, auto& i) {
         return if_then_else(all(p(i) >= 0, p(i) < n), a(p(i)) * 2.0f, a(i));
       },
       [](int i) { return is_position(position(i)) ? element(position(i)) * 2 : element(i); }},
      {"PositionsUnderAnotherCondition",
       [](auto& a, auto& p, auto& i) {
         return select(p(i) > 0, select(i > 4, a(p(i)), a(0)), 1.0f);
       },
       [](int i) { return position(i) > 0 ? i > 4 ? element(position(i)) : element(0) : 1; }},
      {"EverySecondElement",
       [](auto& a, auto&, auto& i) { return select(i * 2 < n, a(i * 2), 0.0f); },
       [](int i) { return i * 2 < n ? element(i * 2) : 0; }},
      {"EveryFifthElement",
       [](auto& a, auto&, auto& i) { return if_then_else(i * 5 < n, a(i * 5), 0.0f); },
       [](int i) { return i * 5 < n ? element(i * 5) : 0; }},
      {"ElementsFromTheEnd", [](auto& a, auto&, auto& i) { return select(i > 0, a(n - i), 0.0f); },
       [](int i) { return i > 0 ? element(n - i) : 0; }},
      {"OneElementForAllLanes",
       [](auto& a, auto& p, auto& i) { return select(i >= n, a(p(1)), a(i)); },
       [](int i) { return element(i); }},
      {"ADivisionByZero",
       [](auto&, auto& p, auto& i) {
         return select(p(i) != 0, cast(Float(32), floordiv(1000, p(i))), 7.0f);
       },
       [](int i) {
         const int p = position(i);
         return p == 0 ? 7.0f : std::floor(1000.0f / static_cast<float>(p));
       }},
      {"ARemainderUnderIfThenElse",
       [](auto&, auto& p, auto& i) {
         return if_then_else(p(i) > 0, cast(Float(32), truncmod(1000, p(i))), 7.0f);
       },
       [](int i) { return position(i) > 0 ? static_cast<float>(1000 % position(i)) : 7.0f; }},
  };
  return table;
}

enum class Way : std::uint8_t { Default, Vectorized, Unrolled, Parallel };

te::Schedule scheduled(const te::Tensor& c, Way way) {
  te::Schedule s = te::create_schedule({c});
  if (way == Way::Default) return s;
  auto [o, i] = s[c].split(s[c].axis(0), 16);
  if (way == Way::Vectorized || way == Way::Parallel) s[c].vectorize(i);
  if (way == Way::Unrolled) s[c].unroll(i);
  if (way == Way::Parallel) s[c].parallel(o);
  return s;
}

/// "" if the program gives what it must.
std::string run(const ChoiceProgram& program, Way way, const Target& target) {
  const te::Tensor a = te::placeholder({kElements}, "A");
  const te::Tensor p = te::placeholder({kElements}, "P", Int(32));
  const te::Tensor c = te::compute(
      {kElements}, {"i"}, [&](Var i) { return program.body(a, p, i); }, "C");
  const GuardedMemory page_a, page_p, page_c;
  float *elements = page_a.begin<float>(), *results = page_c.begin<float>();
  std::int32_t* positions = page_p.begin<std::int32_t>();
  for (int i = 0; i < kElements; ++i) elements[i] = element(i), positions[i] = position(i);
  const runtime::Module m = build(scheduled(c, way), {a, p, c}, target);
  m["main"](NDArray::wrap(elements, {kElements}), NDArray::wrap(positions, {kElements}),
            NDArray::wrap(results, {kElements}));
  for (int i = 0; i < kElements; ++i)
    if (results[i] != program.expected(i))
      return "element " + std::to_string(i) + " is " + std::to_string(results[i]) + ", expected " +
             std::to_string(program.expected(i));
  return "";
}

class GuardedChoices : public ::testing::TestWithParam<ChoiceProgram> {};
INSTANTIATE_TEST_SUITE_P(Programs, GuardedChoices, ::testing::ValuesIn(choice_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GuardedChoices, ReadNothingOutsideInVectors) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell", "c"})
    for (Way way : {Way::Vectorized, Way::Parallel})
      EXPECT_EQ(run(GetParam(), way, Target(target)), "") << target;
}

TEST_P(GuardedChoices, ReadNothingOutsideWhereNoLoopIsMarked) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
    EXPECT_EQ(run(GetParam(), Way::Default, Target(target)), "") << target;
}

TEST_P(GuardedChoices, ReadNothingOutsideWhereAnUnrolledLoopIsPacked) {
  for (const char* target : {"llvm", "llvm -mcpu=haswell"})
    EXPECT_EQ(run(GetParam(), Way::Unrolled, Target(target)), "") << target;
}

}  // namespace
}  // namespace tenon::testing
