// Random programs of many temporaries, before and after rewrite_storage: the interpreter must not
// see a difference.
#include <gtest/gtest.h>

#include <random>

#include "lower/passes.h"
#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

using namespace tir;

constexpr int kSize = 64;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  PrimFunc function() {
    const Buffer a = decl_buffer({kSize}, Int(32), {.name = "A"}),
                 b = decl_buffer({kSize}, Int(32), {.name = "B"});
    out_.push_back(b);
    PrimFunc func{{}, {}, block(0, {a}, 0)};
    for (const Buffer& buffer : {a, b}) {
      func.buffers.push_back({Var(buffer->name, Handle()), buffer, buffer});
      func.params.push_back(func.buffers.back().param);
    }
    return func;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int size_of(const Buffer& b) { return static_cast<int>(*constant_int(b->shape[0])); }

  /// Some statements with temporaries of their own, inside a loop of `r` where that is given.
  Stmt block(int depth, std::vector<Buffer> readable, const Expr& r) {
    std::vector<Stmt> stmts;
    std::vector<Buffer> temporaries;
    const int count = 2 + pick(5);
    for (int n = 0; n < count; ++n) {
      const int kind = pick(8);
      if (kind == 0 && depth < 2) {
        const Var inner("r" + std::to_string(depth));
        const ForKind kind_of_loop = pick(3) == 0 ? ForKind::Parallel : ForKind::Serial;
        stmts.push_back(
            make_stmt(For{inner, 0, 3, kind_of_loop, block(depth + 1, readable, inner)}));
      } else if (kind == 1) {
        stmts.push_back(output(readable, r));
      } else {
        temporaries.push_back(temporary());
        stmts.push_back(stage(temporaries.back(), readable, r));
        readable.push_back(temporaries.back());
      }
    }
    stmts.push_back(output(readable, r));
    Stmt body = make_seq(std::move(stmts));
    std::shuffle(temporaries.begin(), temporaries.end(), random_);
    for (const Buffer& t : temporaries) {
      body = make_stmt(Allocate{t->data, t->dtype, t->shape, make_true(), body});
    }
    return body;
  }

  Buffer temporary() {
    const int sizes[] = {1, 16, 16, 16, 20, 64};
    const DataType types[] = {Int(32), Int(32), Int(32), Int(16), Int(8)};
    const std::string name = "T" + std::to_string(number_++);
    const DataType type = types[pick(5)];
    const Var data(name,
                   PointerType{type, pick(6) == 0 ? StorageScope::Local : StorageScope::Global});
    return decl_buffer({sizes[pick(6)]}, type, {.name = name, .data = data});
  }

  /// The element that the iteration uses: 0 <= at < count.
  struct Place {
    Expr at;
    int count;
  };

  Expr read(const std::vector<Buffer>& readable, const Place& place, const Expr& r) {
    // Mostly the newest: chains are what may share.
    const int newest = static_cast<int>(readable.size()) - 1;
    const Buffer& from =
        readable[static_cast<std::size_t>(pick(4) > 0 ? newest : pick(newest + 1))];
    const int size = size_of(from);
    const Expr& x = place.at;
    const Expr straight = place.count <= size ? x : floormod(x, size);
    if (pick(5) > 0) return cast(Int(32), from({straight}));
    return cast(Int(32),
                from({pick(2) == 0 ? size - 1 - floormod(x, size) : floormod(x * 3 + r, size)}));
  }

  Expr value(const std::vector<Buffer>& readable, const Place& place, const Expr& r) {
    const Expr v = read(readable, place, r) + (1 + pick(5));
    return pick(2) == 0 ? v : v + read(readable, place, r) * (1 + pick(3));
  }

  static Stmt loop(const Var& v, const Expr& extent, const Stmt& body, const Expr& min = 0) {
    return make_stmt(For{v, min, extent, ForKind::Serial, body});
  }

  /// Loops in which every element of a buffer of `size` is used, once or several times.
  template <class Fill>
  Stmt over_all(int size, const Fill& fill) {
    const Var x("x"), y("y");
    switch (size == 1 ? 0 : pick(9)) {
      case 0:  // every element twice in a row
        return loop(x, size * 2, fill(Place{floordiv(x, 2), size}));
      case 1:  // all of them twice
        return loop(x, size * 2, fill(Place{floormod(x, size), size}));
      case 2:  // rows that overlap
        return loop(x, size / 4, loop(y, 8, fill(Place{min(x * 4 + y, size - 1), size})));
      case 3:  // windows that overlap
        return loop(x, size - 3, loop(y, 4, fill(Place{x + y, size})));
      case 4:  // rows, one after the other
        return loop(x, size / 4, loop(y, 4, fill(Place{x * 4 + y, size})));
      case 5:  // columns
        return loop(x, 4, loop(y, size / 4, fill(Place{x + y * 4, size})));
      case 6:  // backwards
        return loop(x, size, fill(Place{size - 1 - x, size}));
      case 7:  // from 3 on
        return loop(x, size, fill(Place{x - 3, size}), 3);
      default:
        return loop(x, size, fill(Place{x, size}));
    }
  }

  Stmt stage(const Buffer& t, const std::vector<Buffer>& readable, const Expr& r) {
    const Var k("k");
    const int count = size_of(t);
    const auto store = [&](const Place& place, const Expr& v) {
      return make_store(t, cast(t->dtype, v), {place.at});
    };
    const auto fill = [&](const Place& place) { return store(place, value(readable, place, r)); };
    switch (pick(8)) {
      case 0:  // a reduction
        return over_all(count, [&](const Place& place) {
          const Expr sum = cast(Int(32), t({place.at})) + value(readable, place, r) * (k + 1);
          return make_seq({store(place, 0), loop(k, 3, store(place, sum))});
        });
      case 1:  // repeated
        return loop(k, 2, over_all(count, fill));
      case 2:  // two branches
        return over_all(count, [&](const Place& place) {
          return make_stmt(If{place.at < 7, fill(place), fill(place)});
        });
      case 3:  // written twice
        return over_all(count, [&](const Place& place) {
          return make_seq({store(place, 7), fill(place)});
        });
      case 4: {  // two branches, each of which fills all
        const Var x("x");
        return loop(x, count * 2,
                    make_stmt(If{x < count, fill({x, count}), fill({x - count, count})}));
      }
      default:
        return over_all(count, fill);
    }
  }

  Stmt output(const std::vector<Buffer>& readable, const Expr& r) {
    const Var x("x");
    const Buffer& b = out_[0];
    return make_stmt(For{x, 0, kSize, ForKind::Serial,
                         make_store(b, b({x}) * 3 + value(readable, Place{x, kSize}, r), {x})});
  }

  std::mt19937 random_;
  std::vector<Buffer> out_;
  int number_ = 0;
};

