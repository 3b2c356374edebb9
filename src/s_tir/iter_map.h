// Iteration maps: the values that loops give to the iterators of a block, as sums of digits.
//
//   loops i_0 < 4, i_1 < 8;  values {i_0 * 8 + i_1, ...}
//   value 0 is a number with the digits i_0 (weight 8) and i_1 (weight 1): it takes every value
//   below 32, each for one pair (i_0, i_1)
//
// Terms, also used in other files of s_tir:
// - A *source* is a loop variable or a number.
// - A *digit* is (source // lower) % extent, for constants `lower` and `extent`.
// - A *number* is a sum of digits with mixed-radix weights: the weight of a digit is the product of
//   the extents of all less significant digits.
// - A *bounded* number is one that the block's predicate bounds, as in i_0 * 8 + i_1 < 30.
// Numbers cover the expressions that splits and fuses create, also after simplification. They are
// the quasi-affine maps of polyhedral compilers, restricted to mixed radix.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tenon/support/function_ref.h"
#include "tenon/tir/ops.h"

namespace tenon::s_tir {

struct Digit {
  /// The digit's source, as an index into IterMap::marks.
  int mark;
  std::int64_t lower;
  std::int64_t extent;
  /// The digit's weight in the sum.
  std::int64_t scale;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// A weighted sum of digits, most significant digit first, plus a loop-invariant base.
struct DigitSum {
  std::vector<Digit> digits;
  tir::Expr base = 0;
};

/// The extent of a source whose extent is not constant. Only the whole source is then a digit: it
/// has no proper digits with a smaller extent.
inline constexpr std::int64_t kUnknownExtent = -1;

/// A source of digits: a loop variable or a number. A digit x of negative weight is replaced by a
/// digit of the source `extent - 1 - x`, which is a sum with the base `extent - 1` and the digit x
/// with the weight -1.
struct Mark {
  std::variant<tir::Var, DigitSum> source;
  std::int64_t extent;
  /// The minimum of the source. It is subtracted from the source before digits are taken.
  tir::Expr min = 0;
};

struct IterMap {
  std::vector<Mark> marks;
  /// The values. Each is a base plus at most one digit, whose source is a number that contains all
  /// digits of the value.
  std::vector<DigitSum> values;
};

struct LoopDomain {
  tir::Var var;
  tir::Expr min;
  tir::Expr extent;
};

/// The form of the digits:
/// - AsWritten keeps the digits of the expressions. This reproduces TVM's output of split and fuse.
/// - WithoutUnits omits loops of one iteration, as in TVM's output of blockize.
/// - Reduced recognizes the most maps. It also merges adjacent digits of one source, so that
///   (x // 2) * 2 + x % 2 becomes x, and replaces digits of negative weight, as in 8 - x, by their
///   complements.
enum class DigitForm : unsigned char { AsWritten, WithoutUnits, Reduced };

/// Returns the map. Nullopt unless each value is a sum of digits (see the top of this file) and the
/// digits of each source are disjoint, so that the values take every combination of digits. The
/// predicate must be a conjunction of bounds on sums of digits. The values need not use all loops.
std::optional<IterMap> find_iter_map(std::span<const tir::Expr> values,
                                     const std::vector<LoopDomain>& loops,
                                     const tir::Expr& predicate,
                                     DigitForm form = DigitForm::Reduced);

/// Calls `f` on every digit of the sums, and recursively on the digits of their sources.
void for_each_digit(const IterMap& map, std::span<const DigitSum> sums,
                    FunctionRef<void(const Digit&)> f);

/// Returns the number of values of the digit. Nullopt if the number is unknown or depends on a
/// variable of `loops`.
std::optional<tir::Expr> extent_of(const IterMap& map, const Digit& digit,
                                   const std::vector<LoopDomain>& loops);

/// Returns the loops of unknown extent on which no value depends. If such a loop is empty, the map
/// has no values, although the extents of its digits are positive.
std::vector<LoopDomain> unused_of_unknown_extent(const IterMap& map,
                                                 const std::vector<LoopDomain>& loops);

/// Returns the number of values of each source that the map distinguishes, in the order of `marks`:
/// the product of the extents of all digits of the source.
std::vector<std::int64_t> told_apart(const IterMap& map);

/// Returns the sum (or digit) as an expression of the loop variables, most significant digit first.
tir::Expr to_expr(const IterMap& map, const DigitSum& sum);
tir::Expr to_expr(const IterMap& map, const Digit& digit);

/// Returns the product; nullopt beyond 64 bits.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b);

/// Whether the expression uses the variable of one of the loops.
bool uses_any(const tir::Expr& e, const std::vector<LoopDomain>& loops);

/// Returns the operands of a conjunction.
std::vector<tir::Expr> conjuncts(const tir::Expr& condition);

}  // namespace tenon::s_tir
