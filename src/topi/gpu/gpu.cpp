// Matrix products and convolutions on GPUs (topi/gpu.h).
#include "tenon/topi/gpu.h"

#include <algorithm>
#include <array>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/schedule.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/tags.h"
#include "tenon/topi/tensor_intrinsics.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::gpu {

namespace {

/// Inlines all elementwise or injective producers of an operator's operations, for example padding,
/// transposition and functions of elements. Stages of cache_read then compute the elements that
/// they store. Throws ScheduleError for any other producer, which would need threads of its own.
/// `function` names the schedule in the message.
///
///    inline_maps(s, "schedule_softmax", out, {greatest, sum, power, out.op()}, where);
void inline_maps(const te::Schedule& s, const char* function, const te::Tensor& out,
                 const std::vector<te::Operation>& operations, const SourceLocation& where) {
  std::vector<te::Operation> left = operations, seen;
  while (!left.empty()) {
    const te::Operation op = left.back();
    left.pop_back();
    for (const te::Tensor& input : op.inputs()) {
      const te::Operation& producer = input.op();
      if (producer.as<te::Placeholder>() || is_one_of(producer, operations) ||
          is_one_of(producer, seen))
        continue;
      if (!te::is_injective(producer))
        refuse(function, out,
               "stage `" + producer.name() +
                   "`, which it reads, is not an elementwise map and cannot be inlined; build it "
                   "as a separate function and pass its result",
               where);
      s[producer].compute_inline();
      seen.push_back(producer);
      left.push_back(producer);
    }
  }
}

}  // namespace

// ---- products -----------------------------------------------------------------------------------

namespace {

using te::IterVar;
using te::Schedule;
using te::Stage;

/// The thread axes that the loops of all stages are bound to.
struct Threads {
  IterVar bx = te::thread_axis("blockIdx.x"), by = te::thread_axis("blockIdx.y"),
          bz = te::thread_axis("blockIdx.z");
  IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y"),
          tz = te::thread_axis("threadIdx.z");
};

/// Adds the caches of a product to the schedule. Returns {c, a, b, own_a, own_b}: the sums, the
/// factors in shared memory, and the factors in registers or fragments.
std::array<Tensor, 5> add_caches(const Schedule& s, const Tensor& out, const char* a_scope,
                                 const char* b_scope, const char* sum_scope) {
  const std::vector<Tensor> factors = factors_of_product(out);
  const Tensor sums = s.cache_write(out, sum_scope);
  const Tensor a = s.cache_read(factors.front(), "shared", {sums});
  const Tensor b = s.cache_read(factors.back(), "shared", {sums});
  return {sums, a, b, s.cache_read(a, a_scope, {sums}), s.cache_read(b, b_scope, {sums})};
}

/// Throws if one tensor is both factors.
void check_factors(const char* function, const Tensor& out, const SourceLocation& where) {
  const std::vector<Tensor> factors = out.op().inputs();
  if (factors.size() != 2)
    refuse(function, out,
           "both factors are `" + factors.front().name() +
               "`, of which a block keeps two different tiles; read one of them through a map (a "
               "te::compute of the same elements), which is inlined",
           where);
}

/// Distributes the loads of a tile over the threads of a block. Each thread loads vectors of
/// `lanes` elements.
void fetch(const Stage& tile, const std::vector<std::pair<IterVar, int>>& threads, int lanes) {
  IterVar elements = tile.fuse(tile.op().axis());
  if (lanes > 1) {
    auto [vectors, lane] = tile.split(elements, lanes);
    tile.vectorize(lane);
    elements = vectors;
  }
  for (const auto& [thread, count] : threads) {
    auto [rest, inner] = tile.split(elements, count);
    tile.bind(inner, thread);
    elements = rest;
  }
}

/// Whether each row of the tensor starts at a multiple of the vector length.
bool has_whole_vectors(const Tensor& x, int lanes) {
  const auto last = tir::constant_int(x.shape().back());
  return last && *last % lanes == 0;
}

/// The tiles of C that a block and a warp compute, the number of terms per step, and the number of
/// resident blocks per multiprocessor (0 if the compiler chooses it).
struct BlockTiles {
  int rows, columns, warp_rows, warp_columns, depth, blocks = 0;

