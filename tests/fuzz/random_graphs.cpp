#include <algorithm>
#include <array>
#include <bit>
#include <sstream>

#include "tests/fuzz/program_maker.h"

namespace tenon::fuzz {

namespace {

bool is_small(const Magnitude& magnitude) { return magnitude.high <= 4; }

/// Softmax and the like leave room for what is computed of them.
bool is_wide(DataType type) { return type == Float(32) || type == Float(64); }

}  // namespace

const KnownTensor* ProgramMaker::random_matrix(bool floating) {
  std::vector<const KnownTensor*> matrices;
  for (const KnownTensor& known : tensors_) {
    const bool fits = known.shape.size() == 2 && !known.tensor.dtype().is_bool();
    if (fits && (!floating || is_wide(known.tensor.dtype()))) matrices.push_back(&known);
  }
  return matrices.empty() ? nullptr : random_.pick(matrices);
}

bool ProgramMaker::add_graph(const std::string& name) {
  switch (random_.between(0, 12)) {
    case 0:
      return add_scan(name);
    case 1:
    case 11:
    case 12:
      return add_scan_of_two(name);
    case 2:
    case 3:
      return noted("softmax", add_softmax(name));
    case 4:
      return noted("layer norm", add_layer_norm(name));
    case 5:
      return noted("product", add_product(name));
    case 6:
      return noted("stencil", add_stencil(name));
    case 7:
      return noted("distant part", add_distant_part(name));
    default:
      return noted("sums of rows", add_row_sum(name));
  }
}

bool ProgramMaker::noted(const char* graph, bool is_made) {
  if (is_made) program_.notes.feature("graph", graph);
  return is_made;
}

void ProgramMaker::note_scan(const char* kind, DataType type, const Size& rows, int first) {
  program_.notes.operation(kind, type);
  const int steps = rows.plus - first;
  program_.notes.feature("steps of a scan", rows.times_n > 0 ? "n - 1"
                                            : steps == 0     ? "none"
                                            : steps == 1     ? "one"
                                                             : "several");
  if (first > 1) program_.notes.feature("steps of a scan", "after two first states");
}

/// Running sums down the first dimension of a matrix; none if there is no matrix of which they are
/// exact. Of as many rows as there are first states, no step is left.
bool ProgramMaker::add_scan(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from) return false;
  const int first = from->shape[0].least() > 1 && random_.one_in(3) ? 2 : 1;
  const DataType type = from->tensor.dtype();
  const Magnitude magnitude = sum_of(from->magnitude, 32);
  if (!is_held(type, magnitude) || !magnitude.exact) return false;
  const te::Tensor X = from->tensor;
  const Shape shape = from->shape;
  const te::Tensor state = te::placeholder(extents(shape), name + ".state", type);
  note_scan("scan", type, shape[0], first);
  const te::Tensor init = te::compute(
      {first, value(shape[1])}, [&](std::span<const Var> at) { return X(at[0], at[1]); },
      name + ".init");
  const te::Tensor update = te::compute(
      extents(shape),
      [&](std::span<const Var> at) { return state(at[0] - 1, at[1]) + X(at[0], at[1]); },
      name + ".update");
  add_output(te::scan(init, update, state, {X}, name), shape, in_type(type, magnitude));
  return true;
}

