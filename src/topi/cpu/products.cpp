// Matrix products on CPUs (topi/cpu.h).
#include <algorithm>
#include <bit>
#include <tuple>

#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/tensor_intrinsics.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/dot_products.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

namespace {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Range;
using tir::Var;

/// Returns the factor that the rows of the result index.
Tensor a_of(const Tensor& product) { return factors_of_product(product).front(); }
/// Returns the factor that the columns of the result index.
Tensor b_of(const Tensor& product) { return factors_of_product(product).back(); }

/// Whether the packed factor is a copy of a constant, directly or through a copy in registers.
bool reads_constant(const Tensor& packed) {
  const Tensor source = packed.op().inputs().front();
  return te::is_constant_input(source) ||
         (!source.op().inputs().empty() && te::is_constant_input(source.op().inputs().front()));
}

/// A tile of accumulators in registers: `rows` rows of `vectors` vectors. The other registers hold
/// the vectors of one row of B and one element of A.
struct ProductTile {
  int rows, vectors, lanes;
  int width() const { return vectors * lanes; }
};

/// Reduces the tile's height if there are few rows, so that the last tile is not much smaller than
/// the others.
ProductTile with_even_rows(ProductTile tile, const ProductExtents& extents) {
  constexpr std::int64_t kFewRows = 64;
  if (!extents.rows || *extents.rows >= kFewRows) return tile;
  tile.rows = static_cast<int>(even_part(*extents.rows, tile.rows));
  return tile;
}

/// Whether all rows of A map to the same sets of the L1 cache, which hold only a few lines.
bool rows_share_sets(const Tensor& product) {
  const std::optional<std::int64_t> depth = ProductExtents(product).depth;
  return depth && *depth > 0 && !is_transposed(product, 0) &&
         *depth * a_of(product).dtype().bytes() % kBytesOfAWay == 0;
}

/// Returns the height and width of a tile in 32 registers.
ProductTile tile_in_32_registers(const ProductExtents& extents, int lanes) {
  constexpr std::int64_t kManyColumns = 256, kDeep = 256, kShort = 32;
  const std::int64_t vectors = parts_of(extents.columns.value_or(0), lanes);
  const std::int64_t depth = extents.depth.value_or(kDeep);
  if (depth <= kShort && vectors >= 3) {
    // Storing C dominates the time. Wide tiles of few rows store long runs of C.
    if (vectors == 5) return {4, 5, lanes};
    return vectors % 3 == 0 && vectors <= 9 ? ProductTile{8, 3, lanes} : ProductTile{5, 4, lanes};
  }
  // Three vectors leave fewer vectors of the last tile empty than two.
  const bool has_thirds = vectors == 3 || vectors == 5 || vectors == 9;
  if (vectors == 0 || extents.columns >= kManyColumns || has_thirds) return {8, 3, lanes};
  // Wide tiles read bands of A fewer times. This helps if bands are deep, because they do not stay
  // in the cache for the next tile.
  if (depth >= kDeep && vectors % 4 == 0) return {6, 4, lanes};
  return {8, 2, lanes};
}

ProductTile product_tile(const Tensor& product, const TargetFacts& target) {
  const ProductExtents extents(product);
  const int lanes = lanes_of(product.dtype(), target);
  ProductTile tile = target.vector_registers.count >= 32 ? tile_in_32_registers(extents, lanes)
                                                         : ProductTile{6, 2, lanes};
  const std::int64_t vectors = parts_of(extents.columns.value_or(0), lanes);
  if (extents.columns && *extents.columns <= tile.lanes) {
    while (tile.lanes > 1 && tile.lanes / 2 >= *extents.columns) tile.lanes /= 2;
    tile = {(rows_share_sets(product) ? 1 : 2) * tile.rows, 1, tile.lanes};
  } else if (extents.columns) {
    tile.vectors = static_cast<int>(std::min<std::int64_t>(tile.vectors, vectors));
  }
  return with_even_rows(tile, extents);
}

/// Like product_tile, for dot products. Prefers a width for which the last tile has no empty vector
/// and a panel fits in the L1 cache, which is faster than L2. On targets with fewer than 32
/// registers, the even and the odd elements of each operand occupy separate registers.
ProductTile tile_of_neighbours(const Tensor& product, const TargetFacts& target) {
  constexpr int kSums = 24, kHalves = 2;
  const ProductExtents extents(product);
  ProductTile tile = product_tile(product, target);
  if (target.vector_registers.count < 32) {
    const int operands = kHalves * (tile.vectors + 1);
    const int sums = std::max(target.vector_registers.count - operands, tile.vectors);
    tile.rows = std::min(tile.rows, sums / tile.vectors);
    return with_even_rows(tile, extents);
  }
  if (tile.vectors == 1 || !extents.columns) return tile;
  const int bytes = b_of(product).dtype().bytes();
  for (const int vectors : {4, 2}) {
    const int width = vectors * tile.lanes;
    const bool is_filled =
        parts_of(*extents.columns, width) * width - *extents.columns < tile.lanes;
    const std::int64_t panel = extents.depth.value_or(target.caches.l1) * width;
    if (is_filled && panel * bytes <= target.caches.l1)
      return {std::min(tile.rows, kSums / vectors), vectors, tile.lanes};
  }
  return tile;
}

/// Whether all of A stays in the L2 cache, while each core packs and reads its own panels of B. The
/// cores then need not wait for each other. Requires several panels per core.
bool a_stays_in_cache(const Tensor& product, const TargetFacts& target, int cores) {
  constexpr std::int64_t kPanelsOfACore = 2, kVectors = 4;
  const ProductExtents extents(product);
  if (!extents.rows || !extents.depth || !extents.columns) return false;
  const int widest = kVectors * lanes_of(product.dtype(), target);
  if (*extents.columns < kPanelsOfACore * cores * widest) return false;
  return *extents.rows * *extents.depth * a_of(product).dtype().bytes() <= target.caches.l2;
}

/// Whether the reduction is so short that storing C dominates the time. Only a few rows of C are
/// then computed at a time, and all of B must stay in the L2 cache.
bool is_shallow(const Tensor& product, const TargetFacts& target) {
  constexpr std::int64_t kMaxDepth = 64;
  const ProductExtents extents(product);
  if (!extents.depth || !extents.columns || *extents.depth > kMaxDepth) return false;
  const int bytes = b_of(product).dtype().bytes();
  return *extents.depth * *extents.columns * bytes <= target.caches.l2 / 4;
}

/// Returns the tile for a product whose panels of B are distributed over cores. It is `tile`, or a
/// wider and lower tile if that reduces the work of the busiest core. Precondition: the number of
/// columns is known.
ProductTile shared_out(const ProductTile& tile, const ProductExtents& extents, int cores) {
  const ProductTile wide = with_even_rows({6, 4, tile.lanes}, extents);
  const auto most = [&](const ProductTile& t) {
    return parts_of(parts_of(*extents.columns, t.width()), cores) * t.width();
  };
  return tile.vectors == 3 && most(wide) < most(tile) ? wide : tile;
}

/// Returns the number of reduction steps to unroll. Prefers the number that leaves the shortest
/// tail of the depth.
int steps_at_once(std::optional<std::int64_t> depth) {
  constexpr std::int64_t kMax = 8, kMin = 4;
  if (!depth) return kMax;
  std::int64_t best = std::clamp<std::int64_t>(*depth, 1, kMax);
  for (std::int64_t steps = best; steps >= kMin; --steps)
    if (*depth % steps < *depth % best) best = steps;
  return static_cast<int>(best);
}

// ---- a matrix by a vector -----------------------------------------------------------------------

/// Maximum number of rows of the first factor for which the second factor is not packed.
constexpr std::int64_t kFewRows = 16;
/// Maximum number of columns for which the first factor is not packed. It is kFewColumns if there
/// are more than kFewRows rows.
constexpr std::int64_t kVeryFewColumns = 4, kFewColumns = 8;

/// Returns the dimension of the result that is long if the other one is short.
std::size_t long_dimension(const ProductExtents& extents) {
  if (extents.columns == 1) return 0;
  const std::int64_t most =
      extents.rows.value_or(kFewRows) > kFewRows ? kFewColumns : kVeryFewColumns;
  const bool has_few_columns = extents.columns && *extents.columns >= 1 && *extents.columns <= most;
  return has_few_columns && extents.rows.value_or(kFewRows) > *extents.columns ? 0 : 1;
}

/// The long (`along`) and the short (`few`) dimension of the result, counted with a batch
/// dimension.
struct ResultDimensions {
  std::size_t along, few;

