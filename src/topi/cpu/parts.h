// Parts that schedules of several kinds of operators for processors share.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// For loops that conditions make slow only in their last iteration: that gets loops of its own.
inline constexpr const char* kPartitioned = "loop_partition_hint";

// ---- sizes --------------------------------------------------------------------------------------

/// Elements of the widest vector, but at least 4.
int lanes_of(DataType type, const tir::TargetFacts& target);
/// Elements, in whole vectors, that fill half of the first cache: what else is read by passes by.
int elements_at_hand(DataType type, const tir::TargetFacts& target);

/// How many parts of that length there are, of which the last may be shorter.
constexpr std::int64_t parts_of(std::int64_t all, std::int64_t length) {
  return all / length + (all % length == 0 ? 0 : 1);
}
/// The length of as few parts as can be that are at most so long, shared out so that the last is
/// not much shorter than the others; at least 1.
std::int64_t even_part(std::int64_t all, std::int64_t most);

/// How many elements there are; nothing where an extent is symbolic.
std::optional<double> count_of(const std::vector<te::Expr>& extents);
/// Of the operation's reduction, none if it has none.
std::vector<te::Expr> reduced_extents(const te::Operation& op);
/// The terms of all its elements.
std::optional<double> terms_of(const te::Operation& op);

/// Whether so many elements take longer to compute than threads take to begin; unknown ones do.
bool is_worth_threads(std::optional<double> elements);
/// The same of multiplications that are added up in registers, of which many take no longer than
/// one element that is loaded and stored.
bool are_worth_threads(std::optional<double> multiplications);

// ---- loops --------------------------------------------------------------------------------------

/// One loop instead of one or several.
te::IterVar fused(const te::Stage& stage, const std::vector<te::IterVar>& loops);

/// The loops over rows as tasks: enough rows in each for threads not to ask for more all the time.
/// Returns the loop over the rows of a task. `terms`, of all rows, tells whether there are threads.
te::IterVar share_out_rows(const te::Stage& stage, const std::vector<te::IterVar>& rows,
                           std::optional<double> elements_of_a_row, std::optional<double> terms);
/// Elements that a task is to have.
inline constexpr int kElementsOfATask = 1 << 13;

/// Elements along the loop by vectors. Returns the loop over vectors.
te::IterVar vectorize_loop(const te::Stage& stage, const te::IterVar& axis, int lanes);
/// The same of a result, which passes by the caches where it is much larger than they are. Returns
/// the loop over vectors.
te::IterVar vectorize_result(const te::Stage& stage, const te::IterVar& axis, const te::Tensor& out,
                             const tir::TargetFacts& target);

/// Steps of the stage's reduction, so many in a row: {over groups of them, of a group}.
std::vector<te::IterVar> reduce_by_steps(const te::Stage& sums, int at_once);
/// A tile of sums, as large as the loops `row` and `column` are long, stays in registers while the
/// loops of the reduction run, of which the last is unrolled.
void keep_in_registers(const te::Stage& sums, std::vector<te::IterVar> reduction,
                       const te::IterVar& row, const te::IterVar& column, int lanes);

/// Lays a stage out in panels, `width` wide along one of its dimensions: all that a tile of this
/// width reads lies in one piece. {a, b, c} with panels along 2 from 1 on becomes
/// {a, c / width, b, c % width}. Returns its loops, of which the last is by vectors.
std::vector<te::IterVar> lay_out_in_panels(const te::Stage& packed, std::size_t along,
                                           std::size_t from, int width, int lanes);

/// Loops over tiles of half vectors that are read along one dimension and stored along another, for
/// the elements of a line of the caches one after the other: the fastest measured.
struct TurnedTile {
  te::IterVar lines, vectors, tiles, y, x;
};
/// `down`: along which the source is contiguous; `across`: along which the result is.
TurnedTile turn_tiles(const te::Stage& stage, const te::IterVar& down, const te::IterVar& across,
                      int lanes, int bytes);

/// The same panels of a copy {..., columns, steps} of which a panel is {steps, width}: tiles are
/// read by rows and turned round in registers. Returns the loop over panels.
te::IterVar lay_out_turned_panels(const te::Schedule& s, const te::Tensor& packed, int width,
                                  int lanes);

}  // namespace tenon::topi::cpu
