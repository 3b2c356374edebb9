// A fully connected layer: Y = relu(W X + b).
//
// The layer cannot be one expression. A reduction must be the whole body of its stage, because its
// value exists only after its last iteration. So the product is one stage, and the sum with relu is
// another. The second stage adds almost no time, because the schedule computes the product inside
// the loop of the second stage.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "A fully connected layer: relu(W X + b).",
                                 .size_means = "the number of inputs and of outputs"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor W = te::placeholder({n, n}, "W");
    te::Tensor X = te::placeholder({n}, "X");
    te::Tensor b = te::placeholder({n}, "b");
    te::IterVar j = te::reduce_axis({0, n}, "j");

    try {
      te::compute(
          {n}, {"i"}, [&](Var i) { return te::sum(W(i, j) * X(j), {j}) + b(i); }, "OneExpression");
    } catch (const TypeError& error) {
      program.print("=== in one expression: refused ===\n", error.what(), "\n");
    }

    te::Tensor Product = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(W(i, j) * X(j), {j}); }, "Product");
    te::Tensor Y = te::compute(
        {n}, {"i"}, [&](Var i) { return te::max(Product(i) + b(i), 0.0f); }, "Y");
    const double operations = 2.0 * n * n;

    program.print("=== two stages: as declared ===\n");
    program.show("as declared", te::create_schedule({Y}), {W, X, b, Y}, {.operations = operations});

    // The rows are parallel. Each product is computed where its element is read, as a vector of
    // sixteen partial sums.
    te::Schedule s = te::create_schedule({Y});
    s[Y].parallel(s[Y].axis(0));
    s[Product].compute_at(s[Y], s[Y].axis(0));
    auto [jo, ji] = s[Product].split(s[Product].reduce_axis(0), 16);
    te::Tensor Partial = s.rfactor(Product, ji, 1);
    s[Partial].compute_at(s[Y], s[Y].axis(0));
    s[Partial].reorder({s[Partial].axis(0), s[Partial].reduce_axis(0), s[Partial].axis(1)});
    s[Partial].vectorize(s[Partial].axis(1));
    program.print("=== fused: rows in parallel, sums in a vector ===\n");
    program.show("fused", s, {W, X, b, Y}, {.operations = operations});
  });
}