/// Two states that step together, of which readers take different parts.
bool ProgramMaker::add_scan_of_two(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from || from->shape[0].least() < 3 || from->shape[1].times_n != 0) return false;
  const DataType type = from->tensor.dtype();
  Magnitude magnitude = sum_of(from->magnitude, 40);
  if (!is_held(type, magnitude) || !magnitude.exact) return false;
  const te::Tensor X = from->tensor;
  const Shape shape = from->shape;
  note_scan("scan of two states", type, shape[0], 1);
  const Expr steps = value(shape[0]);
  const int wide = shape[1].plus, narrow = random_.between(1, wide);
  const te::Tensor a = te::placeholder({steps, wide}, name + ".a", type);
  const te::Tensor b = te::placeholder({steps, narrow}, name + ".b", type);
  const bool shifted = random_.one_in(2);
  auto step = [&](Expr rows, int columns, const std::function<Expr(Var, Var)>& body,
                  const char* part) {
    return te::compute(
        {std::move(rows), columns}, {"t", "i"}, [&](Var t, Var i) { return body(t, i); },
        name + part);
  };
  const te::Tensor a0 = step(
      1, wide, [&](Var, Var i) { return X(0, i); }, ".a0");
  const te::Tensor b0 = step(
      1, narrow, [&](Var, Var i) { return X(1, i); }, ".b0");
  // Floats grow by one element a step, so that they stay exact.
  const bool is_whole = !type.is_floating();
  if (is_whole) magnitude = magnitude_of_any(type);
  const te::Tensor a1 = step(
      steps, wide,
      [&](Var t, Var i) {
        const Expr own = a(t - 1, shifted ? max(i - 1, 0) : Expr(i));
        const Expr other = b(t - 1, min(i, narrow - 1));
        return is_whole ? own + X(t, i) + other : max(own, other) + X(t, i);
      },
      ".a1");
  const te::Tensor b1 = step(
      steps, narrow,
      [&](Var t, Var i) {
        const Expr own = b(t - 1, i), other = a(t - 1, i);
        return is_whole ? other - own * 2 : min(other, own) - X(t, i);
      },
      ".b1");
  const std::vector<te::Tensor> all = te::scan({a0, b0}, {a1, b1}, {a, b}, {X}, name);
  add_output(all[0], shape, magnitude);
  add_output(all[1], {shape[0], {narrow}}, magnitude);
  if (!random_.one_in(4)) add_readers_of_states(name, all, shape[0].least(), narrow, magnitude);
  return true;
}

/// The last steps of one state and the first of another, or the last of one alone.
void ProgramMaker::add_readers_of_states(const std::string& name,
                                         const std::vector<te::Tensor>& states, int steps,
                                         int columns, Magnitude magnitude) {
  const int depth = random_.between(1, steps - 1);
  const std::size_t late = random_.one_in(3) ? 0 : 1;
  const bool is_alone = random_.one_in(3);
  const DataType type = states[0].dtype();
  const Magnitude both = sum_of(magnitude, 1);
  const Magnitude known = in_type(type, both);
  program_.notes.feature("states of a scan",
                         is_alone    ? late == 0 ? "the first alone" : "the second alone"
                         : late == 0 ? "later steps of the first"
                                     : "later steps of the second");
  add_compute(name + ".out", {{depth}, {columns}}, [&](const Axes& at) {
    const Expr first = at[0].index, last = at[0].index + (steps - depth);
    const Expr one = states[late](last, at[1].index);
    if (is_alone) return ExactValue{one, known};
    const Expr other = states[1 - late](first, at[1].index);
    return ExactValue{type.is_floating() && !is_held(type, both) ? max(one, other) : one + other,
                      known};
  });
}

bool ProgramMaker::add_softmax(const std::string& name) {
  const KnownTensor* from = random_matrix(true);
  if (!from || !is_small(from->magnitude)) return false;
  const te::Tensor X = from->tensor;
  const Shape shape = from->shape, rows = {shape[0]};
  const Magnitude values = from->magnitude;
  const te::IterVar k = te::reduce_axis({0, value(shape[1])}, "k");
  const te::IterVar l = te::reduce_axis({0, value(shape[1])}, "l");
  const te::Tensor most = add_compute(name + ".max", rows, [&](const Axes& at) {
    return ExactValue{te::max(X(at[0].index, k), {k}), values};
  });
  const bool keeps_powers = random_.one_in(2);
  std::optional<te::Tensor> powers;
  auto power = [&](const Expr& i, const Expr& j) { return exp(X(i, j) - most(i)); };
  if (keeps_powers)
    powers = add_compute(name + ".exp", shape, [&](const Axes& at) {
      return ExactValue{power(at[0].index, at[1].index), inexact(1)};
    });
  auto read = [&](const Expr& i, const Expr& j) { return powers ? (*powers)(i, j) : power(i, j); };
  const te::Tensor sum = add_compute(name + ".sum", rows, [&](const Axes& at) {
    return ExactValue{te::sum(read(at[0].index, l), {l}), inexact(6)};
  });
  add_compute(name, shape, [&](const Axes& at) {
    const Expr i = at[0].index, j = at[1].index;
    return ExactValue{read(i, j) / sum(i), inexact(1)};
  });
  return true;
}

