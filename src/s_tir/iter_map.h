// Iteration maps: what the loops around a block make of its iterators, as sums of digits.
//
//   loops i_0 < 4, i_1 < 8;  values {i_0 * 8 + i_1, ...}
//   value 0 is the number whose digits are i_0 (worth 8) and i_1 (worth 1): every number below 32
//   comes about, and each by one pair (i_0, i_1)
//
// A digit is (source // lower) % extent, where the source is a loop variable or itself such a
// number. The forms that splits and fuses make, and what simplification makes of them, go by this
// (the quasi-affine maps of polyhedral compilers, restricted to mixed radix).
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tenon/tir/ops.h"

namespace tenon::s_tir {

struct Digit {
  /// Its source: a position in IterMap::marks.
  int mark;
  std::int64_t lower;
  std::int64_t extent;
  /// What it counts in the sum.
  std::int64_t scale;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// Most significant digit first. The base is what no loop changes.
struct DigitSum {
  std::vector<Digit> digits;
  tir::Expr base = 0;
};

/// The extent of a loop that is no constant: such a loop can only be taken as a whole.
inline constexpr std::int64_t kUnknownExtent = -1;

struct Mark {
  std::variant<tir::Var, DigitSum> source;
  std::int64_t extent;
  /// The source is a variable that counts from here; the digits are those of the difference.
  tir::Expr min = 0;
};

struct IterMap {
  std::vector<Mark> marks;
  /// For each value: one digit with everything below it, or none, and a base.
  std::vector<DigitSum> values;
};

struct LoopDomain {
  tir::Var var;
  tir::Expr min;
  tir::Expr extent;
};

/// AsWritten: the digits as the expressions have them; what the reference prints after split and
/// fuse is made of these. WithoutUnits: loops of one iteration are no digits; what it prints after
/// blockize. Reduced: neighbouring digits of one source are one digit again as well
/// ((x // 2) * 2 + x % 2 is x), so that most is recognised.
enum class DigitForm : unsigned char { AsWritten, WithoutUnits, Reduced };

/// Nullopt unless each value is such a number and the digits of every source are disjoint: then any
/// combination of values comes about. The predicate is a conjunction of bounds of such numbers. Not
/// every loop need be used.
std::optional<IterMap> find_iter_map(std::span<const tir::Expr> values,
                                     const std::vector<LoopDomain>& loops,
                                     const tir::Expr& predicate,
                                     DigitForm form = DigitForm::Reduced);

/// How many iterations of a source its digits tell apart: the product of their extents, counted
/// through all numbers that the values are made of. One entry per mark.
std::vector<std::int64_t> told_apart(const IterMap& map);

/// A value as an expression of the loop variables again, digits in the order of their weight.
tir::Expr to_expr(const IterMap& map, const DigitSum& sum);
tir::Expr to_expr(const IterMap& map, const Digit& digit);

/// A conjunction as the list of its parts.
std::vector<tir::Expr> conjuncts(const tir::Expr& condition);

}  // namespace tenon::s_tir