  ResultDimensions(const Tensor& product, const ProductExtents& extents)
      : along(product.shape().size() - 2 + long_dimension(extents)),
        few(product.shape().size() - 1 - long_dimension(extents)) {}
};

bool is_batched(const Request& request) { return request.core.shape().size() == 3; }

/// Whether the factor is contiguous along the reduction axis.
bool is_contiguous(const Request& request, std::size_t factor) {
  return is_transposed(request.core, factor) == (factor == 1);
}

/// Divides the long dimension of the result into segments, a multiple of `width` each, and shares
/// them out to the cores. A segment fits in the L1 cache, and each core gets at least one segment.
/// Otherwise it is as long as possible, because memory delivers longer contiguous runs faster.
/// Returns the loop over segments and the loop over the elements of a segment.
std::pair<IterVar, IterVar> share_out_segments(const Stage& out, const Request& request,
                                               const ResultDimensions& at, int width,
                                               const TargetFacts& target) {
  const IterVar along = out.op().axis()[at.along];
  std::int64_t most = elements_at_hand(request.core.dtype(), target) / width;
  const bool has_threads = are_worth_threads(terms_of(request.core.op()));
  const std::optional<std::int64_t> extent = tir::constant_int(request.core.shape()[at.along]);
  if (extent && has_threads && !is_batched(request))
    most = std::min(most, parts_of(*extent, std::int64_t{target.cores} * width));
  auto [segments, elements] =
      out.split(along, static_cast<int>(std::max<std::int64_t>(most, 1) * width));
  out.pragma(segments, kPartitioned, 1);
  if (has_threads) out.parallel(is_batched(request) ? out.op().axis().front() : segments);
  return {segments, elements};
}

/// Stores the stage as tiles of `width` elements of the long dimension. Returns the loops over the
/// tiles, over the short dimension and over the elements of a tile.
std::tuple<IterVar, IterVar, IterVar> lay_out_in_tiles(const Stage& stage,
                                                       const ResultDimensions& at, int width) {
  const std::vector<IterVar> loops = stage.transform_layout(
      [&](std::span<const Var> i) {
        std::vector<Expr> result(i.begin(), i.end() - 2);
        for (const Expr& e : {tir::floordiv(i[at.along], width), Expr(i[at.few]),
                              tir::floormod(i[at.along], width)})
          result.push_back(e);
        return result;
      },
      {.pad = true});
  const std::size_t rank = loops.size();
  return {loops[rank - 3], loops[rank - 2], loops[rank - 1]};
}

/// The number of rows of the large factor that are added at a time.
constexpr int kRowsOfABlock = 8;

/// Computes a row or column: adds multiples of several rows of the large factor at a time, to one
/// segment of the result after the other.
void arrange_sum_of_rows(const Schedule& s, const Request& request, const TargetFacts& target) {
  const ResultDimensions at(request.core, ProductExtents(request.core));
  const int lanes = lanes_of(request.core.dtype(), target);
  request.inline_maps(s);
  const Stage out = s[request.out];
  const auto [segments, elements] = share_out_segments(out, request, at, lanes, target);
  IterVar few = out.op().axis()[at.few];
  auto [vector, lane] = out.split(elements, lanes);
  Stage sums = out;
  std::vector<IterVar> order;
  if (request.is_mapped()) {
    out.reorder({segments, few, vector, lane}).vectorize(lane);
    sums = s[request.core];
    sums.compute_at(out, segments);
    std::tie(vector, few, lane) = lay_out_in_tiles(sums, at, lanes);
  } else {
    order.push_back(segments);
  }
  auto [rows, row] = sums.split(sums.op().reduce_axis(0), kRowsOfABlock);
  order.insert(order.end(), {rows, vector, few, row, lane});
  sums.reorder(order).unroll(few).unroll(row).vectorize(lane).pragma(rows, kPartitioned, 1);
}

/// Like arrange_sum_of_rows, for a result with a few rows or columns. Segments of all of them stay
/// in the L2 cache. Sums of kRowsOfABlock terms are computed in registers and then added to the
/// segment.
void arrange_few_sums_of_rows(const Schedule& s, const Request& request,
                              const TargetFacts& target) {
  const ProductExtents extents(request.core);
  const ResultDimensions at(request.core, extents);
  const int lanes = lanes_of(request.core.dtype(), target);
  const int registers = target.vector_registers.count;
  const int vectors = registers >= 32 ? 2 : 1, width = vectors * lanes;
  request.inline_maps(s);
  const Stage product = s[request.core];
  const Tensor in_registers =
      s.rfactor(request.core, product.split(product.op().reduce_axis(0), kRowsOfABlock).outer);
  const Tensor own = request.is_mapped() ? request.core : s.cache_write(request.core, "global");
  const Stage out = s[request.out], sums = s[own], block = s[in_registers];
  const auto [segments, elements] = share_out_segments(out, request, at, width, target);
  auto [vector, lane] = out.split(elements, lanes);
  out.reorder({segments, out.op().axis()[at.few], vector, lane}).vectorize(lane);

  sums.compute_at(out, segments);
  const auto [tiles, few, columns] = lay_out_in_tiles(sums, at, width);
  // One register holds an element of the small factor, the others a tile and vectors of a row.
  const std::int64_t results = tir::constant_int(request.core.shape()[at.few]).value_or(1);
  const std::int64_t height = even_part(results, (registers - 1) / vectors - 1);
  const IterVar blocks = sums.op().reduce_axis(0);
  auto [bands, row] = sums.split(few, static_cast<int>(height));
  auto [of_row, of_vector] = sums.split(columns, lanes);
  sums.reorder({blocks, tiles, bands, row, of_row, of_vector});
  sums.unroll(row).unroll(of_row).vectorize(of_vector);
  sums.pragma(blocks, kPartitioned, 1).pragma(bands, kPartitioned, 1);

  block.compute_at(sums, bands).set_scope("local");
  // While the columns of these rows are added, the next rows are loaded into the L2 cache.
  if (extents.depth.value_or(0) > kRowsOfABlock)
    block.prefetch(factors_of_product(request.core)[long_dimension(extents)],
                   block.op().reduce_axis(0), kRowsOfABlock);
  const std::vector<IterVar> axes = block.op().axis();
  keep_in_registers(block, {block.op().reduce_axis(0)}, axes[at.few + 1], axes[at.along + 1],
                    lanes);
}

/// Splits the sum into `lanes` partial sums of interleaved terms. Returns the partial sums, with
/// the lane as the last dimension.
Tensor sum_by_lanes(const Schedule& s, const Tensor& sum, const IterVar& terms, int lanes,
                    int neighbours) {
  IterVar lane = s[sum].split(terms, lanes * neighbours).inner;
  if (neighbours > 1) lane = s[sum].split(lane, neighbours).outer;
  return s.rfactor(sum, lane, sum.ndim());
}

/// Multiplies one or a few vectors by the rows of a matrix, a few rows at a time. Each sum has one
/// partial sum per lane.
void arrange_dots(const Schedule& s, const Request& request, const TargetFacts& target) {
  constexpr int kMaxRowsAtOnce = 8, kRowsOfATask = 64;
  const ProductExtents extents(request.core);
  const int most_sums = target.vector_registers.count >= 32 ? 28 : 12;
  const std::size_t large = long_dimension(extents);
  const ResultDimensions at(request.core, extents);
  const auto few_rows = static_cast<int>(*tir::constant_int(request.core.shape()[at.few]));
  const std::int64_t all_rows =
      (large == 0 ? extents.rows : extents.columns).value_or(kRowsOfATask);
  const auto rows_at_once =
      static_cast<int>(even_part(std::min<std::int64_t>(all_rows, kRowsOfATask),
                                 std::clamp(most_sums / few_rows, 1, kMaxRowsAtOnce)));
  const int lanes = lanes_of(request.core.dtype(), target);
  const int neighbours = neighbours_at_once(request.core);
  request.inline_maps(s);
  // Adds the lanes of a sum by repeatedly adding the two halves.
  const Stage sums = s[request.core];
  std::vector<Tensor> parts{
      sum_by_lanes(s, request.core, sums.op().reduce_axis(0), lanes, neighbours)};
  for (int half = lanes / 2; half > 1; half /= 2)
    parts.push_back(sum_by_lanes(s, request.core, sums.op().reduce_axis(0), half, 1));
  sums.unroll(sums.op().reduce_axis(0));
  const Stage out = s[request.out];
  auto [tasks, rows] =
      out.split(out.op().axis()[at.along], kRowsOfATask / rows_at_once * rows_at_once);
  auto [few, row] = out.split(rows, rows_at_once);
  const IterVar other = out.op().axis()[at.few];
  if (request.is_mapped()) {
    out.reorder({tasks, few, other, row});
    s[request.core].compute_at(out, few);
  } else {
    out.reorder({tasks, few, other, row, out.op().reduce_axis(0)});
  }
  out.pragma(tasks, kPartitioned, 1).pragma(few, kPartitioned, 1);
  if (are_worth_threads(terms_of(request.core.op())))
    out.parallel(is_batched(request) ? out.op().axis().front() : tasks);
  if (few_rows > 1 && !is_contiguous(request, 1 - large)) {
    const Tensor factor = factors_of_product(request.core)[1 - large];
    const Tensor turned = s.cache_read(factor, "global", {parts.front()});
    transpose_by_tiles(s, turned, lanes);
    if (is_batched(request)) s[turned].compute_at(out, out.op().axis().front());
  }
  for (const Tensor& part : parts) {
    const Stage stage = s[part];
    stage.compute_at(out, few).set_scope("local");
    const std::vector<IterVar> axes = stage.op().axis(), terms = stage.op().reduce_axis();
    stage.unroll(axes[at.few]).unroll(axes[at.along]).vectorize(axes.back());
    if (part.op().same_as(parts.front().op())) {
      std::vector<IterVar> order{terms[0], axes[at.few], axes[at.along]};
      order.insert(order.end(), terms.begin() + 1, terms.end());
      order.push_back(axes.back());
      stage.reorder(order).pragma(terms[0], kPartitioned, 1);
      if (neighbours > 1) stage.unroll(terms[1]).pragma(terms[0], "dot_products", 1);
    } else {
      stage.reorder({terms[0], axes[at.few], axes[at.along], axes.back()}).unroll(terms[0]);
    }
  }
}

// ---- a matrix by a matrix -----------------------------------------------------------------------

constexpr int kBandsOfACore = 4, kMinTilesOfABand = 8;

/// Returns the number of tiles of the busiest core, if bands are distributed to the cores in turn.
std::int64_t most_of_a_core(std::int64_t tiles, std::int64_t of_a_band, int cores) {
  const std::int64_t whole = tiles / of_a_band, rest = tiles % of_a_band;
  if (whole % cores == 0) return whole / cores * of_a_band + rest;
  return parts_of(whole, cores) * of_a_band;
}

/// Returns the number of tiles in a band of A. A band is multiplied by a panel of B that stays in
/// the L2 cache. Longer bands load the panels from memory less often, but shorter bands can be
/// distributed more evenly over the cores. The tail of the last band is guarded.
int tiles_of_a_band(const ProductExtents& extents, const ProductTile& tile, bool stays_in_cache,
                    bool is_shallow, int cores) {
  constexpr std::int64_t kMin = kMinTilesOfABand, kMax = 32, kOneBand = 128;
  if (!extents.rows) return 2 * kMin;
  const std::int64_t tiles = std::max<std::int64_t>(parts_of(*extents.rows, tile.rows), 1);
  // If there is only one panel, A is read only once and needs no bands.
  if (cores == 1 && extents.columns && *extents.columns <= tile.width())
    return static_cast<int>(tiles);
  // One row of tiles at a time writes long runs of C.
  if (is_shallow) return 1;
  // If there is only one band, the cores share its panels of B instead, and each panel is packed
  // when it is read. This is worth more rows if all cores get the same number of panels.
  const bool shares_evenly =
      extents.columns && parts_of(*extents.columns, tile.width()) % cores == 0;
  if (*extents.rows <= (shares_evenly ? 2 : 1) * kOneBand || stays_in_cache)
    return static_cast<int>(tiles);
  const std::int64_t longest = std::clamp(tiles / cores / kBandsOfACore, kMin, kMax);
  // With one core, the bands are made equally long.
  if (cores == 1) return static_cast<int>(even_part(tiles, longest));
  std::int64_t best = longest;
  for (std::int64_t length = longest; length >= kMin; --length)
    if (most_of_a_core(tiles, length, cores) < most_of_a_core(tiles, best, cores)) best = length;
  return static_cast<int>(best);
}

/// Divides the reduction of the product into blocks. Returns the sum of one block, which the
/// product adds up. The maps of the result then need loops of their own.
Tensor sum_of_a_block(const Schedule& s, const Request& request, std::int64_t steps,
                      const TargetFacts& target) {
  const Stage product = s[request.core];
  const Tensor sum =
      s.rfactor(request.core, product.split(product.op().reduce_axis(0), steps).outer);
  if (request.is_mapped()) arrange_elementwise(s, request.out, target);
  return sum;
}

class MatmulSchedule {
 public:
  MatmulSchedule(const Schedule& s, const Request& request, const TargetFacts& target)
      : schedule_(s),
        request_(request),
        target_(target),
        extents_(request.core),
        lanes_(lanes_of(request.core.dtype(), target)),
        has_masks_(target.vector_registers.count >= 32 && target.vector_registers.bits >= 512),
        neighbours_(has_own_b() && extents_.columns ? neighbours_at_once(request.core) : 1),
        has_threads_(are_worth_threads(terms_of(request.core.op()))),
        cores_(has_threads_ ? target.cores : 1),
        a_stays_in_cache_(topi::cpu::a_stays_in_cache(request.core, target, cores_)),
        tile_(pick_tile(target)),
        steps_of_a_block_(pick_steps_of_a_block()),
        tiles_of_a_band_(tiles_of_a_band(extents_, tile_, a_stays_in_cache_,
                                         is_shallow(request.core, target), cores_)) {}

