#include "tests/fuzz/program_maker.h"

#include <algorithm>

namespace tenon::fuzz {

namespace {

bool is_prime(int number) {
  for (int n = 2; n * n <= number; ++n)
    if (number % n == 0) return false;
  return number > 1;
}

}  // namespace

void ProgramMaker::note_extent(const Size& size) {
  const bool is_constant = size.times_n == 0;
  if (counts_in_64_bits_ && is_constant) program_.notes.feature("extent", "of int64");
  program_.notes.feature("extent", !is_constant     ? size.times_n == 1 ? "n" : "a multiple of n"
                                   : size.plus == 0 ? "0"
                                   : size.plus == 1 ? "1"
                                   : is_prime(size.plus) ? "a prime"
                                                         : "another constant");
}

Size ProgramMaker::random_size() {
  if (program_.size && random_.one_in(2))
    return random_.one_in(4) ? Size{0, 2} : Size{random_.one_in(2) ? 0 : random_.between(1, 3), 1};
  static const std::vector<int> kSizes = {11, 13, 16, 16, 16, 17, 19, 31, 32, 33};
  if (random_.one_in(8)) return {1};
  return {random_.one_in(3) ? random_.pick(kSizes) : random_.between(2, 13)};
}

Shape ProgramMaker::random_shape() {
  Shape shape;
  const int rank = random_.one_in(20) ? 0 : random_.one_in(8) ? 4 : random_.between(1, 3);
  program_.notes.feature("dimensions", std::to_string(rank));
  int elements = 1;
  for (int n = 0; n < rank; ++n) {
    Size size = random_size();
    const int most = size.plus + 12 * size.times_n;
    if (elements * most > most_elements_) size = {random_.between(1, 3)};
    elements *= size.plus + 12 * size.times_n;
    note_extent(size);
    shape.push_back(size);
  }
  return shape;
}

Expr ProgramMaker::value(const Size& size) const {
  if (size.times_n > 0) return *program_.size * size.times_n + size.plus;
  return make_const(Int(counts_in_64_bits_ ? 64 : 32), size.plus);
}

std::vector<Expr> ProgramMaker::extents(const Shape& shape) const {
  std::vector<Expr> result;
  for (const Size& size : shape) result.push_back(value(size));
  return result;
}

std::optional<Expr> ProgramMaker::sum_of_two_axes(const Size& extent, const Axes& axes) {
  const Axis &a = random_.pick(axes), &b = random_.pick(axes);
  if (a.index.same_as(b.index)) return std::nullopt;
  const Size sum = {a.extent.plus + b.extent.plus - 1, a.extent.times_n + b.extent.times_n};
  if (b.extent.times_n == 0) {
    const Size joint = {a.extent.plus * b.extent.plus, a.extent.times_n * b.extent.plus};
    if (joint.fits(extent) && random_.one_in(2))
      return noted("two axes as one", a.index * b.extent.plus + b.index);
    if (a.extent.times_n == 0 && Size{(joint.plus + 2) / 3}.fits(extent) && random_.one_in(4))
      return noted("two axes divided", floordiv(a.index * b.extent.plus + b.index, 3));
  }
  if (sum.fits(extent)) return noted("a sum of two axes", a.index + b.index);
  if (random_.one_in(4))
    return noted("a remainder of two axes", floormod(a.index + b.index, value(extent)));
  return std::nullopt;
}

Expr ProgramMaker::wrapped_multiple(const Size& extent, const Axis& axis) {
  static const std::vector<int> kMax = {32767, 32768, 65535, 65536, 2147483647};
  const int factor = random_.pick(kMax) / axis.extent.plus;
  return noted("a multiple that wraps", floormod(axis.index * factor, value(extent)));
}

Expr ProgramMaker::noted(const char* kind, Expr index) {
  program_.notes.feature("index", kind);
  return index;
}

Expr ProgramMaker::index_of_axis(const Size& extent, const Axis& axis) {
  const Expr& i = axis.index;
  const bool is_constant = axis.extent.times_n == 0;
  if (is_constant && axis.extent.plus > 0 && random_.one_in(30))
    return wrapped_multiple(extent, axis);
  if (axis.extent.fits(extent)) {
    const Size doubled = {axis.extent.plus * 2 - 1, axis.extent.times_n * 2};
    if (doubled.fits(extent) && random_.one_in(3)) return noted("a multiple", i * 2);
    // In an unsigned type, the difference would wrap instead of being negative.
    if (random_.one_in(6)) return noted("reversed", cast(i.dtype(), value(axis.extent)) - 1 - i);
    if (random_.one_in(8)) return noted("divided", floordiv(i, random_.between(2, 4)));
    if (random_.one_in(8))
      return noted("a remainder", floormod(i, random_.between(1, extent.least())));
    return noted("an axis and an offset",
                 i + random_.between(0, extent.least() - axis.extent.least()));
  }
  for (int divisor : {2, 3, 4, 8})
    if (is_constant && Size{(axis.extent.plus + divisor - 1) / divisor}.fits(extent) &&
        random_.one_in(2))
      return noted("divided", floordiv(i, divisor));
  if (random_.one_in(4)) return noted("clamped", min(i, value(extent) - 1));
  return noted("a remainder", floormod(i, value(extent)));
}

namespace {

/// How often the axis can be stepped over in steps of that length, at most three, within so many
/// elements; 0 where not once.
int longest_step(int extent, const Axis& axis) {
  if (axis.extent.times_n > 0) return 0;
  return axis.extent.plus <= 1 ? 3 : std::min(3, (extent - 1) / (axis.extent.plus - 1));
}

}  // namespace

std::optional<Expr> ProgramMaker::extreme_of_two(const Size& extent, const Axes& axes) {
  const Axis &a = random_.pick(axes), &b = random_.pick(axes);
  const int most = std::min(longest_step(extent.least(), a), longest_step(extent.least(), b));
  if (most == 0 || a.index.dtype() != b.index.dtype()) return std::nullopt;
  const bool is_least = random_.one_in(2), is_backwards = random_.one_in(2);
  const int factor = random_.between(1, most) * (is_backwards ? -1 : 1);
  const Expr x = a.index * factor, y = b.index * factor;
  const Expr one = is_least ? min(x, y) : max(x, y);
  return noted("an extreme of multiples",
               is_backwards ? one + cast(one.dtype(), value(extent) - 1) : one);
}

std::optional<Expr> ProgramMaker::choice_of_two(const Size& extent, const Axes& axes) {
  const Axis &a = random_.pick(axes), &b = random_.pick(axes);
  if (a.extent.times_n + b.extent.times_n > 0 || a.index.dtype() != b.index.dtype())
    return std::nullopt;
  const int factor_of_a = 1 << random_.between(0, 2), factor_of_b = random_.between(1, 4);
  const int offset_of_a = random_.one_in(2) ? 0 : random_.between(0, 3);
  const int offset_of_b = random_.between(0, 3);
  const Expr x = a.index * factor_of_a + offset_of_a, y = b.index * factor_of_b + offset_of_b;
  const int most = std::max((a.extent.plus - 1) * factor_of_a + offset_of_a,
                            (b.extent.plus - 1) * factor_of_b + offset_of_b);
  const Axis& asked = random_.pick(axes);
  const Expr condition = random_.one_in(2)   ? floormod(asked.index, 2) == 0
                         : random_.one_in(2) ? asked.index < random_.between(1, 8)
                                             : a.index < b.index;
  const Expr one = random_.one_in(2) ? select(condition, x, y) : if_then_else(condition, x, y);
  const int divisor = 1 << random_.between(1, 2);
  if (divisor <= extent.least() && random_.one_in(2))
    return noted("a choice of multiples, remainder", floormod(one, divisor));
  if (most < extent.least() && random_.one_in(2)) return noted("a choice of multiples", one);
  if (most / divisor < extent.least())
    return noted("a choice of multiples, divided", floordiv(one, divisor));
  return noted("a choice of multiples, remainder", floormod(one, cast(one.dtype(), value(extent))));
}

Expr ProgramMaker::index(const Size& extent, const Axes& axes) {
  if (axes.empty() || random_.one_in(12))
    return noted("constant", Expr(random_.between(0, extent.least() - 1)));
  if (axes.size() > 1 && random_.one_in(4))
    if (std::optional<Expr> sum = sum_of_two_axes(extent, axes)) return *sum;
  if (axes.size() > 1 && random_.one_in(8))
    if (std::optional<Expr> one = extreme_of_two(extent, axes)) return *one;
  if (random_.one_in(8))
    if (std::optional<Expr> one = choice_of_two(extent, axes)) return *one;
  return index_of_axis(extent, random_.pick(axes));
}

std::optional<Expr> ProgramMaker::looked_up_index(const Size& extent, const Axes& axes) {
  const KnownTensor& from = random_tensor(Int(32));
  if (from.tensor.dtype().is_floating() || !random_.one_in(10)) return std::nullopt;
  std::vector<Expr> at;
  for (const Size& size : from.shape) at.push_back(index(size, axes));
  const Expr number = cast(value(extent).dtype(), from.tensor(at));
  return noted("read from a tensor", max(min(number, value(extent) - 1), 0));
}

const KnownTensor& ProgramMaker::random_tensor(DataType type) {
  const int last = static_cast<int>(tensors_.size()) - 1;
  const KnownTensor& chosen = tensors_[static_cast<std::size_t>(
      random_.between(random_.one_in(2) ? 0 : std::max(0, last - 1), last))];
  // Two computations of an inexact value may give one just below a number and one above.
  const bool fits = chosen.magnitude.exact || type.is_floating();
  return fits ? chosen : tensors_.front();
}

ExactValue ProgramMaker::read(const Axes& axes, DataType type) {
  if (random_.one_in(program_.size ? 4 : 10))
    if (const std::optional<ExactValue> e = padded_read(axes, type)) return *e;
  const KnownTensor& from = random_tensor(type);
  std::vector<Expr> at;
  for (std::size_t d = 0; d < from.shape.size(); ++d) {
    const bool same = d < axes.size() && axes[d].extent == from.shape[d];
    if (auto looked_up = looked_up_index(from.shape[d], axes); looked_up && !same)
      at.push_back(*looked_up);
    else
      at.push_back(same && !random_.one_in(4) ? axes[d].index : index(from.shape[d], axes));
  }
  if (!axes.empty() && !at.empty() && axes[0].extent.fits(from.shape[0]) && random_.one_in(5)) {
    at[0] = noted("a neighbour, guarded", axes[0].index - 1);
    const ExactValue e = load(from, at, type);
    return {if_then_else(axes[0].index >= 1, e.value, make_const(type, 0)), e.magnitude};
  }
  return load(from, at, type);
}

Expr ProgramMaker::comparison(const Axes& axes) {
  // Exact whatever is compared: the first input is.
  const DataType type = tensors_.front().tensor.dtype();
  if (type.is_bool()) return read(axes, type).value;
  const DataType compared = type.is_floating() ? Int(32) : type;
  const Expr a = read(axes, compared).value;
  const Expr b = read(axes, compared).value;
  switch (random_.between(0, 2)) {
    case 0:
      return a < b;
    case 1:
      return a == b;
    default:
      return a >= b;
  }
}

ExactValue ProgramMaker::element(const Axes& axes, DataType type) {
  ExactValue e = type.is_bool() && random_.one_in(2) ? ExactValue{comparison(axes), magnitude_of(1)}
                                                     : read(axes, type);
  if (random_.one_in(program_.size ? 3 : 16))
    if (const std::optional<ExactValue> both = both_neighbours(axes, type))
      e = combine(ExactOperation::Add, e, *both);
  const int more = random_.between(0, 2);
  for (int n = 0; n < more; ++n) {
    const ExactValue other = read(axes, type);
    if (type.is_floating() && other.magnitude.high < 8 && random_.one_in(12)) {
      program_.notes.operation("function such as exp", type);
      e = apply(static_cast<Function>(random_.between(0, kFunctions - 1)), e, other);
      continue;
    }
    const auto operation = static_cast<ExactOperation>(random_.between(0, kExactOperations - 1));
    e = combine(operation, e, other);
  }
  if (random_.one_in(12)) {
    const ExactValue other = read(axes, type);
    e = {select(comparison(axes), e.value, other.value), joined(e.magnitude, other.magnitude)};
  }
  return random_.one_in(3) && !type.is_bool()
             ? combine(ExactOperation::Add, e, exact_constant(type, 3))
             : e;
}

ExactValue ProgramMaker::exact_element(const Axes& axes, DataType type) {
  const ExactValue e = element(axes, type);
  if (e.magnitude.exact) return e;
  const KnownTensor& input = tensors_.front();
  std::vector<Expr> at;
  for (const Size& size : input.shape) at.push_back(index(size, axes));
  return exact_cast(type, {input.tensor(at), input.magnitude});
}

}  // namespace tenon::fuzz
