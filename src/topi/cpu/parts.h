// Schedule parts that several kinds of CPU operators share.
#pragma once

#include <optional>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// The pragma for loops whose conditions matter only in the last iterations. These iterations get a
/// loop of their own.
inline constexpr const char* kPartitioned = "loop_partition_hint";
/// Pragma: the panel of a packed constant that the next iteration reads is prefetched.
inline constexpr const char* kPrefetchesPanels = "prefetch_panels";

/// Throws TypeError unless the type of a BLAS routine is float32 or float64, and ScheduleError for
/// a device.
void check_routine(const char* name, DataType type, const tir::TargetFacts& target,
                   const SourceLocation& where);

// ---- sizes --------------------------------------------------------------------------------------

/// Returns the number of elements in the widest vector, at least 4.
int lanes_of(DataType type, const tir::TargetFacts& target);
/// Returns the number of elements, in whole vectors, that fill half of the L1 cache. The other half
/// is for streamed data.
int elements_at_hand(DataType type, const tir::TargetFacts& target);

/// Returns the number of parts of the given length; the last part may be shorter.
constexpr std::int64_t parts_of(std::int64_t all, std::int64_t length) {
  return all / length + (all % length == 0 ? 0 : 1);
}
/// Returns the part length that gives the minimum number of parts of at most `most` elements, a
/// multiple of `cores`, balanced so that the last part is not much shorter than the others; at
/// least 1.
std::int64_t even_part(std::int64_t all, std::int64_t most, int cores = 1);

/// Returns the number of elements, or nullopt if an extent is symbolic.
std::optional<double> count_of(const std::vector<te::Expr>& extents);
/// Returns the extents of the operation's reduction; empty if there is no reduction.
std::vector<te::Expr> reduced_extents(const te::Operation& op);
/// Returns the number of terms of all elements of the operation.
std::optional<double> terms_of(const te::Operation& op);

/// Whether computing the elements takes longer than starting threads. True for an unknown number.
bool is_worth_threads(std::optional<double> elements);
/// Like is_worth_threads, for multiplications that are accumulated in registers. Several of them
/// take as long as one element that is loaded and stored.
bool are_worth_threads(std::optional<double> multiplications);

// ---- loops --------------------------------------------------------------------------------------

/// Returns the only loop, or the fusion of several.
te::IterVar fused(const te::Stage& stage, const std::vector<te::IterVar>& loops);

/// Splits the loops over rows into tasks, each with enough rows to amortize the scheduling of a
/// task. Returns the loop over the rows of a task. `terms`, the number of terms of all rows,
/// decides whether threads are used.
te::IterVar share_out_rows(const te::Stage& stage, const std::vector<te::IterVar>& rows,
                           std::optional<double> elements_of_a_row, std::optional<double> terms,
                           int cores);
/// The number of elements of a task.
inline constexpr int kElementsOfATask = 1 << 13;

/// Vectorizes the elements along the loop. Returns the loop over vectors.
te::IterVar vectorize_loop(const te::Stage& stage, const te::IterVar& axis, int lanes);

/// Splits the stage's reduction into groups of `at_once` steps. Returns the loop over groups and
/// the loop within a group.
std::vector<te::IterVar> reduce_by_steps(const te::Stage& sums, int at_once);
/// Keeps a tile of sums, which spans the loops `row` and `column`, in registers while the loops of
/// the reduction run. The last of these is unrolled.
void keep_in_registers(const te::Stage& sums, std::vector<te::IterVar> reduction,
                       const te::IterVar& row, const te::IterVar& column, int lanes);

/// Lays a stage out in panels that are `width` wide along one of its dimensions: all elements that
/// a tile of this width reads are contiguous. {a, b, c} with panels along 2 and `from` = 1 becomes
/// {a, c / width, b, c % width}. Returns its loops, the last of which is vectorized.
std::vector<te::IterVar> lay_out_in_panels(const te::Stage& packed, std::size_t along,
                                           std::size_t from, int width, int lanes);

/// The number of elements on a side of a square tile that is transposed in registers, and of the
/// source's contiguous elements whose tiles are adjacent, a multiple of the side.
struct TurnedSize {
  int side, line;
};
inline constexpr int kBytesOfALine = 64;
/// Returns the size of tiles that are half a vector wide. The tiles of a cache line are adjacent.
TurnedSize turned_size(int lanes, int bytes);

/// Loops over square tiles that are read along one dimension and stored along another.
struct TurnedTile {
  te::IterVar lines, vectors, tiles, y, x;
};
/// Splits the loops into transposed tiles. The source is contiguous along `down`, the result along
/// `across`. The caller marks `lines`, or the loop that it is fused into, as partitioned.
TurnedTile turn_tiles(const te::Stage& stage, const te::IterVar& down, const te::IterVar& across,
                      TurnedSize size);
/// Reads the rows of a tile as whole vectors inside the loop `at`. Missing elements are 0.
void read_whole_vectors(const te::Stage& rows, const te::Stage& reader, const te::IterVar& at);

/// Reads the copy in square tiles along `down` and stores them along `across`, transposed in
/// registers. Returns the outermost loop.
te::IterVar turn_in_registers(const te::Schedule& s, const te::Tensor& packed,
                              const te::IterVar& down, const te::IterVar& across, int lanes);
/// Stores the copy {..., n, m} as {..., m, n}: tiles are read by rows and transposed in registers.
/// Returns the outermost loop.
te::IterVar transpose_by_tiles(const te::Schedule& s, const te::Tensor& packed, int lanes);
/// Like lay_out_in_panels, for a copy {..., columns, steps} whose panels are {steps, width}: tiles
/// are read by rows and transposed in registers. Returns the loop over panels.
te::IterVar lay_out_turned_panels(const te::Schedule& s, const te::Tensor& packed, int width,
                                  int lanes);

}  // namespace tenon::topi::cpu
