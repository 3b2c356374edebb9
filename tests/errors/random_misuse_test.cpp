// Primitives with arguments drawn at random, most of them wrong: each call either works, or throws
// an Error and leaves the schedule as it was; and whatever comes of it, lower gives an Error, or a
// program that computes what the default schedule computes.
#include <gtest/gtest.h>

#include <random>

#include "tenon/te/stage_data.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"
#include "tests/errors/add_one.h"

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
    Tensor S = running_sums(T[0]), E = doubled(T[1]);
    Tensor D = te::compute(
        {6}, {"i"}, [&](Var i) { return S(i) + E(5 - i); }, "D");
    tensors_.insert(tensors_.end(), {A, B, C, T[0], T[1], S, E, D, te::placeholder({6, 8}, "X")});
    args_ = {A, D, n_};
    schedule_ = te::create_schedule(D);
    threads_ = {te::thread_axis("threadIdx.x"), te::thread_axis({0, 4}, "blockIdx.x"),
                te::thread_axis({0, 2}, "vthread"), te::thread_axis("vthread")};
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

  /// The text of the program, or of the Error if it is refused.
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

  /// The difference of the schedule's results from those of the default one; "" if there is no
  /// difference or no program.
  std::string difference() const {
    try {
      lower(*schedule_, args_, {.simple_mode = true});
    } catch (const Error&) {
      return "";
    }
    if (is_refused_by_build()) return "";
    try {
      return compare_with_default(*schedule_, args_, {.compile = false, .symbols = {9}});
    } catch (const std::exception& error) {
      // Memory of a block that is filled outside of it: the interpreter says so, and no code is
      // made for threads.
      const std::string text = error.what();
      return text.starts_with("a race") ? "" : text;
    }
  }

  const std::string& last() const { return last_; }

 private:
  Tensor running_sums(const Tensor& terms) {
    Tensor state = te::placeholder({6}, "state");
    Tensor init = te::compute(
        {1}, {"t"}, [&](Var) { return terms(0); }, "init");
    Tensor update = te::compute(
        {6}, {"t"}, [&](Var t) { return state(t - 1) + terms(t); }, "update");
    tensors_.insert(tensors_.end(), {state, init, update});
    return te::scan(init, update, state, {terms}, "S");
  }

  static Tensor doubled(const Tensor& x) {
    auto body = [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
      tir::IRBuilder ib;
      auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
      ib.for_range(0, 6, "i", [&](Var i) { out[i] = in[i] * 2.0f; });
      return ib.get();
    };
    return te::extern_op({6}, {x}, body, "E");
  }

  /// Whether build refuses a schedule that lowers and prints, or its arguments have another layout.
  bool is_refused_by_build() const {
    const std::vector<std::string>& warnings = schedule_->warnings();
    const bool is_diagonal = std::any_of(
        warnings.begin(), warnings.end(),
        [](const std::string& warning) { return warning.find("diagonal") != std::string::npos; });
    const bool has_other_arguments =
        std::any_of(args_.begin(), args_.end(), [&](const LowerArgument& arg) {
          const Tensor* tensor = std::get_if<Tensor>(&arg);
          return tensor && (*schedule_)[*tensor].data().layout;
        });
    return is_diagonal || has_other_arguments || uses_stray_;
  }

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
    const std::vector<Expr> counts = {-3, 0,     1, 2, 3, 5, 8, 100, 2.5f, std::int64_t{1} << 40,
                                      n_, n_ - 7};
    if (pick(20) != 0) return one_of(counts);
    // A loop is refused; the variable of a thread may be anything until the function is lowered.
    uses_stray_ = true;
    return axis(stage());
  }

  std::string scope() {
    static const std::vector<std::string> kScopes = {"global",  "shared", "local",
                                                     "sharedd", "",       "warp"};
    return one_of(kScopes);
  }

  std::string pragma_key() {
    static const std::vector<std::string> kKeys = {
        "key", "", "unroll", "vectorize", "unroll_explicit", "auto_unroll_max_step"};
    return one_of(kKeys);
  }

  void buffer(const te::Stage& stage, const IterVar& axis) {
    pick(2) == 0 ? stage.round_up(axis) : stage.rolling_buffer();
  }

  void call() {
    te::Schedule& s = *schedule_;
    switch (pick(32)) {
      case 0:
      case 1:
        return on_loop("split", [](Stage t, IterVar a, Expr n) { t.split(a, n); });
      case 2:
        return on_loop("split_by_nparts",
                       [](Stage t, IterVar a, Expr n) { t.split_by_nparts(a, n); });
      case 3:
        return on_loop("vectorize", [](Stage t, IterVar a, Expr) { t.vectorize(a); });
      case 4:
        return on_loop("unroll", [](Stage t, IterVar a, Expr) { t.unroll(a); });
      case 5:
        return on_loop("parallel", [](Stage t, IterVar a, Expr) { t.parallel(a); });
      case 6:
        return on_loop("pragma",
                       [this](Stage t, IterVar a, Expr n) { t.pragma(a, pragma_key(), n); });
      case 7:
        return on_loop("storage_align", [this](Stage t, IterVar a, Expr) {
          t.storage_align(a, pick(4) - 1, pick(3) - 1);
        });
      case 8:
        return on_loop("prefetch",
                       [this](Stage t, IterVar a, Expr n) { t.prefetch(tensor(), a, n); });
      case 9:
        return on_loop("bind", [this](Stage t, IterVar a, Expr) { t.bind(a, axis(t)); });
      case 10:
        return on_loop("fuse", [this](Stage t, IterVar a, Expr) { t.fuse(a, axis(t)); });
      case 11:
        return on_loop("reorder", [this](Stage t, IterVar a, Expr) {
          t.reorder({a, axis(t), axis(t)});
        });
      case 12:
        return on_loop("tile",
                       [this](Stage t, IterVar a, Expr n) { t.tile(a, axis(t), n, count()); });
      case 13:
      case 14:
        return on_loop("compute_at",
                       [this](Stage t, IterVar a, Expr) { stage().compute_at(t, a); });
      case 15:
        return on_loop("rfactor", [this, &s](Stage, IterVar a, Expr) {
          keep({s.rfactor(tensor(), a, pick(4) - 1)});
        });
      case 16:
        return on_loop("cache_read", [this, &s](Stage t, IterVar, Expr) {
          keep({s.cache_read(tensor(), scope(), {t.op()})});
        });
      case 17:
        return on_loop("cache_write", [this, &s](Stage, IterVar, Expr) {
          keep({s.cache_write(tensor(), scope())});
        });
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
      case 22:
        return on_loop("double_buffer", [](Stage t, IterVar, Expr) { t.double_buffer(); });
      case 23:
        return on_loop("a buffer", [this](Stage t, IterVar a, Expr) { buffer(t, a); });
      case 24:
        return on_loop("set_store_predicate", [this](Stage t, IterVar a, Expr n) {
          t.set_store_predicate(a >= 0 && n > -10);
          uses_stray_ = uses_stray_ || !t.data().has_axis(a);
        });
      case 25:
        return on_loop("env_threads",
                       [this](Stage t, IterVar, Expr) { t.env_threads({one_of(threads_)}); });
      case 26:
      case 27:
        return on_loop("tensorize", [](Stage t, IterVar a, Expr) { t.tensorize(a, add_one(8)); });
      case 28:
        return on_loop("compute_root", [](Stage t, IterVar, Expr) { t.compute_root(); });
      case 29:
        return on_loop("fuse of nothing",
                       [](Stage t, IterVar, Expr) { t.fuse(std::vector<IterVar>{}); });
      case 30:
        return on_loop("bind", [this](Stage t, IterVar a, Expr) { t.bind(a, one_of(threads_)); });
      default:
        return on_loop("normalize", [this](Stage, IterVar, Expr) {
          if (pick(3) == 0) schedule_ = pick(2) == 0 ? schedule_->normalize() : schedule_->copy();
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
  /// Something is said of a variable that need not be there.
  bool uses_stray_ = false;
  /// A factor that the caller of the function gives.
  Var n_{"n"};
  std::vector<Tensor> tensors_;
  std::vector<LowerArgument> args_;
  std::vector<IterVar> threads_;
  std::optional<te::Schedule> schedule_;
  std::string last_;
};

TEST(RandomMisuseTest, WorksOrIsRefused) {
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    Misuser misuser(seed);
    for (int n = 0; n < 10; ++n) {
      EXPECT_EQ(misuser.step(), "") << "seed " << seed << ", step " << n << ", " << misuser.last();
      if (HasFailure()) return;
    }
    EXPECT_EQ(misuser.difference(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace tenon::testing
