// Loops written by hand whose iterations run side by side: independent ones compute what the
// interpreter computes, others are refused with both accesses.
#include <gtest/gtest.h>

#include "tenon/interp/evaluate.h"
#include "tenon/tenon.h"

namespace tenon::testing {
namespace {

using tir::ForKind;

using Body = std::function<void(tir::IRBuilder&, const tir::BufferRef& x, const tir::BufferRef& c)>;

/// C[64] of X[64], both int32, by code in an extern operation.
te::Tensor by_hand(const te::Tensor& X, const Body& body) {
  return te::extern_op(
      {64}, {X},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        const auto x = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
        body(ib, x, c);
        return ib.get();
      },
      "C", {.dtype = Int(32)});
}

struct Program {
  te::Tensor X = te::placeholder({64}, "X", Int(32));
  te::Tensor C;
  te::Schedule s;
  explicit Program(const Body& body) : C(by_hand(X, body)), s(te::create_schedule(C)) {}

  std::vector<int> run(const BuildOptions& options = {}) const {
    std::vector<int> x(64);
    for (int n = 0; n < 64; ++n) x[static_cast<std::size_t>(n)] = n * 5 % 64;
    const auto a = runtime::NDArray::from(x, {64}), c = runtime::NDArray::zeros({64}, Int(32));
    build(s, {X, C}, Target("llvm"), options)["main"](a, c);
    return {c.data<int>(), c.data<int>() + 64};
  }
};

/// The sentence with which build refuses the program; empty where it does not.
std::string refusal_of(const Body& body) {
  const Program program(body);
  try {
    program.run();
  } catch (const LowerError& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const Body& body, const std::vector<std::string>& parts) {
  const std::string text = refusal_of(body);
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(IterationsSideBySide, APrefixSumIsRefusedWithBothAccesses) {
  for (const ForKind kind : {ForKind::Parallel, ForKind::Vectorized}) {
    const std::string name = kind == ForKind::Parallel ? "parallel" : "vectorized";
    expect_refused(
        [&](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
          c[0] = x[0];
          ib.for_range(1, 64, "i", [&](Var i) { c[i] = c[i - 1] + x[i]; }, {.kind = kind});
        },
        {"the " + name + " loop over `i`", "C, dependences_test.cpp:", "reads C[(i - 1)]",
         "writes C[i]", "independent_iterations"});
  }
}

TEST(IterationsSideBySide, AHistogramIsRefused) {
  for (const ForKind kind : {ForKind::Parallel, ForKind::Vectorized})
    expect_refused(
        [&](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
          ib.for_range(0, 64, "i", [&](Var i) { c[Expr(x[i])] = c[Expr(x[i])] + 1; },
                       {.kind = kind});
        },
        {"C[X[i]]"});
}

TEST(IterationsSideBySide, AntiAndOutputDependencesAreRefused) {
  expect_refused(
      [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
        ib.for_range(0, 63, "i", [&](Var i) { c[i] = c[i + 1] + x[i]; },
                     {.kind = ForKind::Parallel});
      },
      {"reads C[(i + 1)]", "writes C[i]"});
  expect_refused(
      [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
        ib.for_range(0, 64, "i", [&](Var i) { c[floordiv(i, 2)] = x[i]; },
                     {.kind = ForKind::Parallel});
      },
      {"writes C[floordiv(i, 2)]"});
}

TEST(IterationsSideBySide, ADependenceOfUnknownDistanceIsRefused) {
  expect_refused(
      [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
        const Var k = ib.let("k", Expr(x[0]));
        ib.for_range(0, 32, "i", [&](Var i) { c[i + k] = c[i] + 1; }, {.kind = ForKind::Parallel});
      },
      {"the parallel loop over `i`"});
}

TEST(IterationsSideBySide, AScatterThatTheProgramCallsIndependentIsBuilt) {
  const Body scatter = [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
    ib.scope_attr("independent_iterations", 1);
    // X is a permutation.
    ib.for_range(0, 64, "i", [&](Var i) { c[Expr(x[i])] = i; }, {.kind = ForKind::Parallel});
  };
  const std::vector<int> c = Program(scatter).run();
  for (int n = 0; n < 64; ++n) EXPECT_EQ(c[static_cast<std::size_t>(n * 5 % 64)], n);
}

TEST(IterationsSideBySide, ThePromiseDoesNotCoverLoopsInside) {
  expect_refused(
      [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
        ib.scope_attr("independent_iterations", 1);
        ib.for_range(0, 8, "i",
                     [&](Var i) {
                       ib.for_range(0, 7, "j",
                                    [&](Var j) { c[i * 8 + j + 1] = c[i * 8 + j] + x[j]; },
                                    {.kind = ForKind::Vectorized});
                     },
                     {.kind = ForKind::Parallel});
      },
      {"the vectorized loop over `j`"});
}

TEST(IterationsSideBySide, AConflictIsRefusedAfterLoweringToo) {
  const Program racing([](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
    ib.for_range(1, 64, "i", [&](Var i) { c[i] = c[i - 1] + x[i]; }, {.kind = ForKind::Parallel});
  });
  const tir::IRModule module = lower(racing.s, {racing.X, racing.C});
  EXPECT_THROW(build(module), LowerError);
  // Without the notes of `lower`, as the parser makes it.
  tir::IRModule bare = module;
  bare.functions.at("main").attrs.others = {};
  EXPECT_THROW(build(bare), LowerError);
  EXPECT_NO_THROW(build(bare, Target("llvm"), {.allow_parallel_reduction_race = true}));
}

TEST(IterationsSideBySide, AParallelReductionIsRefusedAfterLoweringToo) {
  te::Tensor X = te::placeholder({64, 64}, "X");
  tir::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor C = te::compute(
      {64}, {"i"}, [&](Var i) { return te::sum(X(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].parallel(k);
  const tir::IRModule module = lower(s, {X, C});
  EXPECT_THROW(build(module), LowerError);
}

TEST(IterationsSideBySide, ABlockProgramThatCarriesADependenceIsRefused) {
  const char* text = R"(# from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer[(64,), "int32"], B: T.Buffer[(64,), "int32"]) -> None:
    for i in T.parallel(63):
        with T.block("B"):
            vi = T.axis.opaque(63, i)
            T.reads(A[vi], B[vi])
            T.writes(B[vi + 1])
            B[vi + 1] = B[vi] + A[vi]
)";
  EXPECT_THROW(build(s_tir::parse_script(text)), LowerError);
}

TEST(IterationsSideBySide, ABlockProgramThatCarriesADependenceThroughAViewIsRefused) {
  const char* text = R"(# from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer[(64,), "int32"], O: T.Buffer[(64,), "int32"]) -> None:
    B = T.alloc_buffer([64], dtype="int32")
    for i in T.parallel(64):
        with T.block("b"):
            v = T.axis.opaque(64, i)
            M = T.match_buffer(B[0:64], [64], dtype="int32", offset_factor=1)
            M[v] = A[v]
            O[v] = M[0]
)";
  EXPECT_THROW(build(s_tir::parse_script(text)), LowerError);
}

// ---- what runs is right -------------------------------------------------------------------------

/// Several stores, guarded stores and shifted reads, in loops that are independent.
const std::vector<std::pair<const char*, Body>>& independent_programs() {
  static const std::vector<std::pair<const char*, Body>> programs = {
      {"two stores to each element",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 64, "i",
                      [&](Var i) {
                        c[i] = x[i] * 2;
                        c[i] = c[i] + x[63 - i];
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"halves that swap",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 32, "i",
                      [&](Var i) {
                        c[i] = x[i + 32];
                        c[i + 32] = c[i] + x[i];
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"an owner for each element",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 8, "p",
                      [&](Var p) {
                        ib.for_range(0, 64, "j", [&](Var j) {
                          ib.if_scope(floormod(j, 8) == p, [&] { c[j] = c[j] + x[j] + p; });
                        });
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"tiles of a serial prefix sum",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 8, "p",
                      [&](Var p) {
                        c[p * 8] = x[p * 8];
                        ib.for_range(1, 8, "j", [&](Var j) {
                          c[p * 8 + j] = c[p * 8 + j - 1] + x[p * 8 + j];
                        });
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"a guarded store in front of its reader",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 32, "i",
                      [&](Var i) {
                        ib.if_scope(Expr(x[i]) > 20, [&] { c[i * 2] = x[i]; });
                        ib.else_scope([&] { c[i * 2 + 1] = x[i] - 1; });
                        c[i * 2] = c[i * 2] + c[i * 2 + 1];
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"a reduction of each iteration's own",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 64, "i",
                      [&](Var i) {
                        const auto sum = ib.allocate(Int(32), {Expr(1)}, "sum", "local");
                        sum[0] = 0;
                        ib.for_range(0, 64, "k", [&](Var k) {
                          ib.if_scope(floormod(k + i, 3) == 0, [&] { sum[0] = sum[0] + x[k]; });
                        });
                        c[i] = sum[0];
                      },
                      {.kind = ForKind::Parallel});
       }},
      {"unrolled stores that read what earlier ones store",
       [](tir::IRBuilder& ib, const tir::BufferRef& x, const tir::BufferRef& c) {
         ib.for_range(0, 16, "z", [&](Var z) { c[z] = 5; });
         ib.for_range(0, 8, "j", [&](Var j) { c[j] = x[j] * (c[floordiv(j, 4)] + (j + 1)); },
                      {.kind = ForKind::Unrolled});
         ib.for_range(0, 8, "j", [&](Var j) { c[j + 8] = c[7 - j] + c[j + 8 - 1]; },
                      {.kind = ForKind::Unrolled});
       }},
  };
  return programs;
}

TEST(IterationsSideBySide, IndependentOnesComputeWhatTheSerialLoopsDo) {
  runtime::set_num_threads(4);
  for (const auto& [name, body] : independent_programs()) {
    const Program program(body);
    std::vector<int> x(64), expected(64, 0);
    for (int n = 0; n < 64; ++n) x[static_cast<std::size_t>(n)] = n * 5 % 64;
    const tir::IRModule loops = lower(program.s, {program.X, program.C});
    const std::vector<tir::HostValue> arrays = {tir::HostArray{x.data(), Int(32), {64}},
                                                tir::HostArray{expected.data(), Int(32), {64}}};
    tir::evaluate(loops.functions.at("main"), arrays);
    for (int run = 0; run < 5; ++run) EXPECT_EQ(program.run(), expected) << name;
  }
}

}  // namespace
}  // namespace tenon::testing