  void arrange() {
    request_.inline_maps(schedule_);
    if (neighbours_ == 1) request_.inline_reshapes(schedule_);
    const Tensor sums = sums_in_registers();
    const Stage out = schedule_[steps_of_a_block_ ? request_.core : request_.out];
    const bool is_packed = packs_b(), is_masked = !is_packed && masks_b();
    std::optional<Tensor> copy;
    if (is_packed || is_masked)
      copy = schedule_.cache_read(b_of(request_.core), is_packed ? "global" : "local", {sums});

    const std::vector<IterVar> axes = out.op().axis();
    auto [io, jo, ii, ji] = out.tile(axes[axes.size() - 2], axes.back(), tile_.rows, tile_.width());
    auto [band, it] = out.split(io, tiles_of_a_band_);
    const IterVar outer = has_many_bands() ? band : jo;
    std::vector<IterVar> order{outer, has_many_bands() ? jo : band, it, ii, ji};
    if (steps_of_a_block_) {
      const IterVar blocks = out.op().reduce_axis(0);
      out.pragma(blocks, kPartitioned, 1);
      order.insert(order.begin(), blocks);
    }
    out.reorder(order);
    out.unroll(ii);
    auto [vector, lane] = out.split(ji, tile_.lanes);
    out.unroll(vector).vectorize(lane);
    // The loop over the tiles of a band has no tail if a band is one tile; the loop over bands has.
    out.pragma(jo, kPartitioned, 1).pragma(tiles_of_a_band_ == 1 ? band : it, kPartitioned, 1);
    if (has_threads_) out.parallel(is_batched() ? axes.front() : outer);
    const Stage tile = schedule_[sums];
    tile.compute_at(out, it);
    const std::vector<IterVar> own = tile.op().axis();
    const IterVar &row = own[own.size() - 2], &column = own.back();
    if (copy) {
      // Pads the last panel with zeros for missing columns of B, so that it is computed like the
      // others.
      const std::vector<IterVar> of_b = copy->op().axis();
      const Stage b = schedule_[*copy];
      const IterVar& column_of_b = of_b[of_b.size() - (is_transposed(request_.core, 1) ? 2 : 1)];
      b.round_up(column_of_b);
      tile.round_up(column);
      // If the tile is wider than the matrix, there is no loop around it that overruns the columns.
      // Its bounds must be set explicitly.
      if (extents_.columns && *extents_.columns > 0 && *extents_.columns < tile_.width()) {
        b.bound(column_of_b, Range(0, tile_.width()));
        tile.bound(column, Range(0, tile_.width()));
      }
    }
    if (copy && reads_constant(*copy)) out.pragma(jo, kPrefetchesPanels, 1);
    if (neighbours_ > 1) {
      if (is_transposed(request_.core, 0)) turn_a_around(sums, out);
      lay_out_in_groups(*copy, out, jo);
      constexpr int kSteps = 4;
      keep_dot_products_in_registers(tile, row, column, tile_.lanes, kSteps);
      return;
    }
    const std::vector<IterVar> reduction = reduce_by_steps(
        tile, steps_at_once(steps_of_a_block_ ? steps_of_a_block_ : extents_.depth));
    keep_in_registers(tile, reduction, row, column, tile_.lanes);
    if (packs_a()) lay_out_a(sums, out, it);
    if (is_packed) lay_out_b(*copy, out, jo);
    if (is_masked) {
      const Stage b = schedule_[*copy];
      b.compute_at(tile, reduction.back());
      auto [of_row, in_vector] = b.split(copy->op().axis().back(), tile_.lanes);
      b.unroll(of_row).vectorize(in_vector);
    }
  }

