#include "topi/cpu/parts.h"

#include <algorithm>

#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Stage;
using tir::Expr;
using tir::TargetFacts;
using tir::Var;

void check_routine(const char* name, DataType type, const TargetFacts& target,
                   const SourceLocation& where) {
  const std::string what = "topi::blas::" + std::string(name);
  if (type != Float(32) && type != Float(64))
    throw TypeError(what + ": the type is float32 or float64, not " + type.str(), where);
  if (target.is_gpu()) throw ScheduleError(what + ": the target is a device", where);
}

// ---- sizes --------------------------------------------------------------------------------------

int lanes_of(DataType type, const TargetFacts& target) {
  return std::max(target.vector_registers.bits / (8 * type.bytes()), 4);
}

int elements_at_hand(DataType type, const TargetFacts& target) {
  const int lanes = lanes_of(type, target);
  return std::max(target.caches.l1 / 2 / type.bytes() / lanes, 1) * lanes;
}

std::int64_t even_part(std::int64_t all, std::int64_t most, int cores) {
  const std::int64_t parts =
      parts_of(parts_of(std::max<std::int64_t>(all, 1), most), cores) * cores;
  return std::max<std::int64_t>(parts_of(all, parts), 1);
}

std::optional<double> count_of(const std::vector<Expr>& extents) {
  double count = 1;
  for (const Expr& extent : extents) {
    const std::optional<std::int64_t> known = tir::constant_int(extent);
    if (!known) return std::nullopt;
    count *= static_cast<double>(*known);
  }
  return count;
}

std::optional<double> terms_of(const te::Operation& op) {
  std::vector<Expr> extents = op.output(0).shape();
  for (const Expr& extent : reduced_extents(op)) extents.push_back(extent);
  return count_of(extents);
}

namespace {

/// Minimum number of elements for which threads are used. One core computes this number of elements
/// in about five times the overhead of a parallel loop.
constexpr double kMinElements = 1 << 16;

}  // namespace

bool is_worth_threads(std::optional<double> elements) {
  return elements.value_or(kMinElements) >= kMinElements;
}

bool are_worth_threads(std::optional<double> multiplications) {
  constexpr double kAsLongAsAnElement = 4;
  if (!multiplications) return true;
  return is_worth_threads(*multiplications / kAsLongAsAnElement);
}

// ---- loops --------------------------------------------------------------------------------------

IterVar fused(const Stage& stage, const std::vector<IterVar>& loops) {
  return loops.size() > 1 ? stage.fuse(loops) : loops.front();
}

IterVar share_out_rows(const Stage& stage, const std::vector<IterVar>& rows,
                       std::optional<double> elements_of_a_row, std::optional<double> terms,
                       int cores) {
  std::vector<Expr> extents;
  for (const IterVar& loop : rows) extents.push_back(loop.dom()->extent);
  const auto at_once = std::max<std::int64_t>(
      static_cast<std::int64_t>(kElementsOfATask / std::max(elements_of_a_row.value_or(1), 1.0)),
      1);
  const std::optional<double> count = count_of(extents);
  const std::int64_t of_a_task =
      count ? even_part(static_cast<std::int64_t>(*count), at_once, cores) : at_once;
  auto [tasks, row] = stage.split(fused(stage, rows), static_cast<int>(of_a_task));
  stage.pragma(tasks, kPartitioned, 1);
  if (is_worth_threads(terms)) stage.parallel(tasks);
  return row;
}

IterVar vectorize_loop(const Stage& stage, const IterVar& axis, int lanes) {
  auto [vectors, lane] = stage.split(axis, lanes);
  stage.vectorize(lane).pragma(vectors, kPartitioned, 1);
  return vectors;
}

std::vector<IterVar> reduce_by_steps(const Stage& sums, int at_once) {
  auto [steps, step] = sums.split(sums.op().reduce_axis(0), at_once);
  sums.pragma(steps, kPartitioned, 1);
  return {steps, step};
}

