#include "te/match_intrin.h"

#include <algorithm>
#include <numeric>

#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Assignments of inputs are tried one by one: so many inputs at most, beyond only in the given order.
constexpr std::size_t kMostPermuted = 4;

std::string count_of(std::size_t count, const std::string& what) {
  std::string text = std::to_string(count);
  text += ' ';
  text += what;
  if (count != 1) text += 's';
  return text;
}

std::string print_list(const std::vector<Expr>& list) {
  std::string text;
  for (const Expr& e : list) {
    if (!text.empty()) text += ", ";
    text += print_expr(e);
  }
  return text;
}

// ---- expressions modulo the order of operands -------------------------------------------------------------

bool is_commutative(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::And:
    case BinaryOp::Or:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

/// With the operands of commutative operators in an order that depends on them alone.
Expr ordered(const Expr& e) {
  return rewrite(e, [](const Binary& n, const Expr&) -> std::optional<Expr> {
    if (!is_commutative(n.op) || n.a.node().hash <= n.b.node().hash) return std::nullopt;
    return make_binary(n.op, n.b, n.a);
  });
}

bool same_but_for_order(const Expr& a, const Expr& b) { return structural_equal(ordered(a), ordered(b)); }

/// The deepest place that still tells where the two part; precondition: they do.
Difference where_they_part(const Expr& a, const Expr& b) {
  const Binary *x = a.as<Binary>(), *y = b.as<Binary>();
  if (x && y && x->op == y->op) {
    if (same_but_for_order(x->a, y->a)) return where_they_part(x->b, y->b);
    if (same_but_for_order(x->b, y->b)) return where_they_part(x->a, y->a);
    if (is_commutative(x->op) && same_but_for_order(x->a, y->b)) return where_they_part(x->b, y->a);
    if (is_commutative(x->op) && same_but_for_order(x->b, y->a)) return where_they_part(x->a, y->b);
  }
  if (std::optional<Difference> difference = first_difference(a, b)) return *difference;
  return {print_expr(a), print_expr(b), "expression"};
}

/// An index within an intrinsic's tensor, in the type of that tensor's extents.
Expr in_type(const Expr& e, DataType type) {
  if (e.dtype() == type) return e;
  if (const std::optional<std::int64_t> value = constant_int(e)) return make_int(type, *value);
  if (const Cast* n = e.as<Cast>()) return in_type(n->value, type);
  if (const Binary* n = e.as<Binary>()) return make_binary(n->op, in_type(n->a, type), in_type(n->b, type));
  return cast(type, e);
}

// ---- one way to assign the operation's inputs to those of the intrinsic -------------------------

class Attempt {
 public:
  Attempt(const Operation& op, const TensorIntrinNode& intrin, const TensorizedPart& part,
          arith::Facts& facts)
      : op_(op),
        intrin_(intrin),
        own_(*op.as<Compute>()),
        theirs_(*intrin.op.as<Compute>()),
        part_(part),
        facts_(facts) {}

  IntrinMatch run(std::vector<std::size_t> inputs) {
    match_.inputs = std::move(inputs);
    match_.output_dims = pair_axes(own_.axis, theirs_.axis, "data axes");
    pair_axes(own_.reduce_axis, theirs_.reduce_axis, "reduction axes");
    for (std::size_t n = 0; n < match_.inputs.size(); ++n) check_input(n);
    if (match_.difference.empty()) compare_bodies();
    return std::move(match_);
  }

 private:
  void differ(const std::string& how) {
    if (match_.difference.empty()) match_.difference = how;
  }

  // ---- sizes

  std::vector<Expr> extents_of(const std::vector<Range>& ranges) const {
    std::vector<Expr> extents;
    for (const Range& range : ranges) extents.push_back(arith::simplify(range.extent, facts_));
    return extents;
  }

  /// A variable of the intrinsic's stands for one size.
  void bind_sizes(const DimPairs& pairs, const std::vector<Expr>& own, const std::vector<Expr>& theirs,
                  const std::string& what) {
    for (std::size_t n = 0; n < own.size(); ++n) {
      if (!pairs.theirs[n] || !theirs[*pairs.theirs[n]].as<VarNode>()) continue;
      const Var size = Var::of(theirs[*pairs.theirs[n]]);
      const auto known = match_.sizes.find(&size.node());
      if (known == match_.sizes.end()) {
        set(match_.sizes, size, own[n]);
      } else if (!arith::can_prove_equal(known->second, own[n], facts_)) {
        differ(what + " gives `" + size.name() + "` of the intrinsic the value " + print_expr(own[n]) +
               ", elsewhere it is " + print_expr(known->second));
      }
    }
  }

  /// An axis of the operation runs over min + j, where j is the intrinsic's.
  DimPairs pair_axes(const std::vector<IterVar>& own, const std::vector<IterVar>& theirs,
                     const std::string& what) {
    std::vector<Range> ranges;
    std::vector<Expr> wanted;
    for (const IterVar& axis : own) ranges.push_back(part_.axes.at(axis));
    for (const IterVar& axis : theirs) wanted.push_back(axis.dom()->extent);
    const std::vector<Expr> extents = extents_of(ranges);
    const std::optional<DimPairs> pairs = pair_dims(extents, wanted, facts_);
    if (!pairs) {
      differ(how_axes_differ(own, extents, theirs, wanted, what));
      return {};
    }
    bind_sizes(*pairs, extents, wanted, what);
    for (std::size_t n = 0; n < own.size(); ++n) {
      if (!pairs->theirs[n]) {
        set(values_, own[n].var(), ranges[n].min);
        continue;
      }
      const IterVar& target = theirs[*pairs->theirs[n]];
      const Expr begin = target.dom()->min;
      set(values_, own[n].var(), target.var() - begin + ranges[n].min);
      facts_.bind(target.var(), Range::from_min_extent(begin, cast(begin.dtype(), extents[n])),
                  /*replace=*/true);
    }
    for (std::size_t n : pairs->unpaired) facts_.bind(theirs[n].var(), *theirs[n].dom(), /*replace=*/true);
    return *pairs;
  }

  std::string how_axes_differ(const std::vector<IterVar>& own, const std::vector<Expr>& extents,
                              const std::vector<IterVar>& theirs, const std::vector<Expr>& wanted,
                              const std::string& what) const {
    std::size_t i = own.size(), j = theirs.size();
    while (i > 0 && j > 0 && arith::can_prove_equal(extents[i - 1], wanted[j - 1], facts_)) --i, --j;
    if (i == 0 || j == 0)
      return "its " + what + " have [" + print_list(extents) +
             "] iterations there, those of the intrinsic [" + print_list(wanted) + "]";
    return "axis `" + own[i - 1].name() + "` has the extent " + print_expr(extents[i - 1]) + " there, `" +
           theirs[j - 1].name() + "` of the intrinsic has " + print_expr(wanted[j - 1]);
  }

  void check_input(std::size_t n) {
    const Tensor& target = intrin_.inputs[n];
    const Tensor& tensor = op_.inputs()[match_.inputs[n]];
    const std::string name = "`" + tensor.name() + "`";
    if (tensor.dtype() != target.dtype())
      differ(name + " is " + tensor.dtype().str() + ", `" + target.name() + "` of the intrinsic is " +
             target.dtype().str());
    const std::vector<Expr> extents = extents_of(part_.inputs[match_.inputs[n]]);
    const std::optional<DimPairs> pairs = pair_dims(extents, target.shape(), facts_);
    if (pairs) bind_sizes(*pairs, extents, target.shape(), name);
    if (!pairs)
      differ("of " + name + " it reads [" + print_list(extents) + "] elements, `" + target.name() +
             "` of the intrinsic has [" + print_list(target.shape()) + "]");
    match_.input_dims.push_back(pairs ? *pairs : DimPairs{});
  }

  // ---- bodies

  /// The operation's expression on the intrinsic's axes and inputs.
  Expr translated(const Expr& e) const {
    if (e.as<VarNode>()) {
      const auto value = values_.find(&e.node());
      return value == values_.end() ? e : value->second;
    }
    if (const ProducerLoad* load = e.as<ProducerLoad>()) return translated(*load, e);
    return map_children(e, [&](const Expr& child) { return translated(child); });
  }

  Expr translated(const ProducerLoad& load, const Expr& self) const {
    const Tensor tensor = Tensor::of(load);
    for (std::size_t n = 0; n < match_.inputs.size(); ++n) {
      if (!op_.inputs()[match_.inputs[n]].same_as(tensor)) continue;
      const std::vector<Range>& region = part_.inputs[match_.inputs[n]];
      std::vector<Expr> indices(intrin_.inputs[n].shape().size(), Expr(0));
      for (std::size_t d = 0; d < region.size(); ++d)
        if (const auto at = match_.input_dims[n].theirs[d])
          indices[*at] = in_type(arith::simplify(translated(load.indices[d]) - region[d].min, facts_),
                                 intrin_.inputs[n].shape()[*at].dtype());
      return make_producer_load(intrin_.inputs[n].producer(), std::move(indices));
    }
    return self;
  }

  void compare(const Expr& own, const Expr& theirs, const std::string& what) {
    if (!match_.difference.empty()) return;
    const Expr a = arith::simplify(translated(own), facts_);
    const Expr b = arith::simplify(substitute_folding(theirs, match_.sizes), facts_);
    if (same_but_for_order(a, b)) return;
    const Difference difference = where_they_part(a, b);
    differ(what + " is " + print_expr(a) + ", that of the intrinsic is " + print_expr(b) +
           "; they differ in the " + difference.what + ": " + difference.left + " and " + difference.right);
  }

  void compare_bodies() {
    const ReduceNode *own = own_.reduction(), *theirs = theirs_.reduction();
    if (!own != !theirs)
      return differ(std::string("it ") + (own ? "reduces" : "does not reduce") + ", the intrinsic " +
                    (own ? "does not" : "does"));
    if (own_.body.size() != theirs_.body.size())
      return differ("it has " + count_of(own_.body.size(), "output") + ", the intrinsic " +
                    std::to_string(theirs_.body.size()));
    if (own) return compare_reductions(*own, *theirs);
    for (std::size_t k = 0; k < own_.body.size(); ++k) compare(own_.body[k], theirs_.body[k], "the body");
  }

  void compare_reductions(const ReduceNode& own, const ReduceNode& theirs) {
    VarMap operands;
    for (std::size_t k = 0; k < theirs.combiner->lhs.size(); ++k) {
      set(operands, theirs.combiner->lhs[k], own.combiner->lhs[k]);
      set(operands, theirs.combiner->rhs[k], own.combiner->rhs[k]);
    }
    for (std::size_t k = 0; k < own.source.size(); ++k) {
      compare(own.source[k], theirs.source[k], "what is reduced");
      compare(own.combiner->result[k], substitute(theirs.combiner->result[k], operands), "the reducer");
      compare(own.combiner->identity[k], theirs.combiner->identity[k], "the reducer's identity");
    }
    compare(own.condition, theirs.condition, "the reduction's condition");
    if (own.init.size() != theirs.init.size())
      return differ(std::string("it ") + (own.init.empty() ? "has no" : "has a") +
                    " start value of its own, the intrinsic " + (own.init.empty() ? "has" : "has none"));
    for (std::size_t k = 0; k < own.init.size(); ++k) compare(own.init[k], theirs.init[k], "the start value");
  }

  const Operation& op_;
  const TensorIntrinNode& intrin_;
  const Compute &own_, &theirs_;
  const TensorizedPart& part_;
  arith::Facts& facts_;
  /// Axes of the operation in terms of the intrinsic's.
  VarMap values_;
  IntrinMatch match_;
};

}  // namespace