 private:
  /// Whether B is another tensor than A. A tensor that is both factors would be packed for both.
  bool has_own_b() const { return request_.core.op().inputs().size() == 2; }
  bool is_batched() const { return cpu::is_batched(request_); }

  ProductTile pick_tile(const TargetFacts& target) const {
    if (neighbours_ > 1) return tile_of_neighbours(request_.core, target);
    const ProductTile tile = product_tile(request_.core, target);
    return is_batched() || !a_stays_in_cache_ ? tile : shared_out(tile, extents_, cores_);
  }

  /// Returns the number of reduction steps per block; nullopt if the reduction is not divided. All
  /// of C is updated with one block before the next one, so that a band of A and a panel of B stay
  /// in the L2 cache. Each block loads and stores C, which is slow if C exceeds that cache.
  std::optional<std::int64_t> pick_steps_of_a_block() const {
    constexpr std::int64_t kSteps = 256;
    const auto [rows, columns, depth] = extents_;
    if (!has_own_b() || neighbours_ > 1 || !rows || !columns || !depth) return std::nullopt;
    if (*depth <= 2 * kSteps) return std::nullopt;
    const int bytes = request_.core.dtype().bytes();
    // A is only read once if there is a single panel and it stays in the L2 cache.
    if (*columns <= tile_.width() && *depth * tile_.width() * bytes <= target_.caches.l2 / 2)
      return std::nullopt;
    const std::int64_t band = std::min<std::int64_t>(*rows, kMinTilesOfABand * tile_.rows);
    const std::int64_t used = (band + tile_.width()) * *depth * bytes;
    const bool is_c_near = *rows * *columns * bytes <= target_.caches.l2;
    if (used < (is_c_near ? target_.caches.l2 / 2 : target_.caches.l2)) return std::nullopt;
    return kSteps;
  }

  /// Returns the stage that computes the tile's sums. If the reduction is divided into blocks, it
  /// computes the sum of one block.
  Tensor sums_in_registers() const {
    if (!steps_of_a_block_) return request_.sums_in_registers(schedule_);
    const Tensor sums = sum_of_a_block(schedule_, request_, *steps_of_a_block_, target_);
    schedule_[sums].set_scope("local");
    return sums;
  }

  /// Whether A is packed. A tile of a transposed A reads as many cache lines as there are reduction
  /// steps, and lines at a power-of-two distance conflict. A constant A is packed once, and its
  /// panels are then prefetched.
  bool packs_a() const {
    constexpr int kPanels = 6;
    if (has_own_b() && te::is_constant_input(a_of(request_.core)))
      return extents_.rows.value_or(tile_.rows + 1) > tile_.rows;
    return has_own_b() && is_transposed(request_.core, 0) && extents_.rows && extents_.columns &&
           *extents_.rows > tile_.rows && *extents_.columns >= kPanels * tile_.width();
  }

  void lay_out_a(const Tensor& sums, const Stage& out, const IterVar& tiles) const {
    const Tensor packed = schedule_.cache_read(a_of(request_.core), "global", {sums});
    const Stage stage = schedule_[packed];
    const std::size_t rank = stage.op().axis().size();
    const std::size_t rows = rank - (is_transposed(request_.core, 0) ? 1 : 2);
    const std::vector<IterVar> loops =
        lay_out_in_panels(stage, rows, rank - 2, tile_.rows, tile_.rows);
    if (reads_constant(packed)) out.pragma(tiles, kPrefetchesPanels, 1);
    stage.pragma(loops[rank - 2], kPartitioned, 1);
    place(packed, loops[rank - 2], out, std::nullopt);
  }

