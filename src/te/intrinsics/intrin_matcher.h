// The comparison of a part of a stage with a tensor intrinsic (match_intrin.h). Reading order:
// bodies and axes (match_intrin.cpp), one way to name them (match_naming.cpp), why none fits
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
  /// Axes of one kind, and their extents.
  struct Axes {
    const std::vector<IterVar>& own;
    const std::vector<IterVar>& theirs;
    std::vector<Expr> extents, wanted;
  };
  using AxisNames = std::vector<std::optional<std::size_t>>;

  Axes sides_of(const std::vector<IterVar>& own, const std::vector<IterVar>& theirs) const;
  static IntrinMatch different(std::string how);

  // ---- bodies

  /// How they differ as a whole.
  std::optional<std::string> collect_bodies();
  std::optional<std::string> collect_reductions(const tir::ReduceNode& own,
                                                const tir::ReduceNode& theirs);
  void add(const Expr& own, const Expr& theirs, std::string what);
  static Expr without_lets(const Expr& e);

  // ---- axes

  /// Those of one iteration are their minimum; the others count from it.
  void know_axes();
  AxisNames nameless() const { return AxisNames(reduce_.own.size()); }

  Naming names_given(AxisNames reduce) const;
  bool may_pair(std::size_t own, std::size_t theirs) const;
  BodyMatcher matcher(const Naming& names);
  static std::size_t place_of(const tir::ProducerLoad& read, const std::vector<Tensor>& inputs);

  /// Reduction axes that no read told apart are tried one after the other.
  bool accept(const Naming& names);

  // ---- one naming: sizes, regions, and whether what it says is so

  template <class Text>
  void differ(const Text& how) {
    if (explains_ && !is_different_) match_.difference = how();
    is_different_ = true;
  }

  /// Everything but the comparison of expressions.
  void begin(const Naming& names);

  /// A variable of the intrinsic's stands for one size.
  void set_size(const Expr& theirs, const Expr& own, const std::string& what);

  /// An axis of the operation runs over min + j, where j is the intrinsic's.
  void name_axes(const Axes& axes, const AxisNames& names, const std::string& what);
  void match_input(std::size_t n, const Naming& names);

  /// What is read of the tensor as the intrinsic's input; all of its reads where the naming knows
  /// of none.
  std::vector<Range> region_of(const Tensor& tensor, std::size_t input, const Naming& names) const;
  void compare_leaves(const Naming& names);
  bool is_same_element(const Expr& own, const Expr& theirs) const;

  /// An index of the tensor as one of the region that the intrinsic sees.
  Expr index_inside(const Expr& index, const MatchedInput& input, std::size_t d) const;
  Expr of_intrinsic(const Expr& e) const {
    return arith::simplify(substitute_folding(e, match_.sizes), facts_);
  }

  // ---- why not

  /// The names that the bodies suggest, as far as they are alike, and the first difference under
  /// them.
  void explain(const Naming& given);
  void name_the_rest(Naming& names) const;
  void compare(BodyMatcher& bodies, const BodyPair& body, const Naming& names);

  /// The operation's expression on the intrinsic's axes and inputs; `read` says which input a read
  /// may be.
  Expr translated(const Expr& e, const Expr* read, const Naming& names) const;
  std::optional<std::size_t> input_for(std::size_t tensor, const Expr* read,
                                       const Naming& names) const;

  std::string how_axes_differ() const;

  /// Precondition: some axis of more than one iteration has no name, here or there.
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
  /// For each axis of the operation, data axes first, a variable for the distance from its minimum.
  std::vector<Var> locals_;
  /// Values of the operation's axes: of those with one iteration; of the others in terms of
  /// `locals_`; of all in terms of the intrinsic's axes.
  tir::VarMap fixed_, local_values_, values_;
  IntrinMatch match_;
  bool is_different_ = false, explains_ = false;
  /// Ways to pair reduction axes that no read tells apart.
  int axis_tries_left_ = 1'000;
};

/// "2 outputs"
std::string count_of(std::size_t count, const std::string& what);

}  // namespace tenon::te
