// Schedules of the library for processors (topi/cpu.h, topi/schedule.h): for whatever extents, the
// numbers are those of the loops that nothing was done to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tenon/driver/build.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/te/relation.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/scan.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/transform.h"
#include "tenon/topi/transformer.h"
#include "tests/common/cpu_targets.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::topi {
namespace {

using tir::TargetFacts;
using Scheduler = te::Schedule (*)(const Tensor& out, const TargetFacts& target,
                                   SourceLocation where);

std::string checked(Scheduler schedule, const Tensor& out, const std::vector<LowerArgument>& args) {
  std::string wrong;
  for (const TargetFacts& target : testing::cpu_targets())
    wrong += testing::compare_with_default(
        schedule(out, target, SourceLocation::current()), args,
        {.compile_c = false, .symbols = {21}, .build = {.opt_level = 3}});
  return wrong;
}

te::Schedule chosen(const Tensor& out, const TargetFacts& target, SourceLocation) {
  const te::Schedule s = te::create_schedule(out);
  schedule(s, {out}, target);
  return s;
}

// ---- rows ---------------------------------------------------------------------------------------

TEST(CpuRows, SoftmaxOfRowsOfAnyLength) {
  for (const auto& [rows, columns] : {std::pair(5, 7), std::pair(3, 64), std::pair(2, 301)}) {
    const Tensor A = te::placeholder({rows, columns}, "A"), B = softmax(A);
    EXPECT_EQ(checked(cpu::schedule_rows, B, {A, B}), "") << columns;
  }
  const Tensor A = te::placeholder({2, 3, 20}, "A"), B = softmax(A);
  EXPECT_EQ(checked(cpu::schedule_rows, B, {A, B}), "");
  const Tensor V = te::placeholder({50}, "V"), W = softmax(V);
  EXPECT_EQ(checked(cpu::schedule_rows, W, {V, W}), "");
}

TEST(CpuRows, SoftmaxOfAWidthThatOnlyTheCallKnows) {
  const Var n = te::var("n");
  const Tensor A = te::placeholder({4, n}, "A"), B = softmax(A);
  EXPECT_EQ(checked(cpu::schedule_rows, B, {n, A, B}), "");
}

TEST(CpuRows, Norms) {
  const Tensor A = te::placeholder({6, 200}, "A"), Gamma = te::placeholder({200}, "Gamma"),
               Beta = te::placeholder({200}, "Beta");
  const Tensor B = layer_norm(A, Gamma, Beta), C = rms_norm(A, Gamma);
  EXPECT_EQ(checked(cpu::schedule_rows, B, {A, Gamma, Beta, B}), "");
  EXPECT_EQ(checked(cpu::schedule_rows, C, {A, Gamma, C}), "");
}

TEST(CpuRows, SumsOfFewTerms) {
  for (const DataType type : {Float(32), Float(16), Float(64), Int(8)})
    for (int columns = 7; columns <= 31; columns += type.bits == 32 ? 1 : 3) {
      const Tensor A = te::placeholder({5, columns}, "A", type), B = sum(A, {1});
      EXPECT_EQ(checked(cpu::schedule_rows, B, {A, B}), "") << type.str() << ", " << columns;
    }
}

TEST(CpuRows, AreSharedOutByTheTermsOfAllTheirStages) {
  const auto has_threads = [](const Tensor& out, const std::vector<LowerArgument>& args) {
    const te::Schedule s =
        chosen(out, Target("llvm -num-cores=2").facts(), SourceLocation::current());
    return tir::print_module(lower(s, args)).find("parallel") != std::string::npos;
  };
  const Tensor A = te::placeholder({15, 4096}, "A"), soft = softmax(A), sums = sum(A, {1});
  EXPECT_TRUE(has_threads(soft, {A, soft}));
  EXPECT_FALSE(has_threads(sums, {A, sums}));
}

TEST(CpuRows, ReciprocalsAreThoseOfSoftmaxOnly) {
  const auto allows_reciprocals = [](const Tensor& out, const std::vector<LowerArgument>& args) {
    const te::Schedule s = chosen(out, Target("llvm").facts(), SourceLocation::current());
    return tir::print_module(lower(s, args)).find("allow_reciprocals") != std::string::npos;
  };
  const Tensor A = te::placeholder({8, 64}, "A"), B = te::placeholder({8, 64}, "B");
  const Tensor soft = softmax(A), quotients = divide(A, B);
  EXPECT_TRUE(allows_reciprocals(soft, {A, soft}));
  EXPECT_FALSE(allows_reciprocals(quotients, {A, B, quotients}));
  // A sum may be so small that its reciprocal is infinite, where the quotient is not.
  const Tensor shares = divide(A, sum(A, {1}, {.keepdims = true}));
  EXPECT_FALSE(allows_reciprocals(shares, {A, shares}));
  // The same, with the tag of softmax.
  const te::IterVar k = te::reduce_axis({0, 64}, "k"), l = te::reduce_axis({0, 32}, "l");
  const Tensor sums = te::compute(
      {8}, [&](const Var& i) { return te::sum(A(i, k), {k}); }, "sums");
  const auto share = [&](const Var& i, const Var& j) { return A(i, j) / sums(i); };
  const Tensor tagged = te::compute({8, 64}, share, "tagged", {.tag = kSoftmaxOutput});
  EXPECT_FALSE(allows_reciprocals(tagged, {A, tagged}));
  // The greatest term need not be one of those that are added.
  const Tensor greatest = te::compute(
      {8}, [&](const Var& i) { return te::max(A(i, k), {k}); }, "greatest");
  const auto exponential = [&](const Var& i, const Var& j) { return exp(A(i, j) - greatest(i)); };
  const Tensor power = te::compute({8, 64}, exponential, "power");
  const Tensor half = te::compute({8}, [&](const Var& i) { return te::sum(power(i, l), {l}); });
  const auto part = [&](const Var& i, const Var& j) { return power(i, j) / half(i); };
  const Tensor parts = te::compute({8, 64}, part, "parts", {.tag = kSoftmaxOutput});
  EXPECT_FALSE(allows_reciprocals(parts, {A, parts}));
}

TEST(CpuRows, TheNextRowOfALargeMatrixIsPrefetchedWithPowers) {
  TargetFacts target = Target("llvm").facts();
  target.caches = {.l1 = 32 << 10, .l2 = 1 << 20};
  const auto prefetches = [&](int rows, int columns) {
    const Tensor A = te::placeholder({rows, columns}, "A"), B = softmax(A);
    const te::Schedule s = chosen(B, target, SourceLocation::current());
    const std::string text = tir::print_module(lower(s, {A, B}, {.simple_mode = true}));
    // The element of the next row: as far on as a row is long.
    return text.find("+ " + std::to_string(columns) + ")], dtype=handle)") != std::string::npos;
  };
  EXPECT_TRUE(prefetches(1024, 1024));
  EXPECT_FALSE(prefetches(128, 1024));    // fits the second cache
  EXPECT_FALSE(prefetches(1 << 16, 64));  // 256 bytes come by themselves
  EXPECT_FALSE(prefetches(64, 1 << 16));  // a row fills the first cache many times
}

TEST(CpuRows, RefusesWhatReducesNothing) {
  const Tensor A = te::placeholder({4, 4}, "A");
  try {
    cpu::schedule_rows(relu(A), Target("llvm").facts());
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("`T_relu`"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cpu_graphs_test.cpp"), std::string::npos);
  }
}

// ---- reductions ---------------------------------------------------------------------------------

TEST(CpuReductions, OfAnyDimensions) {
  const Tensor A = te::placeholder({6, 9, 150}, "A");
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {}}) {
    const Tensor B = sum(A, axes), C = max(A, axes, {.keepdims = true});
    EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "");
    EXPECT_EQ(checked(cpu::schedule_reduction, C, {A, C}), "");
  }
}

