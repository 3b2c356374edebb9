#include "lower/passes.h"

#include <gtest/gtest.h>

#include <random>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {
namespace {

// ---- programs -----------------------------------------------------------------------------------

using namespace tir;
using test::function_text;

std::string rewritten(std::string_view body) {
  return test::run(rewrite_storage, function_text(body, 64, 64));
}

TEST(RewriteStorage, SerialTemporariesGoToTheTopInOrderOfFirstWrite) {
  EXPECT_EQ(rewritten(R"(
  for (i: int32, 0, 8) {
    allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global;
    allocate(X: Pointer(global float32), float32, [100]), storage_scope = global {
      for (j: int32, 0, 8) {
        X_1: Buffer(X, float32, [100], [])[(j + 50)] = A[((i*8) + j)]
      }
      for (j_1: int32, 0, 8) {
        Y_1: Buffer(Y, float32, [8], [], align=32)[j_1] = X_1[(50 - j_1)]
      }
      for (j_2: int32, 0, 8) {
        B[((i*8) + j_2)] = Y_1[j_2]
      }
    }
  })"),
            R"(allocate(X: Pointer(global float32), float32, [100]), storage_scope = global;
allocate(Y: Pointer(global float32), float32, [8]), storage_scope = global;
for (i: int32, 0, 8) {
  for (j: int32, 0, 8) {
    X_1: Buffer(X, float32, [100], [])[(j + 50)] = A[((i*8) + j)]
  }
  for (j_1: int32, 0, 8) {
    Y_1: Buffer(Y, float32, [8], [], align=32)[j_1] = X_1[(50 - j_1)]
  }
  for (j_2: int32, 0, 8) {
    B[((i*8) + j_2)] = Y_1[j_2]
  }
}
)");
}

TEST(RewriteStorage, TheSizeOfAnAllocationMayBeNearTheGreatestInteger) {
  // 16 times the 2^62 bits of Y, the greatest block that may be reused for Y, is not an int64.
  const std::string text = rewritten(R"(
  allocate(X: Pointer(global float32), float32, [100]), storage_scope = global {
    for (j: int32, 0, 8) {
      X_1: Buffer(X, float32, [100], [])[j] = A[j]
    }
    for (j_1: int32, 0, 8) {
      B[j_1] = X_1[j_1]
    }
  }
  allocate(Y: Pointer(global float32), float32, [144115188075855872i64]), storage_scope = global {
    for (j_2: int32, 0, 8) {
      Y_1: Buffer(Y, float32, [144115188075855872i64], [])[j_2] = A[j_2]
    }
    for (j_3: int32, 0, 8) {
      B[j_3] = Y_1[j_3]
    }
  })");
  EXPECT_NE(text.find("allocate(X"), std::string::npos);
  EXPECT_NE(text.find("allocate(Y"), std::string::npos);
}

/// Four elementwise stages; the size of the third and whether it reverses.
std::string chain(int third = 64, bool reverses = false) {
  const std::string n = std::to_string(third);
  return R"(
  allocate(P: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Q: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(R: Pointer(global float32), float32, [)" +
         n + R"(]), storage_scope = global {
    for (i: int32, 0, 64) {
      P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
    }
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
    }
    for (k: int32, 0, 64) {
      R_1: Buffer(R, float32, [)" +
         n + R"(], [])[k] = (Q_1[)" + (reverses ? "(63 - k)" : "k") + R"(] + 1f32)
    }
    for (l: int32, 0, 64) {
      B[l] = R_1[l]
    }
  })";
}

TEST(RewriteStorage, ElementwiseChainsShareOneAllocation) {
  EXPECT_EQ(rewritten(chain()),
            R"(allocate(P: Pointer(global float32), float32, [64]), storage_scope = global {
  for (i: int32, 0, 64) {
    P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
  }
  for (j: int32, 0, 64) {
    P_2: Buffer(P, float32, [64], [])[j] = (P_1[j]*2f32)
  }
  for (k: int32, 0, 64) {
    P_3: Buffer(P, float32, [64], [])[k] = (P_2[k] + 1f32)
  }
  for (l: int32, 0, 64) {
    B[l] = P_3[l]
  }
}
)");
}

std::string allocations(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while ((at = text.find("allocate(", at)) != std::string::npos) {
    const std::size_t end = text.find(")", text.find("[", at));
    result += text.substr(at, end - at + 1) + "\n";
    at = end;
  }
  return result;
}

TEST(RewriteStorage, InPlaceNeedsTheSameIndex) {
  // The reversing stage needs memory of its own.
  EXPECT_EQ(allocations(rewritten(chain(64, true))),
            "allocate(P: Pointer(global float32), float32, [64])\n"
            "allocate(R: Pointer(global float32), float32, [64])\n");
}

