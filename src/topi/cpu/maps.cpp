// Elementwise maps, transpositions and column reductions for CPUs (topi/cpu.h).
#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_set>

#include "tenon/arith/simplify.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Operation;
using te::Schedule;
using te::Stage;
using tir::Expr;

namespace {

bool is_inlined(const Schedule& s, const Tensor& x) {
  return std::holds_alternative<te::AttachInline>(s[x].data().attach);
}

/// Returns the operation and all inlined operations from which it is computed.
std::vector<Operation> with_inlined(const Schedule& s, const Operation& op) {
  std::vector<Operation> all{op};
  std::unordered_set<const te::OperationNode*> seen{op.get()};
  for (std::size_t n = 0; n < all.size(); ++n)
    for (const Tensor& input : Operation(all[n]).inputs())
      if (is_inlined(s, input) && seen.insert(input.op().get()).second) all.push_back(input.op());
  return all;
}

/// Whether the order of the loops traverses all inputs contiguously, so that the loops can be
/// fused.
bool is_flat(const Schedule& s, const Operation& op) {
  return std::ranges::all_of(with_inlined(s, op), te::is_elementwise);
}

/// Whether each element is computed by a call for which `is_wanted` holds.
bool has_function(const Schedule& s, const Operation& op,
                  const std::function<bool(const tir::Call&)>& is_wanted) {
  return std::ranges::any_of(with_inlined(s, op), [&](const Operation& each) {
    return std::ranges::any_of(each.body(), [&](const Expr& e) {
      return tir::any_node(e, [&](const tir::Call& call) { return is_wanted(call); });
    });
  });
}

/// Returns the number of adjacent elements that one iteration computes. Math functions are long
/// chains of dependent operations, so several vectors are interleaved to overlap them. With 32
/// registers, only erf needs this.
int elements_at_once(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  constexpr int kVectors = 4;
  const bool has_few_registers = target.vector_registers.count < 32;
  const bool is_interleaved = has_function(s, out.op(), [&](const tir::Call& call) {
    return has_few_registers ? !call.is(tir::Intrin::if_then_else) : call.is(tir::Intrin::erf);
  });
  return lanes_of(out.dtype(), target) * (is_interleaved ? kVectors : 1);
}

/// Returns the number of elements of a task, a multiple of `at_once`. The tasks have about equal
/// length, because a much shorter last task would check each of its missing vectors.
int elements_of_a_task(std::optional<double> count, int at_once, int cores) {
  if (!count) return kElementsOfATask;
  const std::int64_t vectors = parts_of(static_cast<std::int64_t>(*count), at_once);
  return static_cast<int>(even_part(vectors, kElementsOfATask / at_once, cores)) * at_once;
}

/// Estimates the work: returns the number of elements without math functions that take as long as
/// `count` elements of `out`.
std::optional<double> work_of(const Schedule& s, const Tensor& out, std::optional<double> count) {
  constexpr double kAsLongAsElements = 4;
  const bool has_functions = has_function(
      s, out.op(), [](const tir::Call& call) { return !call.is(tir::Intrin::if_then_else); });
  return count && has_functions ? *count * kAsLongAsElements : count;
}

}  // namespace

void arrange_elementwise(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  inline_maps(s, out);
  const Stage stage = s[out];
  const std::vector<IterVar> axes = stage.op().axis();
  if (axes.empty()) return;
  const std::optional<double> count = count_of(out.shape());
  const int at_once = elements_at_once(s, out, target);
  if (axes.size() == 1 || is_flat(s, stage.op())) {
    IterVar elements = fused(stage, axes);
    if (!count || (is_worth_threads(work_of(s, out, count)) && target.cores > 1)) {
      auto [tasks, element] =
          stage.split(elements, elements_of_a_task(count, at_once, target.cores));
      stage.pragma(tasks, kPartitioned, 1).parallel(tasks);
      elements = element;
    }
    vectorize_loop(stage, elements, at_once);
    return;
  }
  const std::vector<IterVar> rows(axes.begin(), axes.end() - 1);
  share_out_rows(stage, rows, count_of({out.shape().back()}), work_of(s, out, count), target.cores);
  vectorize_loop(stage, axes.back(), at_once);
}

Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!te::is_injective(out.op()))
    refuse("schedule_elementwise", out, "it is not an elementwise map", where);
  const Schedule s = te::create_schedule(out);
  arrange_elementwise(s, out, target);
  leave_loops_to_compiler(s, {});
  return s;
}

