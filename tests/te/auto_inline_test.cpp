// Automatic inlining: which operations are of which kind, which stages stay, and that what is left
// computes what the default schedule computes.
#include <gtest/gtest.h>
#include <random>

#include "tenon/te/auto_inline.h"
#include "tenon/te/intrin.h"
#include "tenon/te/operation.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/builder.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

namespace {

constexpr int kRows = 4, kColumns = 6;

Tensor matrix(const std::string& name, const std::function<Expr(Var, Var)>& body) {
  return compute(
      {kRows, kColumns}, {"i", "j"}, [&](Var i, Var j) { return body(i, j); }, name);
}

Tensor plus_one(const Tensor& x, const std::string& name) {
  return matrix(name, [&](Var i, Var j) { return x(i, j) + 1.0f; });
}

/// Twice the elements, by statements of the user's own.
Tensor doubled(const Tensor& P, const std::string& name) {
  return extern_op(
      {kRows, kColumns}, {P},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ib;
        ib.for_range(0, kRows, "i", [&](Var i) {
          ib.for_range(0, kColumns, "j", [&](Var j) {
            ib.emit(outs[0].vstore({i, j}, ins[0].vload({i, j}) * 2.0f));
          });
        });
        return ib.get();
      },
      name);
}

// ---- kinds --------------------------------------------------------------------------------------

struct Kinds {
  bool elementwise, broadcast, injective;
  friend bool operator==(const Kinds&, const Kinds&) = default;
};
void PrintTo(const Kinds& k, std::ostream* out) {
  *out << (k.elementwise ? "elementwise " : "") << (k.broadcast ? "broadcast " : "")
       << (k.injective ? "injective" : "");
}
Kinds kinds_of(const Tensor& t) {
  return {is_elementwise(t.op()), is_broadcast(t.op()), is_injective(t.op())};
}

constexpr Kinds kElementwise{true, true, true}, kBroadcast{false, true, true},
    kInjective{false, false, true}, kNone{false, false, false};

struct KindsTest : ::testing::Test {
  Tensor A = placeholder({kRows, kColumns}, "A");
  Tensor Square = placeholder({kRows, kRows}, "Square");
  Tensor Row = placeholder({kColumns}, "Row");
  Tensor Thin = placeholder({1, kColumns}, "Thin");
  Tensor S = placeholder({}, "S");
  Tensor Index = placeholder({kRows}, "Index", Int(32));
  IterVar k = reduce_axis({0, kColumns}, "k");
};

TEST_F(KindsTest, ReadsAtAllAxesInOrderAreElementwise) {
  EXPECT_EQ(kinds_of(plus_one(A, "B")), kElementwise);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var i, Var j) { return if_then_else(i < j, A(i, j), 0.0f); })),
            kElementwise);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var, Var) { return Expr(0.0f); })), kElementwise);
}

TEST_F(KindsTest, ReadsAtSomeAxesInOrderAreBroadcast) {
  EXPECT_EQ(kinds_of(matrix("B", [&](Var i, Var j) { return A(i, j) + Row(j); })), kBroadcast);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var i, Var j) { return A(i, j) * S(); })), kBroadcast);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var, Var j) { return Thin(0, j) + 0.0f; })), kBroadcast);
}

TEST_F(KindsTest, OtherReadsAreInjective) {
  EXPECT_EQ(kinds_of(compute({kColumns, kRows}, [&](Var i, Var j) { return A(j, i); })),
            kInjective);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var, Var j) { return A(0, j); })), kInjective);
  EXPECT_EQ(kinds_of(compute({kRows}, [&](Var i) { return Square(i, i); })), kInjective);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var i, Var j) { return A(i, kColumns - 1 - j); })),
            kInjective);
  EXPECT_EQ(kinds_of(matrix("B", [&](Var i, Var j) { return A(Index(i), j); })), kInjective);
}

TEST_F(KindsTest, WhatIsNoExpressionOfElementsIsOfNoKind) {
  EXPECT_EQ(kinds_of(A), kNone);
  EXPECT_EQ(kinds_of(compute({kRows}, [&](Var i) { return sum(A(i, k), {k}); })), kNone);
  EXPECT_EQ(kinds_of(compute_multi({kRows},
                                   [&](Var i) {
                                     return std::vector<Expr>{Row(i), Row(i)};
                                   })[0]),
            kNone);
}

