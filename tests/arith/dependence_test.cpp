// Compares what the engine claims about loops with what an enumeration of their iterations finds.
#include "tenon/arith/dependence.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tenon/tir/builder.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {
namespace {

using namespace tir;
using Step = Relation::Step;

Buffer memory(std::vector<Expr> shape, const char* name = "A") {
  return decl_buffer(std::move(shape), Int(32), {.name = name});
}

Stmt loop_of(const Var& var, std::int64_t extent, const Stmt& body,
             ForKind kind = ForKind::Serial) {
  return make_stmt(For{var, make_int(Int(32), 0), make_int(Int(32), extent), kind, body});
}

bool is_independent(const Stmt& loop) {
  const For& n = *loop.as<For>();
  const WrittenMemory written(loop);
  const Footprint body = footprint(n.body, written);
  Facts facts;
  return !find_conflict(body, body, Relation::other_iteration(n), facts);
}

bool is_carried(const Stmt& loop) {
  const For& n = *loop.as<For>();
  const WrittenMemory written(loop);
  const Footprint body = footprint(n.body, written);
  Facts facts;
  return find_conflict(body, body, Relation::later_iteration(n), facts).has_value();
}

// ---- known loops --------------------------------------------------------------------------------

TEST(Dependence, EachIterationOwnsItsElement) {
  const Buffer a = memory({64});
  const Var i("i");
  EXPECT_TRUE(is_independent(loop_of(i, 64, make_store(a, i, {i}))));
  EXPECT_TRUE(is_independent(loop_of(i, 32, make_store(a, i, {i * 2}))));
  EXPECT_FALSE(is_independent(loop_of(i, 64, make_store(a, i, {floordiv(i, 2)}))));
  EXPECT_FALSE(is_independent(loop_of(i, 64, make_store(a, i, {Expr(3)}))));
}

TEST(Dependence, FlowAndAntiDependencesAreCarriedAlike) {
  const Buffer a = memory({64});
  const Var i("i");
  EXPECT_TRUE(is_carried(loop_of(i, 63, make_store(a, make_load(a, {i}), {i + 1}))));
  EXPECT_TRUE(is_carried(loop_of(i, 63, make_store(a, make_load(a, {i + 1}), {i}))));
  EXPECT_FALSE(is_carried(loop_of(i, 32, make_store(a, make_load(a, {i + 32}), {i}))));
  EXPECT_TRUE(is_carried(loop_of(i, 33, make_store(a, make_load(a, {i + 32}), {i}))));
}

TEST(Dependence, DigitsOfAFusedLoopAreToldApart) {
  const Buffer a = memory({8, 8});
  const Var i("i");
  EXPECT_TRUE(is_independent(loop_of(i, 64, make_store(a, i, {floordiv(i, 8), floormod(i, 8)}))));
  EXPECT_TRUE(is_independent(loop_of(i, 64, make_store(a, i, {floormod(i, 8), floordiv(i, 8)}))));
  EXPECT_FALSE(is_independent(loop_of(i, 64, make_store(a, i, {floordiv(i, 8), floormod(i, 4)}))));
}

TEST(Dependence, SymbolicDigitsOfAFusedLoopAreToldApart) {
  const Var n = Var::size("n"), m = Var::size("m"), i("i");
  const Buffer a = memory({m, n}), flat = memory({m * n});
  const auto fused = [&](const Stmt& body) {
    return make_stmt(For{i, Expr(0), m * n, ForKind::Parallel, body});
  };
  EXPECT_TRUE(is_independent(fused(make_store(a, i, {floordiv(i, n), floormod(i, n)}))));
  EXPECT_TRUE(is_independent(fused(make_store(flat, i, {floordiv(i, n) * n + floormod(i, n)}))));
  EXPECT_FALSE(is_independent(fused(make_store(a, i, {floordiv(i, n), Expr(0)}))));
  EXPECT_FALSE(is_independent(fused(make_store(flat, i, {floormod(i, n)}))));
}

TEST(Dependence, LanesOfNeighboursOverlapUnlessTheStepIsTheirNumber) {
  const Buffer a = memory({64});
  const Var i("i");
  const auto vectors = [&](int step) {
    return loop_of(i, 8, make_store(a, make_broadcast(Expr(1), 4), {make_ramp(i * step, 1, 4)}));
  };
  EXPECT_TRUE(is_independent(vectors(4)));
  EXPECT_FALSE(is_independent(vectors(3)));
}

TEST(Dependence, GuardsThatNameTheOwnerTellIterationsApart) {
  const Buffer a = memory({64});
  const Var p("p"), j("j");
  const auto owned = [&](const Expr& condition) {
    return loop_of(p, 8,
                   loop_of(j, 64, make_stmt(If{condition, make_store(a, p, {j}), std::nullopt})));
  };
  EXPECT_TRUE(is_independent(owned(floormod(j, 8) == p)));
  EXPECT_FALSE(is_independent(owned(floormod(j, 8) <= p)));
  EXPECT_FALSE(is_independent(owned(floormod(j, 8) == floordiv(p, 2))));
}

TEST(Dependence, AGuardByTheLesserOfTwoEndsIsAGuardByEither) {
  const Buffer a = memory({64});
  const Var i("i"), j("j"), k("k");
  const auto tiles = [&](const Expr& condition) {
    const Stmt store = make_store(a, i, {i * 3 + j * 2 + k});
    return loop_of(i, 20,
                   loop_of(j, 2, loop_of(k, 2, make_stmt(If{condition, store, std::nullopt}))));
  };
  const Expr at = j * 2 + k, last = 58 - i * 3;
  EXPECT_TRUE(is_independent(tiles(at < min(3, last))));
  EXPECT_TRUE(is_independent(tiles(min(last, 3) > at)));
  EXPECT_TRUE(is_independent(tiles(max(at, i) <= 2)));
  EXPECT_FALSE(is_independent(tiles(at < min(4, last))));
  EXPECT_FALSE(is_independent(tiles(at < max(3, last))));
  EXPECT_FALSE(is_independent(tiles(min(at, i) < 3)));
}

TEST(Dependence, GuardsOfOneIterationTellItFromOthers) {
  const Buffer a = memory({64});
  const Var i("i");
  const auto once = make_stmt(If{i == 3, make_store(a, i, {Expr(0)}), std::nullopt});
  EXPECT_TRUE(is_independent(loop_of(i, 8, once)));
}

TEST(Dependence, AGuardedDigitBelowAnotherTellsIterationsApart) {
  const Buffer a = memory({128});
  const Var i("i"), j("j"), k("k");
  const auto digits = [&](const Expr& condition, const Expr& at) {
    const Stmt store = make_store(a, i, {at});
    return loop_of(i, 3,
                   loop_of(j, 6, loop_of(k, 8, make_stmt(If{condition, store, std::nullopt}))));
  };
  const Expr low = i * 6 + j;
  EXPECT_TRUE(is_independent(digits(low < 16, k * 16 + low)));
  EXPECT_TRUE(is_independent(digits(low < 16, k * 32 + low * 2)));
  EXPECT_TRUE(is_independent(digits(low < 16, low * 8 + k)));
  EXPECT_FALSE(is_independent(digits(low < 17, k * 16 + low)));
  EXPECT_FALSE(is_independent(digits(low < 16, k * 15 + low)));
  EXPECT_FALSE(is_independent(digits(i * 5 + j < 16, k * 16 + i * 5 + j)));
}

TEST(Dependence, AGuardThatAdmitsOneIterationTellsItFromOthers) {
  const Buffer a = memory({1});
  const Var i("i"), j("j");
  const auto guarded = [&](const Expr& condition) {
    const Stmt sum = make_store(a, make_load(a, {Expr(0)}) + j, {Expr(0)});
    return loop_of(i, 3, loop_of(j, 12, make_stmt(If{condition, sum, std::nullopt})));
  };
  EXPECT_TRUE(is_independent(guarded(1 <= i && i < 2)));
  EXPECT_TRUE(is_independent(guarded(i < 1)));
  EXPECT_TRUE(is_independent(guarded(i == 1)));
  EXPECT_FALSE(is_independent(guarded(1 <= i && i < 3)));
}

TEST(Dependence, RangesThatBeginAtTheIterationsPartAreDisjoint) {
  const Buffer a = memory({64});
  const Var p("p"), j("j");
  const auto part = [&](int length) {
    return loop_of(p, 7,
                   make_stmt(For{j, p * 8, Expr(length), ForKind::Serial, make_store(a, p, {j})}));
  };
  EXPECT_TRUE(is_independent(part(8)));
  EXPECT_FALSE(is_independent(part(9)));
}

TEST(Dependence, ALoopThatUsesTheVariableOfAnEarlierLoopHasItsOwnRange) {
  const Buffer a = memory({64});
  const Var p("p"), j("j");
  const Stmt parts = make_stmt(For{j, p * 8, Expr(8), ForKind::Serial, make_store(a, p, {j})});
  const Stmt all = loop_of(j, 8, make_store(a, p, {j}));
  EXPECT_FALSE(is_independent(loop_of(p, 8, make_seq({parts, all}))));
}

/// A[p*16 + k] for k < 24 reaches what iteration p + 1 stores.
TEST(Dependence, LoopsThatShareAVariableHaveTheirOwnRanges) {
  const Buffer a = memory({128});
  const Var p("p"), k("k");
  const Stmt store = loop_of(k, 4, make_store(a, k, {p * 16 + k + 4}));
  const auto with_copy = [&](std::int64_t extent) {
    const Stmt copy =
        loop_of(k, extent, make_store(a, make_load(a, {p * 16 + k}), {p * 16 + k + 64}));
    return loop_of(p, 2, make_seq({store, copy}));
  };
  EXPECT_TRUE(is_independent(with_copy(8)));
  EXPECT_FALSE(is_independent(with_copy(24)));
}

/// For j < 7, j + j < 14 allows A[5], which iteration 1 stores.
TEST(Dependence, AGuardMayNameAVariableTwice) {
  const Buffer a = memory({16}), c = memory({16}, "C");
  const Var p("p"), j("j");
  const Stmt read = make_stmt(If{j + j < 14, make_store(c, make_load(a, {j}), {p * 8 + j}), {}});
  const Stmt reads = make_stmt(For{j, Expr(4), Expr(4), ForKind::Serial, read});
  EXPECT_FALSE(is_independent(loop_of(p, 2, make_seq({make_store(a, p + 7, {p * 5}), reads}))));
}

/// Modulo 2^32, all numbers are multiples of 3.
TEST(Dependence, ProductsOfDataWrap) {
  const Buffer a = memory({128}), c = memory({16}, "C"), numbers = memory({4}, "I");
  const Var p("p");
  const Expr element = make_load(numbers, {Expr(0)});
  const auto is_apart = [&](const Expr& written, const Expr& read) {
    return is_independent(loop_of(
        p, 2,
        make_seq({make_store(a, p + 7, {written}), make_store(c, make_load(a, {read}), {p * 8})})));
  };
  EXPECT_FALSE(is_apart(p * 3 + 1, element * 3));
  EXPECT_TRUE(is_apart(p * 8 + 1, element * 8));
}

/// An index computed in uint8 counts modulo 256: 191 + p + 66 is p + 1.
TEST(Dependence, IndicesOfTwoTypesWrapInTheirOwnType) {
  const Buffer a = memory({512}), c = memory({16}, "C");
  const Var p("p");
  const Expr next = cast(UInt(8), p + 191) + make_int(UInt(8), 66);
  const auto is_apart = [&](const Expr& written, const Expr& read) {
    return is_independent(loop_of(
        p, 8, make_seq({make_store(a, p, {written}), make_store(c, make_load(a, {read}), {p})})));
  };
  EXPECT_FALSE(is_apart(p, next));
  EXPECT_FALSE(is_apart(next, p));
}

/// Iteration i stores A[i] and reads A[i + 1], if i mod 4 is i.
TEST(Dependence, OwnersAreNotComparedByIndicesOfTwoTypes) {
  const Buffer a = memory({512});
  const Var i("i");
  const Expr next = cast(UInt(8), i + 191) + make_int(UInt(8), 66);
  const Stmt guarded =
      make_stmt(If{floormod(i, 4) == i, make_store(a, make_load(a, {next}), {i}), {}});
  EXPECT_FALSE(is_independent(loop_of(i, 4, guarded)));
}

TEST(Dependence, ElementsAtDistancesFromDataAreToldApart) {
  const Buffer a = memory({128}), numbers = memory({4}, "I");
  const Var p("p");
  const Expr base = make_load(numbers, {Expr(0)});
  EXPECT_TRUE(is_independent(loop_of(p, 32, make_store(a, p, {base + p}))));
  const Var n = Var::size("n");
  EXPECT_TRUE(is_independent(
      make_stmt(For{p, Expr(0), n, ForKind::Serial, make_store(a, p, {base + p * 2})})));
}

/// For n = 0, all iterations update A[0].
TEST(Dependence, ADivisionThatAConditionSkipsSaysNothingAboutItsDivisor) {
  const Var n = Var::size("n"), i("i");
  const Buffer a = memory({64});
  const Expr index = if_then_else(n == 0, Expr(0), i);
  const Expr guard = n == 0 || floordiv(i, n) < 3;
  EXPECT_FALSE(is_independent(
      loop_of(i, 64, make_stmt(If{guard, make_store(a, make_load(a, {index}) + 1, {index}), {}}))));
}

TEST(Dependence, IndicesReadFromMemoryAreNotProvedApart) {
  const Buffer a = memory({64}), index = memory({64}, "I");
  const Var i("i");
  EXPECT_FALSE(is_independent(loop_of(i, 64, make_store(a, i, {make_load(index, {i})}))));
}

TEST(Dependence, OwnMemoryOfAnIterationDoesNotConflict) {
  const Buffer a = memory({64}), own = memory({1}, "own");
  const Var i("i");
  const Stmt body = make_stmt(
      Allocate{own->data, Int(32), {Expr(1)}, make_true(), make_store(own, i, {Expr(0)})});
  EXPECT_TRUE(is_independent(loop_of(i, 64, body)));
  EXPECT_FALSE(is_independent(loop_of(i, 64, make_store(own, i, {Expr(0)}))));
}

TEST(Dependence, ACallMayTouchAllOfABufferWhoseAddressItIsGiven) {
  const Buffer a = memory({64});
  const Var i("i");
  const auto call = [&](std::vector<Expr> args) {
    return loop_of(
        i, 8, make_stmt(Evaluate{make_call(Int(32), ExternCallee{"f", false}, std::move(args))}));
  };
  EXPECT_FALSE(is_independent(call({a->data})));
  EXPECT_TRUE(is_independent(call({i})));
}

TEST(Dependence, AnElementOfAViewIsOneElementOfItsSource) {
  const Buffer a = memory({64, 8}), row = memory({8}, "row"), part = memory({4}, "part");
  const Var i("i");
  const auto program = [&](const Expr& first, const Stmt& body) {
    const auto inner =
        make_stmt(BufferView{part, row, {Range::from_min_extent(Expr(4), Expr(4))}, body});
    return loop_of(i, 4,
                   make_stmt(BufferView{row,
                                        a,
                                        {Range::from_min_extent(first, Expr(1)),
                                         Range::from_min_extent(Expr(0), Expr(8))},
                                        inner}));
  };
  EXPECT_TRUE(is_independent(program(i, make_store(row, i, {Expr(0)}))));
  EXPECT_TRUE(is_independent(program(Expr(0), make_store(row, i, {i}))));
  EXPECT_TRUE(is_independent(program(Expr(0), make_store(part, i, {i}))));
  EXPECT_TRUE(is_independent(program(Expr(0), make_store(part, make_load(row, {i}), {i}))));
  EXPECT_FALSE(is_independent(program(Expr(0), make_store(part, make_load(row, {i + 1}), {i}))));
  EXPECT_FALSE(is_independent(program(Expr(0), make_store(row, i, {floordiv(i, 2)}))));
}

TEST(Dependence, ABlockCountsWithItsHeader) {
  const Buffer a = memory({64}), b = memory({64}, "B");
  const Var i("i");
  const IterVar vi(Range::from_min_extent(Expr(0), Expr(64)), Var("vi"), IterKind::DataParallel);
  const auto program = [&](const Expr& read, const Expr& written) {
    Block block{.iters = {vi},
                .reads = {{a, {Range::from_min_extent(read, Expr(2))}}},
                .writes = {{a, {Range::from_min_extent(written, Expr(1))}}},
                .name = "B",
                .init = std::nullopt,
                .body = make_store(a, make_load(a, {read}), {written})};
    return loop_of(i, 32, make_block({i}, std::move(block)));
  };
  EXPECT_TRUE(is_independent(program(vi.var() + 32, vi.var())));
  EXPECT_FALSE(is_independent(program(vi.var(), vi.var())));
}

TEST(Dependence, InterchangeIsAskedWithTwoLoops) {
  // for i: for j: A[i + 1, j - 1] = A[i, j]: distance (1, -1), which interchange would reverse.
  const Buffer a = memory({16, 16});
  const Var i("i"), j("j");
  const auto is_reversed = [&](int step) {
    const Stmt body = make_store(a, make_load(a, {i, j + 1}), {i + 1, j + 1 + step});
    const WrittenMemory written(body);
    const Footprint all = footprint(body, written);
    const Range range = Range::from_min_extent(Expr(0), Expr(14));
    const Relation relation = Relation().with(i, range, Step::Later).with(j, range, Step::Earlier);
    Facts facts;
    return find_conflict(all, all, relation, facts).has_value();
  };
  EXPECT_TRUE(is_reversed(-1));
  EXPECT_FALSE(is_reversed(0));
  EXPECT_FALSE(is_reversed(1));
}

// ---- enumeration --------------------------------------------------------------------------------

/// An access of a random loop nest: its index and the condition that guards it.
struct Random {
  std::mt19937 engine;
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }

  Expr affine(const std::vector<Var>& vars) {
    Expr sum = below(7) - 3;
    for (const Var& var : vars) sum = sum + var * (below(9) - 4);
    return sum;
  }
  Expr divided(const std::vector<Var>& vars) {
    const Expr base = below(2) == 0 ? Expr(vars[static_cast<std::size_t>(below(2))]) : affine(vars);
    const Expr divisor = make_int(Int(32), 2 << below(2));
    return (below(2) == 0 ? floordiv(base, divisor) : floormod(base, divisor)) *
           make_int(Int(32), below(5) - 1);
  }
  Expr index(const std::vector<Var>& vars, bool is_affine) {
    if (is_affine) return affine(vars);
    return divided(vars) + (below(2) == 0 ? divided(vars) : affine(vars));
  }
  Expr guard(const std::vector<Var>& vars) {
    switch (below(4)) {
      case 0:
        return floormod(affine(vars), 4) == Expr(vars[static_cast<std::size_t>(below(2))]);
      case 1:
        return affine(vars) < 2;
      case 2:
        return affine(vars) == 0;
      default:
        return affine(vars) >= 1 && vars[0] < 3;
    }
  }
};

struct Instance {
  std::int64_t i, j, element;
};

/// Every element that the access touches, with the iteration.
std::vector<Instance> enumerated(const Expr& index, const std::optional<Expr>& guard, const Var& i,
                                 const Var& j, int rows, int columns) {
  std::vector<Instance> result;
  for (int a = 0; a < rows; ++a)
    for (int b = 0; b < columns; ++b) {
      VarMap map;
      set(map, i, make_int(Int(32), a));
      set(map, j, make_int(Int(32), b));
      if (guard && constant_int(substitute_folding(*guard, map)) == 0) continue;
      result.push_back({a, b, *constant_int(substitute_folding(index, map))});
    }
  return result;
}