TEST(CpuReductions, OfFewColumnsAndManyRowsAreSharedOut) {
  const Tensor A = te::placeholder({40003, 7}, "A"), B = sum(A, {0});
  EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "");
}

TEST(CpuReductions, OfAFewRowsOfAnyLength) {
  for (const int rows : {1, 3, 8, 9})
    for (const int columns : {5, 64, 201}) {
      const Tensor A = te::placeholder({rows, columns}, "A"), B = sum(A, {0});
      EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "") << rows << " x " << columns;
    }
}

TEST(CpuReductions, OfManyRowsOfOneVector) {
  for (const int columns : {1, 11, 16}) {
    const Tensor A = te::placeholder({77, columns}, "A"), B = sum(A, {0});
    EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "") << columns;
  }
  const Tensor A = te::placeholder({5, 70, 12}, "A"), B = max(relu(A), {1});
  EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "");
}

TEST(CpuReductions, OfMapsAndOfOtherTypes) {
  const Tensor A = te::placeholder({40, 70}, "A", Int(32));
  const Tensor B = sum(multiply(Term(A), Term(2)), {1}), C = min(A, {0});
  EXPECT_EQ(checked(cpu::schedule_reduction, B, {A, B}), "");
  EXPECT_EQ(checked(cpu::schedule_reduction, C, {A, C}), "");
}

TEST(CpuReductions, KeepTheOrderThatTheReducerDependsOn) {
  const te::Reducer::Identity zero = [](std::span<const DataType> types) {
    return std::vector<tir::Expr>{tir::make_const(types[0], 0)};
  };
  const std::vector<te::Reducer::Combine> ordered = {
      [](auto p, auto q) { return std::vector<tir::Expr>{p[0] * 3 + q[0]}; },
      [](auto, auto q) { return std::vector<tir::Expr>{q[0]}; },
      [](auto p, auto q) { return std::vector<tir::Expr>{tir::min(p[0] + q[0], 9)}; }};
  const Tensor A = te::placeholder({40, 40}, "A", Int(32));
  const te::IterVar k = te::reduce_axis({0, 40}, "k");
  for (const te::Reducer::Combine& combine : ordered) {
    const te::Reducer reduce = te::comm_reducer(combine, zero);
    const auto of_row = [&](const Var& i) { return reduce(A(i, k), {k}); };
    const auto of_column = [&](const Var& i) { return reduce(A(k, i), {k}); };
    const Tensor rows = te::compute({40}, of_row, "rows");
    const Tensor columns = te::compute({40}, of_column, "columns");
    const Tensor shares = subtract(A, expand_dims(rows, 1));
    EXPECT_EQ(checked(chosen, rows, {A, rows}), "");
    EXPECT_EQ(checked(chosen, columns, {A, columns}), "");
    EXPECT_EQ(checked(chosen, shares, {A, shares}), "");
  }
}

