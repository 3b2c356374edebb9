// Iteration maps: the values that loops give to the iterators of a block, as sums of digits.
//
//   loops i_0 < 4, i_1 < 8;  values {i_0 * 8 + i_1, ...}
//   value 0 is a number with the digits i_0 (weight 8) and i_1 (weight 1): it takes every value
//   below 32, each for one pair (i_0, i_1)
//
// A digit is (source // lower) % extent, where the source is a loop variable or another number of
// this form. Such numbers cover the expressions that splits and fuses create, also after
// simplification (the quasi-affine maps of polyhedral compilers, restricted to mixed radix).
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

/// A sum of digits, most significant first, and a loop-invariant base.
struct DigitSum {
  std::vector<Digit> digits;
  tir::Expr base = 0;
};

/// The extent of a source that is not constant. The variable of such a loop can only be used as a
/// whole.
inline constexpr std::int64_t kUnknownExtent = -1;

/// A source of digits: a loop variable or a sum of digits. A digit x with a negative weight is
/// replaced by a digit of the source `extent - 1 - x`. This source is a sum with the base `extent -
/// 1` and the digit x with the scale -1.
struct Mark {
  std::variant<tir::Var, DigitSum> source;
  std::int64_t extent;
  /// The minimum of the source. It is subtracted from the source before digits are taken.
  tir::Expr min = 0;
};

struct IterMap {
  std::vector<Mark> marks;
  /// Each value is a base plus at most one digit. The source of this digit is a number that
  /// contains all digits of the value.
  std::vector<DigitSum> values;
};

struct LoopDomain {
  tir::Var var;
  tir::Expr min;
  tir::Expr extent;
};

/// The form of the digits. AsWritten keeps the digits of the expressions, which reproduces TVM's
/// output of split and fuse. WithoutUnits omits loops of one iteration, as in TVM's output of
/// blockize. Reduced recognizes the most maps: it also merges adjacent digits of one source ((x //
/// 2) * 2 + x % 2 becomes x), and complements digits of negative weight (8 - x).
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

/// Returns the number of values of the digit. Nullopt if it is unknown or depends on one of the
/// loops.
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

/// Returns the operands of a conjunction.
std::vector<tir::Expr> conjuncts(const tir::Expr& condition);

}  // namespace tenon::s_tir