bool ProgramMaker::add_layer_norm(const std::string& name) {
  const KnownTensor* from = random_matrix(true);
  if (!from || !is_small(from->magnitude)) return false;
  const te::Tensor X = from->tensor;
  const Shape shape = from->shape, rows = {shape[0]};
  const DataType type = X.dtype();
  const Magnitude values = from->magnitude;
  const te::IterVar k = te::reduce_axis({0, value(shape[1])}, "k");
  const Magnitude sums = sum_of(product_of(values, values), 64);
  const te::Reducer moments = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{x[0] + y[0], x[1] + y[1]};
      },
      [](std::span<const DataType> types) {
        return std::vector<Expr>{make_const(types[0], 0), make_const(types[1], 0)};
      },
      "moments");
  const std::vector<te::Tensor> both = te::compute_multi(
      extents(rows),
      [&](std::span<const Var> at) {
        return moments({X(at[0], k), X(at[0], k) * X(at[0], k)}, {k});
      },
      name + ".moments");
  add_output(both[0], rows, sums);
  add_output(both[1], rows, sums);
  const Expr count = cast(type, value(shape[1]));
  const te::Tensor mean = add_compute(name + ".mean", rows, [&](const Axes& at) {
    return ExactValue{both[0](at[0].index) / count, inexact(values.high)};
  });
  add_compute(name, shape, [&](const Axes& at) {
    const Expr i = at[0].index, average = mean(i);
    const Expr variance = both[1](i) / count - average * average;
    // Never near 0, where a rounded difference would grow.
    return ExactValue{(X(i, at[1].index) - average) *
                          rsqrt(max(variance, make_const(type, 0)) + make_const(type, 1)),
                      inexact(values.high + 2)};
  });
  return true;
}

/// A sum per row, and all elements with that of their row.
bool ProgramMaker::add_row_sum(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from) return false;
  const te::Tensor X = from->tensor;
  const Shape shape = from->shape;
  const DataType type = X.dtype();
  const Magnitude sum = sum_of(from->magnitude, 40), both = sum_of(sum, 1);
  if (!is_held(type, both)) return false;
  const te::IterVar k = te::reduce_axis({0, value(shape[1])}, "k");
  const te::Tensor rows = add_compute(name + ".rows", {shape[0]}, [&](const Axes& at) {
    return ExactValue{te::sum(X(at[0].index, k), {k}), in_type(type, sum)};
  });
  add_compute(name, shape, [&](const Axes& at) {
    const Expr i = at[0].index;
    return ExactValue{X(i, at[1].index) + rows(i), in_type(type, both)};
  });
  return true;
}