TEST(CpuReductions, OfTriangles) {
  const Tensor A = te::placeholder({30, 30}, "A");
  const te::IterVar k = te::reduce_axis({0, 30}, "k"), l = te::reduce_axis({0, k + 1}, "l");
  const auto lower = [&](const Var& i) { return te::sum(A(k, l) * (i + 1), {k, l}); };
  const auto upper = [&](const Var& i) { return te::sum(A(l, k) * A(l, i), {k, l}); };
  const Tensor B = te::compute({20}, lower, "B"), C = relu(B), D = te::compute({20}, upper, "D");
  EXPECT_EQ(checked(chosen, B, {A, B}), "");
  EXPECT_EQ(checked(chosen, C, {A, C}), "");
  EXPECT_EQ(checked(chosen, D, {A, D}), "");
}

TEST(CpuReductions, RefuseWhatReducesNothing) {
  const Tensor A = te::placeholder({4, 4}, "A");
  EXPECT_THROW(cpu::schedule_reduction(relu(A), Target("llvm").facts()), ScheduleError);
  EXPECT_THROW(cpu::schedule_elementwise(sum(A, {0}), Target("llvm").facts()), ScheduleError);
  EXPECT_THROW(cpu::schedule_transpose(sum(A, {0}), Target("llvm").facts()), ScheduleError);
}

// ---- maps ---------------------------------------------------------------------------------------

TEST(CpuMaps, ChainsOfMaps) {
  const Tensor A = te::placeholder({37, 130}, "A"), R = te::placeholder({130}, "R");
  const Tensor flat = relu(add(exp(A), Term(1))), rows = relu(add(multiply(A, R), R));
  EXPECT_EQ(checked(cpu::schedule_elementwise, flat, {A, flat}), "");
  EXPECT_EQ(checked(cpu::schedule_elementwise, rows, {A, R, rows}), "");
}

TEST(CpuMaps, Transpositions) {
  const Tensor A = te::placeholder({3, 35, 50}, "A");
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}}) {
    const Tensor B = transpose(A, axes);
    EXPECT_EQ(checked(cpu::schedule_transpose, B, {A, B}), "") << axes[0] << axes[1] << axes[2];
  }
}

TEST(CpuScans, BlockedSumsScanOneBlockPerLane) {
  const Tensor A = te::placeholder({4096}, "A"), B = cumsum(A, 0, {.block = 32, .name = "B"});
  const te::Schedule s = chosen(B, Target("llvm").facts(), SourceLocation::current());
  // Without the schedule, all blocks are copied first.
  EXPECT_EQ(tir::print_module(lower(s, {A, B})).find("allocate(B_blocks:"), std::string::npos);
}

/// Whether the schedule of B[i] = sum over k of term(A, i, k), with A {400, 2048}, prefetches A.
bool prefetches_rows(const std::function<Expr(const Tensor& A, const Var& i, const Var& k)>& term) {
  const Tensor A = te::placeholder({400, 2048}, "A");
  const te::IterVar k = te::reduce_axis({0, 2048}, "k");
  const Tensor B = te::compute(
      {200}, [&](const Var& i) { return te::sum(term(A, i, k.var()), {k}); }, "B");
  const te::Schedule s = cpu::schedule_rows(B, Target("llvm").facts());
  return tir::print_module(lower(s, {A, B})).find("prefetch") != std::string::npos;
}

TEST(CpuRows, PrefetchALargeInputThatIsReadAlongOneRow) {
  EXPECT_TRUE(prefetches_rows([](auto& A, auto& i, auto& k) { return A(i, k) * A(i, k); }));
  // A prefetch covers all rows between two rows that are read.
  EXPECT_FALSE(prefetches_rows([](auto& A, auto& i, auto& k) { return A(i, k) * A(i + 200, k); }));
  EXPECT_FALSE(
      prefetches_rows([](auto& A, auto& i, auto& k) { return A(i + tir::floordiv(k, 50), k); }));
}

TEST(CpuMaps, OfATensorInTwoOrientations) {
  const Tensor A = te::placeholder({40, 40}, "A", Int(32)), V = te::placeholder({37}, "V");
  const Tensor X = te::placeholder({9, 20, 21}, "X");
  const auto both = [&](const Var& i, const Var& j) { return A(i, j) + A(j, i); };
  const auto pairs = [&](const Var& i, const Var& j) { return V(j) - V(i); };
  const auto turned = [&](const Var& i, const Var& j, const Var& k) {
    return X(j, k, i) * X(0, 0, 0);
  };
  const Tensor B = te::compute({40, 40}, both, "B"), C = te::compute({37, 37}, pairs, "C");
  const Tensor D = te::compute({21, 9, 20}, turned, "D");
  EXPECT_EQ(checked(chosen, B, {A, B}), "");
  EXPECT_EQ(checked(chosen, C, {V, C}), "");
  EXPECT_EQ(checked(chosen, D, {X, D}), "");
  EXPECT_EQ(checked(cpu::schedule_transpose, B, {A, B}), "");
}

TEST(CpuMaps, OfATensorThatIndexesItself) {
  const Tensor A = te::placeholder({40, 40}, "A", Int(32)), B = take(A, A, 0);
  EXPECT_EQ(checked(chosen, B, {A, B}), "");
}

TEST(CpuMaps, TranspositionsOfFewColumns) {
  for (const int columns : {1, 2, 3, 5, 7, 11, 17}) {
    const Tensor A = te::placeholder({37, columns}, "A"), B = transpose(A, {1, 0});
    EXPECT_EQ(checked(cpu::schedule_transpose, B, {A, B}), "") << columns;
  }
}

TEST(CpuMaps, TranspositionsOfManyBytesHaveFewStatements) {
  for (const DataType type : {Int(8), Bool(), Float(16)}) {
    const Tensor A = te::placeholder({1024, 1021}, "A", type), B = transpose(A, {1, 0});
    for (const TargetFacts& target : testing::cpu_targets())
      EXPECT_NO_THROW(lower(cpu::schedule_transpose(B, target), {A, B})) << type.str();
  }
}

