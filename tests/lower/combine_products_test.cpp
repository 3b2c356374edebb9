#include "lower/passes.h"

#include <gtest/gtest.h>

#include <functional>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

constexpr int kLanes = 4;

/// Four sums, of which each row adds up `steps` products of A's own element and a vector of B, one
/// after the other.
struct Products {
  DataType of_a = Int(8), of_b = Int(8), sum = Int(32);
  int rows = 1, steps = 4, stride = 4;
  bool has_pragma = true;
  std::optional<Buffer> b = std::nullopt;
  Expr extent = Expr(4);
  /// How far the sums of one iteration lie from those of the one before.
  int apart = 0;
  /// A statement at the end of each iteration, which is given A and S.
  std::function<Stmt(const Buffer& a, const Buffer& s)> last = {};
  /// The first element of B's vector in a step, in addition to its number, which is given S.
  std::function<Expr(int step, const Buffer& s)> first = [](int, const Buffer&) { return Expr(0); };
  /// Encloses the statements of an iteration.
  std::function<Stmt(const Stmt& s)> around = [](const Stmt& s) { return s; };

  PrimFunc func() const {
    const Buffer a = flat("A", of_a, 64), s = flat("S", sum, 64);
    const Buffer from = b.value_or(flat("B", of_b, 256));
    const Var k("k");
    std::vector<Stmt> stores;
    for (int row = 0; row < rows; ++row)
      for (int step = 0; step < steps; ++step) {
        const Expr at = make_ramp(k * apart + row * kLanes, 1, kLanes);
        const Expr x = make_load(a, {k * 4 + row * 16 + step});
        const Expr y = make_load(from, {make_ramp(k * 16 + first(step, s) + step, stride, kLanes)});
        stores.push_back(make_store(s,
                                    make_load(s, {at}) + make_broadcast(make_cast(sum, x), kLanes) *
                                                             make_cast(sum.with_lanes(kLanes), y),
                                    {at}));
      }
    if (last) stores.push_back(last(a, s));
    Stmt body = make_stmt(For{k, 0, extent, ForKind::Serial, around(make_seq(std::move(stores)))});
    if (has_pragma)
      body = make_stmt(Attr{AttrKind::Pragma, Expr(0), "dot_products", Expr(1), body});
    return {{}, {}, body};
  }

 private:
  static Buffer flat(const char* name, DataType type, int extent) {
    return decl_buffer({extent}, type, {.name = name});
  }
};

/// The calls of dp4a that are left.
int combined(const PrimFunc& func, bool has_dp4a = true) {
  int count = 0;
  walk(combine_products(func, {.has_dp4a = has_dp4a}).body, [&](const Call& call) {
    if (call.is(Intrin::dp4a)) ++count;
  });
  return count;
}

TEST(CombineProducts, OfAsManyNeighboursAsFillASum) {
  EXPECT_EQ(combined(Products{UInt(8), Int(8), Int(32)}.func()), 1);
  EXPECT_EQ(combined(Products{UInt(8), UInt(8), Int(32), 2, 8}.func()), 4);
  EXPECT_EQ(combined(Products{BFloat(16), BFloat(16), Float(32), 1, 4, 2}.func()), 2);
}

TEST(CombineProducts, OnlyWhereTheScheduleSaysSoAndTheCodeCan) {
  EXPECT_EQ(combined(Products{UInt(8), Int(8), Int(32), 1, 4, 4, false}.func()), 0);
  EXPECT_EQ(combined(Products{UInt(8), Int(8), Int(32)}.func(), false), 0);
}

TEST(CombineProducts, UnsupportedTypesAndGappedElementsAreNotCombined) {
  EXPECT_EQ(combined(Products{Int(16), Int(16), Int(32)}.func()), 0);
  EXPECT_EQ(combined(Products{Float(32), Float(32), Float(32)}.func()), 0);
  EXPECT_EQ(combined(Products{UInt(8), Int(8), Int(32), 1, 4, 3}.func()), 0);
  EXPECT_EQ(combined(Products{UInt(8), Int(8), Int(32), 1, 3}.func()), 0);
}

TEST(CombineProducts, RowsOfSignedBytesShareWhatIsTakenBack) {
  // Three rows and one excess.
  const PrimFunc three = Products{Int(8), Int(8), Int(32), 3}.func();
  EXPECT_EQ(combined(three), 4);
  const Stmt body = combine_products(three, {.has_dp4a = true}).body;
  EXPECT_TRUE(body.as<Allocate>());
  // One row has its own, so that nothing is gained.
  EXPECT_EQ(combined(Products{Int(8), Int(8), Int(32)}.func()), 1);
}

