#include "te/intrinsics/tensorize.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "te/bounds/required_region.h"
#include "te/operations/declare.h"
#include "tenon/arith/reducer_laws.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Maximum number of tried pairings of operands with equal forms and of reduction axes with equal
/// extents.
constexpr int kMaxTries = 10'000;
/// The cost of one comparison of all regions, in tries.
constexpr int kTriesPerPairing = 10;

// ---- canonical forms ----------------------------------------------------------------------------

Expr without_lets(const Expr& e) {
  return rewrite(e, [](const LetExpr& let, const Expr&) -> std::optional<Expr> {
    VarMap value;
    set(value, let.var, let.value);
    return substitute(let.body, value);
  });
}

/// Returns the operator of `e` if its operands may be swapped, else nullopt. An integer difference
/// is a sum of the first operand and the negated second one.
std::optional<BinaryOp> commutative_operator(const Expr& e) {
  using enum BinaryOp;
  const Binary* n = e.as<Binary>();
  if (n && n->op == Sub && e.dtype().is_integral()) return Add;
  constexpr std::array kCommutative{Add, Mul, Min, Max, And, Or, Eq, Ne};
  const bool is_commutative = n && std::ranges::count(kCommutative, n->op) > 0;
  return is_commutative ? std::optional(n->op) : std::nullopt;
}

/// Converts an index to another type, because the two sides may use different index types.
Expr in_type(const Expr& e, DataType type) {
  if (e.dtype() == type) return e;
  if (const std::optional<std::int64_t> value = constant_int(e)) return make_int(type, *value);
  if (const Cast* n = e.as<Cast>()) return in_type(n->value, type);
  if (const Binary* n = e.as<Binary>())
    return make_binary(n->op, in_type(n->a, type), in_type(n->b, type));
  return cast(type, e);
}

/// Computes canonical forms of expressions of the operation and of the intrinsic, in terms of the
/// intrinsic's axes. Operands of commutative operators are sorted. A read is reduced to the parts
/// of its indices that vary with the axes.
class CanonicalForms {
 public:
  /// `origin` maps each of the intrinsic's axes to its first value.
  CanonicalForms(VarMap origin, const Facts& facts) : origin_(std::move(origin)), facts_(facts) {}

  const Expr& of(const Expr& e) {
    if (const auto known = forms_.find(&e.node()); known != forms_.end())
      return known->second.second;
    if (is_stack_low()) return *with_deep_stack([&] { return &of(e); });
    return forms_.emplace(&e.node(), Operand{e, make(e)}).first->second.second;
  }
  bool are_equal(const Expr& a, const Expr& b) { return structural_equal(of(a), of(b)); }

  /// All expressions of the operation (`own`) and of the intrinsic (`theirs`) with the same form.
  /// Any `own` expression may correspond to any of `theirs`.
  struct Group {
    Expr form;
    std::vector<Expr> own, theirs;
  };
  /// Returns the operands of two nodes with the same commutative operator, grouped by form.
  std::vector<Group> groups_of(const Expr& own, const Expr& theirs) {
    std::vector<Group> groups;
    for (const auto side : {&Group::own, &Group::theirs})
      for (const auto& [value, form] : operands(side == &Group::own ? own : theirs)) {
        auto group = std::ranges::find_if(groups, [&, &form = form](const Group& other) {
          return structural_equal(other.form, form);
        });
        if (group == groups.end()) group = groups.insert(group, {form, {}, {}});
        ((*group).*side).push_back(value);
      }
    return groups;
  }

 private:
  /// An expression and its form.
  using Operand = std::pair<Expr, Expr>;

  /// Returns the operands of a commutative operator. A chain of integer operations is flattened
  /// into one list. A chain of float operations is not, because its order affects the result.
  std::vector<Operand> operands(const Expr& e) {
    const BinaryOp op = *commutative_operator(e);
    const bool is_chain = op != BinaryOp::Eq && op != BinaryOp::Ne && e.dtype().is_integral();
    std::vector<Operand> result;
    std::vector<std::pair<Expr, bool>> open{{e, false}};
    while (!open.empty()) {
      const auto [value, is_negated] = std::move(open.back());
      open.pop_back();
      if (!value.same_as(e) && !(is_chain && commutative_operator(value) == op)) {
        result.emplace_back(value,
                            is_negated ? call("negated", e.dtype(), {of(value)}) : of(value));
        continue;
      }
      const Binary& n = *value.as<Binary>();
      open.emplace_back(n.b, is_negated != (n.op == BinaryOp::Sub));
      open.emplace_back(n.a, is_negated);
    }
    return result;
  }