TEST(CpuMaps, TranspositionsOfFewRowsAndManyColumns) {
  for (const int rows : {4, 5, 8, 13}) {
    const Tensor A = te::placeholder({rows, 131}, "A"), B = transpose(A, {1, 0});
    EXPECT_EQ(checked(cpu::schedule_transpose, B, {A, B}), "") << rows;
  }
}

TEST(CpuMaps, TranspositionsThatStoreWholeLines) {
  // Rows of the result are whole cache lines, or nearly a multiple of a way of the L1 cache.
  for (const auto& [rows, columns] :
       std::vector<std::pair<int, int>>{{48, 37}, {32, 9}, {1023, 5}, {1024, 70}, {1025, 70}}) {
    const Tensor A = te::placeholder({rows, columns}, "A"), B = transpose(A, {1, 0});
    EXPECT_EQ(checked(cpu::schedule_transpose, B, {A, B}), "") << rows;
  }
}

// ---- convolutions -------------------------------------------------------------------------------

struct Window {
  int filters, in, size, stride, dilation, padding, width;
};

TEST(CpuConvolution, OfAnyWindows) {
  for (const Window& w : std::vector<Window>{{33, 7, 3, 1, 1, 1, 14},
                                             {5, 3, 3, 1, 1, 0, 20},
                                             {40, 9, 1, 1, 1, 0, 13},
                                             {18, 8, 3, 2, 1, 1, 17},
                                             {16, 8, 3, 1, 2, 2, 35},
                                             {3, 2, 5, 1, 1, 2, 9}}) {
    const Tensor A = te::placeholder({2, w.in, 9, w.width}, "A"),
                 K = te::placeholder({w.filters, w.in, w.size, w.size}, "K"),
                 Bias = te::placeholder({w.filters, 1, 1}, "Bias");
    const Tensor C = conv2d_nchw(A, K,
                                 {.stride = {w.stride, w.stride},
                                  .dilation = {w.dilation, w.dilation},
                                  .padding = {w.padding, w.padding, w.padding, w.padding}});
    const Tensor D = relu(add(C, Bias));
    EXPECT_EQ(checked(cpu::schedule_conv2d, C, {A, K, C}), "") << w.filters;
    EXPECT_EQ(checked(cpu::schedule_conv2d, D, {A, K, Bias, D}), "") << w.filters;
  }
}

TEST(CpuConvolution, CopiesTheRowsOfAnImageThatExceedsTheCache) {
  const Scheduler schedule = [](const Tensor& out, const TargetFacts& target,
                                SourceLocation where) {
    TargetFacts small = target;
    small.caches.l2 = 20 << 10;
    return cpu::schedule_conv2d(out, small, where);
  };
  const Tensor A = te::placeholder({1, 64, 5, 14}, "A"), K = te::placeholder({18, 64, 1, 1}, "K"),
               L = te::placeholder({18, 64, 2, 2}, "L");
  const Tensor C = conv2d_nchw(A, K), D = relu(conv2d_nchw(A, L, {.stride = {3, 3}}));
  const std::vector<te::Stage> stages =
      schedule(C, Target("llvm").facts(), SourceLocation::current()).stages();
  EXPECT_TRUE(
      std::ranges::any_of(stages, [](const te::Stage& s) { return s.name() == "A.global"; }));
  EXPECT_EQ(checked(schedule, C, {A, K, C}), "");
  EXPECT_EQ(checked(schedule, D, {A, L, D}), "");
  const Tensor B = te::placeholder({8, 64, 5, 5}, "B"), E = conv2d_nchw(B, B);
  EXPECT_EQ(checked(schedule, E, {B, E}), "");
}

TEST(CpuConvolution, OfATensorByItself) {
  const Tensor A = te::placeholder({16, 6, 5, 5}, "A"), B = relu(A);
  const Tensor C = conv2d_nchw(A, A), D = conv2d_nchw(B, B, {.padding = {2, 2, 2, 2}});
  EXPECT_EQ(checked(cpu::schedule_conv2d, C, {A, C}), "");
  EXPECT_EQ(checked(cpu::schedule_conv2d, D, {A, D}), "");
}

TEST(CpuConvolution, RefusesWhatIsNone) {
  const Tensor A = te::placeholder({4, 4}, "A");
  EXPECT_THROW(cpu::schedule_conv2d(relu(A), Target("llvm").facts()), ScheduleError);
}

// ---- attention ----------------------------------------------------------------------------------

TEST(CpuAttention, OfAnyExtents) {
  for (const auto& [queries, keys, width, depth] : std::vector<std::tuple<int, int, int, int>>{
           {70, 90, 20, 33}, {8, 48, 16, 16}, {3, 5, 4, 2}, {9, 70, 8, 64}}) {
    const Tensor Q = te::placeholder({2, queries, width}, "Q"),
                 K = te::placeholder({2, keys, width}, "K"),
                 V = te::placeholder({2, keys, depth}, "V");
    const Tensor O = attention(Q, K, V);
    EXPECT_EQ(checked(cpu::schedule_attention, O, {Q, K, V, O}), "") << queries;
  }
}

TEST(CpuAttention, OfATensorToItself) {
  const Tensor X = te::placeholder({2, 40, 24}, "X"), O = attention(X, X, X);
  EXPECT_EQ(checked(cpu::schedule_attention, O, {X, O}), "");
}

