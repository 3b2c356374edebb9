// Primitives with arguments drawn at random, most of them wrong: each call either works, or throws an Error
// and leaves the schedule as it was; and whatever comes of it, lower gives a program or an Error.
#include <gtest/gtest.h>

#include <random>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using te::Expr;
using te::IterVar;
using te::Stage;
using te::Tensor;

class Misuser {
 public:
  explicit Misuser(std::uint32_t seed) : random_(seed) {
    Tensor A = te::placeholder({6, 8}, "A");
    IterVar k = te::reduce_axis({0, 8}, "k");
    Tensor B = te::compute(
        {6, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    Tensor C = te::compute(
        {6}, {"i"}, [&](Var i) { return te::sum(B(i, k) * A(i, k), {k}); }, "C");
    std::vector<Tensor> T = te::compute_multi(
        {6}, {"i"},
        [&](Var i) {
          return std::vector<Expr>{C(i) + B(i, 0), C(i) * 2.0f};
        },
        "T");
    Tensor D = te::compute(
        {6}, {"i"}, [&](Var i) { return T[0](i) + T[1](5 - i); }, "D");
    tensors_ = {A, B, C, T[0], T[1], D, te::placeholder({6, 8}, "X")};
    args_ = {A, D};
    schedule_ = te::create_schedule(D);
    threads_ = {te::thread_axis("threadIdx.x"), te::thread_axis({0, 4}, "blockIdx.x"),
                te::thread_axis({0, 2}, "vthread")};
  }

  /// One call. What it says, if it is refused and has changed nothing; else what is wrong.
  std::string step() {
    const std::string before = picture();
    try {
      call();
      return "";
    } catch (const InternalError& error) {
      return std::string("a fault of the compiler: ") + error.what();
    } catch (const Error& error) {
      if (!error.where()) return std::string("no line: ") + error.what();
      return picture() == before ? "" : std::string("changed by what was refused: ") + error.what();
    } catch (const std::exception& error) {
      return std::string("another exception: ") + error.what();
    }
  }

  /// The program, or the Error that there is none.
  std::string lowered() const {
    try {
      std::ostringstream out;
      out << lower(*schedule_, args_, {.simple_mode = true});
      return out.str();
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
  }

  const std::string& last() const { return last_; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(static_cast<int>(list.size())))];
  }

  const Tensor& tensor() { return one_of(tensors_); }
  Stage stage() { return (*schedule_)[tensor()]; }

  /// Mostly a loop of the stage; else one of another, one that is gone, or a thread.
  IterVar axis(const Stage& stage) {
    const int kind = pick(8);
    if (kind == 0) return one_of(threads_);
    if (kind == 1) return te::reduce_axis({0, 8}, "stray");
    const Stage source = kind == 2 ? this->stage() : stage;
    const std::vector<IterVar>& axes = kind == 3 ? source.all_iter_vars() : source.leaf_iter_vars();
    return axes.empty() ? one_of(threads_) : one_of(axes);
  }

  Expr count() {
    static const std::vector<Expr> kCounts = {-3,      0, 1, 2, 3, 5, 8, 100, 2.5f, std::int64_t{1} << 40,
                                              Var("n")};
    return one_of(kCounts);
  }

  std::string scope() {
    static const std::vector<std::string> kScopes = {"global", "shared", "local", "sharedd", "", "warp"};
    return one_of(kScopes);
  }

  void call() {
    te::Schedule& s = *schedule_;
    switch (const int kind = pick(24)) {
      case 0:
      case 1:
        return on_loop("split", [](Stage t, IterVar a, Expr n) { t.split(a, n); });
      case 2:
        return on_loop("split_by_nparts", [](Stage t, IterVar a, Expr n) { t.split_by_nparts(a, n); });
      case 3:
        return on_loop("vectorize", [](Stage t, IterVar a, Expr) { t.vectorize(a); });
      case 4:
        return on_loop("unroll", [](Stage t, IterVar a, Expr) { t.unroll(a); });
      case 5:
        return on_loop("parallel", [](Stage t, IterVar a, Expr) { t.parallel(a); });
      case 6:
        return on_loop("pragma", [](Stage t, IterVar a, Expr n) { t.pragma(a, "key", n); });
      case 7:
        return on_loop("storage_align",
                       [this](Stage t, IterVar a, Expr) { t.storage_align(a, pick(4) - 1, pick(3) - 1); });
      case 8:
        return on_loop("prefetch", [this](Stage t, IterVar a, Expr n) { t.prefetch(tensor(), a, n); });
      case 9:
        return on_loop("bind", [this](Stage t, IterVar a, Expr) { t.bind(a, axis(t)); });
      case 10:
        return on_loop("fuse", [this](Stage t, IterVar a, Expr) { t.fuse(a, axis(t)); });
      case 11:
        return on_loop("reorder", [this](Stage t, IterVar a, Expr) { t.reorder({a, axis(t), axis(t)}); });
      case 12:
        return on_loop("tile", [this](Stage t, IterVar a, Expr n) { t.tile(a, axis(t), n, count()); });
      case 13:
      case 14:
        return on_loop("compute_at", [this](Stage t, IterVar a, Expr) { stage().compute_at(t, a); });
      case 15:
        return on_loop("rfactor",
                       [this, &s](Stage, IterVar a, Expr) { keep({s.rfactor(tensor(), a, pick(4) - 1)}); });
      case 16:
        return on_loop("cache_read", [this, &s](Stage t, IterVar, Expr) {
          keep({s.cache_read(tensor(), scope(), {t.op()})});
        });
      case 17:
        return on_loop("cache_write",
                       [this, &s](Stage, IterVar, Expr) { keep({s.cache_write(tensor(), scope())}); });
      case 18:
        return on_loop("compute_inline", [](Stage t, IterVar, Expr) { t.compute_inline(); });
      case 19:
        return on_loop("set_scope", [this](Stage t, IterVar, Expr) { t.set_scope(scope()); });
      case 20:
        return on_loop("create_group", [this, &s](Stage, IterVar, Expr) {
          s.create_group(tensor(), tensor(), pick(2) == 0);
        });
      case 21:
        return on_loop("transform_layout", [this](Stage t, IterVar, Expr) {
          t.transform_layout([this](std::span<const Var> v) {
            std::vector<Expr> result(v.begin(), v.end());
            if (pick(2) == 0) std::reverse(result.begin(), result.end());
            if (pick(3) == 0) result.push_back(0);
            return result;
          });
        });
      default:
        return on_loop("a mark", [kind](Stage t, IterVar, Expr) {
          kind == 22 ? t.double_buffer() : t.rolling_buffer();
        });
    }
  }

  template <class F>
  void on_loop(const char* primitive, F f) {
    const Stage chosen = stage();
    const IterVar loop = axis(chosen);
    last_ = std::string(primitive) + " of " + loop.name() + " of " + chosen.name();
    f(chosen, loop, count());
  }

  void keep(std::vector<Tensor> made) { tensors_.insert(tensors_.end(), made.begin(), made.end()); }

  std::string picture() const {
    std::ostringstream out;
    for (const Stage& stage : schedule_->stages()) {
      out << stage.op() << stage.data().attach.index() << ' ' << stage.relations().size();
      for (const IterVar& axis : stage.leaf_iter_vars()) out << ' ' << axis;
      out << '\n';
    }
    return out.str() + lowered();
  }

  std::mt19937 random_;
  std::vector<Tensor> tensors_;
  std::vector<LowerArgument> args_;
  std::vector<IterVar> threads_;
  std::optional<te::Schedule> schedule_;
  std::string last_;
};

TEST(RandomMisuseTest, WorksOrIsRefused) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Misuser misuser(seed);
    for (int n = 0; n < 10; ++n) {
      EXPECT_EQ(misuser.step(), "") << "seed " << seed << ", step " << n << ", " << misuser.last();
      if (HasFailure()) break;
    }
  }
}

}  // namespace
}  // namespace tenon::testing