  int warps() const { return rows / warp_rows * (columns / warp_columns); }
};

/// The tiles for CUDA cores. A warp has 4 x 8 threads. Each thread computes warp_rows / 4 rows and
/// 4 of every 32 columns.
///
/// Large tiles need fewer loads per multiply-add. Small tiles are used if there would be fewer than
/// kMinLargeBlocks large tiles, which would leave multiprocessors idle. The sizes were measured on
/// an H200 (tests/cuda/results).
constexpr BlockTiles kLargeTiles{128, 128, 64, 64, 16, 2}, kSmallTiles{64, 64, 32, 64, 16, 4};
constexpr std::int64_t kMinLargeBlocks = 512;

// Applies the schedule of the last step of the tutorial gpu_matmul, where it is explained.
Schedule schedule_whole_tiles(const Tensor& out, const BlockTiles& tiles) {
  Schedule s = te::create_schedule(out);
  const auto [c, a, b, own_a, own_b] = add_caches(s, out, "local", "local", "local");
  const Threads t;
  Stage to = s[out];
  const std::vector<IterVar> axes = to.op().axis();
  const IterVar &y = axes[axes.size() - 2], &x = axes.back();
  auto [io, jo, ii, ji] = to.tile(y, x, tiles.rows, tiles.columns);
  auto [wi, warp_row] = to.split(ii, tiles.warp_rows);
  auto [ti, i] = to.split(warp_row, tiles.warp_rows / 4);
  auto [wj, warp_column] = to.split(ji, tiles.warp_columns);
  auto [half, half_column] = to.split(warp_column, 32);
  auto [tj, j] = to.split(half_column, 4);
  to.reorder({io, jo, wi, wj, half, ti, tj, i, j});
  if (axes.size() > 2) to.bind(axes[0], t.bz);
  to.bind(io, t.by).bind(jo, t.bx);
  to.bind(to.fuse(wi, wj), t.tz).bind(ti, t.ty).bind(tj, t.tx);
  to.bind(half, te::thread_axis("vthread")).unroll(i).vectorize(j);

  Stage sums = s[c];
  sums.compute_at(to, tj);
  const std::vector<IterVar> own = sums.op().axis();
  auto [ko, step] = sums.split(sums.op().reduce_axis(0), tiles.depth);
  auto [kq, k] = sums.split(step, 4);
  std::vector<IterVar> order{ko, kq, k};
  order.insert(order.end(), own.begin(), own.end());
  sums.reorder(order).unroll(kq).unroll(k);
  for (const IterVar& axis : own) sums.unroll(axis);
  sums.pragma(ko, "unroll_explicit", 0);
  sums.pragma(ko, "blocks_per_multiprocessor", tiles.blocks);

  for (const Tensor& part : {own_a, own_b}) {
    const std::vector<IterVar> dims = s[part].op().axis();
    s[part].compute_at(sums, kq).unroll(dims[dims.size() - 2]).vectorize(dims.back());
  }
  for (const Tensor& tile : {a, b}) {
    s[tile].compute_at(sums, ko).double_buffer();
    fetch(s[tile], {{t.tx, 8}, {t.ty, 4}, {t.tz, tiles.warps()}}, 4);
  }
  return s;
}

/// Schedules a product of any extents with 8 x 8 threads per block. Each thread computes `each` x
/// `each` elements, in steps of eight terms. Accesses are guarded if tiles do not divide the
/// extents.
Schedule schedule_any_tiles(const Tensor& out, int each) {
  constexpr int kThreads = 8, kDepth = 8;
  Schedule s = te::create_schedule(out);
  const auto [c, a, b, own_a, own_b] = add_caches(s, out, "local", "local", "local");
  const Threads t;
  Stage to = s[out];
  const std::vector<IterVar> axes = to.op().axis();
  auto [io, jo, ii, ji] =
      to.tile(axes[axes.size() - 2], axes.back(), kThreads * each, kThreads * each);
  auto [ti, i] = to.split(ii, each);
  auto [tj, j] = to.split(ji, each);
  to.reorder({io, jo, ti, tj, i, j});
  if (axes.size() > 2) to.bind(axes[0], t.bz);
  to.bind(io, t.by).bind(jo, t.bx).bind(ti, t.ty).bind(tj, t.tx);

  Stage sums = s[c];
  sums.compute_at(to, tj);
  const std::vector<IterVar> own = sums.op().axis();
  auto [ko, k] = sums.split(sums.op().reduce_axis(0), kDepth);
  std::vector<IterVar> order{ko, k};
  order.insert(order.end(), own.begin(), own.end());
  sums.reorder(order);
  sums.pragma(ko, "unroll_explicit", 0);
  for (const IterVar& axis : own) sums.unroll(axis);
  for (const Tensor& part : {own_a, own_b}) s[part].compute_at(sums, k);
  for (const Tensor& tile : {a, b}) {
    s[tile].compute_at(sums, ko);
    fetch(s[tile], {{t.tx, kThreads}, {t.ty, kThreads}}, 1);
  }
  return s;
}

// ---- tensor cores -------------------------------------------------------------------------------

/// The candidates for tiles of tensor cores, from the largest to the smallest.
constexpr BlockTiles kWarpTiles[] = {
    {128, 128, 64, 32, 32}, {64, 64, 32, 32, 32}, {64, 64, 32, 32, 16}};

/// Returns the tile for tensor cores. Nullopt if they do not support the types or would round the
/// accumulators.
std::optional<MatrixTile> tile_for_tensor_cores(const Tensor& out, const TargetFacts& target) {
  if (target.kind != tir::TargetKind::Cuda) return std::nullopt;
  int capability = 0;
  for (const char c : target.arch)
    if (c >= '0' && c <= '9') capability = capability * 10 + (c - '0');
  const std::vector<Tensor> factors = out.op().inputs();
  const DataType type = factors.front().dtype(), sum = out.dtype();
  if (factors.back().dtype() != type) return std::nullopt;
  const bool is_known = (type == Float(16) && sum == Float(32) && capability >= 70) ||
                        (type == BFloat(16) && sum == Float(32) && capability >= 80) ||
                        ((type == Int(8) || type == UInt(8)) && sum == Int(32) && capability >= 72);
  if (!is_known) return std::nullopt;
  return MatrixTile{.type = type,
                    .sum = sum,
                    .transpose_a = is_transposed(out, 0),
                    .transpose_b = is_transposed(out, 1)};
}

/// Tensorizes the last two dimensions of a fragment with tiles of the given size.
void tensorize_tiles(const Stage& stage, const std::pair<int, int>& tile,
                     const te::TensorIntrin& intrin) {
  const std::vector<IterVar> axes = stage.op().axis();
  auto [yo, xo, yi, xi] = stage.tile(axes[axes.size() - 2], axes.back(), tile.first, tile.second);
  stage.unroll(yo).unroll(xo).tensorize(yi, intrin);
}

/// Schedules warps whose accumulators are tiles in fragments. The block loads the factors into
/// shared memory. Rows there are padded by one vector, so that eight rows that are read together
/// are in different banks.
Schedule schedule_warp_tiles(const Tensor& out, const BlockTiles& tiles, const MatrixTile& tile) {
  Schedule s = te::create_schedule(out);
  const auto [c, a, b, own_a, own_b] =
      add_caches(s, out, "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator");
  const Threads t;
  Stage to = s[out];
  const std::vector<IterVar> axes = to.op().axis();
  auto [io, jo, ii, ji] = to.tile(axes[axes.size() - 2], axes.back(), tiles.rows, tiles.columns);
  auto [wi, wj, yi, xi] = to.tile(ii, ji, tiles.warp_rows, tiles.warp_columns);
  auto [yo, xo, y, x] = to.tile(yi, xi, tile.m, tile.n);
  if (axes.size() > 2) to.bind(axes[0], t.bz);
  to.bind(io, t.by).bind(jo, t.bx).bind(wi, t.tz).bind(wj, t.ty);
  to.unroll(yo).unroll(xo).tensorize(y, store_matrix("global", tile));

  Stage sums = s[c];
  sums.compute_at(to, wj);
  const std::vector<IterVar> own = sums.op().axis();
  auto [ko, step] = sums.split(sums.op().reduce_axis(0), tiles.depth);
  auto [ks, k] = sums.split(step, tile.k);
  auto [so, qo, si, qi] = sums.tile(own[own.size() - 2], own.back(), tile.m, tile.n);
  sums.reorder({ko, ks, so, qo, si, qi, k});
  sums.pragma(ko, "unroll_explicit", 0);
  sums.unroll(ks).unroll(so).unroll(qo).tensorize(si, multiply_matrices(tile));

  const auto shape_of = [](bool transposed, int rows, int columns) {
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  s[own_a].compute_at(sums, ks);
  s[own_b].compute_at(sums, ks);
  tensorize_tiles(s[own_a], shape_of(tile.transpose_a, tile.m, tile.k),
                  load_matrix_a("shared", tile));
  tensorize_tiles(s[own_b], shape_of(tile.transpose_b, tile.k, tile.n),
                  load_matrix_b("shared", tile));
  const int lanes = 16 / tile.type.bytes();
  const int warps_down = tiles.rows / tiles.warp_rows,
            warps_across = tiles.columns / tiles.warp_columns;
  for (const auto& [part, length] :
       {std::pair(a, shape_of(tile.transpose_a, tiles.rows, tiles.depth).second),
        std::pair(b, shape_of(tile.transpose_b, tiles.depth, tiles.columns).second)}) {
    Stage stage = s[part];
    stage.compute_at(sums, ko).double_buffer();
    const std::vector<IterVar> dims = stage.op().axis();
    stage.storage_align(dims[dims.size() - 2], length, lanes);
    fetch(stage, {{t.tx, 32}, {t.ty, warps_across}, {t.tz, warps_down}}, lanes);
  }
  return s;
}

std::optional<Schedule> schedule_on_tensor_cores(const Tensor& out, const TargetFacts& target) {
  const std::optional<MatrixTile> tile = tile_for_tensor_cores(out, target);
  if (!tile) return std::nullopt;
  const int lanes = 16 / tile->type.bytes();
  for (const Tensor& factor : out.op().inputs())
    if (!has_whole_vectors(factor, lanes)) return std::nullopt;
  for (const BlockTiles& tiles : kWarpTiles) {
    const int shared = (tiles.rows + tiles.columns) * (tiles.depth + 16) * tile->type.bytes();
    // Every thread loads the same number of elements.
    const int fetched = tiles.warps() * 32 * lanes;
    if (ProductExtents(out).are_multiples(tiles.rows, tiles.columns, tiles.depth) &&
        tiles.rows * tiles.depth % fetched == 0 && tiles.columns * tiles.depth % fetched == 0 &&
        2 * shared <= target.max_shared_bytes && tiles.warps() * 32 <= target.max_threads_per_block)
      return schedule_warp_tiles(out, tiles, *tile);
  }
  return std::nullopt;
}

/// Schedules the product. The producers of its factors are not scheduled.
Schedule schedule_product(const Tensor& out, const TargetFacts& target) {
  if (const std::optional<Schedule> s = schedule_on_tensor_cores(out, target)) return *s;
  const ProductExtents extents(out);
  const bool is_single = out.dtype() == Float(32);
  const auto is_whole = [&](const BlockTiles& tiles) {
    return is_single && extents.are_multiples(tiles.rows, tiles.columns, tiles.depth) &&
           target.max_threads_per_block >= tiles.warps() * 32 &&
           target.max_shared_bytes >= (tiles.rows + tiles.columns) * tiles.depth * 8 &&
           std::ranges::all_of(out.op().inputs(), [](const Tensor& factor) {
             return factor.dtype() == Float(32) && has_whole_vectors(factor, 4);
           });
  };
  if (is_whole(kLargeTiles) &&
      *extents.rows / kLargeTiles.rows * (*extents.columns) / kLargeTiles.columns >=
          kMinLargeBlocks)
    return schedule_whole_tiles(out, kLargeTiles);
  if (is_whole(kSmallTiles)) return schedule_whole_tiles(out, kSmallTiles);
  const bool is_small = extents.rows && extents.columns && *extents.rows * *extents.columns < 4096;
  return schedule_any_tiles(out, is_small ? 1 : 4);
}

}  // namespace

Schedule schedule_matmul(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!is_product(out))
    refuse("schedule_matmul", out,
           "it is not a product of two matrices (topi::matmul, dense, batch_matmul)", where);
  check_factors("schedule_matmul", out, where);
  const Schedule s = schedule_product(out, target);
  inline_maps(s, "schedule_matmul", out, {out.op()}, where);
  return s;
}