  Expr make(const Expr& e) {
    std::vector<Expr> forms;
    if (const ProducerLoad* read = e.as<ProducerLoad>()) {
      for (const Expr& index : read->indices) {
        const Expr form = contains<ProducerLoad>(index) ? of(index) : varying_part(index);
        // Omits dimensions of one element, because only one of the two sides may have them.
        if (!is_zero(form)) forms.push_back(form);
      }
      return call("read", e.dtype(), std::move(forms));
    }
    const std::optional<BinaryOp> op = commutative_operator(e);
    if (!op) return map_children(e, [&](const Expr& child) { return of(child); });
    for (const auto& [value, form] : operands(e)) forms.push_back(form);
    std::ranges::sort(forms, {}, [](const Expr& form) { return form.node().hash; });
    return call(to_string(*op), e.dtype(), std::move(forms));
  }

  Expr varying_part(const Expr& index) const {
    const Expr wide = in_type(index, Int(64));
    return arith::simplify(wide - substitute_folding(wide, origin_), facts_);
  }

  /// Makes a node that occurs only in forms; no program calls a function of this name.
  static Expr call(std::string_view name, DataType type, std::vector<Expr> args) {
    return make_call(type, ExternCallee{"form of " + std::string(name), true}, std::move(args));
  }

  const VarMap origin_;
  const Facts& facts_;
  /// Memoized forms. The key is the node of the expression, which the entry keeps alive.
  std::unordered_map<const ExprNode*, Operand> forms_;
};

// ---- matching -----------------------------------------------------------------------------------

class IntrinMatcher {
 public:
  IntrinMatcher(const Operation& op, const TensorIntrinNode& intrin, const AxisRanges& part,
                Facts& facts, FunctionRef<bool(std::size_t input, std::size_t dim)> overruns)
      : op_(op),
        intrin_(intrin),
        own_(*op.as<Compute>()),
        theirs_(*intrin.op.as<Compute>()),
        part_(part),
        facts_(facts),
        overruns_(overruns),
        data_(axes_of("data axes", own_.axis, theirs_.axis)),
        reduce_(axes_of("reduction axes", own_.reduce_axis, theirs_.reduce_axis)) {}

  IntrinMatch run() {
    const std::optional<DimPairs> dims = pair_dims(data_.extents, data_.wanted, facts_);
    match_.difference = dims ? collect_bodies() : axes_differ(data_);
    if (!match_.difference.empty()) return std::move(match_);
    match_.output_dims = *dims;
    data_.partners = *dims;
    if (!match_from(0)) {
      match_.difference = reason_.empty() ? axes_differ(reduce_) : reason_;
      if (tries_left_ <= 0) match_.difference += "; not every order of like operands was tried";
    }
    return std::move(match_);
  }

 private:
  /// The data axes or the reduction axes of both sides, with their extents.
  struct Axes {
    const char* what;
    const std::vector<IterVar>& own;
    const std::vector<IterVar>& theirs;
    std::vector<Expr> extents, wanted;
    /// For each axis of the operation, the index of the corresponding axis of the intrinsic.
    std::vector<std::optional<std::size_t>> partners;
  };
  /// A description and the expressions of the operation and of the intrinsic.
  using Body = std::tuple<std::string, Expr, Expr>;
  using Group = CanonicalForms::Group;
  /// The reads of the operation and of the intrinsic that correspond to each other.
  struct Pairs {
    std::vector<std::pair<const ProducerLoad*, const ProducerLoad*>> reads;
    /// For each input of the intrinsic, the index of the operation's input that it corresponds to.
    std::vector<std::optional<std::size_t>> tensors;
  };

  Axes axes_of(const char* what, const std::vector<IterVar>& own,
               const std::vector<IterVar>& theirs) const {
    Axes axes{what, own, theirs, {}, {}, {}};
    for (const IterVar& axis : own)
      axes.extents.push_back(arith::simplify(part_.at(axis).extent, facts_));
    for (const IterVar& axis : theirs) axes.wanted.push_back(axis.dom()->extent);
    axes.partners.resize(own.size());
    return axes;
  }

