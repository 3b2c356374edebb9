// Lesson 11. scan: a computation over time, where each step reads the steps before it.
//
//   state[t, i] = init[t, i]                          for the first steps
//   state[t, i] = update(state[t - 1, ...], ...)      for all others
//
// In the update, a placeholder represents the state. The result has all steps. A schedule cannot
// split the loop over time or run it in parallel. The stages inside a step are scheduled like any
// other stage.
//
// The sizes are symbolic here: one function for arrays of any size (lesson 10).
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

/// Running sums along the columns of X.
struct RunningSums {
  Var m = te::size_var("m"), n = te::size_var("n");
  te::Tensor X = te::placeholder({m, n}, "X");
  te::Tensor state = te::placeholder({m, n});
  te::Tensor init = te::compute({1, n}, {"_", "i"}, [&](Var, Var i) { return X(0, i); });
  te::Tensor update =
      te::compute({m, n}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); });
  te::Tensor sums = te::scan(init, update, state, {X});

  /// For --check: the sizes, and the same computation in plain C++.
  ShowOptions sized(const ScheduleProgram& program) const {
    const int times = program.size(), columns = program.size();
    const Reference reference = [=](std::span<const runtime::NDArray> arrays) {
      const float* x = arrays[0].data<float>();
      float* sum = arrays[1].data<float>();
      for (int e = 0; e < times * columns; ++e)
        sum[e] = (e < columns ? 0 : sum[e - columns]) + x[e];
    };
    return {.values = {{m, times}, {n, columns}}, .reference = reference};
  }
};

/// The declared order: all columns of step 0, then all columns of each later step.
void one_state(ScheduleProgram& program) {
  const RunningSums p;
  program.print("=== one state: running sums ===\n");
  program.show("one state", te::create_schedule(p.sums), {p.X, p.sums}, p.sized(program));
}

/// The columns are independent, so eight of them can be one vector. The rows may have any stride;
/// compiled code uses vectors if they are contiguous. It evaluates the printed guard only in the
/// last vector.
void in_vectors(ScheduleProgram& program) {
  const RunningSums p;
  te::Schedule s = te::create_schedule(p.sums);
  auto [io, ii] = s[p.update].split(s[p.update].axis(1), 8);
  s[p.update].vectorize(ii);
  program.print("=== in vectors: eight columns at a time ===\n");
  program.show("in vectors", s, {p.X, p.sums}, p.sized(program));
}

/// On a GPU: a thread for each column, in every step.
void on_threads(ScheduleProgram& program) {
  const RunningSums p;
  te::Schedule s = te::create_schedule(p.sums);
  te::IterVar block = te::thread_axis("blockIdx.x"), thread = te::thread_axis("threadIdx.x");
  for (const te::Tensor& stage : {p.init, p.update}) {
    auto [io, ii] = s[stage].split(s[stage].axis(1), 256);
    s[stage].bind(io, block).bind(ii, thread);
  }
  program.print("=== on threads: one per column ===\n");
  program.show("on threads", s, {p.X, p.sums}, p.sized(program));
}

/// Two states that read each other's past: a position and a speed, driven by a force. Force is an
/// input of the scan. Pull is a stage inside the update, and compute_at places it.
void two_states(ScheduleProgram& program) {
  const int times = program.size(), bodies = 16;
  const float step = 0.1f;
  te::Tensor Force = te::placeholder({times, bodies}, "Force");
  te::Tensor x = te::placeholder({times, bodies}, "x"), v = te::placeholder({times, bodies}, "v");
  te::Tensor x0 = te::compute(
      {1, bodies}, {"t", "b"}, [&](Var, Var b) { return cast(Float(32), b); }, "x0");
  te::Tensor v0 = te::compute(
      {1, bodies}, {"t", "b"}, [&](Var, Var) { return make_const(Float(32), 0.0); }, "v0");
  te::Tensor Pull = te::compute(
      {times, bodies}, {"t", "b"}, [&](Var t, Var b) { return Force(t, b) - x(t - 1, b) * 0.5f; },
      "Pull");
  te::Tensor x1 = te::compute(
      {times, bodies}, {"t", "b"}, [&](Var t, Var b) { return x(t - 1, b) + v(t - 1, b) * step; },
      "x1");
  te::Tensor v1 = te::compute(
      {times, bodies}, {"t", "b"}, [&](Var t, Var b) { return v(t - 1, b) + Pull(t, b) * step; },
      "v1");
  std::vector<te::Tensor> history = te::scan({x0, v0}, {x1, v1}, {x, v}, {Force}, "history");
  te::Schedule s = te::create_schedule(history);
  s[Pull].compute_at(s[v1], s[v1].axis(1));
  program.print("=== two states: positions and speeds ===\n");
  program.show("two states", s, {Force, history[0], history[1]});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "scan: computations over time, of one state and of two.",
      .size_means = "the number of steps, and of columns if there are any",
      .greatest_size = 8192};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    one_state(program);
    in_vectors(program);
    on_threads(program);
    two_states(program);
  });
}