std::vector<std::int32_t> result_of(const PrimFunc& func) {
  std::vector<std::int32_t> in(kSize), out(kSize, 1);
  for (int n = 0; n < kSize; ++n) in[n] = n * n % 31;
  const std::vector<HostValue> args{HostArray{in.data(), Int(32), {kSize}},
                                    HostArray{out.data(), Int(32), {kSize}}};
  evaluate(func, args, {.check_uninitialized = true});
  return out;
}

int allocations_in(const PrimFunc& func) {
  int count = 0;
  walk(func.body, [&](const Allocate&) { ++count; });
  return count;
}

TEST(RandomStorage, SharedMemoryKeepsEveryValue) {
  int before = 0, after = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const PrimFunc func = Generator(seed).function();
    const PrimFunc rewritten = rewrite_storage(func, {});
    ASSERT_TRUE(verify(rewritten, Form::Flat).empty()) << "seed " << seed << "\n"
                                                       << print_function(rewritten);
    ASSERT_EQ(result_of(rewritten), result_of(func))
        << "seed " << seed << "\n"
        << print_function(func) << print_function(rewritten);
    before += allocations_in(func);
    after += allocations_in(rewritten);
  }
  // It is no test if nothing is shared.
  EXPECT_LT(after, before * 9 / 10);
}

}  // namespace
}  // namespace tenon::lowering