  /// Whether each thread gets several bands of C. Otherwise the threads share the loops below a
  /// panel of B.
  bool has_many_bands() const {
    return extents_.rows.value_or(1 << 20) >= kBandsOfACore * tiles_of_a_band_ * tile_.rows;
  }

  bool has_one_band() const {
    return extents_.rows && *extents_.rows <= std::int64_t{tiles_of_a_band_} * tile_.rows;
  }

  /// Whether B is packed into panels. Without packing, the rows of a panel are on different pages,
  /// and a transposed B even needs one cache line per element. Packing does not pay off if A has
  /// few rows, because each panel is then read only a few times. It takes more rows to pay off if
  /// the panels are short.
  bool packs_b() const {
    constexpr std::int64_t kNear = 1024, kShort = 64, kManyTiles = 48;
    if (neighbours_ > 1) return true;
    if (!has_own_b() || extents_.columns == 0) return false;
    if (te::is_constant_input(b_of(request_.core))) return true;
    if (is_transposed(request_.core, 1)) return true;
    const std::int64_t rows = extents_.rows.value_or(4 * tile_.rows);
    // The distance between rows of symbolic length is unknown at compile time.
    if (!extents_.columns) return rows > 2 * tile_.rows;
    if (has_split_tail()) return rows > (masks_b() ? 2 : 1) * tile_.rows;
    const bool is_short = extents_.depth.value_or(kShort + 1) <= kShort;
    return rows > (is_short ? kManyTiles : 2) * tile_.rows &&
           *extents_.columns * b_of(request_.core).dtype().bytes() > kNear;
  }

  /// Whether the tail of the columns would be computed in several narrower vectors, one for each
  /// set bit of its length.
  bool has_split_tail() const {
    return std::popcount(static_cast<std::uint64_t>(*extents_.columns % tile_.lanes)) > 1;
  }

  /// Whether the rows of B are loaded with masks, so that the last panel is computed with whole
  /// vectors. None of the vectors in the last panel may be empty.
  bool masks_b() const {
    return has_masks_ && has_own_b() && !is_transposed(request_.core, 1) &&
           extents_.columns.value_or(0) > 0 && has_split_tail() &&
           parts_of(*extents_.columns, tile_.width()) * tile_.width() - *extents_.columns <
               tile_.lanes;
  }

  void lay_out_b(const Tensor& packed, const Stage& out, const IterVar& jo) const {
    const Stage stage = schedule_[packed];
    if (is_transposed(request_.core, 1)) {
      const IterVar panels = lay_out_turned_panels(schedule_, packed, tile_.width(),
                                                   std::min(lanes_, 2 * tile_.width()));
      stage.pragma(panels, kPartitioned, 1);
      return place(packed, panels, out, jo);
    }
    const std::size_t rank = stage.op().axis().size();
    const std::vector<IterVar> loops =
        lay_out_in_panels(stage, rank - 1, rank - 2, tile_.width(), tile_.lanes);
    const IterVar& panels = loops[rank - 2];
    stage.pragma(panels, kPartitioned, 1);
    place(packed, panels, out, jo);
  }

  void lay_out_in_groups(const Tensor& packed, const Stage& out, const IterVar& jo) const {
    const std::size_t rank = schedule_[packed].op().axis().size();
    const bool is_turned = is_transposed(request_.core, 1);
    const IterVar panels =
        lay_out_neighbours(schedule_, packed, rank - (is_turned ? 1 : 2),
                           rank - (is_turned ? 2 : 1), tile_.width(), tile_.lanes, neighbours_);
    place(packed, panels, out, jo);
  }

  /// Stores a transposed copy of A, in which the elements of a row are contiguous.
  void turn_a_around(const Tensor& sums, const Stage& out) const {
    const Tensor turned = schedule_.cache_read(a_of(request_.core), "global", {sums});
    const IterVar rows = transpose_by_tiles(schedule_, turned, lanes_);
    place(turned, rows, out, std::nullopt);
  }

  /// Attaches the stage of the packed factor. A constant is packed outside of all loops. If there
  /// is only one band, the factor is packed in the loop `panel`. Otherwise it is packed in the
  /// batch loop or in the loop over blocks of the reduction, or before all loops if there is no
  /// such loop. Threads share the loop `pieces`, unless the factor is packed in `panel` or in the
  /// batch loop.
  void place(const Tensor& packed, const IterVar& pieces, const Stage& out,
             const std::optional<IterVar>& panel) const {
    const Stage factor = schedule_[packed];
    const bool is_constant = reads_constant(packed);
    if (is_constant)
      factor.parallel(pieces);
    else if (panel && has_one_band())
      factor.compute_at(out, *panel);
    else if (is_batched())
      factor.compute_at(out, out.op().axis().front());
    else if (steps_of_a_block_)
      factor.compute_at(out, out.op().reduce_axis(0));
    if (!is_constant && has_threads_ && !is_batched() && !(panel && has_one_band()))
      factor.parallel(pieces);
  }

  const Schedule& schedule_;
  const Request& request_;
  const TargetFacts& target_;
  const ProductExtents extents_;
  /// The number of lanes of a full vector.
  const int lanes_;
  /// Whether one instruction can load a partial vector.
  const bool has_masks_;
  /// The number of adjacent elements that one instruction multiplies for an accumulator.
  const int neighbours_;
  const bool has_threads_;
  /// The number of cores that share the work.
  const int cores_;
  const bool a_stays_in_cache_;
  const ProductTile tile_;
  const std::optional<std::int64_t> steps_of_a_block_;
  const int tiles_of_a_band_;
};

// ---- a matrix by a matrix, in tile registers ----------------------------------------------------

/// A block of tiles of a product, whose accumulators are in tile registers at the same time.
struct BlockOfTiles {
  RegisterTile tile;
  /// The numbers of tiles along the rows and the columns of the block.
  int down, across;