namespace {

constexpr int kMinSide = 4;

/// Whether the beginnings of eight or more consecutive rows map to the same set of the L1 cache.
bool rows_conflict(std::int64_t bytes) {
  constexpr std::int64_t kShift = kBytesOfALine / 8;
  const std::int64_t rest = bytes % kBytesOfAWay;
  return bytes > 0 && std::min(rest, kBytesOfAWay - rest) <= kShift;
}

/// Returns the blocking {side, line, segment, is_one_line} of a transposition in tiles of `side` x
/// `side`. `line` columns of the source are transposed together, in segments of `segment` rows. If
/// `segment` is 0, there is one segment. If `is_one_line`, all columns are transposed together, and
/// the segments are tasks for threads. `along` is the dimension of the result along which the
/// source is contiguous.
std::tuple<int, int, int, bool> transposition_of(const Tensor& out, std::size_t along,
                                                 const TargetFacts& target) {
  constexpr std::int64_t kNarrow = 64, kShort = 32, kLinesOfASet = 8, kMax = 1 << 30;
  const int bytes = out.dtype().bytes(), of_a_line = kBytesOfALine / bytes;
  auto [side, line] = turned_size(lanes_of(out.dtype(), target), bytes);
  const std::int64_t columns = tir::constant_int(out.shape()[along]).value_or(0);
  const std::int64_t rows = tir::constant_int(out.shape().back()).value_or(0);
  if (std::min(rows, columns) < 1 || std::max(rows, columns) > kMax) return {side, line, 0, false};
  const int half = std::max(side / 2, kMinSide);
  if (columns < side) side = half;
  const bool is_aligned = rows % of_a_line == 0;
  constexpr int kBytesOfAWord = 4, kWideBits = 512;
  const bool has_wide_tiles = bytes == kBytesOfAWord && target.vector_registers.count >= 32 &&
                              target.vector_registers.bits >= kWideBits;
  if (rows_conflict(rows * bytes) &&
      (!is_aligned || (has_wide_tiles && columns * bytes < kBytesOfAWay))) {
    if (columns > kNarrow && !has_wide_tiles) side = half;
    return {side, side, of_a_line, false};
  }
  // All columns of a row are transposed together, unless the cache lines of the result that they
  // are stored to evict each other.
  bool is_narrow = columns <= kNarrow;
  for (std::int64_t n = 1; n <= columns / kLinesOfASet; ++n)
    is_narrow = is_narrow && !rows_conflict(n * rows * bytes);
  if (is_narrow) {
    // Uses half vectors if full vectors would load many missing columns.
    const auto padded = [&](int n) { return static_cast<int>(parts_of(columns, n) * n); };
    if (6 * padded(half) <= 5 * padded(side)) side = half;
    const auto task = parts_of(kElementsOfATask, columns * of_a_line) * of_a_line;
    const bool has_tasks = is_worth_threads(count_of(out.shape()));
    return {side, padded(side), has_tasks ? static_cast<int>(task) : 0, true};
  }
  const bool is_far = 2 * rows * columns * bytes > target.caches.l2;
  if (has_wide_tiles) {
    // Few rows are transposed in small tiles, in which fewer rows are missing.
    if (rows < side) return {kMinSide, line, 0, false};
    // Tiles that span whole cache lines store each line of an aligned result once.
    if (is_aligned) return {of_a_line, of_a_line, of_a_line, false};
    if (is_far && rows >= kShort) side = of_a_line;
    return {side, line, 0, false};
  }
  // Half vectors straddle two cache lines of the result less often.
  if (!is_aligned) return {rows < kShort ? side : half, line, 0, false};
  // Uses square blocks of whole cache lines. For matrices beyond the L2 cache, a block has twice
  // the size, because the hardware fetches two adjacent lines.
  const int side_of_square = std::max((is_far ? 2 : 1) * of_a_line, side);
  return {side, side_of_square, side_of_square, false};
}

}  // namespace

