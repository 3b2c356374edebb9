#include <limits>

#include "tests/fuzz/program_maker.h"

namespace tenon::fuzz {

namespace {

/// Points times elements, so that one evaluation stays quick.
constexpr int kMaxPoints = 12'000;

int elements_of(const Shape& shape) {
  int elements = 1;
  for (const Size& size : shape) elements *= size.plus + 12 * size.times_n;
  return elements;
}

using Args = std::span<const Var>;
using Exprs = std::vector<Expr>;

/// -1, 0 or 1.
Expr trunc_to_one(const Expr& e) {
  const Expr one = make_const(e.dtype(), 1);
  return trunc(max(min(e, one), one * -1));
}

}  // namespace

ProgramMaker::Reduction ProgramMaker::random_reduction(const Shape& shape) {
  Reduction r;
  const int rank = random_.one_in(8) ? 3 : random_.between(1, 2);
  static const std::vector<const char*> kRanks = {"one axis", "two axes", "three axes"};
  program_.notes.feature("reduction over", kRanks[static_cast<std::size_t>(rank - 1)]);
  static const std::vector<int> kExtents = {10, 11, 13, 16, 17, 32, 33};
  for (int n = 0; n < rank; ++n) {
    const bool symbolic = program_.size && random_.one_in(4);
    Size extent = symbolic ? Size{0, 1} : Size{random_.between(1, 9)};
    if (!symbolic && random_.one_in(3)) extent = {random_.pick(kExtents)};
    if (!symbolic && r.points * extent.plus * elements_of(shape) > kMaxPoints)
      extent = {random_.between(1, 4)};
    if (!symbolic && random_.one_in(50)) extent = {0};
    if (symbolic || extent.plus == 0)
      program_.notes.feature("reduction over", symbolic ? "n" : "nothing");
    const Expr begin = random_begin(extent);
    Expr count = value(extent);
    if (symbolic && random_.one_in(4)) {
      program_.notes.feature("reduction over", "n - 9");
      count = count - 9;
    }
    const te::IterVar k = te::reduce_axis(Range::from_min_extent(begin, cast(begin.dtype(), count)),
                                          "k" + std::to_string(n));
    r.axes.push_back(k);
    r.indices.push_back({is_zero(begin) ? Expr(k) : cast(Int(32), Expr(k) - begin), extent});
    r.points *= symbolic ? 32 : extent.plus;
  }
  return r;
}

/// Mostly 0; sometimes such that the axis ends where a type does, or goes beyond 32 bits.
Expr ProgramMaker::random_begin(const Size& extent) {
  const auto noted = [&](const char* kind) {
    program_.notes.feature("begin of a reduction", kind);
  };
  if (random_.one_in(5)) {
    const bool is_negative = random_.one_in(3);
    noted(is_negative ? "-3 to -1" : "1 to 3");
    return is_negative ? random_.between(-3, -1) : random_.between(1, 3);
  }
  if (extent.times_n > 0 || !random_.one_in(12)) {
    noted("0");
    return 0;
  }
  switch (random_.between(0, 4)) {
    case 0:
      noted("around 2^15");
      return (1 << 15) - random_.between(0, extent.plus);
    case 1:
      noted("around 2^16");
      return (1 << 16) - random_.between(0, extent.plus);
    case 2:
      noted("near the greatest int32");
      return std::numeric_limits<int>::max() - extent.plus;
    case 3:
      noted("the least int32");
      return std::numeric_limits<int>::min() + random_.between(0, 1);
    default:
      noted("beyond int32");
      return make_const(
          Int(64), (std::int64_t{1} << random_.between(31, 33)) - random_.between(0, extent.plus));
  }
}

te::ReduceOptions ProgramMaker::random_condition(const Axes& own, const Reduction& over) {
  te::ReduceOptions options;
  const auto noted = [&](const char* kind) {
    program_.notes.feature("condition of a reduction", kind);
  };
  if (!random_.one_in(4)) {
    noted("none");
    return options;
  }
  const Expr k = random_.pick(over.indices).index;
  const Expr i = own.empty() ? Expr(2) : random_.pick(own).index;
  const int kind = random_.between(0, 5);
  noted(kind == 5 ? "of data" : "of indices");
  switch (kind) {
    case 0:
      options.where = k <= i + 2;
      break;
    case 1:
      options.where = floormod(k, 3) != 0;
      break;
    case 2:
      options.where = floormod(k * 2 + i, 5) != 1;
      break;
    case 3:
      options.where = k + i < random_.between(1, 20);
      break;
    case 4:
      options.where = floordiv(k, 2) >= i || k == 0;
      break;
    default:
      options.where = comparison(inside(own, over.indices));
  }
  return options;
}

Expr ProgramMaker::simple_reduction(const ExactValue& e, const Reduction& over,
                                    te::ReduceOptions options, Magnitude& magnitude) {
  const DataType type = e.value.dtype();
  if (type.is_bool()) {
    magnitude = magnitude_of(1);
    const bool all = random_.one_in(2);
    program_.notes.operation(all ? "all" : "any", type);
    return all ? te::all(e.value, over.axes, options) : te::any(e.value, over.axes, options);
  }
  const Magnitude with_init = joined(e.magnitude, magnitude_of(5));
  const Magnitude summed = sum_of(with_init, over.points + 1);
  Magnitude multiplied = with_init;
  for (int n = 0; n < over.points && multiplied.high < 2000; ++n)
    multiplied = product_of(multiplied, e.magnitude);
  const int kind = random_.between(0, 5);
  if (kind <= 2 && is_held(type, summed)) {
    magnitude = in_type(type, summed);
    program_.notes.operation("sum", type);
    return te::sum(e.value, over.axes, options);
  }
  if (kind == 3 && is_held(type, multiplied) && e.magnitude.exact) {
    magnitude = in_type(type, multiplied);
    program_.notes.operation("prod", type);
    return te::prod(e.value, over.axes, options);
  }
  // An empty maximum is the least value of the type, with which no sum is exact.
  magnitude = options.where || over.points == 0 ? magnitude_of_any(type)
                                                : joined(e.magnitude, magnitude_of(5));
  magnitude.exact = e.magnitude.exact;
  program_.notes.operation(kind % 2 ? "max" : "min", type);
  return kind % 2 ? te::max(e.value, over.axes, options) : te::min(e.value, over.axes, options);
}

/// The sum of the elements at even indices of an axis, and the largest element at others.
Expr ProgramMaker::reduction_by_an_axis(const Expr& e, const Expr& index, const Reduction& over,
                                        const te::ReduceOptions& options) {
  const Expr is_even = floormod(index, 2) == 0;
  program_.notes.operation("sum or max by an axis", e.dtype());
  const te::Reducer reducer = te::comm_reducer(
      [=](Args x, Args y) { return Exprs{select(is_even, x[0] + y[0], max(x[0], y[0]))}; },
      [=](std::span<const DataType> types) {
        return Exprs{select(is_even, make_const(types[0], 0), min_value(types[0]))};
      },
      "sum_or_max");
  return reducer(e, over.axes, options);
}

void ProgramMaker::add_reduction(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  add_compute(name, shape, [&](const Axes& own) {
    const ExactValue e = element(inside(own, over.indices), type);
    te::ReduceOptions options = random_condition(own, over);
    // An empty maximum would be beyond every tolerance.
    if (!e.magnitude.exact) options.where = std::nullopt;
    if (random_.one_in(6) && !type.is_bool()) {
      options.init = {make_const(type, 5)};
      program_.notes.operation("reduction with an init", type);
    }
    ExactValue result{e.value, {}};
    if (type.is_integral() && !type.is_bool() && !own.empty() && random_.one_in(8)) {
      result.magnitude = magnitude_of_any(type);
      result.value = reduction_by_an_axis(e.value, random_.pick(own).index, over, options);
      return result;
    }
    result.value = simple_reduction(e, over, options, result.magnitude);
    return result;
  });
}

void ProgramMaker::add_tuple_reduction(const std::string& name, DataType type) {
  // Comparisons and products of complex numbers depend on the order where there is a NaN.
  const bool is_ordered = !type.is_floating() || program_.data == testing::Data::Small;
  const DataType numbers = type.is_bool() || !is_ordered ? Int(32) : type;
  const auto noted = [&](const char* kind, DataType of) { program_.notes.operation(kind, of); };
  const DataType whole = numbers.is_floating() ? Int(32) : numbers;
  switch (random_.between(0, 5)) {
    case 0:
    case 1:
      noted("extreme and its place", numbers);
      return add_extreme_place(name, numbers);
    case 2:
      noted("extreme of unique keys", whole);
      return add_extreme_of_unique_keys(name, whole);
    case 3:
      noted("moments", numbers);
      return add_moments(name, numbers);
    case 4:
      noted("complex product", numbers);
      return add_complex_product(name, numbers);
    default:
      noted("range", numbers);
      return add_range(name, numbers);
  }
}

/// The least or the greatest element and where it is; of equal ones the first, in whatever order
/// they come.
void ProgramMaker::add_extreme_place(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  const bool greatest = random_.one_in(2);
  const std::size_t place = random_.one_in(2) ? 0 : 1, key = 1 - place;
  const te::Reducer reducer = te::comm_reducer(
      [=](Args x, Args y) {
        const Expr better = greatest ? x[key] > y[key] : x[key] < y[key];
        const Expr first = better || (x[key] == y[key] && x[place] <= y[place]);
        return Exprs{select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [=](std::span<const DataType> types) {
        Exprs identity(2, max_value(types[place]));
        identity[key] = greatest ? min_value(types[key]) : max_value(types[key]);
        return identity;
      },
      greatest ? "argmax" : "argmin");
  Magnitude magnitude;
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        const Axes own = axes_of(vars, shape);
        const Axes axes = inside(own, over.indices);
        const ExactValue e = exact_element(axes, type);
        magnitude = e.magnitude;
        Expr at = over.indices[0].index;
        for (std::size_t n = 1; n < over.indices.size(); ++n) at = at * 40 + over.indices[n].index;
        const te::ReduceOptions options = random_condition(own, over);
        if (options.where || over.points == 0) magnitude = magnitude_of_any(type);
        return reducer(place == 0 ? Exprs{at, e.value} : Exprs{e.value, at}, over.axes, options);
      },
      name);
  add_output(outputs[0], shape, place == 0 ? magnitude_of_any(Int(32)) : magnitude);
  add_output(outputs[1], shape, place == 1 ? magnitude_of_any(Int(32)) : magnitude);
}

/// Adds the reducer of many programs, in which the left one of equal keys wins, on unique keys.
void ProgramMaker::add_extreme_of_unique_keys(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  const std::size_t key = random_.one_in(2) ? 0 : 1, value = 1 - key;
  const te::Reducer reducer = te::comm_reducer(
      [=](Args x, Args y) {
        const Expr first = x[key] <= y[key];
        return Exprs{select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [=](std::span<const DataType> types) {
        Exprs identity(2, max_value(types[key]));
        identity[value] = make_const(types[value], 0);
        return identity;
      },
      "argmin");
  Magnitude magnitude;
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        const Axes own = axes_of(vars, shape), axes = inside(own, over.indices);
        Expr place = over.indices[0].index;
        for (std::size_t n = 1; n < over.indices.size(); ++n)
          place = place * 40 + over.indices[n].index;
        const Expr unique = floormod(exact_element(axes, Int(32)).value, 8) * 65536 + place;
        const ExactValue e = exact_element(axes, type);
        magnitude = joined(e.magnitude, magnitude_of(0));
        return reducer(key == 0 ? Exprs{unique, e.value} : Exprs{e.value, unique}, over.axes,
                       random_condition(own, over));
      },
      name);
  add_output(outputs[0], shape, key == 0 ? magnitude_of_any(Int(32)) : magnitude);
  add_output(outputs[1], shape, key == 1 ? magnitude_of_any(Int(32)) : magnitude);
}

/// The sum and the sum of squares.
void ProgramMaker::add_moments(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  const te::Reducer moments = te::comm_reducer(
      [](Args x, Args y) {
        return Exprs{x[0] + y[0], x[1] + y[1]};
      },
      [](std::span<const DataType> types) {
        return Exprs{make_const(types[0], 0), make_const(types[1], 0)};
      },
      "moments");
  Magnitude sum, squares;
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        const Axes own = axes_of(vars, shape);
        ExactValue e = exact_element(inside(own, over.indices), type);
        const auto are_squares_held = [&] {
          return is_held(type, sum_of(product_of(e.magnitude, e.magnitude), over.points));
        };
        if (!are_squares_held()) e = {trunc_to_one(e.value), {1, 0}};
        // More ones than bfloat16 counts.
        if (!are_squares_held()) e = {e.value * make_const(type, 0), {0, 0}};
        sum = sum_of(e.magnitude, over.points);
        squares = sum_of(product_of(e.magnitude, e.magnitude), over.points);
        return moments({e.value, e.value * e.value}, over.axes, random_condition(own, over));
      },
      name);
  add_output(outputs[0], shape, in_type(type, sum));
  add_output(outputs[1], shape, in_type(type, squares));
}