TEST_F(KindsTest, CallsWithEffectsAreOfNoKind) {
  EXPECT_EQ(kinds_of(compute({kRows},
                             [&](Var i) { return tir::call_extern(Float(32), "rand", Row(i)); })),
            kNone);
  EXPECT_EQ(kinds_of(compute(
                {kRows}, [&](Var i) { return tir::call_pure_extern(Float(32), "sinf", Row(i)); })),
            kElementwise);
}

// ---- what is inlined ----------------------------------------------------------------------------

/// "B C": the operations by name.
std::string names(const std::vector<Operation>& ops) {
  std::string text;
  for (const Operation& op : ops) text += (text.empty() ? "" : " ") + op.name();
  return text;
}

/// A -> B elementwise -> C broadcast -> D injective -> E.
struct ChainTest : ::testing::Test {
  Tensor A = placeholder({kRows, kColumns}, "A");
  Tensor Row = placeholder({kColumns}, "Row");
  Tensor B = plus_one(A, "B");
  Tensor C = matrix("C", [&](Var i, Var j) { return B(i, j) * Row(j); });
  Tensor D = matrix("D", [&](Var i, Var j) { return C(i, kColumns - 1 - j); });
  Tensor E = plus_one(D, "E");
  std::vector<Tensor> arguments{A, Row, E};

  void expect_right(const Schedule& s) {
    EXPECT_EQ(testing::run(s, arguments), testing::run(create_schedule(E), arguments));
  }
  /// The elementwise stage stays.
  void expect_stays(const Schedule& s) {
    EXPECT_EQ(names(auto_inline_elementwise(s)), "");
    expect_right(s);
  }
};

TEST_F(ChainTest, EveryHelperInlinesItsKind) {
  Schedule elementwise = create_schedule(E), broadcast = create_schedule(E),
           injective = create_schedule(E);
  EXPECT_EQ(names(auto_inline_elementwise(elementwise)), "B");
  EXPECT_EQ(names(auto_inline_broadcast(broadcast)), "B C");
  EXPECT_EQ(names(auto_inline_injective(injective)), "B C D");
  for (const Schedule& s : {elementwise, broadcast, injective}) expect_right(s);
}

TEST_F(ChainTest, WhatIsInlinedIsNoStageOfTheNormalizedSchedule) {
  Schedule s = create_schedule(E);
  auto_inline_injective(s);
  std::string left;
  for (const Stage& stage : s.normalize().stages()) left += stage.name() + " ";
  EXPECT_EQ(left, "A Row E ");
}

TEST_F(ChainTest, ASecondCallFindsNothingMore) {
  Schedule s = create_schedule(E);
  auto_inline_injective(s);
  EXPECT_EQ(names(auto_inline_injective(s)), "");
}

TEST_F(ChainTest, OutputsStay) {
  arguments.push_back(B);
  Schedule s = create_schedule(std::vector<Tensor>{B, E});
  EXPECT_EQ(names(auto_inline_elementwise(s)), "");
  EXPECT_EQ(testing::run(s, arguments),
            testing::run(create_schedule(std::vector<Tensor>{B, E}), arguments));
}

TEST_F(ChainTest, ScheduledStagesStay) {
  const std::vector<std::function<void(Schedule&)>> primitives = {
      [&](Schedule& s) { s[B].split(s[B].axis(0), 2); },
      [&](Schedule& s) {
        s[B].reorder({s[B].axis(1), s[B].axis(0)});
      },
      [&](Schedule& s) { s[B].unroll(s[B].axis(0)); },
      [&](Schedule& s) { s[B].compute_at(s[C], s[C].axis(0)); },
      [&](Schedule& s) { s[B].set_scope("local"); },
      [&](Schedule& s) { s[B].set_store_predicate(s[B].axis(0) >= 0); },
      [&](Schedule& s) { s[B].double_buffer(), s[B].compute_at(s[C], s[C].axis(0)); },
      [&](Schedule& s) {
        s[B].transform_layout([](Var i, Var j) { return std::vector<Expr>{j, i}; });
      },
      [&](Schedule& s) { s.cache_write(B, "local"); },
      [&](Schedule& s) { s.create_group(C, A); },
      [&](Schedule& s) { s[C].prefetch(B, s[C].axis(0), 1); }};
  for (std::size_t n = 0; n < primitives.size(); ++n) {
    SCOPED_TRACE(n);
    Schedule s = create_schedule(E);
    primitives[n](s);
    expect_stays(s);
  }
}

