// A convolution on a GPU: 3 x 3 filters over padded images, in three schedules.
//
//   $ gpu_conv2d                                  the loops
//   $ gpu_conv2d --target=opencl --emit=source    the kernels
//   $ gpu_conv2d --target=opencl --check --time   run on OpenCL's first device
//
// The padding is inlined: for each element, the kernel tests whether it is inside the image. In the
// last two schedules, a block loads its part of the image and of the filters into shared memory, a
// few channels at a time. In the last one, each thread has the sums of eight filters in registers.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include "tenon/te/operation_kind.h"

using namespace tenon;

namespace {

constexpr int kChannels = 16, kFilters = 32;

struct Convolution {
  te::Tensor image, weights, padded, out;
  te::Schedule s;

  explicit Convolution(int n)
      : image(te::placeholder({kChannels, n, n}, "image")),
        weights(te::placeholder({kFilters, kChannels, 3, 3}, "weights")),
        padded(te::compute(
            {kChannels, n + 2, n + 2}, {"c", "y", "x"},
            [&](Var c, Var y, Var x) {
              return if_then_else(y >= 1 && y <= n && x >= 1 && x <= n, image(c, y - 1, x - 1),
                                  0.0f);
            },
            "padded")),
        out(sums(n)),
        s(te::create_schedule({out})) {
    s[padded].compute_inline();
  }

  te::Tensor sums(int n) const {
    te::IterVar c = te::reduce_axis({0, kChannels}, "c");
    te::IterVar dy = te::reduce_axis({0, 3}, "dy"), dx = te::reduce_axis({0, 3}, "dx");
    return te::compute(
        {kFilters, n, n}, {"f", "y", "x"},
        [&](Var f, Var y, Var x) {
          return te::sum(padded(c, y + dy, x + dx) * weights(f, c, dy, dx), {c, dy, dx});
        },
        "out");
  }
};

struct Threads {
  te::IterVar bz = te::thread_axis("blockIdx.z"), by = te::thread_axis("blockIdx.y"),
              bx = te::thread_axis("blockIdx.x");
  te::IterVar ty = te::thread_axis("threadIdx.y"), tx = te::thread_axis("threadIdx.x");
};

Convolution thread_for_each_element(int n) {
  Convolution p(n);
  const Threads t;
  te::Stage out = p.s[p.out];
  auto [yo, xo, yi, xi] = out.tile(out.axis(1), out.axis(2), 8, 8);
  out.bind(out.axis(0), t.bz).bind(yo, t.by).bind(xo, t.bx).bind(yi, t.ty).bind(xi, t.tx);
  return p;
}

/// The 8 x 8 threads of a block load a tile of any shape.
void fetch_together(const te::Stage& tile, const Threads& t) {
  std::vector<te::IterVar> axes = tile.op().as<te::Compute>()->axis;
  auto [rest, tx] = tile.split(tile.fuse(axes), 8);
  auto [round, ty] = tile.split(rest, 8);
  tile.bind(ty, t.ty).bind(tx, t.tx);
}

/// A block computes 8 x 8 pixels of `filters` filters.
Convolution shared_tiles(int n, int filters) {
  Convolution p(n);
  const Threads t;
  const te::Tensor sums = p.s.cache_write(p.out, "local");
  p.s[p.padded].compute_root();
  const te::Tensor window = p.s.cache_read(p.padded, "shared", {sums});
  p.s[p.padded].compute_inline();
  const te::Tensor coefficients = p.s.cache_read(p.weights, "shared", {sums});
  te::Stage out = p.s[p.out];
  auto [fo, fi] = out.split(out.axis(0), filters);
  auto [yo, xo, yi, xi] = out.tile(out.axis(1), out.axis(2), 8, 8);
  out.reorder({fo, yo, xo, yi, xi, fi});
  out.bind(fo, t.bz).bind(yo, t.by).bind(xo, t.bx).bind(yi, t.ty).bind(xi, t.tx);
  te::Stage S = p.s[sums];
  S.compute_at(out, xi);
  auto [co, ci] = S.split(S.reduce_axis(0), 4);
  S.reorder({co, ci, S.reduce_axis(1), S.reduce_axis(2), S.axis(0), S.axis(1), S.axis(2)});
  S.unroll(S.axis(0));
  for (const te::Tensor& tile : {window, coefficients}) {
    p.s[tile].compute_at(S, co);
    fetch_together(p.s[tile], t);
  }
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about =
          "A convolution on a GPU: one thread for each element, then tiles that threads "
          "share.\nGive --target=opencl or --target=cuda to run it there.",
      .size_means = "the number of rows and columns of the image",
      .size = 128,
      .check_size = 18,
      .greatest_size = 1024};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    const auto show = [&](const std::string& name, const Convolution& p) {
      program.print("--------- ", name, " ---------\n");
      program.show(name, p.s, {p.image, p.weights, p.out},
                   {.operations = 2.0 * 9 * kChannels * kFilters * n * n});
    };
    show("a thread for each element", thread_for_each_element(n));
    show("shared tiles", shared_tiles(n, 1));
    show("sums of eight filters in registers", shared_tiles(n, 8));
  });
}
