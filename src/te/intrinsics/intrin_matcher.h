// Comparison of a part of a stage with a tensor intrinsic (match_intrin.h). Reading order: bodies
// and axes (match_intrin.cpp), one candidate naming (match_naming.cpp), reasons for a mismatch
// (match_reasons.cpp).
#pragma once

#include "te/intrinsics/match_bodies.h"
#include "te/intrinsics/match_intrin.h"
#include "te/intrinsics/operand_order.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/print.h"

namespace tenon::te {

class IntrinMatcher {
 public:
  IntrinMatcher(const Operation& op, const TensorIntrinNode& intrin, const TensorizedPart& part,
                arith::Facts& facts)
      : op_(op),
        intrin_(intrin),
        own_(*op.as<Compute>()),
        theirs_(*intrin.op.as<Compute>()),
        part_(part),
        facts_(facts),
        data_(sides_of(own_.axis, theirs_.axis)),
        reduce_(sides_of(own_.reduce_axis, theirs_.reduce_axis)) {}

  IntrinMatch run();

 private:
  /// Axes of one kind on both sides, and their extents.
  struct Axes {
    const std::vector<IterVar>& own;
    const std::vector<IterVar>& theirs;
    std::vector<Expr> extents, wanted;
  };
  using AxisNames = std::vector<std::optional<std::size_t>>;

  Axes sides_of(const std::vector<IterVar>& own, const std::vector<IterVar>& theirs) const;
  static IntrinMatch different(std::string how);

  // ---- bodies

  /// Return a difference of the overall structure, or nullopt.
  std::optional<std::string> collect_bodies();
  std::optional<std::string> collect_reductions(const tir::ReduceNode& own,
                                                const tir::ReduceNode& theirs);
  void add(const Expr& own, const Expr& theirs, std::string what);
  static Expr without_lets(const Expr& e);

  // ---- axes

  /// Records facts about the axes: an axis of one iteration is its minimum; the others are offset
  /// to count from it.
  void know_axes();
  AxisNames nameless() const { return AxisNames(reduce_.own.size()); }

  Naming names_given(AxisNames reduce) const;
  bool may_pair(std::size_t own, std::size_t theirs) const;
  BodyMatcher matcher(const Naming& names);
  static std::size_t place_of(const tir::ProducerLoad& read, const std::vector<Tensor>& inputs);

  /// Tries all pairings of reduction axes that no read distinguishes.
  bool accept(const Naming& names);

  // ---- one naming: sizes, regions, and whether what it says is so

  template <class Text>
  void differ(const Text& how) {
    if (explains_ && !is_different_) match_.difference = how();
    is_different_ = true;
  }

  /// Processes a naming, except for the comparison of expressions.
  void begin(const Naming& names);

  /// Binds a variable of the intrinsic to a size; it must have the same value everywhere.
  void set_size(const Expr& theirs, const Expr& own, const std::string& what);

  /// Substitutes axes of the operation by min + j, where j is the intrinsic's axis.
  void name_axes(const Axes& axes, const AxisNames& names, const std::string& what);
  void match_input(std::size_t n, const Naming& names);

  /// Returns the part of the tensor that is read as this input; the hull of all its reads if the
  /// naming has none.
  std::vector<Range> region_of(const Tensor& tensor, std::size_t input, const Naming& names) const;
  void compare_leaves(const Naming& names);
  bool is_same_element(const Expr& own, const Expr& theirs) const;

  /// Converts an index of the tensor to an index of the region that the intrinsic sees.
  Expr index_inside(const Expr& index, const MatchedInput& input, std::size_t d) const;
  Expr of_intrinsic(const Expr& e) const {
    return arith::simplify(substitute_folding(e, match_.sizes), facts_);
  }

  // ---- why not

  /// Explains a mismatch: completes the naming as far as the bodies are alike, and reports the
  /// first difference under it.
  void explain(const Naming& given);
  void name_the_rest(Naming& names) const;
  void compare(BodyMatcher& bodies, const BodyPair& body, const Naming& names);

  /// Translates the operation's expression to the intrinsic's axes and inputs. `read` limits the
  /// inputs that a read may be.
  Expr translated(const Expr& e, const Expr* read, const Naming& names) const;
  std::optional<std::size_t> input_for(std::size_t tensor, const Expr* read,
                                       const Naming& names) const;

  std::string how_axes_differ() const;

  /// Precondition: an axis of more than one iteration has no name on one of the sides.
  std::string how_reductions_differ(const AxisNames& names) const;
  static std::string numbers_of_iterations(const Axes& axes, const std::string& what);
  static std::string extents_of_axes(const Axes& axes, std::size_t own, std::size_t theirs);

  const Operation& op_;
  const TensorIntrinNode& intrin_;
  const Compute &own_, &theirs_;
  const TensorizedPart& part_;
  arith::Facts& facts_;
  const Axes data_, reduce_;
  DimPairs output_dims_;
  std::vector<BodyPair> bodies_;
  /// Per axis of the operation, data axes first: a variable for the distance from its minimum.
  std::vector<Var> locals_;
  /// Values of the operation's axes: of axes with one iteration; of the others in terms of
  /// `locals_`; of all in terms of the intrinsic's axes.
  tir::VarMap fixed_, local_values_, values_;
  IntrinMatch match_;
  bool is_different_ = false, explains_ = false;
  /// Budget for pairings of reduction axes that no read distinguishes.
  int axis_tries_left_ = 1'000;
};

/// Returns "2 outputs".
std::string count_of(std::size_t count, const std::string& what);

}  // namespace tenon::te