bool DimPairs::are_the_last() const {
  if (!unpaired.empty()) return false;
  bool begun = false;
  for (const std::optional<std::size_t>& partner : theirs) {
    if (begun && !partner) return false;
    begun = begun || partner.has_value();
  }
  return true;
}

std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts) {
  DimPairs pairs;
  pairs.theirs.resize(part.size());
  std::size_t i = part.size(), j = theirs.size();
  while (i > 0 || j > 0) {
    const bool is_unit = i > 0 && is_one(part[i - 1]);
    const bool is_free = j > 0 && theirs[j - 1].as<VarNode>();
    // A variable may be any size; it is worth more than 1 where the other side has dimensions to spare.
    if (i > 0 && j > 0 &&
        ((is_free && !(is_unit && i > j)) || arith::can_prove_equal(part[i - 1], theirs[j - 1], facts))) {
      pairs.theirs[--i] = --j;
    } else if (is_unit) {
      --i;
    } else if (j > 0 && is_one(theirs[j - 1])) {
      pairs.unpaired.push_back(--j);
    } else {
      return std::nullopt;
    }
  }
  return pairs;
}

IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin, const TensorizedPart& part,
                         arith::Facts& facts) {
  std::vector<std::size_t> order(op.inputs().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() != intrin.inputs.size()) {
    IntrinMatch none;
    none.difference = "it reads " + count_of(order.size(), "tensor") + ", the intrinsic " +
                      std::to_string(intrin.inputs.size());
    return none;
  }
  // Operands may trade places, and with them the order in which tensors are first read. What is reported is
  // the difference in the order of appearance.
  std::optional<IntrinMatch> first;
  do {
    IntrinMatch match = Attempt(op, intrin, part, facts).run(order);
    if (match.difference.empty()) return match;
    if (!first) first = std::move(match);
  } while (order.size() <= kMostPermuted && std::next_permutation(order.begin(), order.end()));
  return std::move(*first);
}

}  // namespace tenon::te
