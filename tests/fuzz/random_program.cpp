#include "tests/fuzz/random_program.h"

#include <sstream>

namespace tenon::fuzz {

namespace {

using Shape = std::vector<int>;

class Generator {
 public:
  explicit Generator(Random& random) : random_(random), type_(random.pick(kTypes())) {}

  RandomProgram run() {
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
  std::vector<std::pair<te::Tensor, Shape>> tensors_;

  static const std::vector<DataType>& kTypes() {
    static const std::vector<DataType> types = {Int(32), Int(32), Int(64), Int(8), Float(32), UInt(8)};
    return types;
  }

  Shape random_shape() {
    Shape shape;
    const int rank = random_.between(1, 3);
    for (int n = 0; n < rank; ++n) shape.push_back(random_.one_in(8) ? 1 : random_.between(2, 13));
    return shape;
  }

  static std::vector<Expr> extents(const Shape& shape) { return {shape.begin(), shape.end()}; }

  void add_input(const std::string& name) {
    const Shape shape = random_shape();
    const te::Tensor t = te::placeholder(extents(shape), name, type_);
    tensors_.emplace_back(t, shape);
    program_.inputs.push_back(t);
    program_.text.push_back(name + " = placeholder of " + type_.str() + text_of(shape));
  }

  static std::string text_of(const Shape& shape) {
    std::string text;
    for (int extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
    return "[" + text + "]";
  }

  struct Axis {
    Expr var;
    int extent;
  };

  /// An index into a dimension, in bounds for every value of the axes.
  Expr index(int extent, const std::vector<Axis>& axes) {
    if (axes.empty() || random_.one_in(12)) return Expr(random_.between(0, extent - 1));
    const Axis& axis = random_.pick(axes);
    const Expr i = axis.var;
    if (axis.extent <= extent) {
      if (axis.extent * 2 <= extent && random_.one_in(3)) return i * 2;
      if (random_.one_in(6)) return Expr(axis.extent - 1) - i;
      return i + random_.between(0, extent - axis.extent);
    }
    if ((axis.extent + 1) / 2 <= extent && random_.one_in(2)) return floordiv(i, 2);
    return floormod(i, extent);
  }

  Expr read(const std::vector<Axis>& axes) {
    const auto& [tensor, shape] = tensors_[static_cast<std::size_t>(
        random_.between(random_.one_in(2) ? 0 : std::max(0, static_cast<int>(tensors_.size()) - 2),
                        static_cast<int>(tensors_.size()) - 1))];
    std::vector<Expr> at;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool same = d < axes.size() && axes[d].extent == shape[d];
      at.push_back(same && !random_.one_in(4) ? axes[d].var : index(shape[d], axes));
    }
    if (!axes.empty() && axes[0].extent <= shape[0] && random_.one_in(5)) {
      // A neighbour, guarded.
      at[0] = axes[0].var - 1;
      return if_then_else(axes[0].var >= 1, tensor(at), 0);
    }
    return tensor(at);
  }

  Expr combine(const Expr& a, const Expr& b) {
    switch (random_.between(0, 4)) {
      case 0:
        return a - b;
      case 1:
        return a * b;
      case 2:
        return max(a, b);
      case 3:
        return select(a < b, a, b + 1);
      default:
        return a + b;
    }
  }

  Expr element(const std::vector<Axis>& axes) {
    Expr e = read(axes);
    const int more = random_.between(0, 2);
    for (int n = 0; n < more; ++n) e = combine(e, read(axes));
    return random_.one_in(3) ? e + 3 : e;
  }

  void add_stage(const std::string& name) {
    const Shape shape = random_shape();
    std::vector<te::IterVar> reduced;
    std::vector<Axis> extra;
    const int reductions = random_.one_in(2) ? random_.between(1, 2) : 0;
    for (int n = 0; n < reductions; ++n) {
      const int extent = random_.between(1, 9);
      reduced.push_back(te::reduce_axis({0, extent}, "k" + std::to_string(n)));
      extra.push_back({Expr(reduced.back()), extent});
    }
    const int kind = random_.between(0, 2);
    const bool has_where = random_.one_in(5), has_init = random_.one_in(6);
    const te::Tensor t = te::compute(
        extents(shape),
        [&](std::span<const Var> vars) -> Expr {
          std::vector<Axis> axes;
          for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
          const std::vector<Axis> own = axes;
          axes.insert(axes.end(), extra.begin(), extra.end());
          const Expr e = element(axes);
          if (reduced.empty()) return e;
          te::ReduceOptions options;
          if (has_where) options.where = extra[0].var <= own[0].var + 2;
          if (has_init) options.init = {make_const(type_, 5)};
          return kind == 0   ? te::sum(e, reduced, options)
                 : kind == 1 ? te::max(e, reduced, options)
                             : te::min(e, reduced, options);
        },
        name);
    tensors_.emplace_back(t, shape);
    program_.stages.push_back(t);
    std::ostringstream body;
    body << t.op();
    program_.text.push_back(body.str());
  }
};

}  // namespace

RandomProgram random_program(Random& random) { return Generator(random).run(); }

}  // namespace tenon::fuzz