bool is_related(Step step, std::int64_t first, std::int64_t second) {
  switch (step) {
    case Step::Any:
      return true;
    case Step::Other:
      return first != second;
    case Step::Later:
      return second > first;
    case Step::Earlier:
      return second < first;
  }
  return false;
}

struct Outcome {
  int disjoint = 0, proved = 0, wrong = 0;
};

/// How the accesses of a random program are guarded.
enum class Guards { None, Random, Digit };

Outcome compare(bool is_affine, Guards guards, unsigned seed, int programs) {
  Random random{std::mt19937(seed)};
  Outcome outcome;
  const Buffer a = memory({1024});
  for (int n = 0; n < programs; ++n) {
    const Var i("i"), j("j");
    const int rows = 1 + random.below(9), columns = 1 + random.below(9);
    const Range over_i = Range::from_min_extent(Expr(0), Expr(rows)),
                over_j = Range::from_min_extent(Expr(0), Expr(columns));
    Access first = access_of(AccessKind::Write, a, {random.index({i, j}, is_affine)});
    Access second = access_of(random.below(2) == 0 ? AccessKind::Write : AccessKind::Read, a,
                              {random.index({i, j}, is_affine)});
    if (guards == Guards::Random) {
      first.guards = {random.guard({i, j})};
      second.guards = {random.below(2) == 0 ? first.guards[0] : random.guard({i, j})};
    } else if (guards == Guards::Digit) {
      // The same guarded sum, plus multiples of a number near its bound.
      const int size = 2 + random.below(12);
      const Expr digit = i * (random.below(6) - 1) + j * (random.below(6) - 1);
      for (Access* access : {&first, &second}) {
        access->guards = {digit < size};
        access->indices = {i * (random.below(2) * (size - random.below(2))) +
                           j * (random.below(2) * size) + digit + random.below(2)};
      }
    }
    const auto guard_of = [](const Access& access) {
      return access.guards.empty() ? std::nullopt : std::optional(access.guards[0]);
    };
    const auto in_first = enumerated(first.indices[0], guard_of(first), i, j, rows, columns),
               in_second = enumerated(second.indices[0], guard_of(second), i, j, rows, columns);
    for (const Step of_i : {Step::Other, Step::Later, Step::Earlier, Step::Any})
      for (const Step of_j : {Step::Any, Step::Other, Step::Earlier}) {
        const Relation relation = Relation().with(i, over_i, of_i).with(j, over_j, of_j);
        bool meets = false;
        for (const Instance& x : in_first)
          for (const Instance& y : in_second)
            meets |=
                x.element == y.element && is_related(of_i, x.i, y.i) && is_related(of_j, x.j, y.j);
        Facts facts;
        const bool is_claimed = are_disjoint(first, second, relation, facts);
        outcome.disjoint += !meets;
        outcome.proved += is_claimed && !meets;
        if (!is_claimed || !meets) continue;
        ++outcome.wrong;
        ADD_FAILURE() << "rows " << rows << ", columns " << columns << ", steps "
                      << static_cast<int>(of_i) << " " << static_cast<int>(of_j) << ": "
                      << access_text(first) << " and " << access_text(second);
      }
    // The same iteration of i, any of j.
    bool meets = false;
    for (const Instance& x : in_first)
      for (const Instance& y : in_second) meets |= x.element == y.element && x.i == y.i;
    Facts facts;
    facts.bind(i, over_i);
    const bool is_claimed =
        are_disjoint(first, second, Relation().with(j, over_j, Step::Any), facts);
    EXPECT_FALSE(is_claimed && meets) << access_text(first) << " and " << access_text(second);
    outcome.disjoint += !meets;
    outcome.proved += is_claimed && !meets;
  }
  return outcome;
}

