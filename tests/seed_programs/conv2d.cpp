// A convolution: 64 filters of 3 x 3 over 3 channels of an image, with a border of zeros.
//
// There are two stages: the image with its border, and the sums over the channel, row and column of
// each filter.
// The first text has no schedule. In the second, the sums of sixteen neighbours in an output row
// stay in a vector while the loops run over the filter, and the filters are divided among the
// threads. The image with its border is small enough to be a stage of its own.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "A 3 x 3 convolution over an image of 3 channels with 64 filters.",
      .size_means = "the height and the width of the image",
      .size = 224,
      .check_size = 16,
      .greatest_size = 4096};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int height = program.size(), width = program.size();
    const int batch = 1, channels = 3, filters = 64, kernel = 3, pad = 1;
    const int out_height = height - kernel + 2 * pad + 1, out_width = width - kernel + 2 * pad + 1;

    te::Tensor Data = te::placeholder({batch, channels, height, width}, "Data");
    te::Tensor Weight = te::placeholder({filters, channels, kernel, kernel}, "Weight");
    te::Tensor Padded = te::compute(
        {batch, channels, height + 2 * pad, width + 2 * pad}, {"n", "c", "h", "w"},
        [&](Var n, Var c, Var h, Var w) {
          return if_then_else(all(h >= pad, h < height + pad, w >= pad, w < width + pad),
                              Data(n, c, h - pad, w - pad), 0.0f);
        },
        "PaddedData");
    te::IterVar rc = te::reduce_axis({0, channels}, "rc");
    te::IterVar rh = te::reduce_axis({0, kernel}, "rh");
    te::IterVar rw = te::reduce_axis({0, kernel}, "rw");
    te::Tensor Conv = te::compute(
        {batch, filters, out_height, out_width}, {"n", "co", "h", "w"},
        [&](Var n, Var co, Var h, Var w) {
          return te::sum(Padded(n, rc, h + rh, w + rw) * Weight(co, rc, rh, rw), {rc, rh, rw});
        },
        "Conv");

    te::Schedule plain = te::create_schedule({Conv});
    program.show("as declared", plain, {Data, Weight, Conv});
    program.print("---------cutting line---------\n");

    te::Schedule s = te::create_schedule({Conv});
    te::Tensor Sums = s.cache_write(Conv, "local");
    auto [wo, wi] = s[Conv].split(s[Conv].axis(3), 16);
    s[Conv].vectorize(wi);
    s[Conv].parallel(s[Conv].fuse({s[Conv].axis(0), s[Conv].axis(1)}));
    s[Sums].compute_at(s[Conv], wo);
    s[Sums].reorder(
        {s[Sums].reduce_axis(0), s[Sums].reduce_axis(1), s[Sums].reduce_axis(2), s[Sums].axis(3)});
    s[Sums].unroll(s[Sums].reduce_axis(2)).vectorize(s[Sums].axis(3));
    program.show("vectorized and parallel", s, {Data, Weight, Conv});
  });
}
