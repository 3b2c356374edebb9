// A matrix product on a GPU, in eight schedules, each with one more idea:
//
//   $ gpu_matmul                                  the loops of all steps
//   $ gpu_matmul --target=opencl --emit=source    their kernels
//   $ gpu_matmul --target=opencl --check --time   run on OpenCL's first device
//
// The gain of a step depends on the device. On a GPU, step 2 lets neighbouring threads read
// neighbouring elements of B. Each of steps 3 to 5 loads less from memory. Step 6 loads the next
// tile during the computation. In step 7, nine of ten instructions are multiply-adds. Step 8
// multiplies float16 matrices on tensor cores, which only CUDA devices have. A CPU can be an OpenCL
// device too. It gains less, because its caches already avoid many loads from memory.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>
#include <tenon/topi/tensor_intrinsics.h>

using namespace tenon;

namespace {

struct Matmul {
  te::Tensor A, B, C;
  te::Schedule s;

  explicit Matmul(int n, DataType t = Float(32))
      : A(te::placeholder({n, n}, "A", t)),
        B(te::placeholder({n, n}, "B", t)),
        C(product(A, B, n)),
        s(te::create_schedule({C})) {}

  static te::Tensor product(const te::Tensor& A, const te::Tensor& B, int n) {
    te::IterVar k = te::reduce_axis({0, n}, "k");
    return te::compute(
        {n, n}, {"i", "j"},
        [&](Var i, Var j) {
          return te::sum(cast(Float(32), A(i, k)) * cast(Float(32), B(k, j)), {k});
        },
        "C");
  }
};

/// The blocks and threads for the rows (y) and the columns (x) of C.
struct Threads {
  te::IterVar by = te::thread_axis("blockIdx.y"), bx = te::thread_axis("blockIdx.x");
  te::IterVar ty = te::thread_axis("threadIdx.y"), tx = te::thread_axis("threadIdx.x");
};

/// One thread for each element. Neighbouring threads are in one row of C, or in one column.
Matmul thread_for_each_element(int n, bool along_rows) {
  Matmul m(n);
  const Threads t;
  te::Stage C = m.s[m.C];
  auto [io, ii] = C.split(C.axis(0), 16);
  auto [jo, ji] = C.split(C.axis(1), 16);
  C.reorder({io, jo, ii, ji});
  C.bind(io, t.by).bind(jo, t.bx);
  C.bind(ii, along_rows ? t.ty : t.tx).bind(ji, along_rows ? t.tx : t.ty);
  return m;
}

/// The threads of a block load a tile together. Neighbouring threads load neighbouring elements.
void fetch_together(const te::Stage& tile, const Threads& t, int threads, int vector) {
  te::IterVar element = tile.fuse({tile.axis(0), tile.axis(1)});
  if (vector > 1) {
    auto [first, lane] = tile.split(element, vector);
    tile.vectorize(lane);
    element = first;
  }
  auto [rest, tx] = tile.split(element, threads);
  auto [round, ty] = tile.split(rest, threads);
  tile.bind(ty, t.ty).bind(tx, t.tx);
}

/// A block has 16 x 16 threads. For each 16 iterations of the reduction it loads a tile of A and a
/// tile of B into shared memory.
Matmul shared_tiles(int n) {
  Matmul m(n);
  const Threads t;
  const te::Tensor sums = m.s.cache_write(m.C, "local");
  const te::Tensor a = m.s.cache_read(m.A, "shared", {sums});
  const te::Tensor b = m.s.cache_read(m.B, "shared", {sums});
  te::Stage C = m.s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), 16, 16);
  C.bind(io, t.by).bind(jo, t.bx).bind(ii, t.ty).bind(ji, t.tx);
  te::Stage S = m.s[sums];
  S.compute_at(C, ji);
  auto [ko, ki] = S.split(S.reduce_axis(0), 16);
  S.reorder({ko, ki, S.axis(0), S.axis(1)});
  for (const te::Tensor& tile : {a, b}) {
    m.s[tile].compute_at(S, ko);
    fetch_together(m.s[tile], t, 16, 1);
  }
  return m;
}

enum class Fetch { Single, Vectors, Ahead };

