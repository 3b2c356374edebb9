// Evaluation of a candidate naming of axes and tensors: the sizes and regions that follow from it,
// and whether the expressions agree.
#include "te/bounds/required_region.h"
#include "te/intrinsics/intrin_matcher.h"
#include "te/operations/declare.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Returns an index into an intrinsic's tensor in the type of that tensor's extents.
Expr in_type(const Expr& e, DataType type) {
  if (e.dtype() == type) return e;
  if (const std::optional<std::int64_t> value = constant_int(e)) return make_int(type, *value);
  if (const Cast* n = e.as<Cast>()) return in_type(n->value, type);
  if (const Binary* n = e.as<Binary>())
    return make_binary(n->op, in_type(n->a, type), in_type(n->b, type));
  return cast(type, e);
}

}  // namespace

void IntrinMatcher::begin(const Naming& names) {
  match_ = {};
  values_ = fixed_;
  is_different_ = false;
  match_.output_dims = output_dims_;
  name_axes(data_, output_dims_.theirs, "data axes");
  name_axes(reduce_, names.reduce, "reduction axes");
  for (std::size_t n = 0; n < intrin_.inputs.size(); ++n) match_input(n, names);
}

void IntrinMatcher::set_size(const Expr& theirs, const Expr& own, const std::string& what) {
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

void IntrinMatcher::name_axes(const Axes& axes, const AxisNames& names, const std::string& what) {
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
    const Var& own = axes.own[n].var();
    set(values_, own, cast(own.dtype(), target.var() - begin + part_.axes.at(axes.own[n]).min));
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

void IntrinMatcher::match_input(std::size_t n, const Naming& names) {
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
  for (const Range& range : input.region) extents.push_back(arith::simplify(range.extent, facts_));
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

std::vector<Range> IntrinMatcher::region_of(const Tensor& tensor, std::size_t input,
                                            const Naming& names) const {
  TensorReads reads{tensor, {}};
  for (const auto& [own, theirs] : names.reads)
    if (place_of(*theirs.as<ProducerLoad>(), intrin_.inputs) == input)
      reads.indices.push_back(own.as<ProducerLoad>()->indices);
  Needs needs(tensor.shape().size());
  const bool is_known = !reads.indices.empty();
  add_needs(
      op_, is_known ? std::vector{reads} : collect_reads(op_), tensor, part_.values, part_.facts,
      /*is_input=*/[](const Tensor&) { return false; },
      /*rounds_up=*/[](std::size_t) { return false; }, needs);
  std::vector<Range> region;
  for (std::size_t d = 0; d < needs.size(); ++d) {
    const Range whole =
        Range::from_min_extent(make_int(tensor.shape()[d].dtype(), 0), tensor.shape()[d]);
    region.push_back(arith::hull(needs[d], part_.facts).to_range(whole, Facts()));
  }
  return region;
}

void IntrinMatcher::compare_leaves(const Naming& names) {
  for (const auto& [own, theirs] : names.reads)
    if (is_different_ || !is_same_element(own, theirs)) is_different_ = true;
  for (const auto& [own, theirs] : names.scalars)
    if (is_different_ || !same_but_for_order(arith::simplify(substitute(own, values_), facts_),
                                             of_intrinsic(theirs)))
      is_different_ = true;
}

bool IntrinMatcher::is_same_element(const Expr& own, const Expr& theirs) const {
  const ProducerLoad &a = *own.as<ProducerLoad>(), &b = *theirs.as<ProducerLoad>();
  const MatchedInput& input = match_.inputs[place_of(b, intrin_.inputs)];
  for (std::size_t d = 0; d < input.region.size(); ++d) {
    const std::optional<std::size_t> partner = input.dims.theirs[d];
    if (!partner) continue;
    // Indices that read tensors are compared separately.
    if (effect_of(a.indices[d]) != Effect::Pure) {
      if (!is_zero(arith::simplify(input.region[d].min, facts_))) return false;
      continue;
    }
    const Expr is = index_inside(substitute(a.indices[d], values_), input, d);
    if (!arith::can_prove_equal(is, of_intrinsic(in_type(b.indices[*partner], is.dtype())), facts_))
      return false;
  }
  return true;
}

Expr IntrinMatcher::index_inside(const Expr& index, const MatchedInput& input,
                                 std::size_t d) const {
  const Tensor& target = intrin_.inputs[static_cast<std::size_t>(&input - match_.inputs.data())];
  return in_type(arith::simplify(index - input.region[d].min, facts_),
                 target.shape()[*input.dims.theirs[d]].dtype());
}

}  // namespace tenon::te
