// Lesson 8. A convolution: filters of 3 x 3 over an image of several channels, with a border of
// zeros.
//
//   as declared                               in registers
//   for c, y, x: Padded[c, y, x] = ...        parallel for y
//   for f, y, x                                 for f.outer, x.outer
//     for c, dy, dx                               Out.local[8 filters x 16 columns] = 0
//       Out[f, y, x] +=                           for c, dy, dx
//         Padded[c, y + dy, x + dx] *               for 8 f: Out.local[f, 16 columns] +=
//         Weight[f, c, dy, dx]                        Padded[c, y + dy, 16 columns] * Weight[f, ...]
//                                                 a tile of Out = Out.local
//
// The first step, cache_write, is that of lesson 5: 16 neighbouring sums stay in a vector while the
// loops run over the channels and the window of the filter. The second step computes 8 filters at a
// time, so that each vector of the image that is loaded is used for 8 products.
//
// Padded stays a stage of its own. If it were inlined, each of the 9 * filters reads of an element
// would test whether the element is inside the image.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "A 3 x 3 convolution of 32 channels with 64 filters.",
                                 .size_means = "the number of rows and columns of the image",
                                 .size = 112,
                                 .check_size = 12,
                                 .greatest_size = 2048};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size(), channels = 32, filters = 64;
    te::Tensor Image = te::placeholder({channels, n, n}, "Image");
    te::Tensor Weight = te::placeholder({filters, channels, 3, 3}, "Weight");
    te::Tensor Padded = te::compute(
        {channels, n + 2, n + 2}, {"c", "y", "x"},
        [&](Var c, Var y, Var x) {
          return if_then_else(all(y >= 1, y <= n, x >= 1, x <= n), Image(c, y - 1, x - 1), 0.0f);
        },
        "Padded");
    te::IterVar c = te::reduce_axis({0, channels}, "c");
    te::IterVar dy = te::reduce_axis({0, 3}, "dy"), dx = te::reduce_axis({0, 3}, "dx");
    te::Tensor Out = te::compute(
        {filters, n, n}, {"f", "y", "x"},
        [&](Var f, Var y, Var x) {
          return te::sum(Padded(c, y + dy, x + dx) * Weight(f, c, dy, dx), {c, dy, dx});
        },
        "Out");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {Image, Weight, Out},
                   {.operations = 2.0 * 9 * channels * filters * n * n});
    };

    show("as declared", te::create_schedule(Out));

    for (const auto& [name, rows] : {std::pair("in vectors", 1), {"in registers", 8}}) {
      te::Schedule s = te::create_schedule(Out);
      te::Tensor sums = s.cache_write(Out, "local");
      auto [fo, fi] = s[Out].split(s[Out].axis(0), rows);
      auto [xo, xi] = s[Out].split(s[Out].axis(2), 16);
      s[Out].reorder({s[Out].axis(1), fo, xo, fi, xi}).vectorize(xi).parallel(s[Out].axis(1));
      te::Stage S = s[sums];
      S.compute_at(s[Out], xo);
      S.reorder({S.reduce_axis(0), S.reduce_axis(1), S.reduce_axis(2), S.axis(0), S.axis(2)});
      S.unroll(S.reduce_axis(2)).unroll(S.axis(0)).vectorize(S.axis(2));
      s[Padded].parallel(s[Padded].axis(0));
      show(name, s);
    }
  });
}
