#include "te/intrinsics/match_intrin.h"

#include <algorithm>

#include "te/bounds/required_region.h"
#include "te/intrinsics/match_bodies.h"
#include "te/intrinsics/operand_order.h"
#include "te/operations/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Ways to pair reduction axes that no read tells apart.
constexpr int kMostAxisTries = 1'000;

std::string count_of(std::size_t count, const std::string& what) {
  std::string text = std::to_string(count);
  text += ' ';
  text += what;
  if (count != 1) text += 's';
  return text;
}

/// An index within an intrinsic's tensor, in the type of that tensor's extents.
Expr in_type(const Expr& e, DataType type) {
  if (e.dtype() == type) return e;
  if (const std::optional<std::int64_t> value = constant_int(e)) return make_int(type, *value);
  if (const Cast* n = e.as<Cast>()) return in_type(n->value, type);
  if (const Binary* n = e.as<Binary>())
    return make_binary(n->op, in_type(n->a, type), in_type(n->b, type));
  return cast(type, e);
}

// ---- a part of a stage and an intrinsic ---------------------------------------------------------

class Matching {
 public:
  Matching(const Operation& op, const TensorIntrinNode& intrin, const TensorizedPart& part,
           arith::Facts& facts)
      : op_(op),
        intrin_(intrin),
        own_(*op.as<Compute>()),
        theirs_(*intrin.op.as<Compute>()),
        part_(part),
        facts_(facts),
        data_(sides_of(own_.axis, theirs_.axis)),
        reduce_(sides_of(own_.reduce_axis, theirs_.reduce_axis)) {}