TEST_F(ChainTest, AStageThatOthersAreComputedInStays) {
  Schedule s = create_schedule(E);
  s[B].compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(names(auto_inline_injective(s)), "D");
  expect_right(s);
}

TEST_F(ChainTest, AnInlinedReaderPassesTheExpressionOn) {
  Schedule s = create_schedule(E);
  s[C].compute_inline();
  EXPECT_EQ(names(auto_inline_elementwise(s)), "B");
  expect_right(s);
}

TEST_F(ChainTest, WhatAReductionReadsIsInlinedIntoIt) {
  IterVar k = reduce_axis({0, kColumns}, "k");
  Tensor R = compute(
      {kRows}, {"i"},
      [&](Var i) { return sum(B(i, k), {k}, {.where = B(i, k) > 0.0f, .init = {B(i, 0)}}); }, "R");
  Schedule s = create_schedule(R);
  EXPECT_EQ(names(auto_inline_elementwise(s)), "B");
  EXPECT_EQ(testing::run(s, {A, R}), testing::run(create_schedule(R), {A, R}));
}

TEST_F(ChainTest, WhatARangeReadsIsInlinedIntoIt) {
  Tensor Count = compute(
      {kRows}, {"i"}, [&](Var i) { return tir::cast(Int(32), A(i, 0) * 0.0f) + i + 1; }, "Count");
  Tensor R = compute(
      {kRows}, {"i"},
      [&](Var i) {
        const IterVar k = reduce_axis({0, Count(i)}, "k");
        return sum(A(i, k), {k});
      },
      "R");
  Schedule s = create_schedule(R);
  EXPECT_EQ(names(auto_inline_injective(s)), "Count");
  EXPECT_EQ(testing::run(s, {A, R}), testing::run(create_schedule(R), {A, R}));
}

TEST_F(ChainTest, WhatAnExternOperationReadsStays) {
  Tensor X = doubled(B, "X");
  Schedule s = create_schedule(X);
  EXPECT_EQ(names(auto_inline_injective(s)), "");
  EXPECT_EQ(testing::run(s, {A, X}), testing::run(create_schedule(X), {A, X}));
}

TEST_F(ChainTest, WhatAScanReadsOrComputesStays) {
  Tensor state = placeholder({kRows, kColumns}, "state");
  Tensor init = compute(
      {1, kColumns}, {"t", "j"}, [&](Var, Var j) { return A(0, j); }, "init");
  Tensor half = matrix("half", [&](Var t, Var j) { return state(t - 1, j) + B(t, j); });
  Tensor update = plus_one(half, "update");
  Tensor all = scan(init, update, state);
  Tensor out = plus_one(all, "out");
  Schedule s = create_schedule(out);
  EXPECT_EQ(names(auto_inline_injective(s)), "B");
  EXPECT_EQ(testing::run(s, {A, out}), testing::run(create_schedule(out), {A, out}));
}

TEST_F(ChainTest, WhatATensorIntrinReadsStaysAlsoThroughInlinedStages) {
  Tensor a = placeholder({kColumns}, "a");
  Tensor c = compute(
      {kColumns}, {"i"}, [&](Var i) { return a(i) * 3.0f; }, "c");
  const TensorIntrin triple = decl_tensor_intrin(
      c.op(),
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> TensorIntrinBody {
        tir::IRBuilder ib;
        ib.for_range(0, kColumns, "i",
                     [&](Var i) { ib.emit(outs[0].vstore({i}, ins[0].vload({i}) * 3.0f)); });
        return {.body = ib.get()};
      },
      {.name = "triple"});
  Tensor T = matrix("T", [&](Var i, Var j) { return C(i, j) * 3.0f; });
  Schedule s = create_schedule(T);
  s[T].tensorize(s[T].axis(1), triple);
  EXPECT_EQ(names(auto_inline_injective(s)), "B");
  EXPECT_EQ(testing::run(s, {A, Row, T}), testing::run(create_schedule(T), {A, Row, T}));

  Tensor Copy = matrix("Copy", [&](Var i, Var j) { return B(i, j); });
  T = matrix("T", [&](Var i, Var j) { return Copy(i, j) * 3.0f; });
  s = create_schedule(T);
  s[T].tensorize(s[T].axis(1), triple);
  s[Copy].compute_inline();
  EXPECT_EQ(names(auto_inline_injective(s)), "");
  EXPECT_EQ(testing::run(s, {A, T}), testing::run(create_schedule(T), {A, T}));
}

