// Helpers shared by the schedules of several kinds of CPU operators.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::cpu {

/// The pragma for loops whose guards are only needed in the last iterations. The compiler moves
/// these iterations into a separate loop.
inline constexpr const char* kPartitioned = "loop_partition_hint";
/// The pragma for loops whose iterations each read a panel of a packed constant. The compiler
/// prefetches the panel of the next iteration.
inline constexpr const char* kPrefetchesPanels = "prefetch_panels";

/// Throws TypeError unless the type is float32 or float64. Throws ScheduleError if the target is a
/// GPU. `name` is the BLAS routine.
void check_routine(const char* name, DataType type, const tir::TargetFacts& target,
                   const SourceLocation& where);

// ---- sizes --------------------------------------------------------------------------------------

/// Returns the number of elements in the widest vector, at least 4.
int lanes_of(DataType type, const tir::TargetFacts& target);
/// Returns the number of elements that fill half of the L1 cache, rounded to whole vectors. The
/// other half is for streamed data.
int elements_at_hand(DataType type, const tir::TargetFacts& target);

/// Returns the number of parts of the given length that cover `all` elements. The last part may be
/// shorter.
constexpr std::int64_t parts_of(std::int64_t all, std::int64_t length) {
  return all / length + (all % length == 0 ? 0 : 1);
}
/// Returns the length of parts, at least 1, that divides `all` elements evenly. The number of parts
/// is the smallest multiple of `cores` for which no part exceeds `most` elements.
std::int64_t even_part(std::int64_t all, std::int64_t most, int cores = 1);

/// Returns the product of the extents, or nullopt if one of them is symbolic.
std::optional<double> count_of(const std::vector<te::Expr>& extents);
/// Returns the total number of reduction terms of all elements of the operation; nullopt if it is
/// symbolic.
std::optional<double> terms_of(const te::Operation& op);

/// Whether computing this number of elements takes longer than starting threads. True if the number
/// is unknown.
bool is_worth_threads(std::optional<double> elements);
/// Like is_worth_threads, for multiplications that are accumulated in registers. A multiplication
/// takes less time than an element that is loaded and stored.
bool are_worth_threads(std::optional<double> multiplications);

// ---- loops --------------------------------------------------------------------------------------

/// Fuses the loops and returns the result.
te::IterVar fused(const te::Stage& stage, const std::vector<te::IterVar>& loops);

/// Divides the loops over rows into tasks. Each task has enough rows to amortize its scheduling.
/// `terms` is the number of terms of all rows and decides whether threads are used. Returns the
/// loop over the rows of a task.
te::IterVar share_out_rows(const te::Stage& stage, const std::vector<te::IterVar>& rows,
                           std::optional<double> elements_of_a_row, std::optional<double> terms,
                           int cores);
/// The number of elements of a task.
inline constexpr int kElementsOfATask = 1 << 13;

/// Vectorizes the elements along the axis. Returns the loop over vectors.
te::IterVar vectorize_loop(const te::Stage& stage, const te::IterVar& axis, int lanes);

/// Splits the stage's reduction into groups of `at_once` steps. Returns the loop over groups and
/// the loop over the steps of a group.
std::vector<te::IterVar> reduce_by_steps(const te::Stage& sums, int at_once);
/// Keeps a tile of accumulators in registers while the loops of the reduction run. The loops `row`
/// and `column` span the tile. The innermost reduction loop is unrolled.
void keep_in_registers(const te::Stage& sums, std::vector<te::IterVar> reduction,
                       const te::IterVar& row, const te::IterVar& column, int lanes);

/// Schedules one of the stages to which te::Schedule::rfactor splits a reduction. Its last axis
/// runs over partial results. The first stage keeps `lanes`-wide vectors of them in registers. Each
/// further stage reduces the partial results of the stage before it to a single vector.
void arrange_partial_results(const te::Stage& part, bool is_first, int lanes);

/// Packs a stage into panels that are `width` wide in dimension `along`. All elements that a tile
/// of this width reads are contiguous. For example, {a, b, c} with along = 2 and from = 1 becomes
/// {a, c / width, b, c % width}. Returns the loops of the packed stage; the last one is vectorized.
std::vector<te::IterVar> lay_out_in_panels(const te::Stage& packed, std::size_t along,
                                           std::size_t from, int width, int lanes);

inline constexpr int kBytesOfALine = 64;
/// The distance in bytes of addresses that map to the same set of the L1 cache.
inline constexpr std::int64_t kBytesOfAWay = 4096;
/// Returns {side, line} for square tiles that are transposed in registers. `side` is the number of
/// rows and columns of a tile, half a vector. `line` is a multiple of it that covers a cache line:
/// the number of contiguous source elements whose tiles are processed one after another.
std::pair<int, int> turned_size(int lanes, int bytes);
/// Splits the loops `down` and `across` into transposed tiles of the given {side, line}. The source
/// is contiguous along `down`, and the result is contiguous along `across`. Returns the loops
/// {lines, vectors, tiles, y, x}, of which `y` and `x` span a tile. The caller applies the pragma
/// kPartitioned to `lines`, or to the loop that `lines` is fused into.
std::array<te::IterVar, 5> turn_tiles(const te::Stage& stage, const te::IterVar& down,
                                      const te::IterVar& across, const std::pair<int, int>& size);
/// Loads the rows of a tile as whole vectors inside the loop `at`. Elements past the end are 0.
void read_whole_vectors(const te::Stage& rows, const te::Stage& reader, const te::IterVar& at);

/// Transposes `packed`, a copy of a tensor, in square tiles in registers. It is read along `down`
/// and stored along `across`. Returns the outermost loop.
te::IterVar turn_in_registers(const te::Schedule& s, const te::Tensor& packed,
                              const te::IterVar& down, const te::IterVar& across, int lanes);
/// Stores `packed`, a copy {..., n, m} of a tensor, transposed as {..., m, n}. Tiles are loaded by
/// rows and transposed in registers. Returns the outermost loop.
te::IterVar transpose_by_tiles(const te::Schedule& s, const te::Tensor& packed, int lanes);
/// Like lay_out_in_panels, but transposes: packs a copy {..., columns, steps} into panels {steps,
/// width}. Tiles are loaded by rows and transposed in registers. Returns the loop over panels.
te::IterVar lay_out_turned_panels(const te::Schedule& s, const te::Tensor& packed, int width,
                                  int lanes);

}  // namespace tenon::topi::cpu
