#include "tests/fuzz/affine_program.h"

#include <algorithm>

#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"

namespace tenon::fuzz {

using te::IterVar;
using te::Tensor;
using tir::Expr;
using tir::Var;

namespace {

constexpr int kMaxStages = 5, kMaxExtent = 24, kMaxReads = 3;

/// axis * times + (reduction axis * reduce_times) + plus, for one dimension of what is read.
struct Position {
  int axis, times, reduce_times, plus;
};

struct Read {
  int producer;
  std::vector<Position> positions;
};

/// Stage 0 is the output, the last one an input.
struct Plan {
  std::vector<int> shape;
  /// 0: not a reduction.
  int reduced = 0;
  std::vector<Read> reads;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  AffineProgram run() {
    plan_all();
    make_tensors();
    te::Schedule s = te::create_schedule(tensors_.front());
    for (int n = 0; n + 1 < static_cast<int>(plans_.size()); ++n) {
      for (int steps = random_.between(0, 3); steps > 0; --steps) change_loops(s, n);
      if (n > 0 && !random_.one_in(4)) place(s, n);
    }
    return {std::move(s), {tensors_.back(), tensors_.front()}, std::move(text_)};
  }

 private:
  // ---- what to compute: readers first, so that producers are as large as what is read of them

  void plan_all() {
    const int count = random_.between(2, kMaxStages);
    plans_.resize(static_cast<std::size_t>(count));
    for (Plan& plan : plans_) plan.shape.assign(static_cast<std::size_t>(random_.between(1, 2)), 1);
    for (int& extent : plans_.front().shape) extent = random_.between(1, kMaxExtent);
    for (int n = 0; n + 1 < count; ++n) {
      Plan& plan = plans_[static_cast<std::size_t>(n)];
      if (random_.one_in(3)) plan.reduced = random_.between(1, 4);
      add_reads(plan, n + 1);
      if (n + 2 < count && random_.one_in(3)) add_reads(plan, random_.between(n + 2, count - 1));
    }
  }

  void add_reads(Plan& plan, int producer) {
    Plan& read = plans_[static_cast<std::size_t>(producer)];
    std::vector<Position> first;
    for (std::size_t d = 0; d < read.shape.size(); ++d) {
      const int axis = random_.between(0, static_cast<int>(plan.shape.size()) - 1);
      const int times = random_.one_in(3) ? random_.between(-1, 3) : 1;
      first.push_back({axis, times, plan.reduced > 0 ? random_.between(0, 2) : 0, 0});
    }
    for (int count = random_.one_in(2) ? 1 : random_.between(2, kMaxReads); count > 0; --count) {
      Read next{producer, first};
      for (Position& p : next.positions) p.plus = random_.between(0, 3);
      plan.reads.push_back(std::move(next));
    }
    fit(plan, producer);
  }

  /// Shifts what would begin below 0, and makes the producer large enough.
  void fit(Plan& plan, int producer) {
    Plan& read = plans_[static_cast<std::size_t>(producer)];
    for (Read& r : plan.reads) {
      if (r.producer != producer) continue;
      for (std::size_t d = 0; d < read.shape.size(); ++d) {
        Position& p = r.positions[d];
        const int most = plan.shape[static_cast<std::size_t>(p.axis)] - 1;
        if (p.times < 0 && p.plus < -p.times * most) p.plus -= p.times * most;
        const int last =
            std::max(p.times, 0) * most + p.plus + p.reduce_times * std::max(plan.reduced - 1, 0);
        read.shape[d] = std::max(read.shape[d], last + 1 + (random_.one_in(4) ? 2 : 0));
      }
    }
  }

  void make_tensors() {
    tensors_.assign(plans_.size(), te::placeholder({1}, "none"));
    for (std::size_t n = plans_.size(); n-- > 0;) tensors_[n] = make_tensor(plans_[n], n);
  }

