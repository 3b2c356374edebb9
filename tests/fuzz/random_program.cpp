#include "tests/fuzz/random_program.h"

#include <sstream>

#include "tests/fuzz/exact_value.h"

namespace tenon::fuzz {

namespace {

/// times_n * n + plus, for any n >= 1.
struct Size {
  int plus;
  int times_n = 0;

  int least() const { return plus + times_n; }
  bool operator==(const Size&) const = default;
  /// Whether this is at most `other`, whatever n is.
  bool fits(const Size& other) const {
    return times_n <= other.times_n && least() <= other.least();
  }
};
using Shape = std::vector<Size>;

struct Axis {
  /// In [0, extent).
  Expr index;
  Size extent;
};
using Axes = std::vector<Axis>;

struct KnownTensor {
  te::Tensor tensor;
  Shape shape;
  Magnitude magnitude;
};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random), type_(random.pick(kTypes())) {
    if (random_.one_in(4)) program_.size = te::size_var("n");
  }

  RandomProgram run() {
    if (program_.size) program_.text.push_back("n = size_var");
    const int inputs = random_.between(1, 2);
    for (int n = 0; n < inputs; ++n) add_input(std::string(1, static_cast<char>('A' + n)));
    const int stages = random_.between(1, 4);
    for (int n = 0; n < stages; ++n) add_stage("T" + std::to_string(n));
    return std::move(program_);
  }

 private:
  Random& random_;
  DataType type_;
  RandomProgram program_;
  std::vector<KnownTensor> tensors_;

  static const std::vector<DataType>& kTypes() {
    static const std::vector<DataType> types = {Int(32),   Int(32),   Int(64),  Int(8),
                                                Int(16),   UInt(8),   UInt(32), Float(16),
                                                Float(32), Float(32), Float(64)};
    return types;
  }

  // ---- sizes and indices

  Size random_size() {
    if (program_.size && random_.one_in(2))
      return random_.one_in(4) ? Size{0, 2}
                               : Size{random_.one_in(2) ? 0 : random_.between(1, 3), 1};
    return {random_.one_in(8) ? 1 : random_.between(2, 13)};
  }

  Shape random_shape() {
    Shape shape;
    const int rank = random_.between(1, 3);
    for (int n = 0; n < rank; ++n) shape.push_back(random_size());
    return shape;
  }

  Expr value(const Size& size) const {
    return size.times_n == 0 ? Expr(size.plus) : *program_.size * size.times_n + size.plus;
  }

  std::vector<Expr> extents(const Shape& shape) const {
    std::vector<Expr> result;
    for (const Size& size : shape) result.push_back(value(size));
    return result;
  }

  /// An index into a dimension, in bounds for every value of the axes.
  Expr index(const Size& extent, const Axes& axes) {
    if (axes.empty() || random_.one_in(12)) return Expr(random_.between(0, extent.least() - 1));
    const Axis& axis = random_.pick(axes);
    const Expr& i = axis.index;
    if (axis.extent.fits(extent)) {
      const Size doubled = {axis.extent.plus * 2 - 1, axis.extent.times_n * 2};
      if (doubled.fits(extent) && random_.one_in(3)) return i * 2;
      if (random_.one_in(6)) return value(axis.extent) - 1 - i;
      return i + random_.between(0, extent.least() - axis.extent.least());
    }
    const bool is_constant = axis.extent.times_n == 0;
    if (is_constant && Size{(axis.extent.plus + 1) / 2}.fits(extent) && random_.one_in(2))
      return floordiv(i, 2);
    return random_.one_in(4) ? min(i, value(extent) - 1) : floormod(i, value(extent));
  }

  /// An index that is read from a tensor of integers.
  std::optional<Expr> looked_up_index(const Size& extent, const Axes& axes) {
    const KnownTensor& from = random_.pick(tensors_);
    if (from.tensor.dtype().is_floating() || !random_.one_in(10)) return std::nullopt;
    std::vector<Expr> at;
    for (const Size& size : from.shape) at.push_back(index(size, axes));
    return max(min(cast(Int(32), from.tensor(at)), value(extent) - 1), 0);
  }

