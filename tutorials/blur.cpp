// Lesson 4. compute_root, compute_inline, compute_at: where a stage is computed.
//
//   root                     inline                   at a row                 rolling
//   for y, x                 for y, x                 for y                    for y
//     across[y, x] = ...       down[y, x] = nine        for 3 rows, x            for 1 new row, x
//   for y, x                     elements of A            across[...] = ...        across[...] = ...
//     down[y, x] = ...                                  for x                    for x
//                                                         down[y, x] = ...         down[y, x] = ...
//
// A blur in two stages: `across` is the mean of three neighbours in a row, and `down` is the mean
// of three elements of `across` in a column. Each element of `across` is needed three times. All
// schedules compute the same image, with different recomputation and storage:
//
//   schedule    computes an element of `across`    stores
//   root        once                               the whole image `across`
//   inline      three times                        nothing
//   at a row    three times                        three rows
//   rolling     once                               three rows
//   strips      17/16 times                        34 rows for each thread
//
// A rolling buffer keeps the rows that the next iteration needs as well. Each iteration depends on
// the one before, so they cannot be parallel. The last schedule is a compromise: strips of 32 rows
// run in parallel, and each strip computes two rows of `across` that its neighbour also computes.
//
// `--time` prints the time of each schedule; a column of `--profile` shows recomputation.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "A blur in two stages: root, inline, at a row, rolling.",
                                 .size_means = "the number of rows and columns of the result",
                                 .size = 2048};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n + 2, n + 2}, "A");
    te::Tensor across = te::compute(
        {n + 2, n}, {"y", "x"},
        [&](Var y, Var x) { return (A(y, x) + A(y, x + 1) + A(y, x + 2)) / 3.0f; }, "across");
    te::Tensor down = te::compute(
        {n, n}, {"y", "x"},
        [&](Var y, Var x) { return (across(y, x) + across(y + 1, x) + across(y + 2, x)) / 3.0f; },
        "down");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {A, down});
    };
    const auto vectorized = [&] {
      te::Schedule s = te::create_schedule(down);
      for (const te::Tensor& stage : {across, down})
        s[stage].vectorize(s[stage].split(s[stage].axis(1), 16).inner);
      return s;
    };

    te::Schedule root = vectorized();
    show("root", root);

    te::Schedule inlined = te::create_schedule(down);
    inlined[down].vectorize(inlined[down].split(inlined[down].axis(1), 16).inner);
    inlined[across].compute_inline();
    show("inline", inlined);

    te::Schedule at_row = vectorized();
    at_row[across].compute_at(at_row[down], at_row[down].axis(0));
    show("at a row", at_row);

    te::Schedule rolling = vectorized();
    rolling[across].compute_at(rolling[down], rolling[down].axis(0)).rolling_buffer();
    show("rolling", rolling);

    te::Schedule strips = vectorized();
    te::IterVar strip = strips[down].split(strips[down].axis(0), 32).outer;
    strips[down].parallel(strip);
    strips[across].compute_at(strips[down], strip);
    show("strips", strips);
  });
}