namespace {

/// Returns the number of filters, and of rows and columns of positions, that a block computes, and
/// the number of channels in shared memory at a time. They are the largest ones for which the
/// window of the image and the coefficients fit in shared memory.
std::array<int, 4> block_of(const Tensor& convolution, const TargetFacts& target) {
  const te::Operation& op = convolution.op();
  const Tensor image = op.inputs().front(), weights = op.inputs().back();
  std::vector<te::Expr> indices;
  tir::walk(op.body().front(), [&](const tir::ProducerLoad& load) {
    if (indices.empty()) indices = load.indices;
  });
  const auto points = [&](std::size_t n) {
    return tir::constant_int(weights.shape()[n]).value_or(1);
  };
  // Returns the number of image rows (n = 2) or columns (n = 3) that `results` adjacent results
  // read.
  const auto span = [&](std::size_t n, int results) {
    const auto at = [&](std::int64_t result, std::int64_t point) {
      const tir::Var &of_result = op.axis()[n].var(), &of_point = op.reduce_axis()[n - 1].var();
      tir::VarMap values;
      tir::set(values, of_result, tir::make_int(of_result.dtype(), result));
      tir::set(values, of_point, tir::make_int(of_point.dtype(), point));
      return tir::constant_int(tir::substitute_folding(indices[n], values)).value_or(0);
    };
    return std::abs(at(results - 1, points(n) - 1) - at(0, 0)) + 1;
  };
  const auto all_filters = tir::constant_int(convolution.shape()[1]);
  int filters = all_filters && *all_filters % 8 == 0 ? 8 : 1, rows = 8, columns = 8, channels = 4;
  const auto bytes = [&] {
    const std::int64_t window = span(2, rows) * span(3, columns),
                       coefficients = filters * points(2) * points(3);
    return channels * (window * image.dtype().bytes() + coefficients * weights.dtype().bytes());
  };
  while (bytes() > target.max_shared_bytes) {
    int& longest = channels > 1     ? channels
                   : rows > columns ? rows
                   : columns > 1    ? columns
                                    : filters;
    if (longest == 1) break;
    longest /= 2;
  }
  return {filters, rows, columns, channels};
}

}  // namespace

Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!is_convolution(out) || layout_of_convolution(out) != Layout::Nchw || has_groups(out))
    refuse("schedule_conv2d", out, "it is not a convolution (topi::conv2d_nchw)", where);
  check_factors("schedule_conv2d", out, where);
  Schedule s = te::create_schedule(out);
  const Tensor image = out.op().inputs().front(), weights = out.op().inputs().back();
  const Tensor sums = s.cache_write(out, "local");
  const Tensor window = s.cache_read(image, "shared", {sums});
  const Tensor coefficients = s.cache_read(weights, "shared", {sums});
  inline_maps(s, "schedule_conv2d", out, {out.op()}, where);
  const Threads t;
  Stage to = s[out];
  const auto [filters, rows, columns, channels] = block_of(out, target);
  const std::vector<IterVar> axes = to.op().axis();
  auto [fo, fi] = to.split(axes[1], filters);
  auto [yo, xo, yi, xi] = to.tile(axes[2], axes[3], rows, columns);
  to.reorder({axes[0], fo, yo, xo, yi, xi, fi});
  to.bind(to.fuse(axes[0], fo), t.bz).bind(yo, t.by).bind(xo, t.bx).bind(yi, t.ty).bind(xi, t.tx);
  Stage own = s[sums];
  own.compute_at(to, xi);
  const std::vector<IterVar> places = own.op().axis(), terms = own.op().reduce_axis();
  auto [co, ci] = own.split(terms[0], channels);
  own.reorder({co, ci, terms[1], terms[2], places[0], places[1], places[2], places[3]});
  own.unroll(places[1]);
  for (const Tensor& part : {window, coefficients}) {
    s[part].compute_at(own, co);
    fetch(s[part], {{t.tx, columns}, {t.ty, rows}}, 1);
  }
  return s;
}