TEST(RewriteStorage, InPlaceNeedsTheSameSize) {
  EXPECT_EQ(allocations(rewritten(chain(65))),
            "allocate(P: Pointer(global float32), float32, [64])\n"
            "allocate(R: Pointer(global float32), float32, [65])\n");
}

TEST(RewriteStorage, WhatIsWrittenTwiceIsNotWrittenInPlace) {
  const auto text = [](const char* loop) {
    return std::string(R"(
  allocate(P: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Q: Pointer(global float32), float32, [64]), storage_scope = global {
    for (i: int32, 0, 64) {
      P_1: Buffer(P, float32, [64], [])[i] = (A[i] + 1f32)
    }
)") + loop +
           R"(
    for (l: int32, 0, 64) {
      B[l] = Q_1[l]
    }
  })";
  };
  const std::string both =
      "allocate(P: Pointer(global float32), float32, [64])\nallocate(Q: Pointer(global float32), float32, "
      "[64])\n";
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = 0f32
      Q_1[j] = (P_1[j]*2f32)
    })"))),
            both);
  // Every round of r doubles again.
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (r: int32, 0, 2) {
      for (j: int32, 0, 64) {
        Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
      }
    })"))),
            both);
  // A write of the source after the read.
  EXPECT_EQ(allocations(rewritten(text(R"(
    for (j: int32, 0, 64) {
      Q_1: Buffer(Q, float32, [64], [])[j] = (P_1[j]*2f32)
      P_1[j] = 0f32
    })"))),
            both);
}

/// D of size `b` is made when P of size `a` is done; both are sums, so nothing is in place.
std::string two(int a, int b, std::string scope = "global", std::string a_type = "float32",
                std::string b_type = "float32") {
  const auto shape = [](int n) { return "[" + std::to_string(n) + "]"; };
  const std::string scope_field = scope == "global" ? "" : ", scope=\"" + scope + "\"";
  return "  allocate(P: Pointer(" + scope + " " + a_type + "), " + a_type + ", " + shape(a) +
         "), storage_scope = " + scope + ";\n  allocate(D: Pointer(" + scope + " " + b_type +
         "), " + b_type + ", " + shape(b) + "), storage_scope = " + scope + " {\n" +
         "P_1: Buffer(P, " + a_type + ", " + shape(a) + ", []" + scope_field + ")[0] = cast(" +
         a_type + ", A[0])\n" + "B[0] = cast(float32, P_1[0])\n" + "D_1: Buffer(D, " + b_type +
         ", " + shape(b) + ", []" + scope_field + ")[0] = cast(" + b_type + ", A[0])\n" +
         "B[1] = cast(float32, D_1[0])\n}\n";
}

TEST(RewriteStorage, FreeMemoryIsUsedAgainAndGrows) {
  EXPECT_EQ(allocations(rewritten(two(13, 100))),
            "allocate(P: Pointer(global float32), float32, [100])\n");
  EXPECT_EQ(allocations(rewritten(two(100, 13))),
            "allocate(P: Pointer(global float32), float32, [100])\n");
  EXPECT_EQ(allocations(rewritten(two(16, 16, "global", "float32", "float16"))),
            "allocate(P: Pointer(global float32), float32, [16])\n");
}

TEST(RewriteStorage, MemoryOfAnotherKindIsNotUsedAgain) {
  const auto count = [](const std::string& text) {
    const std::string all = allocations(rewritten(text));
    return std::count(all.begin(), all.end(), '\n');
  };
  EXPECT_EQ(count(two(4, 100)), 2);                                  // more than 16 times larger
  EXPECT_EQ(count(two(100, 100, "local")), 2);                       // registers
  EXPECT_EQ(count(two(1, 1)), 2);                                    // a value
  EXPECT_EQ(count(two(16, 16, "global", "float16", "float32")), 2);  // growing needs the same type
  EXPECT_EQ(count(two(16, 20, "shared")), 1);
}

TEST(RewriteStorage, IterationsThatRunSideBySideDoNotShare) {
  const char* nest = R"(
  for (i: int32, 0, 4) "parallel" {
    for (j: int32, 0, 4) KIND{
      allocate(X: Pointer(global float32), float32, [4]), storage_scope = global {
        for (k: int32, 0, 4) {
          X_1: Buffer(X, float32, [4], [])[k] = A[(((i*16) + (j*4)) + k)]
        }
        for (k_1: int32, 0, 4) {
          B[(((i*16) + (j*4)) + k_1)] = X_1[(3 - k_1)]
        }
      }
    }
  })";
  const auto with = [&](const std::string& kind) {
    std::string text = nest;
    return text.replace(text.find("KIND"), 4, kind);
  };
  EXPECT_TRUE(rewritten(with("")).starts_with(
      "for (i: int32, 0, 4) \"parallel\" {\n  allocate(X: Pointer(global float32), float32, [4])"));
  EXPECT_TRUE(rewritten(with("\"parallel\" "))
                  .starts_with(
                      "for (i: int32, 0, 4) \"parallel\" {\n  for (j: int32, 0, 4) \"parallel\" {\n"
                      "    allocate(X: Pointer(global float32), float32, [4])"));
}