  // ---- values

  const KnownTensor& random_tensor() {
    const int last = static_cast<int>(tensors_.size()) - 1;
    return tensors_[static_cast<std::size_t>(
        random_.between(random_.one_in(2) ? 0 : std::max(0, last - 1), last))];
  }

  ExactValue read(const Axes& axes, DataType type) {
    const KnownTensor& from = random_tensor();
    std::vector<Expr> at;
    for (std::size_t d = 0; d < from.shape.size(); ++d) {
      const bool same = d < axes.size() && axes[d].extent == from.shape[d];
      if (auto looked_up = looked_up_index(from.shape[d], axes); looked_up && !same)
        at.push_back(*looked_up);
      else
        at.push_back(same && !random_.one_in(4) ? axes[d].index : index(from.shape[d], axes));
    }
    const ExactValue there{Expr(0), from.magnitude};
    auto load = [&] { return exact_cast(type, {from.tensor(at), there.magnitude}); };
    if (!axes.empty() && axes[0].extent.fits(from.shape[0]) && random_.one_in(5)) {
      // A neighbour, guarded.
      at[0] = axes[0].index - 1;
      const ExactValue e = load();
      return {if_then_else(axes[0].index >= 1, e.value, make_const(type, 0)), e.magnitude};
    }
    return load();
  }

  ExactValue element(const Axes& axes, DataType type) {
    ExactValue e = read(axes, type);
    const int more = random_.between(0, 2);
    for (int n = 0; n < more; ++n) {
      const auto operation = static_cast<ExactOperation>(random_.between(0, kExactOperations - 1));
      e = combine(operation, e, read(axes, type));
    }
    return random_.one_in(3) ? combine(ExactOperation::Add, e, exact_constant(type, 3)) : e;
  }

  // ---- operations

  void add_input(const std::string& name) {
    const Shape shape = random_shape();
    const te::Tensor t = te::placeholder(extents(shape), name, type_);
    tensors_.push_back({t, shape, magnitude_of_inputs(type_)});
    program_.inputs.push_back(t);
    std::ostringstream text;
    text << name << " = " << t << " of " << type_.str();
    program_.text.push_back(text.str());
  }

  void add_output(const te::Tensor& t, const Shape& shape, Magnitude magnitude) {
    tensors_.push_back({t, shape, magnitude});
    program_.stages.push_back(t);
    if (t.value_index() > 0) return;
    std::ostringstream body;
    body << t.op();
    program_.text.push_back(body.str());
  }

  struct Reduction {
    std::vector<te::IterVar> axes;
    Axes indices;
    int points = 1;
  };

  Reduction random_reduction() {
    Reduction r;
    const int rank = random_.between(1, 2);
    for (int n = 0; n < rank; ++n) {
      const bool symbolic = program_.size && random_.one_in(4);
      const Size extent = symbolic ? Size{0, 1} : Size{random_.between(1, 9)};
      const int begin = random_.one_in(5) ? random_.between(1, 3) : 0;
      const te::IterVar k =
          te::reduce_axis({begin, value(extent) + begin}, "k" + std::to_string(n));
      r.axes.push_back(k);
      r.indices.push_back({begin == 0 ? Expr(k) : Expr(k) - begin, extent});
      r.points *= symbolic ? 16 : extent.plus;
    }
    return r;
  }

  static Axes axes_of(std::span<const Var> vars, const Shape& shape) {
    Axes axes;
    for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
    return axes;
  }

