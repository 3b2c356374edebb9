#include "te/intrinsics/match_intrin.h"

#include <algorithm>

#include "te/intrinsics/intrin_matcher.h"

namespace tenon::te {

using namespace tir;

IntrinMatch IntrinMatcher::run() {
  const std::optional<DimPairs> data = pair_dims(data_.extents, data_.wanted, facts_);
  if (!data) return different(how_axes_differ());
  output_dims_ = *data;
  if (std::optional<std::string> difference = collect_bodies()) return different(*difference);
  const std::optional<DimPairs> by_order = pair_dims(reduce_.extents, reduce_.wanted, facts_);
  bool gave_up = false;
  const auto several = std::count_if(reduce_.extents.begin(), reduce_.extents.end(),
                                     [](const Expr& extent) { return !is_one(extent); }) > 1;
  for (const bool in_order : {true, false}) {
    if (in_order ? !by_order : by_order && !several) continue;
    const Naming names = names_given(in_order ? by_order->theirs : nameless());
    const auto found =
        matcher(names).find(bodies_, names, [&](const Naming& all) { return accept(all); });
    if (found == BodyMatcher::Result::Found) return std::move(match_);
    gave_up = gave_up || found == BodyMatcher::Result::GaveUp;
  }
  explain(names_given(by_order ? by_order->theirs : nameless()));
  if (gave_up && !match_.difference.empty())
    match_.difference += "; as many operands look alike, not every order of them was tried";
  return std::move(match_);
}

IntrinMatcher::Axes IntrinMatcher::sides_of(const std::vector<IterVar>& own,
                                            const std::vector<IterVar>& theirs) const {
  Axes axes{own, theirs, {}, {}};
  for (const IterVar& axis : own)
    axes.extents.push_back(arith::simplify(part_.axes.at(axis).extent, facts_));
  for (const IterVar& axis : theirs) axes.wanted.push_back(axis.dom()->extent);
  return axes;
}

IntrinMatch IntrinMatcher::different(std::string how) {
  IntrinMatch match;
  match.difference = std::move(how);
  return match;
}

// ---- bodies -------------------------------------------------------------------------------------

std::string count_of(std::size_t count, const std::string& what) {
  std::string text = std::to_string(count);
  text += ' ';
  text += what;
  if (count != 1) text += 's';
  return text;
}

std::optional<std::string> IntrinMatcher::collect_bodies() {
  const ReduceNode *own = own_.reduction(), *theirs = theirs_.reduction();
  if (!own != !theirs)
    return std::string("it ") + (own ? "reduces" : "does not reduce") + ", the intrinsic " +
           (own ? "does not" : "does");
  if (own_.body.size() != theirs_.body.size())
    return "it has " + count_of(own_.body.size(), "output") + ", the intrinsic " +
           std::to_string(theirs_.body.size());
  know_axes();
  if (own) return collect_reductions(*own, *theirs);
  for (std::size_t k = 0; k < own_.body.size(); ++k) add(own_.body[k], theirs_.body[k], "the body");
  return std::nullopt;
}

std::optional<std::string> IntrinMatcher::collect_reductions(const ReduceNode& own,
                                                             const ReduceNode& theirs) {
  if (own.init.size() != theirs.init.size())
    return std::string("it ") + (own.init.empty() ? "has no" : "has a") +
           " start value of its own, the intrinsic " + (own.init.empty() ? "has" : "has none");
  VarMap operands;
  for (std::size_t k = 0; k < theirs.combiner->lhs.size(); ++k) {
    set(operands, theirs.combiner->lhs[k], own.combiner->lhs[k]);
    set(operands, theirs.combiner->rhs[k], own.combiner->rhs[k]);
  }
  for (std::size_t k = 0; k < own.source.size(); ++k) {
    add(own.source[k], theirs.source[k], "what is reduced");
    add(own.combiner->result[k], substitute(theirs.combiner->result[k], operands), "the reducer");
    add(own.combiner->identity[k], theirs.combiner->identity[k], "the reducer's identity");
  }
  add(own.condition, theirs.condition, "the reduction's condition");
  for (std::size_t k = 0; k < own.init.size(); ++k)
    add(own.init[k], theirs.init[k], "the start value");
  return std::nullopt;
}

void IntrinMatcher::add(const Expr& own, const Expr& theirs, std::string what) {
  bodies_.push_back({arith::simplify(substitute(without_lets(own), fixed_), facts_),
                     arith::simplify(without_lets(theirs), facts_), std::move(what)});
}

Expr IntrinMatcher::without_lets(const Expr& e) {
  return rewrite(e, [](const LetExpr& let, const Expr&) -> std::optional<Expr> {
    VarMap value;
    set(value, let.var, let.value);
    return substitute(let.body, value);
  });
}

// ---- axes ---------------------------------------------------------------------------------------

void IntrinMatcher::know_axes() {
  for (const Axes* axes : {&data_, &reduce_}) {
    for (std::size_t n = 0; n < axes->own.size(); ++n) {
      const IterVar& axis = axes->own[n];
      const Range& range = part_.axes.at(axis);
      locals_.push_back(axis.var().fresh());
      if (is_one(axes->extents[n])) {
        set(fixed_, axis.var(), cast(axis.var().dtype(), range.min));
      } else {
        facts_.bind(axis.var(), range, /*replace=*/true);
        facts_.bind(locals_.back(),
                    Range::from_min_extent(make_int(axis.var().dtype(), 0), range.extent));
        set(local_values_, axis.var(), locals_.back() + cast(axis.var().dtype(), range.min));
      }
    }
    for (const IterVar& axis : axes->theirs) facts_.bind(axis.var(), *axis.dom(), /*replace=*/true);
  }
}

Naming IntrinMatcher::names_given(AxisNames reduce) const {
  return {
      std::vector<std::optional<std::size_t>>(intrin_.inputs.size()), std::move(reduce), {}, {}};
}

bool IntrinMatcher::may_pair(std::size_t own, std::size_t theirs) const {
  return reduce_.wanted[theirs].as<VarNode>() != nullptr ||
         arith::can_prove_equal(reduce_.extents[own], reduce_.wanted[theirs], facts_);
}

BodyMatcher IntrinMatcher::matcher(const Naming& names) {
  BodySide own, theirs;
  for (std::size_t n = 0; n < data_.own.size(); ++n) {
    if (is_one(data_.extents[n])) continue;
    const std::size_t name = *output_dims_.theirs[n];
    own.data.push_back({name, locals_[n]});
    theirs.data.push_back({name, data_.theirs[name].var()});
  }
  std::vector<char> is_fixed(reduce_.theirs.size());
  for (std::size_t n = 0; n < reduce_.own.size(); ++n) {
    if (!is_one(reduce_.extents[n])) {
      own.reduce.push_back({n, locals_[data_.own.size() + n]});
    } else if (names.reduce[n]) {
      is_fixed[*names.reduce[n]] = true;
    }
  }
  for (std::size_t n = 0; n < reduce_.theirs.size(); ++n)
    if (!is_one(reduce_.wanted[n]) && !is_fixed[n])
      theirs.reduce.push_back({n, reduce_.theirs[n].var()});
  own.local = [this](const Expr& index) {
    return arith::simplify(substitute(index, local_values_), facts_);
  };
  theirs.local = [this](const Expr& index) { return arith::simplify(index, facts_); };
  own.place_of = [this](const ProducerLoad& read) { return place_of(read, op_.inputs()); };
  theirs.place_of = [this](const ProducerLoad& read) { return place_of(read, intrin_.inputs); };
  return {std::move(own), std::move(theirs),
          [this](std::size_t a, std::size_t b) { return may_pair(a, b); }};
}

std::size_t IntrinMatcher::place_of(const ProducerLoad& read, const std::vector<Tensor>& inputs) {
  const Tensor tensor = Tensor::of(read);
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const Tensor& input) { return input.same_as(tensor); });
  internal_check(found != inputs.end(), "an operation reads a tensor that is none of its inputs");
  return static_cast<std::size_t>(found - inputs.begin());
}

bool IntrinMatcher::accept(const Naming& names) {
  for (std::size_t n = 0; n < reduce_.own.size(); ++n) {
    if (names.reduce[n] || is_one(reduce_.extents[n])) continue;
    for (std::size_t t = 0; t < reduce_.theirs.size(); ++t) {
      if (is_one(reduce_.wanted[t]) || names.names(t) || !may_pair(n, t)) continue;
      if (--axis_tries_left_ < 0) return false;
      Naming more = names;
      more.reduce[n] = t;
      if (accept(more)) return true;
    }
    return false;
  }
  begin(names);
  compare_leaves(names);
  return !is_different_;
}

IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const TensorizedPart& part, arith::Facts& facts) {
  return IntrinMatcher(op, intrin, part, facts).run();
}

}  // namespace tenon::te