// ---- other operators ----------------------------------------------------------------------------

namespace {

/// Returns the product of the extents, or nullopt if one is not constant.
std::optional<std::int64_t> count_of(const std::vector<te::Expr>& extents) {
  std::int64_t count = 1;
  for (const te::Expr& extent : extents) {
    const auto value = tir::constant_int(extent);
    if (!value || __builtin_mul_overflow(count, *value, &count)) return std::nullopt;
  }
  return count;
}

/// Returns the greatest power of two that is at most `most` and at most `count`.
int power_of_two(std::int64_t most, std::int64_t count) {
  int power = 1;
  while (power * 2 <= most && power * 2 <= count) power *= 2;
  return power;
}

}  // namespace

// ---- maps ---------------------------------------------------------------------------------------

Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!te::is_injective(out.op()))
    refuse("schedule_elementwise", out, "it is not an elementwise map", where);
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_elementwise", out, {out.op()}, where);
  Stage stage = s[out];
  IterVar all = stage.fuse(stage.op().axis());
  const auto count = count_of(out.shape());
  constexpr int kLanes = 4;
  if (count && *count % kLanes == 0 && te::is_elementwise(stage.op())) {
    auto [vectors, lanes] = stage.split(all, kLanes);
    stage.vectorize(lanes);
    all = vectors;
  }
  auto [block, inside] = stage.split(all, std::min(256, target.max_threads_per_block));
  const Threads t;
  stage.bind(block, t.bx).bind(inside, t.tx);
  return s;
}

