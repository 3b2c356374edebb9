#include "tests/fuzz/thread_reductions.h"

#include <array>

#include "tenon/s_tir/program.h"
#include "tests/common/ways_to_run.h"

namespace tenon::fuzz {

namespace {

std::string name_of(const ThreadReduction& c) {
  return std::to_string(c.extent) + "x" + std::to_string(c.groups) + "x" + std::to_string(c.axes);
}

/// An argmax in which the first of equal elements wins, in whatever order they are combined.
te::Reducer argmax() {
  return te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        const Expr first = x[1] > y[1] || (x[1] == y[1] && x[0] <= y[0]);
        return std::vector<Expr>{select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [](std::span<const DataType> types) {
        return std::vector<Expr>{max_value(types[0]), min_value(types[1])};
      },
      "argmax");
}

struct Program {
  te::Tensor in, sum, least, place, greatest, out;
};

/// Four numbers of each group of the input: its sum, its minimum, where its maximum is, and that.
Program make_program(const ThreadReduction& c) {
  const std::string name = name_of(c);
  std::vector<Expr> shape{Expr(c.groups)};
  if (c.axes > 2) shape.emplace_back(3);
  if (c.axes > 1) shape.emplace_back(2);
  shape.emplace_back(c.extent);
  const te::Tensor in = te::placeholder(shape, "A" + name);
  struct Reduced {
    std::vector<te::IterVar> axes;
    Expr element, place;
  };
  const auto reduced = [&](const Var& group) {
    Reduced result{{}, Expr(0), Expr(0)};
    std::vector<Expr> at{group};
    for (std::size_t n = 1; n < shape.size(); ++n) {
      result.axes.push_back(te::reduce_axis({0, shape[n]}, "k" + std::to_string(n)));
      at.emplace_back(result.axes.back());
      result.place = result.place * shape[n] + at.back();
    }
    result.element = in(at);
    return result;
  };
  const auto stage = [&](const char* prefix, const std::function<Expr(const Reduced&)>& body) {
    return te::compute(
        {c.groups}, {"g"}, [&](Var g) { return body(reduced(g)); }, prefix + name);
  };
  const te::Tensor sum = stage("S", [](const Reduced& r) { return te::sum(r.element, r.axes); });
  const te::Tensor least = stage("M", [](const Reduced& r) { return te::min(r.element, r.axes); });
  const std::vector<te::Tensor> greatest = te::compute_multi(
      {c.groups}, {"g"},
      [&](Var g) {
        const Reduced r = reduced(g);
        return argmax()({r.place, r.element}, r.axes);
      },
      "G" + name);
  const te::Tensor out = te::compute(
      {c.groups, 4}, {"g", "j"},
      [&](Var g, Var j) {
        const Expr last = if_then_else(j == 2, cast(Float(32), greatest[0](g)), greatest[1](g));
        return if_then_else(j == 0, sum(g), if_then_else(j == 1, least(g), last));
      },
      "C" + name);
  return {in, sum, least, greatest[0], greatest[1], out};
}

/// One kernel, with groups side by side, each of which reduces three times.
void schedule(const te::Schedule& s, const Program& p) {
  static constexpr std::array kThreads{"threadIdx.x", "threadIdx.y", "threadIdx.z"};
  const std::size_t axes = p.in.shape().size() - 1;
  const te::IterVar group = s[p.out].axis(0);
  s[p.out].bind(group, te::thread_axis(axes < 3 ? kThreads[axes] : "blockIdx.x"));
  for (const te::Tensor& t : {p.sum, p.least, p.greatest}) {
    for (std::size_t n = 0; n < axes; ++n)
      s[t].bind(s[t].reduce_axis(static_cast<int>(axes - 1 - n)), te::thread_axis(kThreads[n]));
    // The totals are for one thread, which puts them together.
    s[t].compute_at(s[p.out], group).set_scope("shared");
  }
}

}  // namespace

std::vector<ThreadReduction> all_thread_reductions() {
  std::vector<ThreadReduction> cases;
  for (int axes = 1; axes <= 3; ++axes)
    for (const int groups : {1, 3, 16})
      for (int extent = 1; extent <= 65; ++extent) cases.push_back({extent, groups, axes});
  return cases;
}

int threads_of(const ThreadReduction& c) {
  // With three axes, groups are blocks.
  return c.extent * (c.axes < 3 ? c.groups : 6) * (c.axes == 2 ? 2 : 1);
}

ThreadReductionProgram thread_reduction_program(const std::vector<ThreadReduction>& cases) {
  std::vector<Program> programs;
  std::vector<te::Tensor> outputs;
  std::vector<LowerArgument> args;
  for (const ThreadReduction& c : cases) {
    programs.push_back(make_program(c));
    outputs.push_back(programs.back().out);
    args.emplace_back(programs.back().in);
    args.emplace_back(programs.back().out);
  }
  te::Schedule s = te::create_schedule(outputs);
  for (const Program& program : programs) schedule(s, program);
  return {std::move(s), std::move(args)};
}

std::string check_thread_reductions(const std::vector<ThreadReduction>& cases, const Target& target,
                                    bool interpret) {
  const ThreadReductionProgram program = thread_reduction_program(cases);
  return testing::compare_with_default(
      program.schedule, program.args,
      {.compile = false, .device_target = target, .interpret = interpret});
}

}  // namespace tenon::fuzz