  static Axes inside(Axes a, const Axes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  void add_stage(const std::string& name) {
    if (random_.one_in(14) && add_scan(name)) return;
    const DataType type = random_.one_in(4) ? random_.pick(kTypes()) : type_;
    if (!random_.one_in(2)) return add_elementwise(name, type);
    return random_.one_in(5) ? add_tuple_reduction(name, type) : add_reduction(name, type);
  }

  void add_elementwise(const std::string& name, DataType type) {
    const Shape shape = random_shape();
    Magnitude magnitude;
    const te::Tensor t = te::compute(
        extents(shape),
        [&](std::span<const Var> vars) -> Expr {
          const ExactValue e = element(axes_of(vars, shape), type);
          magnitude = e.magnitude;
          return e.value;
        },
        name);
    add_output(t, shape, magnitude);
  }

  void add_reduction(const std::string& name, DataType type) {
    const Shape shape = random_shape();
    const Reduction over = random_reduction();
    Magnitude magnitude;
    const te::Tensor t = te::compute(
        extents(shape),
        [&](std::span<const Var> vars) -> Expr {
          const Axes own = axes_of(vars, shape);
          const ExactValue e = element(inside(own, over.indices), type);
          te::ReduceOptions options;
          if (random_.one_in(5)) options.where = over.indices[0].index <= own[0].index + 2;
          if (random_.one_in(6)) options.init = {make_const(type, 5)};
          const int kind = random_.between(0, 2);
          const Magnitude with_init = joined(e.magnitude, magnitude_of(5));
          const Magnitude summed = sum_of(with_init, over.points + 1);
          if (kind == 0 && is_exact(type, summed)) {
            magnitude = summed;
            return te::sum(e.value, over.axes, options);
          }
          // Of nothing, the maximum is the least value of the type, with which no sum is exact.
          magnitude = options.where ? magnitude_of_any(type) : with_init;
          return kind == 1 ? te::max(e.value, over.axes, options)
                           : te::min(e.value, over.axes, options);
        },
        name);
    add_output(t, shape, magnitude);
  }

  /// The place of the largest element, and the element.
  void add_tuple_reduction(const std::string& name, DataType type) {
    const Shape shape = random_shape();
    const Reduction over = random_reduction();
    const te::Reducer argmax = te::comm_reducer(
        [](std::span<const Var> x, std::span<const Var> y) {
          const Expr first = x[1] > y[1] || (x[1] == y[1] && x[0] <= y[0]);
          return std::vector<Expr>{select(first, x[0], y[0]), select(first, x[1], y[1])};
        },
        [](std::span<const DataType> types) {
          return std::vector<Expr>{max_value(types[0]), min_value(types[1])};
        },
        "argmax");
    Magnitude magnitude;
    const std::vector<te::Tensor> outputs = te::compute_multi(
        extents(shape),
        [&](std::span<const Var> vars) {
          const ExactValue e = element(inside(axes_of(vars, shape), over.indices), type);
          magnitude = e.magnitude;
          Expr place = over.indices[0].index;
          if (over.indices.size() > 1) place = place * 20 + over.indices[1].index;
          return argmax({place, e.value}, over.axes);
        },
        name);
    add_output(outputs[0], shape, magnitude_of_any(Int(32)));
    add_output(outputs[1], shape, magnitude);
  }

  /// Running sums down the first dimension of a matrix; none if there is no matrix of which they
  /// are exact.
  bool add_scan(const std::string& name) {
    const KnownTensor& from = random_tensor();
    if (from.shape.size() != 2 || from.shape[0].least() < 2) return false;
    const DataType type = from.tensor.dtype();
    const Magnitude magnitude = sum_of(from.magnitude, 32);
    if (!is_exact(type, magnitude)) return false;
    const te::Tensor X = from.tensor;
    const Shape shape = from.shape;
    const te::Tensor state = te::placeholder(extents(shape), name + ".state", type);
    const te::Tensor init = te::compute(
        {1, value(shape[1])}, [&](std::span<const Var> at) { return X(0, at[1]); }, name + ".init");
    const te::Tensor update = te::compute(
        extents(shape),
        [&](std::span<const Var> at) { return state(at[0] - 1, at[1]) + X(at[0], at[1]); },
        name + ".update");
    add_output(te::scan(init, update, state, {X}, name), shape, magnitude);
    return true;
  }
};

}  // namespace

RandomProgram random_program(Random& random) { return Generator(random).run(); }

}  // namespace tenon::fuzz