TEST(CpuAttention, RefusesWhatIsNone) {
  const Tensor A = te::placeholder({4, 4}, "A");
  EXPECT_THROW(cpu::schedule_attention(relu(A), Target("llvm").facts()), ScheduleError);
}

/// Whether the tensor is computed outside of the loops of other stages.
bool has_own_loops(const te::Schedule& s, const Tensor& x) {
  return std::holds_alternative<te::AttachRoot>(s[x].data().attach);
}

TEST(CpuAttention, IsScheduledBelowATransposition) {
  const Tensor Q = te::placeholder({3, 20, 16}, "Q"), K = te::placeholder({3, 24, 16}, "K"),
               V = te::placeholder({3, 24, 16}, "V");
  const Tensor O = attention(Q, K, V), Y = reshape(transpose(O, {1, 0, 2}), {20, 48});
  EXPECT_EQ(checked(chosen, Y, {Q, K, V, Y}), "");
  const te::Schedule s = chosen(Y, Target("llvm").facts(), {});
  EXPECT_TRUE(has_own_loops(s, O));
  const Tensor power = O.op().inputs()[1].op().inputs()[0], scores = power.op().inputs()[0];
  EXPECT_FALSE(has_own_loops(s, scores)) << "the scores of a block are computed with it";
}

// ---- graphs -------------------------------------------------------------------------------------

TEST(TopiSchedule, OfTwoLayersAndSoftmax) {
  const Tensor X = te::placeholder({19, 33}, "X"), V = te::placeholder({65, 33}, "V"),
               W = te::placeholder({10, 65}, "W"), Bias = te::placeholder({65}, "Bias");
  const Tensor Y = softmax(dense(relu(dense(X, V, Bias)), W));
  EXPECT_EQ(checked(chosen, Y, {X, V, W, Bias, Y}), "");
}

TEST(TopiSchedule, LeavesWhatWasTouched) {
  const Tensor A = te::placeholder({32, 64}, "A"), B = relu(A, "B"), C = sum(B, {1});
  const te::Schedule s = te::create_schedule({B.op(), C.op()});
  s[B].split(s[B].axis(1), 7);
  schedule(s, {B, C}, Target("llvm").facts());
  EXPECT_EQ(s[B].leaf_iter_vars().size(), 3u);
  EXPECT_GT(s[C].relations().size(), 0u);
  EXPECT_EQ(testing::compare_with_default(s, {A, B, C}, {.compile_c = false}), "");
}

/// `A` and the stages of `steps` steps, each of which adds the two neighbours of an element to it.
std::vector<Tensor> neighbour_sums(int steps, const Tensor& A) {
  std::vector<Tensor> stages{A};
  for (int n = 0; n < steps; ++n)
    stages.push_back(te::compute(
        {50}, {"i"},
        [&, T = stages.back()](Var i) {
          return T(tir::max(i - 1, 0)) + T(i) + T(tir::min(i + 1, 49));
        },
        "S" + std::to_string(n)));
  return stages;
}

TEST(TopiSchedule, StoresAMapIfAnElementReadsManyOfItsElements) {
  const Tensor A = te::placeholder({50}, "A");
  const std::vector<Tensor> steps = neighbour_sums(3, A);
  const Tensor& C = steps.back();
  const te::Schedule s = te::create_schedule(C);
  schedule(s, {C}, Target("llvm").facts());
  const auto is_inlined = [&](const Tensor& x) {
    return std::holds_alternative<te::AttachInline>(s[x].data().attach);
  };
  // An element of the last step is computed from three reads of the step before it, and from nine
  // reads of the first step.
  EXPECT_TRUE(is_inlined(steps[2]));
  EXPECT_FALSE(is_inlined(steps[1]));
  EXPECT_EQ(checked(chosen, C, {A, C}), "");
}

TEST(TopiSchedule, LowersALongChainOfStagesThatReadTheStageBeforeTwice) {
  const Tensor A = te::placeholder({8, 16}, "A");
  Tensor T = A;
  for (int n = 0; n < 24; ++n) T = multiply(add(T, relu(subtract(T, 0.5f))), 0.75f);
  const te::Schedule s = te::create_schedule(T);
  schedule(s, {T}, Target("llvm").facts());
  EXPECT_NO_THROW(lower(s, {A, T}));
}

TEST(TopiSchedule, OfAConvolutionItsPoolAndAProductOfThat) {
  const Tensor X = te::placeholder({1, 4, 10, 10}, "X"), K = te::placeholder({20, 4, 3, 3}, "K"),
               W = te::placeholder({9, 20}, "W");
  const Tensor C = relu(conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}}));
  const Tensor Y = dense(max(C, {2, 3}), W);
  EXPECT_EQ(checked(chosen, Y, {X, K, W, Y}), "");
}

/// The 1 x 1 convolution of an image is a product of matrices; the copies of the image are not
/// made.
TEST(TopiSchedule, ReadsThroughAReshapeInAProductAndInAPadding) {
  const Tensor X = te::placeholder({1, 20, 6, 9}, "X"), W = te::placeholder({33, 20}, "W"),
               D = te::placeholder({33, 1, 3, 3}, "D");
  const Tensor product = relu(matmul(W, reshape(X, {20, 54})));
  const Tensor out =
      depthwise_conv2d_nchw(reshape(product, {1, 33, 6, 9}), D, {.padding = {1, 1, 1, 1}});
  EXPECT_EQ(checked(chosen, out, {X, W, D, out}), "");
  for (const te::Stage& stage : chosen(out, Target("llvm").facts(), {}).stages())
    if (stage.name() == "T_reshape" || stage.name() == "T_reshape_1") {
      EXPECT_TRUE(std::holds_alternative<te::AttachInline>(stage.data().attach)) << stage.name();
    }
}