  int rows() const { return down * tile.m; }
  int columns() const { return across * tile.n; }
};

/// Whether to exchange the factors and compute the transposed product, because this packs faster.
/// The first factor is copied or, if it is transposed, transposed in registers. The second factor
/// is interleaved or, if it is transposed, gathered.
bool exchanges_factors(const Tensor& product, const ProductExtents& extents) {
  constexpr double kCopied = 1, kInterleaved = 1, kGathered = 3, kTransposed = 8;
  constexpr double kBytesAtOnce = 16, kTransposedStore = 0.3;
  const auto rows = static_cast<double>(*extents.rows),
             columns = static_cast<double>(*extents.columns);
  const double depth =
      static_cast<double>(*extents.depth) * a_of(product).dtype().bytes() / kBytesAtOnce;
  const bool a = is_transposed(product, 0), b = is_transposed(product, 1);
  const double own = (a ? kTransposed : kCopied) * rows + (b ? kGathered : kInterleaved) * columns;
  const double exchanged =
      (b ? kCopied : kTransposed) * columns + (a ? kInterleaved : kGathered) * rows;
  return depth * exchanged + kTransposedStore * rows * columns < depth * own;
}

/// Returns the number of rows and columns of the squares of a factor that are transposed in
/// registers.
int turned_rows(DataType factor) { return 16 / factor.bytes(); }

/// Returns the block with the minimum estimated time. The number of rows per tile is chosen so that
/// all tiles are about equally high, because the time of a tile product grows with its rows.
BlockOfTiles block_of_tiles(const Tensor& product, std::int64_t rows, std::int64_t columns,
                            std::int64_t depth, bool is_exchanged) {
  constexpr std::int64_t kSide = 16, kRowBytes = 64;
  const std::vector<Tensor> factors = factors_of_product(product);
  const std::size_t first = is_exchanged ? 1 : 0;
  RegisterTile tile{.a = factors[first].dtype(),
                    .b = factors[1 - first].dtype(),
                    .transpose_a = is_transposed(product, first) != is_exchanged,
                    .transpose_b = is_transposed(product, 1 - first) != is_exchanged,
                    .transpose_c = is_exchanged};
  const int group = tile.elements_of_a_group();
  const int turned_side = turned_rows(tile.a);
  const std::int64_t steps = parts_of(depth, kRowBytes / tile.a.bytes());
  tile.k = static_cast<int>(parts_of(parts_of(depth, steps), group)) * group;
  // Prefers a depth that divides the reduction into equal steps, which need no padding. If there
  // are few columns, copying A into padded tiles takes longer than many more steps.
  constexpr std::int64_t kFewColumns = 128;
  const int least_k = columns <= kFewColumns ? tile.k / 2 : tile.k * 3 / 4;
  for (int k = kRowBytes / tile.a.bytes(); k >= least_k; k -= group)
    if (depth % k == 0) {
      tile.k = k;
      break;
    }
  tile.n = static_cast<int>(std::min(columns, kSide));
  // The tiles of B stay in the L1 cache. The tiles of A come from a slower cache, so loading them
  // costs more.
  constexpr double kLoadsOfA = 1, kLoadsOfB = 0.5;
  std::optional<BlockOfTiles> best;
  double least = 0;
  for (const auto& [down, across] : {std::pair(2, 2), {3, 1}, {1, 3}, {2, 1}, {1, 2}, {1, 1}}) {
    const std::int64_t blocks = parts_of(rows, down * kSide);
    tile.m = static_cast<int>(parts_of(rows, blocks * down));
    // A transposed factor is transposed in square pieces, so the tile consists of whole pieces.
    if (tile.transpose_a) tile.m = static_cast<int>(parts_of(tile.m, turned_side) * turned_side);
    // The layout of a packed factor that fits in one tile has only one tile, so the block must not
    // have more.
    const bool is_whole = (down == 1 || rows > tile.m) && (across == 1 || columns > tile.n);
    if (!is_whole) continue;
    const double products = down * across * std::max(tile.m, 8);
    const double loads = kLoadsOfA * down * tile.m + kLoadsOfB * across * kSide;
    const double time = static_cast<double>(blocks * parts_of(columns, across * tile.n)) *
                        std::max(products, loads);
    if (!best || time < least) best = {tile, down, across}, least = time;
  }
  return *best;
}

class TileRegisterSchedule {
  /// Minimum number of contiguous bytes of B's rows that a packing step reads.
  static constexpr int kBytesOfAPiece = 128;

 public:
  /// Precondition: has_register_tiles.
  TileRegisterSchedule(const Schedule& s, const Request& request, const TargetFacts& target)
      : schedule_(s),
        request_(request),
        target_(target),
        is_exchanged_(exchanges_factors(request.core, ProductExtents(request.core))),
        rows_(extent(is_exchanged_ ? &ProductExtents::columns : &ProductExtents::rows)),
        columns_(extent(is_exchanged_ ? &ProductExtents::rows : &ProductExtents::columns)),
        depth_(extent(&ProductExtents::depth)),
        block_(block_of_tiles(request.core, rows_, columns_, depth_, is_exchanged_)),
        has_threads_(are_worth_threads(terms_of(request.core.op()))),
        cores_(has_threads_ ? target.cores : 1),
        steps_of_a_block_(pick_steps_of_a_block()),
        blocks_of_a_band_(pick_blocks_of_a_band()) {}

  void arrange() {
    request_.inline_maps(schedule_);
    const bool is_direct = stores_directly();
    std::optional<Tensor> result;
    if (steps_of_a_block_)
      result = sum_of_a_block(schedule_, request_, *steps_of_a_block_, target_);
    else if (request_.is_mapped())
      result = request_.core;
    else if (!is_direct)
      result = schedule_.cache_write(request_.core, "local");
    const Tensor sums = schedule_.cache_write(result ? *result : request_.core, "wmma.accumulator");
    std::vector<Tensor> factors = factors_of_product(request_.core);
    if (is_exchanged_) std::swap(factors[0], factors[1]);
    const bool is_packed = packs_a();
    const Tensor a =
        is_packed ? schedule_.cache_read(factors.front(), "global", {sums}) : factors.front();
    const Tensor b = schedule_.cache_read(factors.back(), "global", {sums});
    const Tensor tiles_of_a = schedule_.cache_read(a, "wmma.matrix_a", {sums});
    const Tensor tiles_of_b = schedule_.cache_read(b, "wmma.matrix_b", {sums});

    const Tensor& stored = steps_of_a_block_ ? request_.core : request_.out;
    const Stage out = schedule_[stored];
    const std::vector<IterVar> axes = out.op().axis();
    auto [io, jo, ii, ji] = out.tile(row_of(out), column_of(out), block_.rows(), block_.columns());
    auto [band, it] = out.split(io, blocks_of_a_band_);
    auto [panels, panel] = out.split(jo, panels_at_once());
    const IterVar contiguous = is_exchanged_ ? ii : ji, row = is_exchanged_ ? ji : ii;
    const IterVar outer = has_many_bands() ? band : panels;
    std::vector<IterVar> order{outer, has_many_bands() ? panels : band, panel, it, row, contiguous};
    if (steps_of_a_block_) order.insert(order.begin(), out.op().reduce_axis(0));
    out.reorder(order);
    if (bands() == 1) out.reorder({panels, panel, band});
    out.pragma(panels, kPartitioned, 1).pragma(panel, kPartitioned, 1).pragma(it, kPartitioned, 1);
    if (has_threads_) out.parallel(is_batched(request_) ? axes.front() : outer);
    if (result) {
      out.vectorize(out.split(contiguous, lanes_of(stored.dtype(), target_)).inner);
      const Stage stage = schedule_[*result];
      if (steps_of_a_block_ || request_.is_mapped()) stage.set_scope("local");
      stage.compute_at(out, it);
      cover_block(stage);
      store(stage, "local", row_of(stage), column_of(stage));
    } else {
      store(out, "global", ii, ji);
    }
    const IterVar steps = multiply(schedule_[sums], out, it);
    load(tiles_of_a, schedule_[sums], steps, block_.tile.transpose_a, block_.tile.m, block_.tile.k,
         load_tile_a("global", block_.tile));
    load(tiles_of_b, schedule_[sums], steps, block_.tile.transpose_b, block_.tile.k, block_.tile.n,
         load_tile_b("global", block_.tile));
    if (is_packed) place(a, lay_out_a(a), out, place_of_a(band, it));
    place(b, lay_out_b(b), out, bands() == 1 ? std::optional(panels) : std::nullopt);
  }

 private:
  std::int64_t extent(std::optional<std::int64_t> ProductExtents::*which) const {
    return (ProductExtents(request_.core).*which).value_or(1);
  }
  IterVar row_of(const Stage& stage) const {
    const std::vector<IterVar> axes = stage.op().axis();
    return axes[axes.size() - (is_exchanged_ ? 1 : 2)];
  }
  IterVar column_of(const Stage& stage) const {
    const std::vector<IterVar> axes = stage.op().axis();
    return axes[axes.size() - (is_exchanged_ ? 2 : 1)];
  }