Schedule schedule_transpose(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const te::Operation op = out.op();
  const std::optional<Permutation> read = find_permutation(op);
  if (!read || read->size() < 2 || out.ndim() < 2)
    refuse("schedule_transpose", out, "it is not a transposition of one tensor", where);
  Schedule s = te::create_schedule(out);
  const Tensor tile = s.cache_read(op.inputs()[0], "shared", {op});
  inline_maps(s, "schedule_transpose", out, {op}, where);
  Stage to = s[out];
  std::vector<IterVar> axes = to.op().axis();
  const IterVar x = axes.back(), y = axes[axes.size() - 2];
  constexpr int kTile = 32;
  const int rows = std::min(8, std::max(1, target.max_threads_per_block / kTile));
  auto [yo, xo, yi, xi] = to.tile(y, x, kTile, kTile);
  auto [round, row] = to.split(yi, rows);
  const Threads t;
  std::vector<IterVar> outer(axes.begin(), axes.end() - 2);
  std::vector<IterVar> order = outer;
  order.insert(order.end(), {yo, xo, round, row, xi});
  to.reorder(order);
  to.bind(yo, t.by).bind(xo, t.bx).bind(row, t.ty).bind(xi, t.tx);
  if (!outer.empty()) to.bind(to.fuse(outer), t.bz);
  Stage from = s[tile];
  from.compute_at(to, xo);
  const std::vector<IterVar> own = from.op().axis();
  auto [rest, column] = from.split(own.back(), kTile);
  auto [more, line] = from.split(own[own.size() - 2], rows);
  from.reorder({more, rest, line, column});
  from.bind(line, t.ty).bind(column, t.tx);
  // Pads each row by one element, so that the elements of a column are in different banks.
  from.storage_align(own[own.size() - 2], kTile, 1);
  return s;
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

/// Distributes the reduction of an element over threads. Each thread reduces every `threads`-th
/// term, and the results of the threads are then combined.
void reduce_by_threads(const Stage& stage, int threads, const IterVar& tx) {
  const std::vector<IterVar> axes = stage.op().reduce_axis();
  const IterVar all = axes.size() > 1 ? stage.fuse(axes) : axes.front();
  stage.bind(stage.split(all, threads).inner, tx);
}

int threads_for(const te::Operation& op, int most) {
  return power_of_two(most, count_of(reduced_extents(op)).value_or(most));
}

/// Returns the reduction operation of `out`. It is the operation of `out` itself or, for an argmax,
/// the producer of `out` that computes the pairs of position and value.
te::Operation reduction_of(const Tensor& out) {
  if (!out.op().reduce_axis().empty() || out.op().inputs().empty()) return out.op();
  return out.op().inputs()[0].op();
}

}  // namespace