TEST(TopiSchedule, ComputesOneOfTwoConvolutionsWithTheirSum) {
  const Tensor X = te::placeholder({1, 16, 9, 9}, "X"), W = te::placeholder({20, 16, 3, 3}, "W"),
               V = te::placeholder({20, 16, 1, 1}, "V");
  const Tensor A = conv2d_nchw(X, W, {.padding = {1, 1, 1, 1}, .name = "A"}),
               B = conv2d_nchw(X, V, {.name = "B"}), Y = relu(add(A, B));
  EXPECT_EQ(checked(chosen, Y, {X, W, V, Y}), "");
  const te::Schedule s = chosen(Y, Target("llvm").facts(), {});
  EXPECT_NE(has_own_loops(s, A), has_own_loops(s, B));
}

TEST(TopiSchedule, PacksTheConstantOfALayerOutsideOfItsLoops) {
  const Tensor X = te::placeholder({20, 100}, "X"), W = te::constant_input({50, 100}, "W"),
               V = te::placeholder({50, 100}, "V");
  for (const Tensor& weight : {W, V}) {
    const Tensor Y = relu(dense(X, weight));
    EXPECT_EQ(checked(chosen, Y, {X, weight, Y}), "");
    const te::Schedule s = chosen(Y, Target("llvm").facts(), {});
    const auto is_packed = [&](const te::Stage& stage) {
      return stage.name() == weight.name() + ".global" && has_own_loops(s, stage.op().output(0));
    };
    EXPECT_EQ(std::ranges::any_of(s.stages(), is_packed), weight.same_as(W));
    const std::string text = tir::print_module(lower(s, {X, weight, Y}));
    EXPECT_EQ(text.find("prefetch_panels") != std::string::npos, weight.same_as(W));
  }
}

TEST(TopiSchedule, LetsAnotherFunctionPackTheConstantsOfALayer) {
  const Tensor X = te::placeholder({40, 30}, "X"), W = te::constant_input({50, 30}, "W"),
               Y = relu(dense(X, W));
  const Target target("llvm");
  const te::Schedule s = chosen(Y, target.facts(), {});
  const BuildOptions options{.separate_constants = true};
  const tir::IRModule module = lower(s, {X, W, Y}, options);
  const runtime::Module lib = build(s, {X, W, Y}, target, options);
  runtime::NDArray::Shape shape;
  for (const tir::Expr& extent : module.functions.at("main").buffers.back().declared->shape)
    shape.push_back(*tir::constant_int(extent));
  const auto x = runtime::NDArray::random({40, 30}, Float(32), {.seed = 1}),
             w = runtime::NDArray::random({50, 30}, Float(32), {.seed = 2}),
             y = runtime::NDArray::full({40, 50}, Float(32), NAN),
             packed = runtime::NDArray::full(shape, Float(32), NAN);
  lib["main_constants"](w, packed);
  lib["main"](x, y, packed);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j) {
      double sum = 0;
      for (int k = 0; k < 30; ++k)
        sum += double{x.data<float>()[i * 30 + k]} * double{w.data<float>()[j * 30 + k]};
      EXPECT_NEAR(y.data<float>()[i * 50 + j], std::max(sum, 0.0), 1e-5) << i << ", " << j;
    }
}

TEST(TopiSchedule, OfWhatSeveralOthersRead) {
  const Tensor A = te::placeholder({24, 40}, "A");
  const Tensor P = exp(A), Q = sum(P, {1}), R = transpose(P, {1, 0}), S = sum(R, {1});
  const te::Schedule s = te::create_schedule({Q.op(), S.op()});
  schedule(s, {Q, S}, Target("llvm").facts());
  EXPECT_EQ(testing::compare_with_default(s, {A, Q, S}, {.compile_c = false}), "");
}

TEST(TopiSchedule, BelievesNoTag) {
  const Tensor A = te::placeholder({20, 30}, "A");
  for (const char* tag : {kMatmul, kBatchMatmul, kConv2dNchw, kAttention}) {
    const auto map = [&](const Var& i, const Var& j) { return A(i, j) + 1; };
    const Tensor B = te::compute({20, 30}, map, "B", {.tag = tag});
    EXPECT_EQ(checked(chosen, B, {A, B}), "") << tag;
    const te::IterVar k = te::reduce_axis({0, 30}, "k");
    const auto sum = [&](const Var& i) { return te::sum(A(i, k), {k}); };
    const Tensor C = te::compute({20}, sum, "C", {.tag = tag});
    EXPECT_EQ(checked(chosen, C, {A, C}), "") << tag;
  }
}

// ---- sums of products that te::compute declares -------------------------------------------------

/// Returns the loops of `out`, a sum over rows of A and columns of B named "C".
std::string loops_of(const Tensor& A, const Tensor& B, const Tensor& out) {
  return tir::print_module(lower(chosen(out, Target("llvm").facts(), SourceLocation::current()),
                                 {A, B, out}, {.simple_mode = true}));
}