  Tensor make_tensor(const Plan& plan, std::size_t n) {
    std::vector<Expr> shape(plan.shape.begin(), plan.shape.end());
    const std::string name(1, static_cast<char>('A' + (plans_.size() - 1 - n)));
    if (plan.reads.empty()) return te::placeholder(shape, name);
    const IterVar k = te::reduce_axis({0, std::max(plan.reduced, 1)}, "k");
    return te::compute(
        shape,
        [&](std::span<const Var> at) {
          Expr sum = 0.0f;
          for (const Read& read : plan.reads) sum = sum + element(read, at, k);
          return plan.reduced > 0 ? te::sum(sum, {k}) : sum;
        },
        name);
  }

  Expr element(const Read& read, std::span<const Var> at, const IterVar& k) {
    std::vector<Expr> indices;
    for (const Position& p : read.positions) {
      Expr index = at[static_cast<std::size_t>(p.axis)] * p.times + p.plus;
      if (p.reduce_times > 0) index = index + k * p.reduce_times;
      indices.push_back(index);
    }
    return tensors_[static_cast<std::size_t>(read.producer)](indices);
  }

  // ---- how

  /// Keeps the change if the schedule still makes sense.
  template <class F>
  void attempt(te::Schedule& s, const std::string& what, F change) {
    const te::Schedule before = s.copy();
    try {
      change();
      const te::StageGraph graph = te::freeze(s);
      te::infer_bound(graph);
      text_ += what + "\n";
    } catch (const ScheduleError&) {
      s = before;
    } catch (const BoundError&) {
      s = before;
    }
  }

  void change_loops(te::Schedule& s, int n) {
    const te::Stage stage = s[tensors_[static_cast<std::size_t>(n)]];
    const std::vector<IterVar> leaves = stage.leaf_iter_vars();
    const int at = random_.between(0, static_cast<int>(leaves.size()) - 1);
    const IterVar& axis = leaves[static_cast<std::size_t>(at)];
    const int number = random_.between(1, 8);
    switch (random_.between(0, 4)) {
      case 0:
      case 1:
        return attempt(s, stage.name() + ": split " + axis.name() + " by " + std::to_string(number),
                       [&] { stage.split(axis, number); });
      case 2:
        return attempt(s,
                       stage.name() + ": split " + axis.name() + " into " + std::to_string(number),
                       [&] { stage.split_by_nparts(axis, number); });
      case 3: {
        if (at + 1 >= static_cast<int>(leaves.size())) return;
        const IterVar& next = leaves[static_cast<std::size_t>(at) + 1];
        if (next.kind() != axis.kind()) return;
        return attempt(s, stage.name() + ": fuse " + axis.name() + " and " + next.name(),
                       [&] { stage.fuse(axis, next); });
      }
      default: {
        std::vector<IterVar> order = leaves;
        random_.shuffle(order);
        std::string what = stage.name() + ": reorder";
        for (const IterVar& leaf : order) what += " " + leaf.name();
        return attempt(s, what, [&] { stage.reorder(order); });
      }
    }
  }

  void place(te::Schedule& s, int n) {
    std::vector<int> readers;
    for (int r = 0; r < n; ++r)
      for (const Read& read : plans_[static_cast<std::size_t>(r)].reads)
        if (read.producer == n) readers.push_back(r);
    if (readers.empty()) return;
    const te::Stage reader = s[tensors_[static_cast<std::size_t>(random_.pick(readers))]];
    const IterVar axis = random_.pick(reader.leaf_iter_vars());
    const te::Stage stage = s[tensors_[static_cast<std::size_t>(n)]];
    attempt(s, stage.name() + ": compute_at " + reader.name() + ", " + axis.name(),
            [&] { stage.compute_at(reader, axis); });
  }

  Random random_;
  std::vector<Plan> plans_;
  std::vector<Tensor> tensors_;
  std::string text_;
};

}  // namespace

AffineProgram affine_program(unsigned seed) { return Maker(seed).run(); }

}  // namespace tenon::fuzz