Schedule schedule_reduction(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const te::Operation op = reduction_of(out);
  if (op.reduce_axis().empty()) refuse("schedule_reduction", out, "it is not a reduction", where);
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_reduction", out, {out.op(), op}, where);
  Stage stage = s[out], sums = s[op];
  const Threads t;
  // The last dimension of the input is reduced if the last reduction axis has its name.
  const std::vector<Tensor>& inputs = op.inputs();
  const auto& name = op.reduce_axis().back().name();
  const std::string last = "k" + std::to_string(inputs.empty() ? 0 : inputs[0].ndim() - 1);
  const bool is_by_rows = op.axis().empty() || name == last;
  const int most = std::min(256, target.max_threads_per_block);
  const IterVar elements = stage.fuse(stage.op().axis());
  if (is_by_rows) {
    stage.bind(elements, t.bx);
    if (!stage.same_as(sums)) sums.compute_at(stage, elements);
    reduce_by_threads(sums, threads_for(op, most), t.tx);
    return s;
  }
  auto [block, column] = stage.split(elements, 32);
  stage.bind(block, t.bx).bind(column, t.tx);
  if (!stage.same_as(sums)) {
    // The pairs of position and value are computed in a separate stage. Threads compute the pairs
    // of a block's columns together.
    sums.compute_at(stage, block).set_scope("shared");
    sums.bind(sums.fuse(op.axis()), t.tx);
  }
  reduce_by_threads(sums, threads_for(op, most / 32), t.ty);
  return s;
}

Schedule schedule_softmax(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const std::optional<Softmax> found = find_softmax(out);
  if (!found) refuse("schedule_softmax", out, "it is not a softmax", where);
  const auto& [greatest, power, sum, along] = *found;
  if (along + 1 != out.shape().size())
    refuse("schedule_softmax", out, "it is not along the last dimension", where);
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_softmax", out, {out.op(), sum, power, greatest}, where);
  s[power].compute_inline();
  Stage norm = s[out];
  std::vector<IterVar> axes = norm.op().axis();
  const IterVar column = axes.back();
  axes.pop_back();
  const IterVar row = norm.fuse(axes);
  const Threads t;
  const int threads = threads_for(sum, std::min(256, target.max_threads_per_block));
  norm.bind(row, t.bx);
  norm.bind(norm.split(column, threads).inner, t.tx);
  for (const te::Operation& op : {greatest, sum}) {
    s[op].compute_at(norm, row).set_scope("shared");
    reduce_by_threads(s[op], threads, t.tx);
  }
  return s;
}

}  // namespace tenon::topi::gpu