TEST(TopiSchedule, TreatsAProductLikeThatOfTopi) {
  const Tensor A = te::placeholder({130, 70}, "A"), B = te::placeholder({70, 90}, "B");
  const te::IterVar k = te::reduce_axis({0, 70}, "k");
  const Tensor own = te::compute(
      {130, 90}, {"ax0", "ax1"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
      "C");
  EXPECT_EQ(loops_of(A, B, own), loops_of(A, B, matmul(A, B, {.name = "C"})));
}

/// A sum of products of elements of A and B over the given axes.
Tensor sum_of_products(const std::vector<Expr>& shape, const std::vector<te::IterVar>& terms,
                       const std::function<Expr(std::span<const Var>)>& element) {
  return te::compute(
      shape, [&](std::span<const Var> at) { return te::sum(element(at), terms); }, "C");
}

TEST(TopiSchedule, ComputesProductsInAnyOrderOfFactorsAndDimensions) {
  for (const auto& [m, n, depth] : {std::tuple(37, 53, 29), {3, 70, 300}, {65, 1, 9}, {0, 5, 3}}) {
    const Tensor A = te::placeholder({m, depth}, "A"), B = te::placeholder({depth, n}, "B");
    const te::IterVar k = te::reduce_axis({0, depth}, "k");
    const Tensor swapped = sum_of_products(
        {m, n}, {k}, [&](std::span<const Var> i) { return B(k, i[1]) * A(i[0], k); });
    const Tensor transposed = sum_of_products(
        {n, m}, {k}, [&](std::span<const Var> i) { return A(i[1], k) * B(k, i[0]); });
    EXPECT_EQ(checked(chosen, swapped, {A, B, swapped}), "") << m << " " << n << " " << depth;
    EXPECT_EQ(checked(chosen, transposed, {A, B, transposed}), "") << m << " " << n << " " << depth;
  }
}

TEST(TopiSchedule, ComputesProductsOfPartsOfMatrices) {
  const Tensor A = te::placeholder({20, 40}, "A"), B = te::placeholder({41, 30}, "B");
  const te::IterVar k = te::reduce_axis({0, 33}, "k");
  const Tensor C = sum_of_products({17, 23}, {k},
                                   [&](std::span<const Var> i) { return A(i[0], k) * B(k, i[1]); });
  EXPECT_EQ(checked(chosen, C, {A, B, C}), "");
}

TEST(TopiSchedule, ComputesProductsOfSeveralBatchDimensions) {
  const Tensor A = te::placeholder({2, 3, 13, 21}, "A"), B = te::placeholder({2, 3, 21, 35}, "B");
  const te::IterVar k = te::reduce_axis({0, 21}, "k");
  const Tensor C = sum_of_products({2, 3, 13, 35}, {k}, [&](std::span<const Var> i) {
    return A(i[0], i[1], i[2], k) * B(i[0], i[1], k, i[3]);
  });
  EXPECT_EQ(checked(chosen, C, {A, B, C}), "");
}

TEST(TopiSchedule, ComputesConvolutionsWithoutABatchAndWithOtherOrdersOfTerms) {
  const Tensor X = te::placeholder({5, 12, 21}, "X"), W = te::placeholder({7, 5, 3, 2}, "W");
  const te::IterVar c = te::reduce_axis({0, 5}, "c"), y = te::reduce_axis({0, 3}, "y"),
                    x = te::reduce_axis({0, 2}, "x");
  for (const std::vector<te::IterVar>& terms : {std::vector{c, y, x}, {x, y, c}}) {
    const Tensor C = sum_of_products({7, 10, 20}, terms, [&](std::span<const Var> i) {
      return X(c, i[1] + y, i[2] + x) * W(i[0], c, y, x);
    });
    EXPECT_EQ(checked(chosen, C, {X, W, C}), "");
  }
}

TEST(TopiSchedule, ComputesConvolutionsAndWindowsDeclaredWithCompute) {
  const Tensor X = te::placeholder({2, 6, 9, 11}, "X"), W = te::placeholder({8, 6, 3, 3}, "W"),
               K = te::placeholder({6, 3, 3}, "K");
  const te::IterVar c = te::reduce_axis({0, 6}, "c"), y = te::reduce_axis({0, 3}, "y"),
                    x = te::reduce_axis({0, 3}, "x");
  const Tensor all = sum_of_products({2, 8, 7, 9}, {c, y, x}, [&](std::span<const Var> i) {
    return X(i[0], c, i[2] + y, i[3] + x) * W(i[1], c, y, x);
  });
  const Tensor each = sum_of_products({2, 6, 4, 5}, {y, x}, [&](std::span<const Var> i) {
    return X(i[0], i[1], 2 * i[2] + y, 2 * i[3] + x) * K(i[1], y, x);
  });
  EXPECT_EQ(checked(chosen, all, {X, W, all}), "");
  EXPECT_EQ(checked(chosen, each, {X, K, each}), "");
}

TEST(TopiSchedule, ComputesAConvolutionWhoseRowsATableNames) {
  const Tensor X = te::placeholder({2, 6, 9, 11}, "X"), W = te::placeholder({8, 6, 3, 3}, "W"),
               L = te::placeholder({9}, "L", Int(32));
  const te::IterVar c = te::reduce_axis({0, 6}, "c"), y = te::reduce_axis({0, 3}, "y"),
                    x = te::reduce_axis({0, 3}, "x");
  const Tensor C = sum_of_products({2, 8, 7, 9}, {c, y, x}, [&](std::span<const Var> i) {
    return X(i[0], c, tir::min(tir::max(L(i[2] + y), 0), 8), i[3] + x) * W(i[1], c, y, x);
  });
  EXPECT_EQ(checked(chosen, C, {X, W, L, C}), "");
}

TEST(TopiSchedule, ComputesSumsOfColumnsAsAColumn) {
  const Tensor A = te::placeholder({70, 33}, "A");
  const te::IterVar k = te::reduce_axis({0, 70}, "k");
  const Tensor C = te::compute(
      {33, 1}, {"i", "j"}, [&](Var i, Var) { return te::sum(A(k, i), {k}); }, "C");
  EXPECT_EQ(checked(chosen, C, {A, C}), "");
}

TEST(TopiSchedule, ComputesShortWindowsOfEveryOtherElement) {
  const Tensor X = te::placeholder({5, 21, 30}, "X");
  const te::IterVar y = te::reduce_axis({0, 3}, "y"), x = te::reduce_axis({0, 3}, "x");
  const Tensor C = te::compute(
      {5, 10, 14},
      [&](std::span<const Var> i) {
        return te::max(X(i[0], 2 * i[1] + y, 2 * i[2] + x), {y, x});
      },
      "C");
  EXPECT_EQ(checked(chosen, C, {X, C}), "");
}

TEST(TopiSchedule, ComputesAContractionOverPartsOfFactorsAndThreeFactors) {
  const Tensor E = te::placeholder({9, 11, 13}, "E"), A = te::placeholder({11, 20}, "A"),
               B = te::placeholder({13, 20}, "B");
  const te::IterVar j = te::reduce_axis({0, 11}, "j"), k = te::reduce_axis({0, 13}, "k");
  const Tensor C = sum_of_products({9, 20}, {j, k}, [&](std::span<const Var> i) {
    return E(i[0], j, k) * A(j, i[1]) * B(k, i[1]);
  });
  EXPECT_EQ(checked(chosen, C, {E, A, B, C}), "");
}

/// Returns the number of vectors that the loops gather from memory with gaps.
int gathers(const Tensor& out, const std::vector<LowerArgument>& args) {
  int count = 0;
  tir::walk(
      lower_to_loops(chosen(out, Target("llvm").facts(), SourceLocation::current()), args).body,
      [&](const tir::Load& load) {
        const auto* ramp = load.indices.back().as<tir::Ramp>();
        count += ramp && !tir::is_one(ramp->stride) ? 1 : 0;
      });
  return count;
}

TEST(TopiSchedule, VectorizesAReductionAlongTheAxisWithFewerGaps) {
  const Tensor A = te::placeholder({64, 96}, "A"), x = te::placeholder({64}, "x"),
               y = te::placeholder({96}, "y");
  const te::IterVar i = te::reduce_axis({0, 64}, "i"), j = te::reduce_axis({0, 96}, "j");
  const Tensor columns =
      sum_of_products({96}, {i}, [&](std::span<const Var> at) { return A(i, at[0]) * x(i); });
  const Tensor rows =
      sum_of_products({64}, {j}, [&](std::span<const Var> at) { return A(at[0], j) * y(j); });
  EXPECT_EQ(gathers(columns, {A, x, columns}), 0);
  EXPECT_EQ(gathers(rows, {A, y, rows}), 0);
}

TEST(TopiSchedule, TakesASumWithTheTagOfAProductForASum) {
  const Tensor A = te::placeholder({40, 20}, "A"), B = te::placeholder({20, 3}, "B");
  const te::IterVar k = te::reduce_axis({0, 20}, "k");
  const auto reversed = [&](const Var& i, const Var& j) {
    return te::sum(A(i, k) * B(k, 2 - j), {k});
  };
  const auto last = [&](const Var& i, const Var& j) {
    return te::comm_reducer([](auto, auto q) { return std::vector<tir::Expr>{q[0]}; },
                            [](std::span<const DataType> types) {
                              return std::vector<tir::Expr>{tir::make_const(types[0], 0)};
                            })(A(i, k) * B(k, j), {k});
  };
  const Tensor C = te::compute({40, 3}, reversed, "C", {.tag = kMatmul});
  const Tensor D = te::compute({40, 3}, last, "D", {.tag = kMatmul});
  EXPECT_EQ(checked(chosen, C, {A, B, C}), "");
  EXPECT_EQ(checked(chosen, D, {A, B, D}), "");
}

TEST(TopiSchedule, LeavesTheScheduleUnchangedIfAPrimitiveIsRefused) {
  const Tensor A = te::placeholder({40, 60}, "A"), B = relu(A), C = sum(B, {1});
  const te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0));
  EXPECT_TRUE(testing::leaves_alone(
      s, {A, C}, [&] { EXPECT_THROW(schedule(s, {C}, Target("llvm").facts()), ScheduleError); }));
}

TEST(TopiSchedule, GivesNoWarnings) {
  const Tensor A = te::placeholder({64, 64, 64}, "A"), B = te::placeholder({512, 512}, "B");
  for (const Tensor& out : {transpose(A), transpose(A, {0, 2, 1}), stack({B, B}, 2),
                            expand_dims(B, -1), softmax(B), sum(A, {0}), cumsum(B), cumsum(B, 0)}) {
    const te::Schedule s = chosen(out, Target("llvm -num-cores=4").facts(), {});
    for (const std::string& warning : s.warnings()) ADD_FAILURE() << warning;
  }
}

TEST(TopiSchedule, RefusesDevicesAndOthersTensors) {
  const Tensor A = te::placeholder({4, 4}, "A"), B = relu(A), C = relu(A);
  const te::Schedule s = te::create_schedule(B);
  EXPECT_THROW(schedule(s, {B}, Target("cuda").facts()), ScheduleError);
  EXPECT_THROW(schedule(s, {C}, Target("llvm").facts()), ScheduleError);
}

}  // namespace
}  // namespace tenon::topi