/// Each component of an update reads both of what was.
void ProgramMaker::add_complex_product(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  // Factors in the unit square, every two of which double the greatest product.
  const Magnitude product = {over.points / 2 + 2, 0};
  const DataType held = is_held(type, product) ? type : Int(32);
  const te::Reducer multiply = te::comm_reducer(
      [](Args x, Args y) {
        return Exprs{x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
      },
      [](std::span<const DataType> types) {
        return Exprs{make_const(types[0], 1), make_const(types[1], 0)};
      },
      "multiply");
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        const Axes own = axes_of(vars, shape), axes = inside(own, over.indices);
        Exprs parts;
        for (int n = 0; n < 2; ++n) {
          const Expr e = exact_element(axes, held).value;
          parts.push_back(held.is_floating() ? trunc_to_one(e) : e);
        }
        return multiply(parts, over.axes, random_condition(own, over));
      },
      name);
  const Magnitude magnitude = held.is_floating() ? product : magnitude_of_any(held);
  add_output(outputs[0], shape, magnitude);
  add_output(outputs[1], shape, magnitude);
}

/// The least, the greatest and their number's parity.
void ProgramMaker::add_range(const std::string& name, DataType type) {
  const Shape shape = random_shape();
  const Reduction over = random_reduction(shape);
  const te::Reducer range = te::comm_reducer(
      [](Args x, Args y) {
        return Exprs{min(x[0], y[0]), max(x[1], y[1]), x[2] ^ y[2]};
      },
      [](std::span<const DataType> types) {
        return Exprs{max_value(types[0]), min_value(types[1]), make_const(types[2], 0)};
      },
      "range");
  Magnitude magnitude;
  const std::vector<te::Tensor> outputs = te::compute_multi(
      extents(shape),
      [&](std::span<const Var> vars) {
        const Axes own = axes_of(vars, shape), axes = inside(own, over.indices);
        const ExactValue e = exact_element(axes, type);
        const te::ReduceOptions options = random_condition(own, over);
        const bool may_be_nothing = options.where || over.points == 0;
        magnitude = may_be_nothing ? magnitude_of_any(type) : e.magnitude;
        return range({e.value, e.value, exact_element(axes, Int(16)).value}, over.axes, options);
      },
      name);
  add_output(outputs[0], shape, magnitude);
  add_output(outputs[1], shape, magnitude);
  add_output(outputs[2], shape, magnitude_of_any(Int(16)));
}

}  // namespace tenon::fuzz
