// Reasons why a part of a stage does not match an intrinsic.
#include <algorithm>

#include "te/intrinsics/intrin_matcher.h"
#include "te/operations/declare.h"

namespace tenon::te {

using namespace tir;

void IntrinMatcher::explain(const Naming& given) {
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

void IntrinMatcher::name_the_rest(Naming& names) const {
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

void IntrinMatcher::compare(BodyMatcher& bodies, const BodyPair& body, const Naming& names) {
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

Expr IntrinMatcher::translated(const Expr& e, const Expr* read, const Naming& names) const {
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

std::optional<std::size_t> IntrinMatcher::input_for(std::size_t tensor, const Expr* read,
                                                    const Naming& names) const {
  if (read) {
    const std::size_t likely = place_of(*read->as<ProducerLoad>(), intrin_.inputs);
    if (names.tensors[likely] == tensor) return likely;
  }
  const auto first = std::find(names.tensors.begin(), names.tensors.end(), tensor);
  if (first == names.tensors.end()) return std::nullopt;
  return static_cast<std::size_t>(first - names.tensors.begin());
}

std::string IntrinMatcher::how_axes_differ() const {
  std::size_t i = data_.own.size(), j = data_.theirs.size();
  while (i > 0 && j > 0 &&
         arith::can_prove_equal(data_.extents[i - 1], data_.wanted[j - 1], facts_))
    --i, --j;
  if (i == 0 || j == 0) return numbers_of_iterations(data_, "data axes");
  return extents_of_axes(data_, i - 1, j - 1);
}

std::string IntrinMatcher::how_reductions_differ(const AxisNames& names) const {
  for (std::size_t n = 0; n < reduce_.own.size(); ++n)
    for (std::size_t t = 0; t < reduce_.theirs.size(); ++t)
      if (!names[n] && !is_one(reduce_.extents[n]) && !is_one(reduce_.wanted[t]) &&
          std::find(names.begin(), names.end(), t) == names.end())
        return extents_of_axes(reduce_, n, t);
  return numbers_of_iterations(reduce_, "reduction axes");
}

std::string IntrinMatcher::numbers_of_iterations(const Axes& axes, const std::string& what) {
  return "its " + what + " have " + print_list(axes.extents) +
         " iterations there, those of the intrinsic " + print_list(axes.wanted);
}

std::string IntrinMatcher::extents_of_axes(const Axes& axes, std::size_t own, std::size_t theirs) {
  return "axis `" + axes.own[own].name() + "` has the extent " + print_expr(axes.extents[own]) +
         " there, `" + axes.theirs[theirs].name() + "` of the intrinsic has " +
         print_expr(axes.wanted[theirs]);
}

}  // namespace tenon::te