/// The products of three rows in a loop of tiles, with `before` preceding each tile's.
Stmt tiles(const Buffer& b, const Stmt& before, const Expr& extent = Expr(7)) {
  const Var tile("tile");
  Products products{Int(8), Int(8), Int(32), 3};
  products.b = b;
  return combine_products({{},
                           {},
                           make_stmt(For{tile, 0, extent, ForKind::Serial,
                                         make_seq({before, products.func().body})})},
                          {.has_dp4a = true})
      .body;
}

TEST(CombineProducts, TheCorrectionIsHoistedAboveTheTileLoop) {
  const Buffer b = decl_buffer({256}, Int(8), {.name = "B"});
  const Buffer other = decl_buffer({256}, Int(8), {.name = "O"});
  const Stmt copied = make_store(other, make_int(Int(8), 1), {Expr(0)});
  // The correction precedes the loop over tiles if that loop runs and leaves B unchanged.
  EXPECT_TRUE(tiles(b, copied).as<Allocate>());
  EXPECT_TRUE(tiles(b, make_store(b, make_int(Int(8), 1), {Expr(0)})).as<For>());
  EXPECT_TRUE(tiles(b, copied, Var("n")).as<For>());
}

/// Whether the products of three rows share what is taken back.
bool share(Products products) {
  products.rows = 3;
  return combined(products.func()) == 4;
}

TEST(CombineProducts, SumsThatMoveWithTheLoopShareNothing) {
  EXPECT_TRUE(share({}));
  EXPECT_FALSE(share({.apart = 12}));
}

TEST(CombineProducts, SumsThatTheLoopReadsOrClearsShareNothing) {
  const Expr first = make_ramp(0, 1, kLanes);
  EXPECT_FALSE(share({.last = [&](const Buffer& a, const Buffer& s) {
    return make_store(a, make_cast(Int(8, kLanes), make_load(s, {first})), {first});
  }}));
  EXPECT_FALSE(share({.last = [&](const Buffer&, const Buffer& s) {
    return make_store(s, make_int(Int(32, kLanes), 0), {first});
  }}));
}

/// An element that indices name, and statements in which it changes after a let has read it.
struct ChangedElement {
  Buffer memory = decl_buffer({4}, Int(32), {.name = "J"});
  Expr value = make_load(memory, {Expr(0)});
  Var before{"x"};

  Stmt around(const Stmt& s, bool changes) const {
    const Stmt change = make_store(memory, Expr(7), {Expr(0)});
    return make_stmt(Let{before, value, changes ? make_seq({change, s}) : s});
  }
};

TEST(CombineProducts, TheSameElementBeforeAndAfterAStoreIsNotTheSameIndex) {
  const ChangedElement j;
  for (const bool changes : {false, true}) {
    Products products{UInt(8), Int(8), Int(32)};
    products.first = [&](int step, const Buffer&) { return step == 0 ? Expr(j.before) : j.value; };
    products.around = [&](const Stmt& s) { return j.around(s, changes); };
    EXPECT_EQ(combined(products.func()), changes ? 0 : 1);
  }
}

TEST(CombineProducts, AnIndexThatTheSumsChangeIsNotCombined) {
  Products products{UInt(8), Int(8), Int(32)};
  products.first = [](int, const Buffer& s) { return make_load(s, {Expr(0)}); };
  EXPECT_EQ(combined(products.func()), 0);
}

TEST(CombineProducts, SumsWhoseIndicesTheLoopChangesShareNothing) {
  const ChangedElement j;
  for (const Expr& index : {Expr(j.before), j.value})
    for (const bool changes : {false, true})
      EXPECT_EQ(share({.first = [&](int, const Buffer&) { return index; },
                       .around = [&](const Stmt& s) { return j.around(s, changes); }}),
                !changes);
}

TEST(CombineProducts, NothingIsTakenBackBehindALoopOfNoIterations) {
  Products products{Int(8), Int(8), Int(32), 3};
  products.extent = Var("n");
  bool is_guarded = false;
  walk(combine_products(products.func(), {.has_dp4a = true}).body,
       [&](const If& n) { is_guarded = is_guarded || contains<Store>(n.then_case); });
  EXPECT_TRUE(is_guarded);
}

}  // namespace
}  // namespace tenon::lowering