void keep_in_registers(const Stage& sums, std::vector<IterVar> reduction, const IterVar& row,
                       const IterVar& column, int lanes) {
  auto [vector, lane] = sums.split(column, lanes);
  sums.unroll(reduction.back()).unroll(row).unroll(vector).vectorize(lane);
  reduction.insert(reduction.end(), {row, vector, lane});
  sums.reorder(reduction);
}

void arrange_partial_results(const Stage& part, bool is_first, int lanes) {
  const IterVar terms = part.op().reduce_axis(0), results = part.op().axis().back();
  if (!is_first) {
    part.reorder({terms, results}).unroll(terms).vectorize(results);
    return;
  }
  auto [vector, lane] = part.split(results, lanes);
  part.reorder({terms, vector, lane}).unroll(vector).vectorize(lane);
  part.pragma(terms, kPartitioned, 1);
}

namespace {

std::vector<IterVar> split_into_panels(const Stage& packed, std::size_t along, std::size_t from,
                                       int width) {
  return packed.transform_layout(
      [&](std::span<const Var> at) {
        std::vector<Expr> result;
        for (std::size_t n = 0; n < at.size(); ++n) {
          if (n == from) result.push_back(tir::floordiv(at[along], width));
          if (n != along) result.push_back(at[n]);
        }
        result.push_back(tir::floormod(at[along], width));
        return result;
      },
      {.pad = true});
}

}  // namespace

std::vector<IterVar> lay_out_in_panels(const Stage& packed, std::size_t along, std::size_t from,
                                       int width, int lanes) {
  const std::vector<IterVar> loops = split_into_panels(packed, along, from, width);
  packed.vectorize(packed.split(loops.back(), lanes).inner);
  return loops;
}

std::pair<int, int> turned_size(int lanes, int bytes) {
  const int side = std::max(lanes / 2, 4);
  return {side, std::max(kBytesOfALine / bytes / side, 1) * side};
}

std::array<IterVar, 5> turn_tiles(const Stage& stage, const IterVar& down, const IterVar& across,
                                  const std::pair<int, int>& size) {
  const auto [side, line] = size;
  auto [lines, in_line] = stage.split(down, line);
  auto [tiles, y] = stage.split(in_line, side);
  auto [vectors, x] = stage.split(across, side);
  stage.unroll(y).vectorize(x);
  for (const IterVar& loop : {vectors, tiles}) stage.pragma(loop, kPartitioned, 1);
  return {lines, vectors, tiles, y, x};
}

void read_whole_vectors(const Stage& rows, const Stage& reader, const IterVar& at) {
  rows.compute_at(reader, at);
  for (const IterVar& axis : rows.op().axis()) rows.round_up(axis);
  rows.vectorize(rows.op().axis().back());
}

IterVar turn_in_registers(const te::Schedule& s, const te::Tensor& packed, const IterVar& down,
                          const IterVar& across, int lanes) {
  const te::Tensor rows = s.cache_read(packed.op().inputs().front(), "local", {packed.op()});
  const Stage stage = s[packed];
  const auto [lines, vectors, tiles, y, x] =
      turn_tiles(stage, down, across, turned_size(lanes, packed.dtype().bytes()));
  stage.reorder({lines, vectors, tiles, y, x});
  stage.pragma(lines, kPartitioned, 1);
  read_whole_vectors(s[rows], stage, tiles);
  return lines;
}

IterVar transpose_by_tiles(const te::Schedule& s, const te::Tensor& packed, int lanes) {
  const std::vector<IterVar> loops = s[packed].transform_layout([](std::span<const Var> at) {
    std::vector<Expr> result(at.begin(), at.end());
    std::swap(result.back(), result[result.size() - 2]);
    return result;
  });
  return turn_in_registers(s, packed, loops[loops.size() - 2], loops.back(), lanes);
}

IterVar lay_out_turned_panels(const te::Schedule& s, const te::Tensor& packed, int width,
                              int lanes) {
  const std::size_t rank = packed.shape().size();
  const std::vector<IterVar> loops = split_into_panels(s[packed], rank - 2, rank - 2, width);
  turn_in_registers(s, packed, loops[rank - 1], loops.back(), lanes);
  return loops[rank - 2];
}

}  // namespace tenon::topi::cpu
