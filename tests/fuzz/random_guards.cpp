// Reads at places that a tensor has only for some values of the axes, behind conditions: of a
// window that moves in steps and begins before the first element, or that goes backwards, or of the
// neighbours on both sides.
#include <algorithm>

#include "tests/fuzz/program_maker.h"

namespace tenon::fuzz {

namespace {

/// a >= b, in one of the ways to write it.
Expr at_least(Random& random, const Expr& a, const Expr& b) {
  switch (random.between(0, 2)) {
    case 0:
      return a >= b;
    case 1:
      return b <= a;
    default:
      return a - b >= 0;
  }
}

}  // namespace

/// The axis times a step, moved: less than the extent in places, and less than 0.
ProgramMaker::Guarded ProgramMaker::padded_index(const Size& extent, const Axis& axis) {
  const int step = random_.between(1, 3), padding = random_.between(0, 5);
  const Expr multiple = step == 1 ? axis.index : axis.index * step;
  // In an unsigned type, the differences would wrap instead of being negative.
  const Expr end = cast(axis.index.dtype(), value(extent));
  if (random_.one_in(3)) {
    // From a place near the end, or from the end itself, down.
    const bool is_constant = random_.one_in(2);
    const Expr from = is_constant ? Expr(random_.between(0, extent.least() - 1)) : end - 1;
    noted("counted down, guarded", multiple);
    return {from - multiple, {at_least(random_, from, multiple)}};
  }
  noted("a multiple, padded", multiple);
  return {multiple - padding,
          {at_least(random_, multiple, padding),
           random_.one_in(2) ? multiple < end + padding : multiple - padding < end}};
}

/// `inside` if the conditions hold, and another value otherwise: the conditions are conjoined or
/// nested.
ExactValue ProgramMaker::guarded(const std::vector<Expr>& conditions, const ExactValue& inside) {
  const DataType type = inside.value.dtype();
  const int other = type.is_bool() || random_.one_in(2) ? 0 : 1;
  const Expr outside = make_const(type, other);
  Expr result = inside.value;
  if (random_.one_in(2)) {
    Expr all = conditions.front();
    for (std::size_t n = 1; n < conditions.size(); ++n) all = all && conditions[n];
    result = if_then_else(all, result, outside);
  } else {
    for (std::size_t n = conditions.size(); n-- > 0;)
      result = if_then_else(conditions[n], result, outside);
  }
  return {result, joined(inside.magnitude, magnitude_of(other))};
}

ExactValue ProgramMaker::load(const KnownTensor& from, const std::vector<Expr>& at, DataType type) {
  const ExactValue e{from.tensor(at), from.magnitude};
  if (type.is_bool() && !from.tensor.dtype().is_bool())
    return {e.value > make_const(from.tensor.dtype(), 0), magnitude_of(1)};
  return exact_cast(type, e);
}

/// Reads any tensor with one index that only conditions keep in bounds; the others are as
/// elsewhere.
std::optional<ExactValue> ProgramMaker::padded_read(const Axes& axes, DataType type) {
  const KnownTensor& from = random_tensor(type);
  if (axes.empty() || from.shape.empty()) return std::nullopt;
  const auto padded =
      static_cast<std::size_t>(random_.between(0, static_cast<int>(from.shape.size()) - 1));
  std::vector<Expr> at, conditions;
  for (std::size_t d = 0; d < from.shape.size(); ++d) {
    if (d != padded) {
      at.push_back(index(from.shape[d], axes));
      continue;
    }
    const Guarded chosen = padded_index(from.shape[d], random_axis(axes));
    at.push_back(chosen.index);
    conditions = chosen.conditions;
  }
  return guarded(conditions, load(from, at, type));
}

/// The sum of an element so many places before and one so many places behind, of those that exist:
/// which of the two conditions ends first only the size decides, where it is symbolic.
std::optional<ExactValue> ProgramMaker::both_neighbours(const Axes& axes, DataType type) {
  if (axes.empty()) return std::nullopt;
  const KnownTensor& from = random_tensor(type);
  const Axis& axis = random_axis(axes);
  std::size_t along = from.shape.size();
  for (std::size_t d = 0; d < from.shape.size(); ++d)
    if (from.shape[d] == axis.extent) along = d;
  if (along == from.shape.size()) return std::nullopt;
  const int before = random_.between(1, 9), behind = random_.between(1, 9);
  std::vector<Expr> at;
  for (const Size& size : from.shape) at.push_back(index(size, axes));
  at[along] = axis.index - before;
  const ExactValue left = guarded({at_least(random_, axis.index, before)}, load(from, at, type));
  at[along] = axis.index + behind;
  const ExactValue right =
      guarded({axis.index + behind < value(axis.extent)}, load(from, at, type));
  noted("both neighbours, guarded", axis.index);
  return combine(ExactOperation::Add, left, right);
}

/// One that a size decides how long it is, if there is one.
const Axis& ProgramMaker::random_axis(const Axes& axes) {
  const Axis& any = random_.pick(axes);
  if (any.extent.times_n > 0 || random_.one_in(3)) return any;
  const auto found = std::ranges::find_if(axes, [](const Axis& a) { return a.extent.times_n > 0; });
  return found == axes.end() ? any : *found;
}

}  // namespace tenon::fuzz