/// A block of 16 x 16 threads computes 64 x 64 elements. Each thread has 4 x 4 of them in
/// registers, and reads 8 numbers from shared memory for 16 multiply-adds.
Matmul register_tiles(int n, Fetch fetch) {
  Matmul m(n);
  const Threads t;
  const te::Tensor sums = m.s.cache_write(m.C, "local");
  const te::Tensor a = m.s.cache_read(m.A, "shared", {sums});
  const te::Tensor b = m.s.cache_read(m.B, "shared", {sums});
  const te::Tensor own_a = m.s.cache_read(a, "local", {sums});
  const te::Tensor own_b = m.s.cache_read(b, "local", {sums});

  te::Stage C = m.s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), 64, 64);
  auto [ty, i] = C.split(ii, 4);
  auto [tx, j] = C.split(ji, 4);
  C.reorder({io, jo, ty, tx, i, j});
  C.bind(io, t.by).bind(jo, t.bx).bind(ty, t.ty).bind(tx, t.tx);
  if (fetch != Fetch::Single) C.vectorize(j);

  te::Stage S = m.s[sums];
  S.compute_at(C, tx);
  auto [ko, ki] = S.split(S.reduce_axis(0), 16);
  S.reorder({ko, ki, S.axis(0), S.axis(1)}).unroll(S.axis(0)).unroll(S.axis(1));

  m.s[own_a].compute_at(S, ki);
  m.s[own_b].compute_at(S, ki);
  if (fetch != Fetch::Single) m.s[own_b].vectorize(m.s[own_b].axis(1));
  for (const te::Tensor& tile : {a, b}) {
    m.s[tile].compute_at(S, ko);
    fetch_together(m.s[tile], t, 16, fetch == Fetch::Single ? 1 : 4);
    if (fetch == Fetch::Ahead) m.s[tile].double_buffer();
  }
  return m;
}

/// A block of 128 threads computes 128 x 128 elements, 16 iterations of the reduction at a time.
constexpr int kTile = 128, kDepth = 16;

/// The 8 x 4 x 4 threads of a block load a tile in vectors of four elements.
void fetch_by_vectors(const te::Stage& tile, const std::vector<te::IterVar>& threads) {
  auto [vectors, lane] = tile.split(tile.fuse({tile.axis(0), tile.axis(1)}), 4);
  tile.vectorize(lane);
  auto [more, tx] = tile.split(vectors, 8);
  auto [most, ty] = tile.split(more, 4);
  auto [round, tz] = tile.split(most, 4);
  tile.bind(tx, threads[0]).bind(ty, threads[1]).bind(tz, threads[2]).unroll(round);
}

/// Each thread has 16 x 8 elements in registers, as two tiles of 16 x 4 that are 32 columns apart.
/// Eight threads whose loads are served together then read 32 neighbouring numbers of B. A warp of
/// 4 x 8 threads has 64 x 64 elements, and a block has four warps. The next tiles are loaded during
/// the computation; from sm_80 on, these loads do not pass through registers.
Matmul warp_tiles(int n) {
  Matmul m(n);
  const te::Tensor sums = m.s.cache_write(m.C, "local");
  const te::Tensor a = m.s.cache_read(m.A, "shared", {sums});
  const te::Tensor b = m.s.cache_read(m.B, "shared", {sums});
  const te::Tensor own_a = m.s.cache_read(a, "local", {sums});
  const te::Tensor own_b = m.s.cache_read(b, "local", {sums});
  const std::vector<te::IterVar> threads = {te::thread_axis("threadIdx.x"),
                                            te::thread_axis("threadIdx.y"),
                                            te::thread_axis("threadIdx.z")};

  te::Stage C = m.s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), kTile, kTile);
  auto [wi, warp_row] = C.split(ii, 64);
  auto [ti, i] = C.split(warp_row, 16);
  auto [wj, warp_column] = C.split(ji, 64);
  auto [half, half_column] = C.split(warp_column, 32);
  auto [tj, j] = C.split(half_column, 4);
  C.reorder({io, jo, wi, wj, half, ti, tj, i, j});
  C.bind(io, te::thread_axis("blockIdx.y")).bind(jo, te::thread_axis("blockIdx.x"));
  C.bind(C.fuse(wi, wj), threads[2]).bind(ti, threads[1]).bind(tj, threads[0]);
  C.bind(half, te::thread_axis("vthread")).unroll(i).vectorize(j);

  te::Stage S = m.s[sums];
  S.compute_at(C, tj);
  auto [ko, step] = S.split(S.reduce_axis(0), kDepth);
  auto [kq, k] = S.split(step, 4);
  S.reorder({ko, kq, k, S.axis(0), S.axis(1)});
  S.unroll(kq).unroll(k).unroll(S.axis(0)).unroll(S.axis(1));
  S.pragma(ko, "unroll_explicit", 0).pragma(ko, "blocks_per_multiprocessor", 2);

  m.s[own_a].compute_at(S, kq).unroll(m.s[own_a].axis(0)).vectorize(m.s[own_a].axis(1));
  m.s[own_b].compute_at(S, k).vectorize(m.s[own_b].axis(1));
  for (const te::Tensor& tile : {a, b}) {
    m.s[tile].compute_at(S, ko).double_buffer();
    fetch_by_vectors(m.s[tile], threads);
  }
  return m;
}