bool arrange_transpose(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<Permutation> read = find_permutation(out.op());
  if (!read || read->empty()) return false;
  // The axis along which the input is contiguous.
  const std::optional<std::size_t> along = read->back();
  if (!along || *along + 1 == out.shape().size()) return false;
  if (std::ranges::any_of(out.shape(), tir::is_zero)) return false;
  // A matrix with fewer columns than a tile is faster as a plain map that reads vectors with gaps.
  if (tir::constant_int(out.shape()[*along]).value_or(kMinSide) < kMinSide) return false;
  const Tensor rows = s.cache_read(out.op().inputs()[0], "local", {out.op()});
  inline_maps(s, out);
  const Stage stage = s[out];
  std::vector<IterVar> order = stage.op().axis();
  IterVar across = order.back();
  order.pop_back();
  const auto [side, line, segment, is_one_line] = transposition_of(out, *along, target);
  std::optional<IterVar> segments;
  if (segment > 0) {
    auto [outer, of_segment] = stage.split(across, segment);
    segments = outer;
    across = of_segment;
  }
  const auto [lines, vectors, tiles, y, x] = turn_tiles(stage, order[*along], across, {side, line});
  order[*along] = lines;
  std::vector<IterVar> inner{vectors, tiles};
  if (segments && is_one_line) {
    order.push_back(*segments);
  } else if (segments) {
    inner = {*segments, tiles, vectors};
    stage.pragma(*segments, kPartitioned, 1);
    // The square is unrolled, so that each of its loads has a constant stride, which the hardware
    // prefetches.
    constexpr int kMaxTiles = 16;
    if (line / side * (segment / side) <= kMaxTiles) stage.unroll(tiles).unroll(vectors);
  }
  std::vector<IterVar> all = order;
  all.insert(all.end(), inner.begin(), inner.end());
  all.insert(all.end(), {y, x});
  stage.reorder(all);
  read_whole_vectors(s[rows], stage, inner.back());
  IterVar outermost = lines;
  if (is_worth_threads(count_of(out.shape()))) stage.parallel(outermost = fused(stage, order));
  stage.pragma(outermost, kPartitioned, 1);
  return true;
}

Schedule schedule_transpose(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!te::is_injective(out.op()) || out.op().inputs().size() != 1)
    refuse("schedule_transpose", out, "it is not a transposition of one tensor", where);
  const Schedule s = te::create_schedule(out);
  // A transposition that keeps the last dimension is scheduled as a plain map.
  if (!arrange_transpose(s, out, target)) arrange_elementwise(s, out, target);
  leave_loops_to_compiler(s, {});
  return s;
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

/// Whether the terms of a result element are contiguous in an input.
bool reduces_rows(const Operation& op) {
  bool found = false;
  for (const Expr& source : op.as<te::Compute>()->reduction()->source)
    tir::walk(source, [&](const tir::ProducerLoad& load) {
      for (const IterVar& axis : op.reduce_axis())
        found = found || (!load.indices.empty() && load.indices.back().same_as(axis.var()));
    });
  return found;
}

/// Returns the loads in the terms of the reduction.
std::vector<const tir::ProducerLoad*> loads_of_terms(const Operation& op) {
  std::vector<const tir::ProducerLoad*> loads;
  for (const Expr& source : op.as<te::Compute>()->reduction()->source)
    tir::walk(source, [&](const tir::ProducerLoad& load) { loads.push_back(&load); });
  return loads;
}