  IntrinMatch run() {
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

 private:
  /// Axes of one kind, and their extents.
  struct Axes {
    const std::vector<IterVar>& own;
    const std::vector<IterVar>& theirs;
    std::vector<Expr> extents, wanted;
  };
  using AxisNames = std::vector<std::optional<std::size_t>>;

  Axes sides_of(const std::vector<IterVar>& own, const std::vector<IterVar>& theirs) const {
    Axes axes{own, theirs, {}, {}};
    for (const IterVar& axis : own)
      axes.extents.push_back(arith::simplify(part_.axes.at(axis).extent, facts_));
    for (const IterVar& axis : theirs) axes.wanted.push_back(axis.dom()->extent);
    return axes;
  }

  static IntrinMatch different(std::string how) {
    IntrinMatch match;
    match.difference = std::move(how);
    return match;
  }

  // ---- bodies

  /// How they differ as a whole.
  std::optional<std::string> collect_bodies() {
    const ReduceNode *own = own_.reduction(), *theirs = theirs_.reduction();
    if (!own != !theirs)
      return std::string("it ") + (own ? "reduces" : "does not reduce") + ", the intrinsic " +
             (own ? "does not" : "does");
    if (own_.body.size() != theirs_.body.size())
      return "it has " + count_of(own_.body.size(), "output") + ", the intrinsic " +
             std::to_string(theirs_.body.size());
    know_axes();
    if (own) return collect_reductions(*own, *theirs);
    for (std::size_t k = 0; k < own_.body.size(); ++k)
      add(own_.body[k], theirs_.body[k], "the body");
    return std::nullopt;
  }

  std::optional<std::string> collect_reductions(const ReduceNode& own, const ReduceNode& theirs) {
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

  void add(const Expr& own, const Expr& theirs, std::string what) {
    bodies_.push_back({arith::simplify(substitute(without_lets(own), fixed_), facts_),
                       arith::simplify(without_lets(theirs), facts_), std::move(what)});
  }

  static Expr without_lets(const Expr& e) {
    return rewrite(e, [](const LetExpr& let, const Expr&) -> std::optional<Expr> {
      VarMap value;
      set(value, let.var, let.value);
      return substitute(let.body, value);
    });
  }

  // ---- axes

  /// Those of one iteration are their minimum; the others count from it.
  void know_axes() {
    for (const Axes* axes : {&data_, &reduce_}) {
      for (std::size_t n = 0; n < axes->own.size(); ++n) {
        const IterVar& axis = axes->own[n];
        const Range& range = part_.axes.at(axis);
        locals_.push_back(axis.var().fresh());
        if (is_one(axes->extents[n])) {
          set(fixed_, axis.var(), range.min);
        } else {
          facts_.bind(axis.var(), range, /*replace=*/true);
          facts_.bind(locals_.back(),
                      Range::from_min_extent(make_int(axis.var().dtype(), 0), range.extent));
          set(local_values_, axis.var(), locals_.back() + range.min);
        }
      }
      for (const IterVar& axis : axes->theirs)
        facts_.bind(axis.var(), *axis.dom(), /*replace=*/true);
    }
  }

  AxisNames nameless() const { return AxisNames(reduce_.own.size()); }

  Naming names_given(AxisNames reduce) const {
    return {
        std::vector<std::optional<std::size_t>>(intrin_.inputs.size()), std::move(reduce), {}, {}};
  }

  bool may_pair(std::size_t own, std::size_t theirs) const {
    return reduce_.wanted[theirs].as<VarNode>() != nullptr ||
           arith::can_prove_equal(reduce_.extents[own], reduce_.wanted[theirs], facts_);
  }

  BodyMatcher matcher(const Naming& names) {
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

  static std::size_t place_of(const ProducerLoad& read, const std::vector<Tensor>& inputs) {
    const Tensor tensor = Tensor::of(read);
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const Tensor& input) { return input.same_as(tensor); });
    internal_check(found != inputs.end(), "an operation reads a tensor that is none of its inputs");
    return static_cast<std::size_t>(found - inputs.begin());
  }

  /// Reduction axes that no read told apart are tried one after the other.
  bool accept(const Naming& names) {
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

  // ---- one naming: sizes, regions, and whether what it says is so

  template <class Text>
  void differ(const Text& how) {
    if (explains_ && !is_different_) match_.difference = how();
    is_different_ = true;
  }

  /// Everything but the comparison of expressions.
  void begin(const Naming& names) {
    match_ = {};
    values_ = fixed_;
    is_different_ = false;
    match_.output_dims = output_dims_;
    name_axes(data_, output_dims_.theirs, "data axes");
    name_axes(reduce_, names.reduce, "reduction axes");
    for (std::size_t n = 0; n < intrin_.inputs.size(); ++n) match_input(n, names);
  }

  /// A variable of the intrinsic's stands for one size.
  void set_size(const Expr& theirs, const Expr& own, const std::string& what) {
    if (!theirs.as<VarNode>()) return;
    const Var size = Var::of(theirs);
    const auto known = match_.sizes.find(&size.node());
    if (known == match_.sizes.end()) {
      set(match_.sizes, size, own);
    } else if (!arith::can_prove_equal(known->second, own, facts_)) {
      differ([&] {
        return what + " gives `" + size.name() + "` of the intrinsic the value " + print_expr(own) +
               ", elsewhere it is " + print_expr(known->second);
      });
    }
  }

  /// An axis of the operation runs over min + j, where j is the intrinsic's.
  void name_axes(const Axes& axes, const AxisNames& names, const std::string& what) {
    std::vector<char> is_named(axes.theirs.size());
    for (std::size_t n = 0; n < axes.own.size(); ++n) {
      if (!names[n]) {
        if (!is_one(axes.extents[n])) differ([&] { return how_reductions_differ(names); });
        continue;
      }
      const IterVar& target = axes.theirs[*names[n]];
      const Expr begin = target.dom()->min;
      is_named[*names[n]] = true;
      set_size(axes.wanted[*names[n]], axes.extents[n], what);
      set(values_, axes.own[n].var(), target.var() - begin + part_.axes.at(axes.own[n]).min);
      facts_.bind(target.var(), Range::from_min_extent(begin, cast(begin.dtype(), axes.extents[n])),
                  /*replace=*/true);
    }
    for (std::size_t n = 0; n < axes.theirs.size(); ++n) {
      if (is_named[n]) continue;
      const Expr one = make_int(axes.wanted[n].dtype(), 1);
      if (!is_one(axes.wanted[n]) && !axes.wanted[n].as<VarNode>())
        differ([&] { return how_reductions_differ(names); });
      set_size(axes.wanted[n], one, what);
      facts_.bind(axes.theirs[n].var(), Range::from_min_extent(axes.theirs[n].dom()->min, one),
                  /*replace=*/true);
    }
  }

  void match_input(std::size_t n, const Naming& names) {
    const Tensor& target = intrin_.inputs[n];
    match_.inputs.push_back({names.tensors[n].value_or(0), {}, {}});
    MatchedInput& input = match_.inputs.back();
    if (!names.tensors[n]) {
      is_different_ = is_different_ || !explains_;
      return;
    }
    const Tensor& tensor = op_.inputs()[input.tensor];
    const std::string name = "`" + tensor.name() + "`";
    if (tensor.dtype() != target.dtype())
      differ([&] {
        return name + " is " + tensor.dtype().str() + ", `" + target.name() +
               "` of the intrinsic is " + target.dtype().str();
      });
    input.region = region_of(tensor, n, names);
    std::vector<Expr> extents;
    for (const Range& range : input.region)
      extents.push_back(arith::simplify(range.extent, facts_));
    const std::optional<DimPairs> pairs = pair_dims(extents, target.shape(), facts_);
    if (!pairs) {
      differ([&] {
        return "of " + name + " it reads " + print_list(extents) + " elements, `" + target.name() +
               "` of the intrinsic has " + print_list(target.shape());
      });
      return;
    }
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (pairs->theirs[d]) set_size(target.shape()[*pairs->theirs[d]], extents[d], name);
    input.dims = *pairs;
  }

  /// What is read of the tensor as the intrinsic's input; all of its reads where the naming knows
  /// of none.
  std::vector<Range> region_of(const Tensor& tensor, std::size_t input, const Naming& names) const {
    TensorReads reads{tensor, {}};
    for (const auto& [own, theirs] : names.reads)
      if (place_of(*theirs.as<ProducerLoad>(), intrin_.inputs) == input)
        reads.indices.push_back(own.as<ProducerLoad>()->indices);
    Needs needs(tensor.shape().size());
    const bool is_known = !reads.indices.empty();
    add_needs(op_, is_known ? std::vector{reads} : collect_reads(op_), tensor, part_.values,
              part_.facts, needs);
    std::vector<Range> region;
    for (std::size_t d = 0; d < needs.size(); ++d) {
      const Range whole =
          Range::from_min_extent(make_int(tensor.shape()[d].dtype(), 0), tensor.shape()[d]);
      region.push_back(arith::hull(needs[d], part_.facts).to_range(whole, Facts()));
    }
    return region;
  }

  void compare_leaves(const Naming& names) {
    for (const auto& [own, theirs] : names.reads)
      if (is_different_ || !is_same_element(own, theirs)) is_different_ = true;
    for (const auto& [own, theirs] : names.scalars)
      if (is_different_ || !same_but_for_order(arith::simplify(substitute(own, values_), facts_),
                                               of_intrinsic(theirs)))
        is_different_ = true;
  }

  bool is_same_element(const Expr& own, const Expr& theirs) const {
    const ProducerLoad &a = *own.as<ProducerLoad>(), &b = *theirs.as<ProducerLoad>();
    const MatchedInput& input = match_.inputs[place_of(b, intrin_.inputs)];
    for (std::size_t d = 0; d < input.region.size(); ++d) {
      const std::optional<std::size_t> partner = input.dims.theirs[d];
      if (!partner) continue;
      // What indices read is a comparison of its own.
      if (effect_of(a.indices[d]) != Effect::Pure) {
        if (!is_zero(arith::simplify(input.region[d].min, facts_))) return false;
        continue;
      }
      const Expr is = index_inside(substitute(a.indices[d], values_), input, d);
      if (!arith::can_prove_equal(is, of_intrinsic(in_type(b.indices[*partner], is.dtype())),
                                  facts_))
        return false;
    }
    return true;
  }

  /// An index of the tensor as one of the region that the intrinsic sees.
  Expr index_inside(const Expr& index, const MatchedInput& input, std::size_t d) const {
    const Tensor& target = intrin_.inputs[static_cast<std::size_t>(&input - match_.inputs.data())];
    return in_type(arith::simplify(index - input.region[d].min, facts_),
                   target.shape()[*input.dims.theirs[d]].dtype());
  }

  Expr of_intrinsic(const Expr& e) const {
    return arith::simplify(substitute_folding(e, match_.sizes), facts_);
  }

  // ---- why not

  /// The names that the bodies suggest, as far as they are alike, and the first difference under
  /// them.
  void explain(const Naming& given) {
    explains_ = true;
    BodyMatcher bodies = matcher(given);
    Naming names = bodies.guess(bodies_, given);
    name_the_rest(names);
    begin(names);
    if (op_.inputs().size() > intrin_.inputs.size())
      differ([&] {
        return "it reads " + count_of(op_.inputs().size(), "tensor") + ", the intrinsic " +
               std::to_string(intrin_.inputs.size());
      });
    for (const BodyPair& body : bodies_) compare(bodies, body, names);
    for (std::size_t n = 0; n < names.tensors.size(); ++n)
      if (!names.tensors[n])
        differ([&] {
          return "it reads nothing in the place of `" + intrin_.inputs[n].name() +
                 "` of the intrinsic";
        });
  }

  void name_the_rest(Naming& names) const {
    for (std::size_t n = 0; n < reduce_.own.size(); ++n)
      for (std::size_t t = 0; t < reduce_.theirs.size(); ++t)
        if (!names.reduce[n] && !is_one(reduce_.extents[n]) && !names.names(t) && may_pair(n, t))
          names.reduce[n] = t;
    for (const bool same_type : {true, false})
      for (std::size_t place = 0; place < op_.inputs().size(); ++place) {
        if (std::find(names.tensors.begin(), names.tensors.end(), place) != names.tensors.end())
          continue;
        for (std::size_t n = 0; n < names.tensors.size(); ++n) {
          if (names.tensors[n]) continue;
          if (same_type && op_.inputs()[place].dtype() != intrin_.inputs[n].dtype()) continue;
          names.tensors[n] = place;
          break;
        }
      }
  }

  void compare(BodyMatcher& bodies, const BodyPair& body, const Naming& names) {
    if (is_different_) return;
    const Expr renamed = bodies.renamed(
        body.own, body.theirs,
        [&](const Expr& own, const Expr* read) { return translated(own, read, names); });
    const Expr a = arith::simplify(renamed, facts_), b = of_intrinsic(body.theirs);
    if (same_but_for_order(a, b)) return;
    const Difference difference = where_they_part(a, b);
    differ([&] {
      return body.what + " is " + print_expr(a) + ", that of the intrinsic is " + print_expr(b) +
             "; they differ in the " + difference.what + ": " + difference.left + " and " +
             difference.right;
    });
  }

  /// The operation's expression on the intrinsic's axes and inputs; `read` says which input a read
  /// may be.
  Expr translated(const Expr& e, const Expr* read, const Naming& names) const {
    if (e.as<VarNode>()) return substitute(e, values_);
    const ProducerLoad* load = e.as<ProducerLoad>();
    if (!load)
      return map_children(e, [&](const Expr& child) { return translated(child, nullptr, names); });
    const std::optional<std::size_t> input = input_for(place_of(*load, op_.inputs()), read, names);
    if (!input || match_.inputs[*input].region.empty() != load->indices.empty()) return e;
    const MatchedInput& part = match_.inputs[*input];
    const Tensor& target = intrin_.inputs[*input];
    std::vector<Expr> indices(target.shape().size(), Expr(0));
    for (std::size_t d = 0; d < part.region.size(); ++d)
      if (part.dims.theirs[d])
        indices[*part.dims.theirs[d]] =
            index_inside(translated(load->indices[d], nullptr, names), part, d);
    return make_producer_load(target.producer(), std::move(indices));
  }

  std::optional<std::size_t> input_for(std::size_t tensor, const Expr* read,
                                       const Naming& names) const {
    if (read) {
      const std::size_t likely = place_of(*read->as<ProducerLoad>(), intrin_.inputs);
      if (names.tensors[likely] == tensor) return likely;
    }
    const auto first = std::find(names.tensors.begin(), names.tensors.end(), tensor);
    if (first == names.tensors.end()) return std::nullopt;
    return static_cast<std::size_t>(first - names.tensors.begin());
  }

  std::string how_axes_differ() const {
    std::size_t i = data_.own.size(), j = data_.theirs.size();
    while (i > 0 && j > 0 &&
           arith::can_prove_equal(data_.extents[i - 1], data_.wanted[j - 1], facts_))
      --i, --j;
    if (i == 0 || j == 0) return numbers_of_iterations(data_, "data axes");
    return extents_of_axes(data_, i - 1, j - 1);
  }

  /// Precondition: some axis of more than one iteration has no name, here or there.
  std::string how_reductions_differ(const AxisNames& names) const {
    for (std::size_t n = 0; n < reduce_.own.size(); ++n)
      for (std::size_t t = 0; t < reduce_.theirs.size(); ++t)
        if (!names[n] && !is_one(reduce_.extents[n]) && !is_one(reduce_.wanted[t]) &&
            std::find(names.begin(), names.end(), t) == names.end())
          return extents_of_axes(reduce_, n, t);
    return numbers_of_iterations(reduce_, "reduction axes");
  }

  static std::string numbers_of_iterations(const Axes& axes, const std::string& what) {
    return "its " + what + " have " + print_list(axes.extents) +
           " iterations there, those of the intrinsic " + print_list(axes.wanted);
  }

  static std::string extents_of_axes(const Axes& axes, std::size_t own, std::size_t theirs) {
    return "axis `" + axes.own[own].name() + "` has the extent " + print_expr(axes.extents[own]) +
           " there, `" + axes.theirs[theirs].name() + "` of the intrinsic has " +
           print_expr(axes.wanted[theirs]);
  }

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
  VarMap fixed_, local_values_, values_;
  IntrinMatch match_;
  bool is_different_ = false, explains_ = false;
  int axis_tries_left_ = kMostAxisTries;
};

}  // namespace

IntrinMatch match_intrin(const Operation& op, const TensorIntrinNode& intrin,
                         const TensorizedPart& part, arith::Facts& facts) {
  return Matching(op, intrin, part, facts).run();
}

}  // namespace tenon::te
