// Two expressions as one: whether the reads and the axes of the one can be named so that it becomes
// the other, where operands of commutative operators may trade places.
//
//   own     (A[i, k] * B[k, j]) + A[j, k]
//   theirs  c[y, r] + (a[r, x] * b[x, r])        a: B, b: A, c: A, r: k
//
// Operands whose structure occurs once have one partner. Among those that look alike the search
// tries one after the other, in the given order first, and goes back where a read or an axis
// contradicts.
#pragma once

#include <unordered_map>

#include "tenon/te/operation.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// One side of a comparison. Axes of one iteration are left out.
struct BodySide {
  struct Axis {
    /// For a data axis the number that both sides know it by, for a reduction axis its place on
    /// this side.
    std::size_t label;
    /// What stands for it in `local`.
    Var var;
  };
  std::vector<Axis> data, reduce;
  /// An index in terms of these variables, simplified.
  std::function<Expr(const Expr& index)> local;
  /// The places of tensors among the inputs of the operation.
  std::function<std::size_t(const tir::ProducerLoad& read)> place_of;
};

struct BodyPair {
  Expr own, theirs;
  /// "the body", "the reducer", ...
  std::string what;
};

/// What stands for what.
struct Naming {
  /// For each input of the intrinsic, the place of its tensor among the operation's inputs.
  std::vector<std::optional<std::size_t>> tensors;
  /// For each reduction axis of the operation, the intrinsic's.
  std::vector<std::optional<std::size_t>> reduce;
  /// Reads that stand for each other, the operation's first.
  std::vector<std::pair<Expr, Expr>> reads;
  /// Expressions that read no tensor and are to be equal, likewise.
  std::vector<std::pair<Expr, Expr>> scalars;

  /// Whether the intrinsic's reduction axis is a name of one of the operation's.
  bool names(std::size_t axis) const;
};

class BodyMatcher {
 public:
  /// Which reduction axes may go together: their extents agree.
  using MayPair = std::function<bool(std::size_t own, std::size_t theirs)>;
  BodyMatcher(BodySide own, BodySide theirs, MayPair may_pair)
      : own_{std::move(own), {}, {}},
        theirs_{std::move(theirs), {}, {}},
        may_pair_(std::move(may_pair)) {}

  using Accept = std::function<bool(const Naming&)>;
  enum class Result : std::uint8_t { Found, None, GaveUp };
  /// Adds names to the given ones until all pairs match and `accept` agrees. Reads and scalars are
  /// collected, not compared: that is for `accept`. Gives up after very many tries.
  Result find(const std::vector<BodyPair>& pairs, const Naming& given, const Accept& accept);

  /// The names that follow where both sides are alike, for a message about where they are not.
  Naming guess(const std::vector<BodyPair>& pairs, Naming given);
  /// What `rename` gives for a read of the operation, and the intrinsic's read in its place or
  /// null.
  using Rename = std::function<Expr(const Expr& own, const Expr* theirs)>;
  /// The operation's expression with its reads and variables renamed.
  Expr renamed(const Expr& own, const Expr& theirs, const Rename& rename);

 private:
  /// How a dimension of a read depends on axes.
  struct Use {
    std::vector<std::size_t> data, reduce;
    /// The index, where it reads a tensor itself.
    std::optional<Expr> nested;
  };
  struct Shape {
    std::size_t hash;
    bool reads, has_vars;
  };
  struct Side {
    BodySide say;
    /// Look up only.
    std::unordered_map<const tir::ExprNode*, Shape> shapes;
    std::unordered_map<const tir::ExprNode*, std::vector<Use>> uses;
  };
  struct Operand {
    Expr value;
    bool is_negative;
  };
  /// Lists that are equal but for their order.
  struct Goal {
    std::vector<Operand> own, theirs;
  };

  const Shape& shape_of(Side& side, const Expr& e);
  const std::vector<Use>& uses_of(Side& side, const Expr& read);
  std::size_t hash_of(Side& side, const Operand& operand);
  std::size_t hash_of_read(Side& side, const Expr& read);
  /// A variable that stands for any expression of its type.
  Var slot(DataType type);
  /// The node with variables in place of its children.
  Expr without_children(const Expr& e);

  bool solve(std::vector<Goal> goals, Naming naming, const Accept& accept);
  /// Takes the goal apart; false where it cannot be reached.
  bool step(const Goal& goal, std::vector<Goal>& goals, Naming& naming);
  bool pair_those_that_occur_once(Goal& goal, std::vector<Goal>& goals);
  bool name_read(const Expr& own, const Expr& theirs, std::vector<Goal>& goals, Naming& naming);
  bool name_axes(const Use& own, const Use& theirs, Naming& naming) const;

  static std::vector<Operand> operands(const Expr& e);
  /// Empty where the two are of different kinds.
  std::vector<std::pair<Expr, Expr>> aligned_children(const Expr& own, const Expr& theirs);

  Side own_, theirs_;
  const MayPair may_pair_;
  std::vector<Var> slots_;
  int tries_left_ = 0;
};

}  // namespace tenon::te