bool uses_axis(const tir::ProducerLoad* load, const IterVar& axis) {
  return std::ranges::any_of(load->indices,
                             [&](const Expr& index) { return tir::uses_var(index, axis.var()); });
}

/// Returns the number of loads for which the elements at adjacent values of the axis are different
/// and not contiguous.
int gaps_along(const Operation& op, const IterVar& axis) {
  tir::VarMap next;
  tir::set(next, axis.var(), axis.var() + 1);
  int count = 0;
  const auto has_gaps = [&](const Expr& index, bool is_last) {
    return tir::uses_var(index, axis.var()) &&
           !(is_last && arith::can_prove_equal(tir::substitute(index, next), index + 1, {}));
  };
  for (const tir::ProducerLoad* load : loads_of_terms(op)) {
    bool any = false;
    for (std::size_t d = 0; d < load->indices.size(); ++d)
      any = any || has_gaps(load->indices[d], d + 1 == load->indices.size());
    count += any ? 1 : 0;
  }
  return count;
}

/// Whether the index of a load depends on an axis of the result and on an axis of the reduction.
bool has_windows(const Operation& op) {
  const auto uses_one_of = [](const Expr& index, const std::vector<IterVar>& axes) {
    return std::ranges::any_of(
        axes, [&](const IterVar& axis) { return tir::uses_var(index, axis.var()); });
  };
  return std::ranges::any_of(loads_of_terms(op), [&](const tir::ProducerLoad* load) {
    return std::ranges::any_of(load->indices, [&](const Expr& index) {
      return uses_one_of(index, op.axis()) && uses_one_of(index, op.reduce_axis());
    });
  });
}

/// Whether the elements of the result along its last axis differ.
bool has_columns(const Operation& op) {
  const IterVar& column = op.axis().back();
  return !is_one(column.dom()->extent) &&
         std::ranges::any_of(loads_of_terms(op), [&](const tir::ProducerLoad* load) {
           return uses_axis(load, column);
         });
}

/// Whether vectorizing the reduction needs fewer strided loads than vectorizing the last axis of
/// the result. The terms of a short window do not fill a vector.
bool is_by_rows(const Operation& op, int lanes) {
  const IterVar& term = op.reduce_axis().back();
  const int along_terms = gaps_along(op, term), along_elements = gaps_along(op, op.axis().back());
  if (along_terms == along_elements) return along_elements > 0 && reduces_rows(op);
  const bool is_short = count_of({term.dom()->extent}).value_or(lanes) < lanes;
  return along_terms < along_elements && !(is_short && has_windows(op));
}

// ---- contractions: elements of a tile share the elements that they read

/// Returns {dimension, rows, vectors} for the tile of elements with the least estimated time: rows
/// along the dimension, and vectors along the last one. Nullopt if no element is read by two
/// results of a tile.
std::optional<std::tuple<std::size_t, int, int>> contraction_tile(const Operation& op, int lanes,
                                                                  const TargetFacts& target) {
  constexpr int kMaxRows = 12, kMaxVectors = 4, kLatency = 8;
  const int most = target.vector_registers.count >= 32 ? 24 : 10;
  const std::vector<const tir::ProducerLoad*> loads = loads_of_terms(op);
  const std::vector<Expr> shape = op.output(0).shape();
  // The share of computed elements that exist.
  const auto used = [](const Expr& extent, int size) {
    const std::int64_t all = tir::constant_int(extent).value_or(0);
    return all == 0 ? 1.0
                    : static_cast<double>(all) / static_cast<double>(parts_of(all, size) * size);
  };
  std::optional<std::tuple<std::size_t, int, int>> best;
  double least = 0;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d)
    for (int rows = 1; rows <= kMaxRows; ++rows)
      for (int vectors = 1; vectors <= kMaxVectors && rows * vectors <= most; ++vectors) {
        int loaded = 0;
        for (const tir::ProducerLoad* load : loads)
          loaded += (uses_axis(load, op.axis()[d]) ? rows : 1) *
                    (uses_axis(load, op.axis().back()) ? vectors : 1);
        const int sums = rows * vectors;
        if (loaded >= sums * static_cast<int>(loads.size())) continue;
        const double time = std::max({loaded, sums, kLatency}) /
                            (sums * used(shape[d], rows) * used(shape.back(), vectors * lanes));
        if (best && time >= least) continue;
        best = {d, rows, vectors}, least = time;
      }
  return best;
}