  std::int64_t blocks_of_rows() const { return parts_of(rows_, block_.rows()); }
  std::int64_t bands() const { return parts_of(blocks_of_rows(), blocks_of_a_band_); }
  std::int64_t padded_depth() const {
    const std::int64_t steps = steps_of_a_block_.value_or(block_.tile.k);
    return parts_of(depth_, steps) * steps;
  }

  /// Returns the number of reduction steps per block, a multiple of the tile's depth; nullopt if
  /// the reduction is not divided. The packed factors of a block stay in the L2 cache. Each block
  /// loads and stores C.
  std::optional<std::int64_t> pick_steps_of_a_block() const {
    constexpr std::int64_t kShareOfL2 = 4, kMinTiles = 8;
    const std::int64_t bytes = (rows_ + columns_) * block_.tile.a.bytes();
    const std::int64_t most = target_.caches.l2 / kShareOfL2 / bytes / block_.tile.k;
    const std::int64_t tiles = parts_of(depth_, block_.tile.k);
    if (most < kMinTiles || tiles < 2 * most) return std::nullopt;
    return parts_of(tiles, parts_of(tiles, most)) * block_.tile.k;
  }

  /// Returns the number of blocks in a band of A. The band stays in the L2 cache while all panels
  /// of B are multiplied by it. If storing C dominates the time, bands of one block write long runs
  /// of C.
  int pick_blocks_of_a_band() const {
    const bool has_panels = columns_ > block_.columns();
    if (has_panels && blocks_of_rows() >= kBandsOfACore && is_shallow(request_.core, target_))
      return 1;
    const std::int64_t bytes =
        block_.rows() * steps_of_a_block_.value_or(depth_) * block_.tile.a.bytes();
    const std::int64_t most =
        std::max<std::int64_t>(target_.caches.l2 / 2 / std::max<std::int64_t>(bytes, 1), 1);
    return static_cast<int>(even_part(blocks_of_rows(), most));
  }

  /// Whether each thread gets several bands of C. Otherwise the threads share the panels of B.
  bool has_many_bands() const {
    return cores_ == 1 ? bands() > 1 : bands() >= kBandsOfACore * cores_;
  }

  /// Returns the loop in which A is packed: the loop over blocks of rows if A is read once,
  /// otherwise the loop over bands. Nullopt if all of A is packed before the loops.
  std::optional<IterVar> place_of_a(const IterVar& band, const IterVar& it) const {
    if (columns_ <= block_.columns()) return it;
    return has_many_bands() ? std::optional(band) : std::nullopt;
  }

  /// Returns the number of panels of B that are packed together before they are multiplied. Packing
  /// several panels reads longer contiguous pieces of B's rows. This is only possible if A has one
  /// band and there are enough tasks for all cores. A panel of a transposed B consists of whole
  /// rows, so one panel suffices.
  int panels_at_once() const {
    if (bands() > 1 || block_.tile.transpose_b) return 1;
    const int bytes = block_.columns() * block_.tile.b.bytes();
    const int panels = static_cast<int>(parts_of(kBytesOfAPiece, bytes));
    const std::int64_t tasks = parts_of(columns_, std::int64_t{panels} * block_.columns());
    return tasks >= kBandsOfACore * cores_ ? panels : 1;
  }

  /// Whether there are no partial blocks. The tiles can then be stored to C without a copy.
  bool stores_directly() const {
    return !request_.is_mapped() && !steps_of_a_block_ && has_whole_rows() &&
           columns_ % (std::int64_t{panels_at_once()} * block_.columns()) == 0;
  }
  bool has_whole_rows() const { return bands() * blocks_of_a_band_ * block_.rows() == rows_; }

  /// Whether A is packed into tiles. Otherwise its tiles are loaded directly from its rows.
  bool packs_a() const {
    return block_.tile.transpose_a || rows_ < block_.rows() || padded_depth() != depth_;
  }

  /// Lets the last two axes overrun to a multiple of the block's size.
  static void round_up(const Stage& stage) {
    const std::vector<IterVar> axes = stage.op().axis();
    for (std::size_t n = axes.size() - 2; n < axes.size(); ++n) stage.round_up(axes[n]);
  }

  /// Makes the stage compute whole blocks. If A is not packed, the last block begins before the end
  /// of the block above it, because only existing rows can be loaded. If the matrix is smaller than
  /// a block, no loop around the stage overruns the matrix, so the bounds are set explicitly.
  void cover_block(const Stage& stage) const {
    if (packs_a() || has_whole_rows())
      stage.round_up(row_of(stage));
    else
      stage.shift_inwards(row_of(stage));
    stage.round_up(column_of(stage));
    if (rows_ < block_.rows()) stage.bound(row_of(stage), Range(0, block_.rows()));
    if (columns_ < block_.columns()) stage.bound(column_of(stage), Range(0, block_.columns()));
  }

  void store(const Stage& stage, const char* scope, const IterVar& row,
             const IterVar& column) const {
    auto [down, across, i, j] = stage.tile(row, column, block_.tile.m, block_.tile.n);
    stage.unroll(down).unroll(across).tensorize(i, store_tile(scope, block_.tile));
  }

  /// Schedules the sums of a block of tiles. Returns the loop over the steps of the reduction.
  IterVar multiply(const Stage& sums, const Stage& out, const IterVar& it) const {
    sums.compute_at(out, it);
    cover_block(sums);
    const IterVar terms = sums.op().reduce_axis(0);
    if (padded_depth() != depth_) sums.round_up(terms);
    if (padded_depth() != depth_ && !steps_of_a_block_)
      sums.bound(terms, Range(0, static_cast<int>(padded_depth())));
    auto [steps, k] = sums.split(terms, block_.tile.k);
    auto [down, across, i, j] =
        sums.tile(row_of(sums), column_of(sums), block_.tile.m, block_.tile.n);
    sums.reorder({steps, down, across, i, j, k});
    sums.unroll(down).unroll(across).tensorize(i, multiply_tiles(block_.tile));
    return steps;
  }

  /// Loads the tiles of a factor in each reduction step. A tile has `rows` rows and `columns`
  /// columns, which are exchanged if the factor is transposed.
  void load(const Tensor& tiles, const Stage& sums, const IterVar& steps, bool is_transposed,
            int rows, int columns, const te::TensorIntrin& intrin) const {
    const Stage stage = schedule_[tiles];
    stage.compute_at(sums, steps);
    round_up(stage);
    if (is_transposed) std::swap(rows, columns);
    const std::vector<IterVar> axes = stage.op().axis();
    auto [down, across, i, j] = stage.tile(axes[axes.size() - 2], axes.back(), rows, columns);
    stage.unroll(down).unroll(across).tensorize(i, intrin);
  }

  /// Packs A into tiles with contiguous rows. Returns the loop over the rows of tiles.
  IterVar lay_out_a(const Tensor& packed) const {
    const auto [tile, down, across] = block_;
    const Stage stage = schedule_[packed];
    const std::size_t rank = stage.op().axis().size();
    const std::size_t i = rank - (tile.transpose_a ? 1 : 2), k = rank - (tile.transpose_a ? 2 : 1);
    round_up(stage);
    const int m = tile.m, width = tile.k;
    const std::vector<IterVar> loops = stage.transform_layout(
        [&](std::span<const Var> at) {
          std::vector<Expr> result(at.begin(), at.end() - 2);
          for (const Expr& e : {tir::floordiv(at[i], m), tir::floordiv(at[k], width),
                                tir::floormod(at[i], m), tir::floormod(at[k], width)})
            result.push_back(e);
          return result;
        },
        {.pad = true});
    const IterVar &rows = loops[rank - 2], &steps = loops[rank - 1];
    stage.pragma(rows, kPartitioned, 1);
    if (tile.transpose_a) {
      turn_in_registers(schedule_, packed, loops[rank], loops[rank + 1],
                        2 * turned_rows(packed.dtype()));
    } else {
      stage.pragma(steps, kPartitioned, 1).vectorize(loops[rank + 1]);
    }
    return rows;
  }