TEST_F(ChainTest, NothingIsInlinedThatWouldNotLower) {
  // Fully expanded, the last would have 2^40 reads of the first.
  Tensor X = A;
  for (int n = 0; n < 40; ++n) {
    const Tensor P = X;
    X = matrix("X" + std::to_string(n),
               [&](Var i, Var j) { return P(i, j) + P(i, kColumns - 1 - j); });
  }
  Schedule s = create_schedule(X);
  const std::size_t count = auto_inline_injective(s).size();
  EXPECT_GT(count, 20u);
  EXPECT_LT(count, 40u);
  EXPECT_EQ(testing::run(s, {A, X}), testing::run(create_schedule(X), {A, X}));
}

TEST_F(ChainTest, IndicesThatGrowCount) {
  // Every read repeats the index ever more often, without any reads being repeated.
  Tensor V = placeholder({kColumns}, "V"), X = V;
  for (int n = 0; n < 40; ++n) {
    const Tensor P = X;
    X = compute(
        {kColumns}, {"j"}, [&](Var j) { return P(floormod(j * (j + 1), kColumns)) + 1.0f; },
        "X" + std::to_string(n));
  }
  Schedule s = create_schedule(X);
  const std::size_t count = auto_inline_injective(s).size();
  EXPECT_GT(count, 20u);
  EXPECT_LT(count, 39u);
  EXPECT_EQ(testing::run(s, {V, X}), testing::run(create_schedule(X), {V, X}));
}

TEST_F(ChainTest, ALongChainBecomesOneExpression) {
  Tensor X = A;
  for (int n = 0; n < 1000; ++n) X = plus_one(X, "X" + std::to_string(n));
  Schedule s = create_schedule(X);
  EXPECT_EQ(auto_inline_elementwise(s).size(), 999u);
  EXPECT_EQ(testing::run(s, {A, X}), testing::run(create_schedule(X), {A, X}));
}

}  // namespace

// Automatic inlining of random graphs: what is left computes what the default schedule computes.

