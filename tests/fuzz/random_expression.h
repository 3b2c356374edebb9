// Random expressions over data of every type: every operator, conversions out of range, constants
// at the ends of types, conditions that protect divisions. Each value is fully determined: no float
// product feeds a float sum, which may be contracted, and no sign of a zero is observed that max
// and min leave open.
//
//   ExpressionMaker maker(random, notes, rules, [&](DataType type) { return element_of(type); });
//   Expr e = maker.value(Int(8), 3);
#pragma once

#include <tenon/tenon.h>

#include "tests/fuzz/coverage.h"
#include "tests/fuzz/kept.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// The operators of floats that one program has.
struct ExpressionRules {
  /// Products, and no sums; or sums, and no products.
  bool has_products;
  /// max and min, and nothing that observes the sign of a zero; or the other way round.
  bool has_extremes;
};

class ExpressionMaker {
 public:
  /// An element of data of the type, or nullopt if the data has no such element.
  using Leaf = std::function<std::optional<Expr>(DataType type)>;

  ExpressionMaker(Random& random, Notes& notes, ExpressionRules rules, Kept& kept, Leaf leaf)
      : random_(&random), notes_(notes), rules_(rules), kept_(kept), leaf_(std::move(leaf)) {}

  /// A value of at most `depth` nested operators; it may contain values that were made before.
  Expr value(DataType type, int depth);
  Expr condition(int depth) { return value(Bool(), depth); }
  /// A special number of the type.
  Expr constant(DataType type);

 private:
  Expr leaf(DataType type);
  /// The second operand of a rule's pattern: a constant more often than other values.
  Expr second(DataType type, int depth);
  Expr compound(DataType type, int depth);
  Expr integer(DataType type, int depth);
  Expr floating(DataType type, int depth);
  Expr boolean(int depth);
  Expr comparison(int depth);
  Expr in_range(int depth);
  Expr quotient(DataType type, int depth);
  Expr divided(const Expr& a, const Expr& b);
  Expr shifted(DataType type, int depth);
  Expr bitwise(DataType type, int depth);
  Expr chosen(DataType type, int depth);
  std::optional<Expr> reinterpreted(DataType type, int depth);
  Expr noted(const char* kind, Expr e);

  /// That of the value that is being made: what is left out of one does not change another.
  Random* random_;
  Notes& notes_;
  ExpressionRules rules_;
  Kept& kept_;
  Leaf leaf_;
  std::vector<Expr> made_;
};

/// Whether the integer wraps: it has a narrow type, or it contains an element or the result of a
/// conversion or call. Otherwise it is a position, which may be taken not to overflow. This repeats
/// arith::wraps, so that a fault there does not change the programs. `has_folded_constants`:
/// conversions and calls of constants are constants.
bool is_data(const Expr& e, bool has_folded_constants = false);

/// Every type of elements, each as likely.
DataType random_type(Random& random);

}  // namespace tenon::fuzz