/// A few elements of a tensor that no memory could hold, of which each dimension ends near a power
/// of two: only indices are large.
bool ProgramMaker::add_distant_part(const std::string& name) {
  static const std::vector<std::int64_t> kFar = {
      1 << 15, 1 << 16, 1 << 20, 1 << 30, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 32};
  const KnownTensor from = random_.pick(tensors_);
  if (from.shape.empty() || from.shape.size() > 2) return false;
  std::vector<Expr> far, whole;
  Shape shape;
  for (const Size& size : from.shape) {
    // Two dimensions of 32 bits are more elements than can be counted.
    const std::int64_t end = far.empty() ? random_.pick(kFar) : 1 << random_.between(15, 30);
    const int most = size.least(), part = random_.between(1, most);
    const bool is_wide = end >= std::int64_t{1} << 31;
    const DataType type = is_wide ? Int(64) : Int(32);
    // One element beyond or none.
    const std::int64_t begin = end - part + (is_wide ? random_.between(0, 1) : 0);
    far.push_back(make_const(type, begin));
    whole.push_back(make_const(type, begin + part));
    const int power = std::bit_width(static_cast<std::uint64_t>(end) - 1);
    static constexpr std::array kNamed = {15, 16, 20, 30, 31, 32};
    if (std::ranges::find(kNamed, power) != kNamed.end())
      program_.notes.feature("end of a dimension", "2^" + std::to_string(power));
    shape.push_back({part});
  }
  const te::Tensor X = from.tensor;
  const bool wraps = random_.one_in(2);
  const te::Tensor all = te::compute(
      whole,
      [&](std::span<const Var> at) {
        std::vector<Expr> source;
        for (std::size_t d = 0; d < at.size(); ++d) {
          const Expr extent = cast(at[d].dtype(), value(from.shape[d]));
          const Expr nearest = max(min(at[d] - far[d], extent - 1), make_const(at[d].dtype(), 0));
          source.push_back(wraps ? floormod(at[d], extent) : nearest);
        }
        return X(source);
      },
      name + ".all");
  // Nothing else may read it: the hull of all that is read must stay small.
  program_.stages.push_back(all);
  std::ostringstream text;
  text << all.op();
  program_.text.push_back(text.str());
  add_compute(name, shape, [&](const Axes& at) {
    std::vector<Expr> index;
    for (std::size_t d = 0; d < at.size(); ++d)
      index.push_back(cast(far[d].dtype(), at[d].index) + far[d]);
    return ExactValue{all(index), from.magnitude};
  });
  return true;
}

/// Multiplies a matrix by another, or by itself transposed.
bool ProgramMaker::add_product(const std::string& name) {
  const KnownTensor *left = random_matrix(false), *right = random_matrix(false);
  if (!left || left->tensor.dtype() != right->tensor.dtype()) return false;
  const DataType type = left->tensor.dtype();
  const Magnitude sum = sum_of(product_of(left->magnitude, right->magnitude), 40);
  if (!is_held(type, sum)) return false;
  const te::Tensor A = left->tensor, B = right->tensor;
  const bool turned = !(left->shape[1] == right->shape[0]);
  if (turned && !(left->shape[1] == right->shape[1])) return false;
  const Shape shape = {left->shape[0], right->shape[turned ? 0 : 1]};
  const te::IterVar k = te::reduce_axis({0, value(left->shape[1])}, "k");
  add_compute(name, shape, [&](const Axes& at) {
    const Expr i = at[0].index, j = at[1].index;
    return ExactValue{te::sum(A(i, k) * (turned ? B(j, k) : B(k, j)), {k}), in_type(type, sum)};
  });
  return true;
}

/// Sums of neighbours, twice, the first of them along both dimensions.
bool ProgramMaker::add_stencil(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from || from->shape[0].least() < 5 || from->shape[1].least() < 5) return false;
  const te::Tensor X = from->tensor;
  const DataType type = X.dtype();
  const Shape shape = from->shape;
  const Shape inner = {{shape[0].plus - 2, shape[0].times_n},
                       {shape[1].plus - 2, shape[1].times_n}};
  const Shape last = {{shape[0].plus - 4, shape[0].times_n}, {shape[1].plus - 4, shape[1].times_n}};
  const Magnitude once = sum_of(from->magnitude, 9), twice = sum_of(once, 9);
  if (!is_held(type, twice)) return false;
  const te::IterVar y = te::reduce_axis({0, 3}, "y"), x = te::reduce_axis({0, 3}, "x");
  const te::IterVar d = te::reduce_axis({0, 3}, "d");
  const te::Tensor blurred = add_compute(name + ".blur", inner, [&](const Axes& at) {
    return ExactValue{te::sum(X(at[0].index + y, at[1].index + x), {y, x}), in_type(type, once)};
  });
  const bool diagonal = random_.one_in(3);
  add_compute(name, last, [&](const Axes& at) {
    const Expr i = at[0].index, j = at[1].index;
    return ExactValue{
        te::sum(diagonal ? blurred(i + d, j + d) : blurred(i, j + d) + blurred(i + d, j), {d}),
        in_type(type, twice)};
  });
  return true;
}

}  // namespace tenon::fuzz