namespace {

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    const int count = 3 + below(6);
    for (int n = 0; n < count; ++n) add("T" + std::to_string(n));
    outputs_.push_back(tensors_.back());
    if (chance(4)) outputs_.push_back(pick(tensors_));
    if (outputs_.size() == 2 && outputs_[1].op().as<Placeholder>()) outputs_.pop_back();
    if (outputs_.size() == 2 && outputs_[1].op().same_as(outputs_[0].op())) outputs_.pop_back();
  }

  Schedule plain() const { return create_schedule(outputs_); }
  std::vector<Tensor> arguments() const {
    std::vector<Tensor> all{matrix_, row_};
    all.insert(all.end(), outputs_.begin(), outputs_.end());
    return all;
  }

  /// A few primitives, so that stages are touched, attached to and inlined.
  Schedule touched() {
    Schedule s = plain();
    for (int steps = below(4); steps > 0; --steps) {
      try {
        touch(s);
      } catch (const ScheduleError&) {
        // Not legal here; the schedule is as it was.
      }
    }
    return s;
  }

  std::vector<Operation> inline_some(const Schedule& s) {
    switch (below(3)) {
      case 0:
        return auto_inline_elementwise(s);
      case 1:
        return auto_inline_broadcast(s);
      default:
        return auto_inline_injective(s);
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  void add(const std::string& name) {
    const Tensor P = chance(2) ? pick(tensors_) : tensors_.back(), Q = pick(tensors_);
    const IterVar k = reduce_axis({0, kColumns}, "k");
    switch (below(9)) {
      case 0:
        return keep(plus_one(P, name));
      case 1:
        return keep(matrix(name, [&](Var i, Var j) { return P(i, j) - Q(i, j); }));
      case 2:
        return keep(matrix(name, [&](Var i, Var j) { return P(i, j) + row_(j); }));
      case 3:
        return keep(matrix(name, [&](Var i, Var j) { return P(kRows - 1 - i, j) + Q(i, j); }));
      case 4:
        return keep(matrix(name, [&](Var i, Var j) {
          return if_then_else(j >= 1, P(i, j - 1), 0.0f) + if_then_else(i >= 1, Q(i - 1, j), 1.0f);
        }));
      case 5:
        return keep(
            matrix(name, [&](Var i, Var j) { return sum(P(i, k), {k}, {.where = k <= j}); }));
      case 6: {
        const std::vector<Tensor> both = compute_multi(
            {kRows, kColumns}, {"i", "j"},
            [&](Var i, Var j) {
              return std::vector<Expr>{P(i, j) - 1.0f, Q(i, j) + 2.0f};
            },
            name);
        keep(both[0]);
        return keep(both[1]);
      }
      case 7:
        return keep(over_time(P, Q, name));
      default:
        return keep(doubled(P, name));
    }
  }

  void keep(const Tensor& t) { tensors_.push_back(t); }

  static Tensor over_time(const Tensor& P, const Tensor& Q, const std::string& name) {
    Tensor state = placeholder({kRows, kColumns}, name + ".state");
    Tensor init = compute(
        {1, kColumns}, {"t", "j"}, [&](Var, Var j) { return P(0, j); }, name + ".init");
    Tensor scaled = plus_one(Q, name + ".scaled");
    Tensor half =
        matrix(name + ".half", [&](Var t, Var j) { return state(t - 1, j) + scaled(t, j); });
    Tensor update = matrix(name + ".update", [&](Var t, Var j) { return half(t, j) - P(t, j); });
    return scan(init, update, state, {}, name);
  }

  void touch(Schedule& s) {
    const Tensor T = pick(tensors_);
    const Stage stage = s[T];
    if (stage.leaf_iter_vars().empty()) return;
    const IterVar axis = pick(stage.leaf_iter_vars());
    switch (below(6)) {
      case 0:
        stage.split(axis, 2);
        return;
      case 1:
        stage.set_scope("local");
        return;
      case 2:
        s.cache_read(T, "local", {});
        return;
      case 3:
        s.cache_write(T, "local");
        return;
      case 4:
        stage.compute_inline();
        return;
      default: {
        const Tensor P = pick(tensors_);
        s[P].compute_at(stage, axis);
      }
    }
  }

  std::mt19937 random_;
  Tensor matrix_ = placeholder({kRows, kColumns}, "A"), row_ = placeholder({kColumns}, "Row");
  std::vector<Tensor> tensors_{matrix_};
  std::vector<Tensor> outputs_;
};

TEST(RandomAutoInlineTest, ComputesWhatTheDefaultScheduleComputes) {
  int inlined = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph graph(seed);
    const Schedule s = graph.touched();
    std::vector<testing::Array> before;
    try {
      before = testing::run(s, graph.arguments());
    } catch (const Error&) {
      // A place that some reader cannot see: the primitives by themselves are wrong.
      continue;
    }
    inlined += static_cast<int>(graph.inline_some(s).size());
    EXPECT_EQ(testing::run(s, graph.arguments()), testing::run(graph.plain(), graph.arguments()));
    EXPECT_EQ(before, testing::run(graph.plain(), graph.arguments()));
  }
  EXPECT_GT(inlined, 400);
}

TEST(IsUntouched, HoldsForScansOfANewSchedule) {
  const Tensor X = placeholder({8, 4}, "X"), state = placeholder({8, 4}, "state");
  const Tensor init = compute(
      {1, 4}, [&](Var, Var i) { return X(0, i); }, "init");
  const Tensor update = compute(
      {8, 4}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  const Tensor S = scan(init, update, state, {}, "S");
  EXPECT_TRUE(is_untouched(create_schedule(S)[S]));
}

}  // namespace

}  // namespace tenon::te