TEST(Dependence, NoConflictOfRandomAffineAccessesIsMissed) {
  const Outcome outcome = compare(true, Guards::None, 1, 600);
  EXPECT_EQ(outcome.wrong, 0);
  // Most of the disjoint pairs with constant bounds are proved.
  EXPECT_GT(outcome.proved, outcome.disjoint * 9 / 10)
      << outcome.proved << " of " << outcome.disjoint;
  RecordProperty("proved", outcome.proved);
  RecordProperty("disjoint", outcome.disjoint);
}

TEST(Dependence, NoConflictOfRandomDividedIndicesIsMissed) {
  const Outcome outcome = compare(false, Guards::None, 2, 300);
  EXPECT_EQ(outcome.wrong, 0);
  EXPECT_GT(outcome.proved, outcome.disjoint / 2) << outcome.proved << " of " << outcome.disjoint;
}

TEST(Dependence, NoConflictOfGuardedAccessesIsMissed) {
  EXPECT_EQ(compare(true, Guards::Random, 3, 300).wrong, 0);
  EXPECT_EQ(compare(false, Guards::Random, 4, 200).wrong, 0);
  EXPECT_EQ(compare(true, Guards::Digit, 5, 600).wrong, 0);
}

}  // namespace
}  // namespace tenon::arith