  // ---- bodies

  /// Collects the pairs of bodies to compare. Returns a description of the difference if the
  /// operation and the intrinsic have bodies of different kinds or numbers; otherwise "".
  std::string collect_bodies() {
    const ReduceNode *own = own_.reduction(), *theirs = theirs_.reduction();
    if (!own != !theirs)
      return own ? "it reduces, the intrinsic does not" : "it does not reduce, the intrinsic does";
    if (!own) return add("body", own_.body, theirs_.body);
    std::string difference = add("reduced value", own->source, theirs->source);
    if (difference.empty()) difference = add("start value", own->init, theirs->init);
    if (!difference.empty()) return difference;
    const std::vector<Var>&lhs = own->combiner->lhs, &rhs = own->combiner->rhs;
    const std::vector<Expr> results =
        combine(*theirs->combiner, {lhs.begin(), lhs.end()}, {rhs.begin(), rhs.end()});
    return add("reducer", own->combiner->result, results) +
           add("reducer's identity", own->combiner->identity, theirs->combiner->identity) +
           add("reduction's condition", {own->condition}, {theirs->condition});
  }

  std::string add(const std::string& what, const std::vector<Expr>& own,
                  const std::vector<Expr>& theirs) {
    if (own.size() != theirs.size())
      return "its number of " + what + "s is " + std::to_string(own.size()) +
             ", that of the intrinsic " + std::to_string(theirs.size());
    for (std::size_t k = 0; k < own.size(); ++k)
      bodies_.emplace_back(what, without_lets(own[k]), without_lets(theirs[k]));
    return "";
  }

  // ---- axes

  /// Tries pairings of the reduction axes from the n-th on until the bodies match, starting with
  /// the given order. Only axes with equal extents are paired.
  bool match_from(std::size_t n) {
    if (n == reduce_.own.size()) return --tries_left_ > 0 && match_bodies() && is_order_kept();
    if (is_one(reduce_.extents[n])) return match_from(n + 1);
    for (std::size_t t = 0; t < reduce_.theirs.size(); ++t) {
      const Expr& wanted = reduce_.wanted[t];
      const bool is_taken = std::ranges::count(reduce_.partners, std::optional(t)) > 0;
      if (is_taken || is_one(wanted) ||
          !(wanted.as<VarNode>() || arith::can_prove_equal(reduce_.extents[n], wanted, facts_)))
        continue;
      reduce_.partners[n] = t;
      if (match_from(n + 1)) return true;
      reduce_.partners[n].reset();
    }
    return false;
  }

  /// Whether the pairing keeps the order of the reduction axes, or the order does not affect the
  /// result.
  bool is_order_kept() {
    std::vector<std::size_t> order;
    for (const std::optional<std::size_t>& partner : reduce_.partners)
      if (partner) order.push_back(*partner);
    if (std::ranges::is_sorted(order)) return true;
    const ReduceNode& reduction = *own_.reduction();
    const auto found = arith::find_counterexample(*reduction.combiner, reduction.source,
                                                  !reduction.init.empty(), {.reorders = true});
    if (!found) return true;
    num_reads_ = std::numeric_limits<std::size_t>::max();
    reason_ = "the intrinsic's reduction axes have another order, and the reducer `" +
              reduction.combiner->name + "` depends on the order of its terms: " + *found;
    return false;
  }

  bool match_bodies() {
    match_.sizes.clear();
    values_.clear();
    origin_.clear();
    if (!set_axes(data_) || !set_axes(reduce_)) return false;
    CanonicalForms forms(origin_, facts_);
    std::vector<Group> groups;
    for (const auto& [what, own_body, their_body] : bodies_) {
      const Expr own = arith::simplify(substitute(own_body, values_), facts_);
      const Expr theirs = arith::simplify(substitute_folding(their_body, match_.sizes), facts_);
      if (!forms.are_equal(own, theirs))
        return differ({}, bodies_differ({what, own, theirs}, forms));
      groups.push_back({forms.of(own), {own}, {theirs}});
    }
    return search(std::move(groups),
                  {{}, std::vector<std::optional<std::size_t>>(intrin_.inputs.size())}, forms);
  }