constexpr int kTensorCoreBlock = 64;

/// Each of the four warps of a block has 32 x 32 sums, as fragments of 16 x 16. For each 32
/// iterations of the reduction the block loads a tile of A and a tile of B. The threads read eight
/// rows of a tile at once, so each row is padded by 16 bytes: the rows then lie in different banks.
Matmul tensor_cores(int n) {
  constexpr int kBlock = kTensorCoreBlock, kWarp = 32, kStep = 32;
  const topi::gpu::MatrixTile tile{.m = 16, .n = 16, .k = 16, .type = Float(16)};
  Matmul m(n, Float(16));
  const te::Tensor sums = m.s.cache_write(m.C, "wmma.accumulator");
  const te::Tensor a = m.s.cache_read(m.A, "shared", {sums});
  const te::Tensor b = m.s.cache_read(m.B, "shared", {sums});
  const te::Tensor own_a = m.s.cache_read(a, "wmma.matrix_a", {sums});
  const te::Tensor own_b = m.s.cache_read(b, "wmma.matrix_b", {sums});
  const te::IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y"),
                    tz = te::thread_axis("threadIdx.z");

  te::Stage C = m.s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), kBlock, kBlock);
  auto [wi, wj, warp_row, warp_column] = C.tile(ii, ji, kWarp, kWarp);
  auto [ti, tj, i, j] = C.tile(warp_row, warp_column, tile.m, tile.n);
  C.bind(io, te::thread_axis("blockIdx.y")).bind(jo, te::thread_axis("blockIdx.x"));
  C.bind(wi, tz).bind(wj, ty);
  C.unroll(ti).unroll(tj).tensorize(i, topi::gpu::store_matrix("global", tile));

  te::Stage S = m.s[sums];
  S.compute_at(C, wj);
  auto [ko, step] = S.split(S.reduce_axis(0), kStep);
  auto [ks, k] = S.split(step, tile.k);
  auto [si, sj, row, column] = S.tile(S.axis(0), S.axis(1), tile.m, tile.n);
  S.reorder({ko, ks, si, sj, row, column, k}).pragma(ko, "unroll_explicit", 0);
  S.unroll(ks).unroll(si).unroll(sj).tensorize(row, topi::gpu::multiply_matrices(tile));

  for (const te::Tensor& own : {own_a, own_b}) {
    te::Stage fragment = m.s[own];
    fragment.compute_at(S, ks);
    auto [yo, xo, y, x] = fragment.tile(fragment.axis(0), fragment.axis(1), 16, 16);
    fragment.unroll(yo).unroll(xo).tensorize(y, own.same_as(own_a)
                                                    ? topi::gpu::load_matrix_a("shared", tile)
                                                    : topi::gpu::load_matrix_b("shared", tile));
  }
  for (const te::Tensor& shared : {a, b}) {
    te::Stage part = m.s[shared];
    part.compute_at(S, ko).double_buffer();
    part.storage_align(part.axis(0), shared.same_as(a) ? kStep : kBlock, 8);
    auto [vectors, lane] = part.split(part.fuse(part.axis(0), part.axis(1)), 8);
    auto [rest, x] = part.split(vectors, 32);
    auto [more, y] = part.split(rest, 2);
    auto [round, z] = part.split(more, 2);
    part.vectorize(lane).bind(x, tx).bind(y, ty).bind(z, tz).unroll(round);
  }
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about =
          "A matrix product on a GPU: one thread for each element, then tiles that threads "
          "share.\nGive --target=opencl or --target=cuda to run it there.",
      .size_means = "the number of rows and columns of the matrices",
      .size = 1024,
      .check_size = 64,
      .greatest_size = 8192};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    const auto show = [&](const std::string& name, const Matmul& m) {
      program.print("--------- ", name, " ---------\n");
      program.show(name, m.s, {m.A, m.B, m.C}, {.operations = 2.0 * n * n * n});
    };
    show("naive: neighbouring threads in one column", thread_for_each_element(n, false));
    show("coalesced: neighbouring threads in one row", thread_for_each_element(n, true));
    show("shared tiles", shared_tiles(n));
    show("register tiles", register_tiles(n, Fetch::Single));
    show("vector loads", register_tiles(n, Fetch::Vectors));
    show("double buffer", register_tiles(n, Fetch::Ahead));
    show("warp tiles", warp_tiles(n));
    // Tensor cores multiply whole tiles only, and OpenCL cannot use them.
    if (n % kTensorCoreBlock == 0 && program.target().facts().kind != tir::TargetKind::OpenCl)
      show("tensor cores, of float16", tensor_cores(n));
  });
}