/// Keeps the sums of a tile in registers while all terms are added.
void arrange_contraction(const Schedule& s, const Tensor& out,
                         const std::tuple<std::size_t, int, int>& tile, int lanes, int cores) {
  constexpr int kTermsAtOnce = 8;
  const auto [dimension, rows, vectors] = tile;
  const bool has_threads = are_worth_threads(terms_of(out.op()));
  const Tensor sums = s.cache_write(out, "local");
  const Stage stage = s[out];
  std::vector<IterVar> order = stage.op().axis();
  auto [bands, row] = stage.split(order[dimension], rows);
  auto [panels, columns] = stage.split(order.back(), vectors * lanes);
  auto [vector, lane] = stage.split(columns, lanes);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(dimension));
  order.back() = bands;
  std::vector<IterVar> all = order;
  all.insert(all.end(), {panels, row, vector, lane});
  stage.reorder(all).unroll(row).unroll(vector).vectorize(lane).pragma(panels, kPartitioned, 1);
  if (order.size() == 1) stage.pragma(bands, kPartitioned, 1);
  if (has_threads) {
    constexpr int kTasksOfACore = 4;
    std::vector<Expr> outer = out.shape();
    outer.pop_back();
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(dimension));
    if (count_of(outer).value_or(0) >= kTasksOfACore * cores) order.pop_back();
    stage.parallel(fused(stage, order));
  }
  const Stage tiled = s[sums];
  tiled.compute_at(stage, panels);
  std::vector<IterVar> reduction = tiled.op().reduce_axis();
  if (count_of({reduced_extents(tiled.op()).back()}).value_or(kTermsAtOnce + 1) > kTermsAtOnce) {
    auto [steps, step] = tiled.split(reduction.back(), kTermsAtOnce);
    tiled.pragma(steps, kPartitioned, 1);
    reduction.back() = steps;
    reduction.push_back(step);
  }
  const std::vector<IterVar> own = tiled.op().axis();
  keep_in_registers(tiled, reduction, own[dimension], own.back(), lanes);
}

// ---- columns

/// The number of rows that are added at a time.
constexpr int kRowsAtOnce = 8;

/// Adds several rows at a time. Processes one segment of columns after the other, so that the sums
/// of a segment stay in the L1 cache.
void arrange_columns(const Stage& stage, const IterVar& all_rows, int lanes, int piece,
                     bool has_threads) {
  std::vector<IterVar> order = stage.op().axis();
  auto [pieces, columns] = stage.split(order.back(), piece);
  auto [vector, lane] = stage.split(columns, lanes);
  auto [rows, row] = stage.split(all_rows, kRowsAtOnce);
  order.back() = pieces;
  // If there are few rows, the sums stay in registers until all rows are added.
  const std::optional<double> count = count_of(reduced_extents(stage.op()));
  if (count && *count <= kRowsAtOnce)
    order.insert(order.end(), {vector, rows, row, lane});
  else
    order.insert(order.end(), {rows, vector, row, lane});
  stage.reorder(order).unroll(row).vectorize(lane);
  for (const IterVar& loop : {pieces, rows, vector}) stage.pragma(loop, kPartitioned, 1);
  if (has_threads) stage.parallel(order.front());
}