  /// Computes the values of the operation's axes in terms of the intrinsic's axes. Also sets the
  /// variables in the intrinsic's extents.
  bool set_axes(const Axes& axes) {
    for (std::size_t n = 0; n < axes.own.size(); ++n)
      set(values_, axes.own[n].var(), cast(axes.own[n].var().dtype(), part_.at(axes.own[n]).min));
    for (std::size_t t = 0; t < axes.theirs.size(); ++t) {
      const Var& var = axes.theirs[t].var();
      const Expr begin = axes.theirs[t].dom()->min;
      Expr extent = make_int(begin.dtype(), 1);
      const auto partner = std::ranges::find(axes.partners, std::optional(t));
      if (partner != axes.partners.end()) {
        const auto n = static_cast<std::size_t>(partner - axes.partners.begin());
        const Var& own = axes.own[n].var();
        extent = cast(begin.dtype(), axes.extents[n]);
        set(values_, own, cast(own.dtype(), var - begin + part_.at(axes.own[n]).min));
      } else if (!is_one(axes.wanted[t]) && !axes.wanted[t].as<VarNode>()) {
        return differ({}, axes_differ(axes));
      }
      if (!set_size(match_.sizes, axes.wanted[t], extent, axes.what)) return false;
      const Range range = Range::from_min_extent(begin, extent);
      for (Facts* facts : {&facts_, &inside_}) facts->bind(var, range, /*replace=*/true);
      domains_.set(var, arith::Interval::from_range(range));
      set(origin_, var, cast(var.dtype(), begin));
    }
    return true;
  }

  bool set_size(VarMap& sizes, const Expr& theirs, const Expr& own, const std::string& what) {
    if (!theirs.as<VarNode>()) return true;
    const Expr& known = sizes.try_emplace(&theirs.node(), own).first->second;
    return arith::can_prove_equal(known, own, facts_) ||
           differ({}, what + " gives `" + print_expr(theirs) + "` of the intrinsic the value " +
                          print_expr(own) + ", elsewhere it is " + print_expr(known));
  }

  // ---- reads

  /// Pairs the expressions of each group. A group may have several candidates, because equal forms
  /// do not determine which operands correspond: in A[i]*B[i] + A[i]*C[i], the forms of all reads
  /// are equal, but each input of the intrinsic is one tensor. The candidates are tried in turn.
  bool search(std::vector<Group> groups, Pairs pairs, CanonicalForms& forms) {
    if (is_stack_low())
      return with_deep_stack([&] { return search(std::move(groups), std::move(pairs), forms); });
    const auto find_certain = [&] {
      return std::ranges::find(groups, 1u, [](const Group& group) { return group.own.size(); });
    };
    for (auto next = find_certain(); next != groups.end(); next = find_certain()) {
      const Group group = std::move(*next);
      groups.erase(next);
      if (!pair(group.own[0], group.theirs[0], groups, pairs, forms)) return false;
    }
    if (groups.empty()) return accept(pairs);
    const Group group = std::move(groups.front());
    groups.erase(groups.begin());
    for (auto theirs = group.theirs.begin(); theirs != group.theirs.end(); ++theirs) {
      const auto is_same = [&](const Expr& other) { return other.same_as(*theirs); };
      if (std::any_of(group.theirs.begin(), theirs, is_same)) continue;
      if (--tries_left_ <= 0) return false;
      std::vector<Group> rest = groups;
      rest.push_back({group.form, {group.own[0]}, {*theirs}});
      rest.push_back({group.form, {group.own.begin() + 1, group.own.end()}, group.theirs});
      rest.back().theirs.erase(rest.back().theirs.begin() + (theirs - group.theirs.begin()));
      if (search(std::move(rest), pairs, forms)) return true;
    }
    return false;
  }