  IterVar lay_out_b(const Tensor& packed) const {
    const RegisterTile& tile = block_.tile;
    const std::size_t rank = schedule_[packed].op().axis().size();
    round_up(schedule_[packed]);
    const int panels = tile.transpose_b ? 1 : kBytesOfAPiece / (16 * tile.b.bytes());
    return lay_out_neighbours(schedule_, packed, rank - (tile.transpose_b ? 1 : 2),
                              rank - (tile.transpose_b ? 2 : 1), tile.n, tile.n,
                              tile.elements_of_a_group(), panels);
  }

  /// Attaches the stage of the packed factor. A constant is packed outside of all loops. Another
  /// factor is packed in `loop`, if it is given, or else in the batch loop, or else in the loop
  /// over blocks of the reduction. Without `loop` and a batch, threads share the loop `pieces`.
  void place(const Tensor& packed, const IterVar& pieces, const Stage& out,
             const std::optional<IterVar>& loop) const {
    const Stage factor = schedule_[packed];
    if (reads_constant(packed))
      factor.parallel(pieces);
    else if (loop)
      factor.compute_at(out, *loop);
    else if (is_batched(request_))
      factor.compute_at(out, out.op().axis().front());
    else if (steps_of_a_block_)
      factor.compute_at(out, out.op().reduce_axis(0));
    if (!reads_constant(packed) && !loop && !is_batched(request_) && has_threads_)
      factor.parallel(pieces);
  }

  const Schedule& schedule_;
  const Request& request_;
  const TargetFacts& target_;
  const bool is_exchanged_;
  /// The extents of the computed product, after the factors may have been exchanged.
  const std::int64_t rows_, columns_, depth_;
  const BlockOfTiles block_;
  const bool has_threads_;
  /// The number of cores that share the work.
  const int cores_;
  const std::optional<std::int64_t> steps_of_a_block_;
  const int blocks_of_a_band_;
};

/// Whether tile registers multiply the factors faster than vector registers. Configuring tile
/// registers costs as much as thousands of multiply-adds. Products of bytes with a short reduction
/// are faster in vectors, because packing dominates.
bool has_register_tiles(const Request& request, const ProductExtents& extents,
                        const TargetFacts& target) {
  constexpr std::int64_t kFewLines = 4;
  const bool is_known = extents.rows && extents.columns && extents.depth;
  if (!is_known || std::min(*extents.rows, *extents.columns) <= kFewLines) return false;
  if (request.core.op().inputs().size() != 2) return false;
  constexpr double kMinTerms = 1 << 13;
  if (neighbours_at_once(request.core) == 1 ||
      terms_of(request.core.op()).value_or(kMinTerms) < kMinTerms)
    return false;
  if (request.core.dtype().is_float()) return target.tile_products.of_bfloats;
  constexpr std::int64_t kMinDepth = 24, kMinTurnedDepth = 64, kFew = 8;
  const bool is_deep =
      *extents.depth >= (is_transposed(request.core, 0) ? kMinTurnedDepth : kMinDepth);
  // If there are few rows, each gathered element of the second factor is used too few times.
  const bool has_few = *extents.rows < kFew && is_transposed(request.core, 1);
  return target.tile_products.of_bytes && is_deep && !has_few;
}

/// Whether the product has two different factors, and few rows or few columns.
bool has_few(const Request& request, const ProductExtents& extents) {
  if (!extents.rows || !extents.columns || !extents.depth) return false;
  if (request.core.op().inputs().size() != 2 || *extents.rows < 1 || *extents.columns < 1)
    return false;
  return (long_dimension(extents) == 0 ? *extents.columns : *extents.rows) <= kFewRows;
}

/// Whether to compute the result as dot products with one partial sum per lane. The reduction must
/// be so long that adding the lanes costs less than the alternative: packing B if the result has
/// few rows, a mostly empty tile if it has few columns.
bool has_few_long_dots(const Request& request, const ProductExtents& extents,
                       const TargetFacts& target) {
  constexpr std::int64_t kVectors = 4;
  const std::size_t large = long_dimension(extents);
  if (!has_few(request, extents) || !is_contiguous(request, large)) return false;
  const std::int64_t vectors = *extents.depth / lanes_of(request.core.dtype(), target);
  // Each dot product adds its lanes, whereas packing B costs the same for any number of rows.
  if (large == 1)
    return vectors >= std::max(kVectors, *extents.rows) * neighbours_at_once(request.core);
  // The alternative is a tile with narrower vectors. For each term, it takes kTimeOfATerm times as
  // long as a dot product takes for a vector of terms.
  constexpr std::int64_t kMinVectors = 6;
  constexpr double kTimeOfATerm = 0.7;
  if (*extents.columns > kVeryFewColumns &&
      (2 * *extents.columns > lanes_of(request.core.dtype(), target) || vectors < kMinVectors))
    return false;
  return static_cast<double>(*extents.columns * (vectors + kVectors)) <
         kTimeOfATerm * static_cast<double>(*extents.depth);
}

/// Whether to add multiples of the rows of the large factor instead of using tiles. This is better
/// if the result has so few rows or columns that reading the factor takes longer than multiplying.
bool is_stream_of_rows(const Request& request, const ProductExtents& extents,
                       const TargetFacts& target) {
  constexpr std::int64_t kTermsOfAColumn = 4;
  // Minimum size of B, in L2 caches. Tiles read a smaller B just as fast.
  constexpr std::int64_t kCaches = 4;
  const std::size_t large = long_dimension(extents);
  if (!has_few(request, extents) || is_contiguous(request, large)) return false;
  const DataType type = request.core.dtype();
  if (factors_of_product(request.core)[large].dtype() != type) return false;
  if (large == 0)
    return *extents.columns <= kVeryFewColumns &&
           *extents.depth >= kTermsOfAColumn * *extents.columns;
  return *extents.columns * *extents.depth * type.bytes() >= kCaches * target.caches.l2;
}

}  // namespace

void arrange_matmul(const Schedule& s, const Request& request, const TargetFacts& target) {
  const ProductExtents extents(request.core);
  const bool is_vector = extents.rows == 1 || extents.columns == 1;
  if (has_register_tiles(request, extents, target))
    return TileRegisterSchedule(s, request, target).arrange();
  if (has_few_long_dots(request, extents, target) ||
      (is_vector && is_contiguous(request, long_dimension(extents))))
    return arrange_dots(s, request, target);
  if (is_vector) return arrange_sum_of_rows(s, request, target);
  if (is_stream_of_rows(request, extents, target))
    return arrange_few_sums_of_rows(s, request, target);
  MatmulSchedule(s, request, target).arrange();
}

Schedule schedule_matmul(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  arrange_matmul(
      s,
      checked_request("schedule_matmul", s, out, is_product,
                      "product of two matrices (topi::matmul, dense, batch_matmul)", where),
      target);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
