// Lesson 7. Softmax: several stages, two of them reductions.
//
//   as declared                              by rows
//   for i, k: Largest[i] = max of X[i, k]    parallel for i
//   for i, j: Power[i, j] = exp(X - Largest)   Largest[0] = max of X[i, all k]
//   for i, l: Sum[i] += Power[i, l]            for j: Power[0, j] = exp(X[i, j] - Largest[0])
//   for i, j: Y[i, j] = Power[i, j] / Sum[i]   Sum[0] = sum of Power[0, all l]
//                                              for j: Y[i, j] = Power[0, j] / Sum[0]
//
// Without the stage Largest, exp(X[i, j]) can overflow: exp(89) is larger than any float. With
// Largest, exp(X[i, j] - Largest[i]) is at most 1, and the quotient is the same.
//
// A reduction is always a stage of its own, because its value exists only after its last iteration.
// As declared, each stage passes over the whole matrix. By rows, the first three stages are
// computed inside the loop of Y. They then need only one row of X at a time, which stays in the
// cache, and Power is only one row.
//
// In the last schedule each loop over a row is vectorized. The two reductions cannot be vectorized
// as they are. rfactor gives each of 16 lanes a partial result (lesson 13).
//
// On one thread, "as declared" is faster than "by rows": the compiler vectorizes loops by itself
// only in stages without a schedule.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "Softmax of the rows of a matrix."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor X = te::placeholder({n, n}, "X");
    te::IterVar k = te::reduce_axis({0, n}, "k"), l = te::reduce_axis({0, n}, "l");
    te::Tensor Largest = te::compute(
        {n}, {"i"}, [&](Var i) { return te::max(X(i, k), {k}); }, "Largest");
    te::Tensor Power = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return exp(X(i, j) - Largest(i)); }, "Power");
    te::Tensor Sum = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(Power(i, l), {l}); }, "Sum");
    te::Tensor Y = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return Power(i, j) / Sum(i); }, "Y");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {X, Y}, {.tolerance = {.relative = 1e-5, .absolute = 1e-6}});
    };

    te::Schedule s = te::create_schedule(Y);
    show("as declared", s);

    for (const te::Tensor& stage : {Largest, Power, Sum}) s[stage].compute_at(s[Y], s[Y].axis(0));
    s[Y].parallel(s[Y].axis(0));
    show("by rows", s);

    for (const te::Tensor& stage : {Power, Y})
      s[stage].vectorize(s[stage].split(s[stage].axis(1), 16).inner);
    for (const te::Tensor& stage : {Largest, Sum}) {
      te::IterVar lane = s[stage].split(s[stage].reduce_axis(0), 16).inner;
      te::Tensor partial = s.rfactor(stage, lane, 1);
      s[partial].compute_at(s[Y], s[Y].axis(0));
      s[partial].reorder({s[partial].axis(0), s[partial].reduce_axis(0), s[partial].axis(1)});
      s[partial].vectorize(s[partial].axis(1));
    }
    show("vectorized", s);
  });
}