  /// Matches an expression of the operation with one of the intrinsic that has the same form.
  /// Records reads in `pairs`. Inserts the operands that remain to be matched at the front of
  /// `groups`. Returns false if a read contradicts earlier pairs.
  bool pair(const Expr& own, const Expr& theirs, std::vector<Group>& groups, Pairs& pairs,
            CanonicalForms& forms) {
    if (!contains<ProducerLoad>(own)) return true;
    if (commutative_operator(own)) {
      const std::vector<Group> parts = forms.groups_of(own, theirs);
      groups.insert(groups.begin(), parts.begin(), parts.end());
      return true;
    }
    std::vector<Expr> a = children_of(own), b = children_of(theirs);
    if (const ProducerLoad* read = own.as<ProducerLoad>()) {
      const ProducerLoad* other = theirs.as<ProducerLoad>();
      const std::size_t tensor = index_of_input(*read, op_.inputs());
      std::optional<std::size_t>& known = pairs.tensors[index_of_input(*other, intrin_.inputs)];
      if (known && *known != tensor)
        return differ(pairs, reads_differ(*read, *other) + ", which is already matched with `" +
                                 op_.inputs()[*known].name() + "`");
      known = tensor;
      pairs.reads.emplace_back(read, other);
      const auto is_plain = [](const Expr& index) { return !contains<ProducerLoad>(index); };
      std::erase_if(a, is_plain);
      std::erase_if(b, is_plain);
    }
    for (std::size_t n = a.size(); n-- > 0;)
      groups.insert(groups.begin(), {forms.of(a[n]), {a[n]}, {b[n]}});
    return true;
  }

  /// Whether the pairs of reads are consistent: each input of the intrinsic corresponds to one
  /// region of one tensor, and paired reads access the same element of this region.
  bool accept(const Pairs& pairs) {
    tries_left_ -= kTriesPerPairing;
    IntrinMatch match{{}, match_.output_dims, match_.sizes, {}};
    for (std::size_t n = 0; n < intrin_.inputs.size(); ++n)
      if (!add_input(n, pairs, match)) return false;
    for (const auto& [own, theirs] : pairs.reads)
      if (!are_same_element(*own, *theirs, match))
        return differ(pairs, reads_differ(*own, *theirs));
    match_ = std::move(match);
    return true;
  }

  bool add_input(std::size_t n, const Pairs& pairs, IntrinMatch& match) {
    const Tensor& target = intrin_.inputs[n];
    if (!pairs.tensors[n])
      return differ(pairs,
                    "it reads nothing in the place of `" + target.name() + "` of the intrinsic");
    const std::size_t input = *pairs.tensors[n];
    const Tensor& tensor = op_.inputs()[input];
    std::vector<TensorRead> reads;
    for (const auto& [own, theirs] : pairs.reads)
      if (index_of_input(*theirs, intrin_.inputs) == n) reads.emplace_back(tensor, own->indices);
    Needs needs(tensor.shape().size());
    add_needs(
        op_, reads, tensor, domains_, inside_,
        /*is_input=*/[](const Tensor&) { return false; },
        /*rounds_up=*/[&](std::size_t dim) { return overruns_(input, dim); }, needs);
    std::vector<Range> region;
    std::vector<Expr> extents;
    for (std::size_t d = 0; d < needs.size(); ++d) {
      const Expr& size = tensor.shape()[d];
      const Range whole = Range::from_extent(size);
      region.push_back(arith::hull(needs[d], inside_).to_range(whole, Facts()));
      extents.push_back(arith::simplify(region[d].extent, facts_));
    }
    const std::optional<DimPairs> dims = pair_dims(extents, target.shape(), facts_);
    if (!dims)
      return differ(pairs, "of `" + tensor.name() + "` it reads " + print_list(extents) +
                               " elements, `" + target.name() + "` of the intrinsic has " +
                               print_list(target.shape()));
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (const auto partner = (*dims)[d];
          partner &&
          !set_size(match.sizes, target.shape()[*partner], extents[d], "`" + tensor.name() + "`"))
        return false;
    match.inputs.emplace_back(input, std::move(region), *dims);
    return true;
  }

  /// Whether both reads access the same element: the operation's indices minus the start of the
  /// region must equal the intrinsic's indices.
  bool are_same_element(const ProducerLoad& own, const ProducerLoad& theirs,
                        const IntrinMatch& match) const {
    const auto& [input, region, dims] = match.inputs[index_of_input(theirs, intrin_.inputs)];
    for (std::size_t d = 0; d < region.size(); ++d) {
      const Expr &index = own.indices[d], &min = region[d].min;
      if (!dims[d]) continue;
      // An index that reads a tensor is not compared again, because its form is already equal on
      // both sides.
      if (contains<ProducerLoad>(index)) {
        if (!is_zero(arith::simplify(min, facts_))) return false;
        continue;
      }
      const Expr wanted = substitute_folding(theirs.indices[*dims[d]], match.sizes);
      if (!arith::can_prove_equal(index - min, in_type(wanted, index.dtype()), facts_))
        return false;
    }
    return true;
  }

