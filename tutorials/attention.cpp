// Lesson 9. Attention: softmax(Q K^T / sqrt(d)) V, for one head.
//
//   as declared: one loop nest for each stage        in blocks of 8 queries
//   Score[i, j]  = sum over d of Q[i, d] * K[j, d]   parallel for i.outer
//   Largest[i]   = max over j of Score[i, j]           Score[8 x n], Largest[8], Power[8 x n], Total[8]
//   Power[i, j]  = exp(Score[i, j] - Largest[i])       for 8 i
//   Total[i]     = sum over j of Power[i, j]             for d
//   Mean[i, d]   = sum over j of Power[i, j] V[j, d]       Y[i, d] = Mean[i, d] / Total[i]
//   Y[i, d]      = Mean[i, d] / Total[i]
//
// The default schedule writes Score and Power, matrices of n x n elements, to memory and reads them
// again. In blocks, all stages are computed inside the loop over blocks of queries, so only eight
// rows of Score and Power exist at a time. The blocks are independent and run in parallel.
//
// Score is a product of rows of Q and K, so vectors along its reduction would need rfactor.
// Instead, it reads K through the stage Keys, the transpose of K. Elements with neighbouring j are
// then neighbours in memory.
//
// topi::attention and topi::cpu::schedule_attention are the library's version of this lesson.
#include <cmath>

#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "Attention of one head: softmax(Q K^T / sqrt(d)) V.",
                                 .size_means = "the number of queries and of keys"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size(), depth = 64;
    te::Tensor Q = te::placeholder({n, depth}, "Q");
    te::Tensor K = te::placeholder({n, depth}, "K");
    te::Tensor V = te::placeholder({n, depth}, "V");
    te::IterVar d = te::reduce_axis({0, depth}, "d");
    te::IterVar j1 = te::reduce_axis({0, n}, "j1"), j2 = te::reduce_axis({0, n}, "j2"),
                j3 = te::reduce_axis({0, n}, "j3");
    const float scale = 1 / std::sqrt(static_cast<float>(depth));
    te::Tensor Keys = te::compute(
        {depth, n}, {"d", "j"}, [&](Var e, Var j) { return K(j, e) * scale; }, "Keys");
    te::Tensor Score = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(Q(i, d) * Keys(d, j), {d}); },
        "Score");
    te::Tensor Largest = te::compute(
        {n}, {"i"}, [&](Var i) { return te::max(Score(i, j1), {j1}); }, "Largest");
    te::Tensor Power = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return exp(Score(i, j) - Largest(i)); }, "Power");
    te::Tensor Total = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(Power(i, j2), {j2}); }, "Total");
    te::Tensor Mean = te::compute(
        {n, depth}, {"i", "d"},
        [&](Var i, Var e) { return te::sum(Power(i, j3) * V(j3, e), {j3}); }, "Mean");
    te::Tensor Y = te::compute(
        {n, depth}, {"i", "d"}, [&](Var i, Var e) { return Mean(i, e) / Total(i); }, "Y");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {Q, K, V, Y}, {.operations = 4.0 * n * n * depth});
    };

    te::Schedule s = te::create_schedule(Y);
    show("as declared", s);

    auto [block, row] = s[Y].split(s[Y].axis(0), 8);
    s[Y].parallel(block).vectorize(s[Y].split(s[Y].axis(1), 16).inner);
    for (const te::Tensor& stage : {Score, Largest, Power, Total, Mean})
      s[stage].compute_at(s[Y], block);

    // Both products in tiles of 8 x 32 sums, and vectors for the rest.
    for (const te::Tensor& product : {Score, Mean}) {
      te::Stage P = s[product];
      auto [outer, lanes] = P.split(P.axis(1), 32);
      P.reorder({outer, P.reduce_axis(0), P.axis(0), lanes}).vectorize(lanes);
    }
    s[Power].vectorize(s[Power].split(s[Power].axis(1), 16).inner);
    s[Keys].parallel(s[Keys].axis(0));
    for (const te::Tensor& stage : {Largest, Total}) {
      te::IterVar lane = s[stage].split(s[stage].reduce_axis(0), 16).inner;
      te::Tensor partial = s.rfactor(stage, lane, 1);
      s[partial].compute_at(s[Y], block);
      s[partial].reorder({s[partial].axis(0), s[partial].reduce_axis(0), s[partial].axis(1)});
      s[partial].vectorize(s[partial].axis(1));
    }
    show("in blocks", s);
  });
}