TEST(RewriteStorage, TasksOfARegionKeepWhatOthersMayStillRead) {
  EXPECT_EQ(
      allocations(rewritten("attr [0] \"pragma_parallel_launch_point\" = 1 {" + chain() + "}")),
      "allocate(P: Pointer(global float32), float32, [64])\n"
      "allocate(Q: Pointer(global float32), float32, [64])\n"
      "allocate(R: Pointer(global float32), float32, [64])\n");
}

TEST(RewriteStorage, AKernelsMemoryIsMadeInsideItsFirstThreadAttribute) {
  const std::string text = rewritten(R"(
  attr [IterVar(blockIdx.x: int32, (nullptr), "ThreadIndex", "blockIdx.x")] "thread_extent" = 4;
  attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 16;
  allocate(X: Pointer(local float32), float32, [1]), storage_scope = local {
    X_1: Buffer(X, float32, [1], [], scope="local", align=4)[0] = A[((blockIdx.x*16) + threadIdx.x)]
    B[((blockIdx.x*16) + threadIdx.x)] = X_1[0]
  })");
  EXPECT_LT(text.find("blockIdx.x: "), text.find("allocate(X"));
  EXPECT_LT(text.find("allocate(X"), text.find("threadIdx.x: "));
}

TEST(RewriteStorage, ASizeThatVariesBecomesItsUpperBound) {
  const std::string size = "[(max(((i*8) - max(((i*8) - 1), 0)), 0) + 8)]";
  EXPECT_EQ(rewritten("for (i: int32, 0, 8) {\n  allocate(X: Pointer(global float32), float32, " +
                      size + "), storage_scope = global {\n    X_1: Buffer(X, float32, " + size +
                      ", [])[i] = A[i]\n    B[i] = X_1[i]\n  }\n}\n"),
            R"(allocate(X: Pointer(global float32), float32, [9]), storage_scope = global;
for (i: int32, 0, 8) {
  X_1: Buffer(X, float32, [9], [])[i] = A[i]
  B[i] = X_1[i]
}
)");
}

TEST(RewriteStorage, ABoundOfASizeHoldsWhereAGuardExcludesADivisionByZero) {
  EXPECT_EQ(allocations(rewritten(R"(
  for (i: int32, 0, 5) {
    if (0 < i) {
      allocate(X: Pointer(global float32), float32, [floordiv(12, i)]), storage_scope = global {
        X_1: Buffer(X, float32, [floordiv(12, i)], [])[0] = A[i]
        B[i] = X_1[0]
      }
    }
  })")),
            "allocate(X: Pointer(global float32), float32, [12])\n");
}

TEST(RewriteStorage, ASizeWithoutABoundStaysWhereItIsKnown) {
  const std::string text = R"(for (i: int32, 0, 8) {
  let n: int32 = cast(int32, A[i])
  allocate(X: Pointer(global float32), float32, [n]), storage_scope = global {
    X_1: Buffer(X, float32, [n], [])[0] = A[i]
    B[i] = X_1[0]
  }
}
)";
  EXPECT_EQ(rewritten(text), text);
}

TEST(RewriteStorage, AnAddressKeepsMemoryAlive) {
  // X is last used through its address, or by its pointer, after Y is made: they must not share.
  for (const std::string used : {"@tir.address_of(X_1[0], dtype=handle)", "X"})
    EXPECT_EQ(allocations(rewritten(R"(
  allocate(X: Pointer(global float32), float32, [64]), storage_scope = global;
  allocate(Y: Pointer(global float32), float32, [64]), storage_scope = global {
    X_1: Buffer(X, float32, [64], [])[0] = A[0]
    Y_1: Buffer(Y, float32, [64], [])[1] = A[1]
    @tir.call_extern("f", )" + used +
                                    R"(, dtype=int32)
    B[0] = Y_1[1]
  })")),
              "allocate(X: Pointer(global float32), float32, [64])\n"
              "allocate(Y: Pointer(global float32), float32, [64])\n")
        << used;
}

// ---- random programs ----------------------------------------------------------------------------

// Random programs of many temporaries, before and after rewrite_storage: the interpreter must not
// see a difference.

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