  // ---- differences

  /// Records the reason why this attempt failed, if it paired more reads than all earlier attempts.
  /// Always returns false.
  bool differ(const Pairs& pairs, const std::string& reason) {
    if (reason_.empty() || pairs.reads.size() > num_reads_) {
      reason_ = reason;
      num_reads_ = pairs.reads.size();
    }
    return false;
  }

  static std::string bodies_differ(const Body& body, CanonicalForms& forms) {
    const auto& [what, of_stage, of_intrinsic] = body;
    Expr own = of_stage, theirs = of_intrinsic;
    std::string text = "the " + what + " is `" + print_expr(own) + "`, that of the intrinsic is `" +
                       print_expr(theirs) + "`";
    while (narrow(own, theirs, forms)) continue;
    if (!own.same_as(of_stage))
      text += "; they differ in `" + print_expr(own) + "` and `" + print_expr(theirs) + "`";
    if (own.dtype() != theirs.dtype())
      text += ", of types " + own.dtype().str() + " and " + theirs.dtype().str();
    return text;
  }

  /// Replaces both expressions by their first operands that differ. Returns false if the
  /// expressions cannot be narrowed because they differ at the root.
  static bool narrow(Expr& own, Expr& theirs, CanonicalForms& forms) {
    if (own.as<ProducerLoad>() || !equal_but_for_children(own, theirs)) return false;
    std::vector<Expr> a, b;
    if (commutative_operator(own)) {
      for (const auto& [form, left, right] : forms.groups_of(own, theirs)) {
        if (left.size() > right.size()) a.push_back(left[right.size()]);
        if (right.size() > left.size()) b.push_back(right[left.size()]);
      }
    } else {
      a = children_of(own), b = children_of(theirs);
      while (!a.empty() && forms.are_equal(a[0], b[0])) a.erase(a.begin()), b.erase(b.begin());
    }
    if (a.empty() || b.empty()) return false;
    own = a[0], theirs = b[0];
    return true;
  }

  static std::string reads_differ(const ProducerLoad& own, const ProducerLoad& theirs) {
    const auto text = [](const ProducerLoad& read) {
      return "`" + print_expr(make_producer_load(read.producer, read.indices)) + "`";
    };
    return "it reads " + text(own) + " where the intrinsic reads " + text(theirs);
  }

  static std::string axes_differ(const Axes& axes) {
    const auto names = [](const std::vector<IterVar>& list) {
      return print_list(std::vector<Expr>(list.begin(), list.end()));
    };
    return std::string("its ") + axes.what + " " + names(axes.own) + " have the extents " +
           print_list(axes.extents) + " there, those of the intrinsic, " + names(axes.theirs) +
           ", " + print_list(axes.wanted);
  }

  const Operation& op_;
  const TensorIntrinNode& intrin_;
  const Compute &own_, &theirs_;
  const AxisRanges& part_;
  Facts& facts_;
  const FunctionRef<bool(std::size_t input, std::size_t dim)> overruns_;
  Axes data_, reduce_;
  std::vector<Body> bodies_;
  /// `values_`: the operation's axes in terms of the intrinsic's axes. `origin_`: the first value
  /// of each of the intrinsic's axes.
  VarMap values_, origin_;
  arith::IntervalMap domains_;
  /// Facts about the intrinsic's axes only. Facts about enclosing loops are excluded, because
  /// regions must be valid even if such a loop is empty.
  Facts inside_;
  IntrinMatch match_;
  std::string reason_;
  std::size_t num_reads_ = 0;
  int tries_left_ = kMaxTries;
};

}  // namespace

std::size_t index_of_input(const ProducerLoad& read, const std::vector<Tensor>& inputs) {
  const Tensor tensor = Tensor::of(read);
  const auto found =
      std::ranges::find_if(inputs, [&](const Tensor& input) { return input.same_as(tensor); });
  internal_check(found != inputs.end(), "an operation reads a tensor that is not its input");
  return static_cast<std::size_t>(found - inputs.begin());
}

IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const AxisRanges& part, Facts& facts,
                         FunctionRef<bool(std::size_t input, std::size_t dim)> overruns) {
  return IntrinMatcher(op, intrin, part, facts, overruns).run();
}

}  // namespace tenon::te
