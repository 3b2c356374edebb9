// Barriers of random kernels: what they leave racing, the interpreter sees.
#include <gtest/gtest.h>

#include <random>

#include "lower/checks/barrier_hazards.h"
#include "lower/passes.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {
namespace {

using namespace tir;

/// Kernels of 4 x 2 threads that fill and read shared memory in loops and under conditions.
class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}

  PrimFunc function() {
    const IterVar y(Range(0, 2), ty_, IterKind::ThreadIndex, ThreadTag::parse("threadIdx.y")),
        x(Range(0, 4), tx_, IterKind::ThreadIndex, ThreadTag::parse("threadIdx.x"));
    Stmt body = block(0);
    for (const Buffer& s : shared_) {
      // All of it holds something before it is read.
      const Expr thread = ty_ * 4 + tx_;
      for (int n = 0; n < kSize; n += 8) body = make_seq({make_store(s, 1, {thread + n}), body});
    }
    for (const Buffer& s : shared_)
      body = make_stmt(Allocate{s->data, s->dtype, s->shape, make_true(), body});
    body = make_stmt(Attr{AttrKind::ThreadExtent, x, "", 4, body});
    body = make_stmt(Attr{AttrKind::ThreadExtent, y, "", 2, body});
    PrimFunc func{{}, {}, body};
    func.buffers.push_back({Var("out", Handle()), out_, out_});
    func.params.push_back(func.buffers.back().param);
    return func;
  }

 private:
  static constexpr int kSize = 32;
  static Buffer shared(const std::string& name) {
    const Var data(name, PointerType{Int(32), StorageScope::Shared});
    return decl_buffer({kSize}, Int(32), {.name = name, .data = data});
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// For stores one element of each thread, so that a statement does not race with itself.
  Expr index(bool is_store) {
    const Expr thread = ty_ * 4 + tx_;
    Expr e = pick(3) == 0 ? 7 - thread : thread;
    if (!is_store) {
      if (pick(4) == 0) e = floordiv(thread, 2);
      if (pick(6) == 0) e = Expr(tx_);
      if (pick(8) == 0) e = pick(8);
    }
    if (!loops_.empty() && pick(2) == 0) {
      const Var& loop = loops_[static_cast<std::size_t>(pick(static_cast<int>(loops_.size())))];
      e = e + (pick(3) == 0 ? floormod(loop, 2) * 8 : loop * (pick(2) == 0 ? 8 : 1));
    }
    return pick(4) == 0 ? e + 8 : e;
  }

  Stmt leaf() {
    const Buffer& s = shared_[static_cast<std::size_t>(pick(2))];
    if (pick(2) == 0) return make_store(s, 1, {index(true)});
    return make_store(out_, s({index(false)}), {ty_ * 4 + tx_});
  }

  Stmt block(int depth) {
    std::vector<Stmt> stmts;
    for (int n = 1 + pick(3); n >= 0; --n) {
      const int kind = depth < 3 ? pick(6) : 5;
      if (kind == 0) {
        const Var loop("i" + std::to_string(depth));
        loops_.push_back(loop);
        const Stmt body = block(depth + 1);
        loops_.pop_back();
        stmts.push_back(make_stmt(For{loop, pick(2), 1 + pick(2), ForKind::Serial, body}));
      } else if (kind == 1 && !loops_.empty()) {
        const Expr condition = loops_.back() < 1;
        Stmt then_case = block(depth + 1);
        std::optional<Stmt> else_case;
        if (pick(2) == 0) else_case = block(depth + 1);
        stmts.push_back(make_stmt(If{condition, then_case, else_case}));
      } else if (kind == 2) {
        const Expr conditions[] = {tx_ < 2,  tx_ < 1,  tx_ == 3, all(ty_ == 1, tx_ == 0),
                                   tx_ >= 1, 1 <= tx_, ty_ < 1,  all(tx_ >= 1, tx_ < 3)};
        stmts.push_back(make_stmt(If{conditions[pick(8)], leaf(), std::nullopt}));
      } else {
        stmts.push_back(leaf());
      }
    }
    return make_seq(std::move(stmts));
  }

  std::mt19937 random_;
  Var tx_{"tx"}, ty_{"ty"};
  std::vector<Buffer> shared_{shared("S"), shared("T")};
  Buffer out_ = decl_buffer({8}, Int(32), {.name = "out"});
  std::vector<Var> loops_;
};

bool races(const PrimFunc& func) {
  std::vector<std::int32_t> out(8);
  const std::vector<HostValue> args{HostArray{out.data(), Int(32), {8}}};
  try {
    evaluate(func, args, {.check_races = true});
  } catch (const RuntimeError&) {
    return true;
  }
  return false;
}

TEST(SynchronizeThreads, RandomKernelsDoNotRace) {
  int racing = 0, synchronized = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const PrimFunc before = RandomKernel(seed).function();
    const bool raced = races(before);
    racing += raced;
    // A kernel without hazards must not race.
    EXPECT_TRUE(!raced || !find_barrier_hazards(before).empty()) << print_function(before);
    try {
      const PrimFunc after = synchronize_threads(before, {});
      const std::vector<Violation> hazards = find_barrier_hazards(after);
      EXPECT_TRUE(hazards.empty()) << seed << " " << hazards.front().where << print_function(after);
      EXPECT_FALSE(races(after)) << seed << print_function(after);
      ++synchronized;
    } catch (const LowerError&) {
      // A barrier would have to stand where not all threads come.
    }
  }
  EXPECT_GT(racing, 200);
  EXPECT_GT(synchronized, 200);
}

}  // namespace
}  // namespace tenon::lowering