/// Sums of a single vector of columns. Each of several partial sums adds every eighth row, because
/// a single sum would wait for the latency of every addition.
void arrange_few_columns(const Schedule& s, const Tensor& out, const IterVar& all_rows, int lanes) {
  const Stage partial = s[s.rfactor(out, s[out].split(all_rows, kRowsAtOnce).inner, 0)];
  const Stage sums = s[out];
  std::vector<IterVar> order = sums.op().axis();
  auto [vector, lane] = sums.split(order.back(), lanes);
  order.back() = vector;
  order.insert(order.end(), {sums.op().reduce_axis(0), lane});
  sums.reorder(order).unroll(sums.op().reduce_axis(0)).vectorize(lane);
  partial.compute_at(sums, vector);
  const std::vector<IterVar> own = partial.op().axis();
  auto [own_vector, own_lane] = partial.split(own.back(), lanes);
  partial.reorder({own_vector, partial.op().reduce_axis(0), own.front(), own_lane});
  partial.unroll(own.front()).vectorize(own_lane);
  partial.pragma(partial.op().reduce_axis(0), kPartitioned, 1);
}

}  // namespace

bool arrange_reduction(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const Operation op = out.op();
  if (op.reduce_axis().empty() || op.num_outputs() != 1) return false;
  const int lanes = lanes_of(out.dtype(), target);
  if (out.shape().empty() || !has_free_terms(op)) return arrange_rows(s, out, target);
  if (!has_columns(op) && gaps_along(op, op.reduce_axis().back()) > 0) {
    // The compiler finds another axis for the vectors.
    inline_maps(s, out);
    return true;
  }
  if (!has_columns(op) || is_by_rows(op, lanes)) return arrange_rows(s, out, target);
  if (const auto tile = contraction_tile(op, lanes, target)) {
    arrange_contraction(s, out, *tile, lanes, target.cores);
    return true;
  }
  inline_maps(s, out);
  const Stage stage = s[out];
  const int piece = elements_at_hand(out.dtype(), target);
  const IterVar rows = fused(stage, op.reduce_axis());
  const bool has_threads = is_worth_threads(terms_of(op));
  const bool has_few_columns = tir::constant_int(out.shape().back()).value_or(lanes + 1) <= lanes;
  constexpr double kManyRows = 4.0 * kRowsAtOnce;
  if (!has_threads && has_few_columns && count_of(reduced_extents(op)).value_or(0) >= kManyRows) {
    arrange_few_columns(s, out, rows, lanes);
    return true;
  }
  const double least = 2.0 * target.cores * piece;
  // Whether the first loop has iterations for all cores.
  const bool shares_first =
      out.ndim() > 1 && count_of({out.shape().front()}).value_or(0) >= 2.0 * target.cores;
  const bool has_few_rows = count_of(reduced_extents(op)).value_or(0) < kManyRows * target.cores;
  if (!has_threads || target.cores == 1 || shares_first || has_few_rows ||
      count_of(out.shape()).value_or(least) >= least) {
    arrange_columns(stage, rows, lanes, piece, has_threads);
    return true;
  }
  // There are too few columns for all threads. The rows are divided among the threads instead, and
  // the partial sums are added afterwards.
  const IterVar parts = stage.split_by_nparts(rows, 4 * target.cores).outer;
  const Stage partial = s[s.rfactor(out, parts, 0)];
  arrange_columns(partial, partial.op().reduce_axis(0), lanes, piece, true);
  const Stage sums = s[out];
  auto [vectors, lane] = sums.split(sums.op().axis().back(), lanes);
  sums.reorder({vectors, sums.op().reduce_axis(0), lane}).vectorize(lane);
  sums.pragma(vectors, kPartitioned, 1);
  return true;
}

Schedule schedule_reduction(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_reduction(s, out, target))
    refuse("schedule_reduction", out, "it is not a reduction to one value", where);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
