// Unification of two expressions: whether the reads and axes of one can be renamed to obtain the
// other, up to the order of commutative operands.
//
//   own     (A[i, k] * B[k, j]) + A[j, k]
//   theirs  c[y, r] + (a[r, x] * b[x, r])        a: B, b: A, c: A, r: k
//
// An operand whose structure is unique has one possible partner. Among similar ones, the search
// tries one after the other, in the given order first, and backtracks when a read or axis
// contradicts.
#pragma once

#include <unordered_map>

#include "tenon/te/operation.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// One side of a comparison. Axes of one iteration are omitted.
struct BodySide {
  struct Axis {
    /// For a data axis, the number that both sides use for it; for a reduction axis, its position
    /// on this side.
    std::size_t label;
    /// Its variable in the results of `local`.
    Var var;
  };
  std::vector<Axis> data, reduce;
  /// Expresses an index in these variables, simplified.
  std::function<Expr(const Expr& index)> local;
  /// Returns the position of a read's tensor among the inputs of the operation.
  std::function<std::size_t(const tir::ProducerLoad& read)> place_of;
};

struct BodyPair {
  Expr own, theirs;
  /// "the body", "the reducer", ...
  std::string what;
};

/// A correspondence between both sides.
struct Naming {
  /// For each input of the intrinsic, the position of its tensor among the operation's inputs.
  std::vector<std::optional<std::size_t>> tensors;
  /// For each reduction axis of the operation, the intrinsic's axis.
  std::vector<std::optional<std::size_t>> reduce;
  /// Corresponding reads, the operation's first.
  std::vector<std::pair<Expr, Expr>> reads;
  /// Expressions without reads that must be equal, the operation's first.
  std::vector<std::pair<Expr, Expr>> scalars;

  /// Whether the intrinsic's reduction axis corresponds to one of the operation's.
  bool names(std::size_t axis) const;
};

class BodyMatcher {
 public:
  /// Whether two reduction axes may correspond: their extents agree.
  using MayPair = std::function<bool(std::size_t own, std::size_t theirs)>;
  BodyMatcher(BodySide own, BodySide theirs, MayPair may_pair)
      : own_{std::move(own), {}, {}},
        theirs_{std::move(theirs), {}, {}},
        may_pair_(std::move(may_pair)) {}

  using Accept = std::function<bool(const Naming&)>;
  enum class Result : std::uint8_t { Found, None, GaveUp };
  /// Extends the given naming until all pairs match and `accept` agrees. Reads and scalars are
  /// collected, and `accept` compares them. Gives up after a limit of tries.
  Result find(const std::vector<BodyPair>& pairs, const Naming& given, const Accept& accept);

  /// Returns the correspondences that follow from the parts where both sides are alike, for a
  /// message about the difference.
  Naming guess(const std::vector<BodyPair>& pairs, Naming given);
  /// Returns the replacement for a read of the operation, given the intrinsic's read in its place
  /// or null.
  using Rename = std::function<Expr(const Expr& own, const Expr* theirs)>;
  /// Returns the operation's expression with its reads and variables renamed.
  Expr renamed(const Expr& own, const Expr& theirs, const Rename& rename);

 private:
  /// The axes that a dimension of a read depends on.
  struct Use {
    std::vector<std::size_t> data, reduce;
    /// The index, if it reads a tensor itself.
    std::optional<Expr> nested;
  };
  struct Shape {
    std::size_t hash;
    bool reads, has_vars;
  };
  struct Side {
    BodySide say;
    /// For lookup only.
    std::unordered_map<const tir::ExprNode*, Shape> shapes;
    std::unordered_map<const tir::ExprNode*, std::vector<Use>> uses;
  };
  struct Operand {
    Expr value;
    bool is_negative;
  };
  /// Lists that are equal up to order.
  struct Goal {
    std::vector<Operand> own, theirs;
  };

  const Shape& shape_of(Side& side, const Expr& e);
  const std::vector<Use>& uses_of(Side& side, const Expr& read);
  std::size_t hash_of(Side& side, const Operand& operand);
  std::size_t hash_of_read(Side& side, const Expr& read);
  /// Returns a variable that represents any expression of the type.
  Var slot(DataType type);
  /// Returns the node with variables in place of its children.
  Expr without_children(const Expr& e);

  bool solve(std::vector<Goal> goals, Naming naming, const Accept& accept);
  /// Decomposes the goal. Returns false if it cannot be achieved.
  bool step(const Goal& goal, std::vector<Goal>& goals, Naming& naming);
  bool pair_those_that_occur_once(Goal& goal, std::vector<Goal>& goals);
  bool name_read(const Expr& own, const Expr& theirs, std::vector<Goal>& goals, Naming& naming);
  bool name_axes(const Use& own, const Use& theirs, Naming& naming) const;

  static std::vector<Operand> operands(const Expr& e);
  /// Returns empty if the two are of different kinds.
  std::vector<std::pair<Expr, Expr>> aligned_children(const Expr& own, const Expr& theirs);

  Side own_, theirs_;
  const MayPair may_pair_;
  std::vector<Var> slots_;
  int tries_left_ = 0;
};

}  // namespace tenon::te
