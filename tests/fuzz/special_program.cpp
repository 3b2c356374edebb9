#include "tests/fuzz/special_program.h"

#include <algorithm>
#include <sstream>

#include "tests/common/special_numbers.h"
#include "tests/fuzz/noted_schedule.h"
#include "tests/fuzz/random_expression.h"

namespace tenon::fuzz {

namespace {

struct Axis {
  Expr index;
  int extent;
};
using Axes = std::vector<Axis>;

struct KnownTensor {
  te::Tensor tensor;
  std::vector<int> shape;
};

/// A stage of integers whose elements the generator knows.
struct Places {
  KnownTensor stage;
  std::vector<testing::Number> elements;
};

/// An index and the conditions under which it is inside a dimension.
struct GuardedIndex {
  Expr index;
  std::vector<Expr> conditions;
};

/// Relative; each value is that of one function.
double tolerance_of(DataType type) {
  return type.is_bfloat() ? 0.03 : type.bits == 16 ? 0.004 : 1e-4;
}

class SpecialProgramMaker {
 public:
  SpecialProgramMaker(Random& random, Kept& kept)
      : random_(random),
        kept_(kept),
        rules_{.has_products = random.one_in(2), .has_extremes = random.one_in(2)},
        has_functions_(!rules_.has_extremes && random.one_in(4)),
        is_of_axes_(random.one_in(3)) {
    program_.data = testing::Data::Special;
    program_.zeros = rules_.has_extremes ? testing::Zeros::Alike : testing::Zeros::Signed;
    program_.notes.feature("data", "special");
  }

  RandomProgram run() {
    shape_ = random_shape();
    const int inputs = random_.between(1, 4);
    const bool is_odd = random_.one_in(6);
    program_.notes.feature("names", is_odd ? "odd" : "plain");
    const auto name = [&](const std::string& plain) {
      return is_odd && random_.one_in(2) ? odd_name() : plain;
    };
    for (int n = 0; n < inputs; ++n) add_input(name(std::string(1, static_cast<char>('A' + n))));
    if (!has_functions_ && random_.one_in(3)) add_places(name("P"));
    const int stages = has_functions_ ? 1 : random_.between(places_ ? 2 : 1, 3);
    for (int n = 0; n < stages; ++n) add_stage(name("T" + std::to_string(n)));
    return std::move(program_);
  }

 private:
  // Rows whose bytes end where a page does, and others.
  int random_extent() {
    static const std::vector<int> kExtents = {16, 32, 32, 64, 64, 128};
    if (random_.one_in(60)) return 0;
    return random_.one_in(2) ? random_.pick(kExtents) : random_.between(1, 40);
  }

  std::vector<int> random_shape() {
    if (random_.one_in(3)) return {random_.between(1, 8), std::min(random_extent(), 40)};
    return {random_extent()};
  }

  /// Words of C and of generated code, and letters that C does not have.
  std::string odd_name() {
    static const std::vector<std::string> kNames = {
        "max_of_rows", "abs_of_x", "__x", "_X",   "tenon_x", "for",      "int",
        "main",        "float",    "x.y", "a b",  "é",       "über",     "_",
        "A_1",         "min",      "if",  "NULL", "double",  "restrict", "memcpy",
        "exp",         "x-y",      "1x",  "bool", "kernel",  "void",     "threadIdx.x"};
    return random_.pick(kNames);
  }

  static std::vector<Expr> extents(const std::vector<int>& shape) {
    std::vector<Expr> result;
    for (const int extent : shape) result.emplace_back(extent);
    return result;
  }

  DataType next_type() {
    // Mostly a type that there is, so that data meets data.
    if (!known_.empty() && random_.one_in(2)) return random_.pick(known_).tensor.dtype();
    return random_type(random_);
  }

  void add_input(const std::string& name) {
    const DataType type = next_type();
    const std::vector<int> shape = random_.one_in(3) ? random_shape() : shape_;
    const te::Tensor t = te::placeholder(extents(shape), name, type);
    known_.push_back({t, shape});
    program_.inputs.push_back(t);
    program_.notes.operation("input", type);
    std::ostringstream text;
    text << name << " = " << t << " of " << type.str();
    program_.text.push_back(text.str());
  }

  void add_stage(const std::string& name) {
    const DataType type = next_type();
    if (type.is_floating() && !rules_.has_extremes && !has_functions_ && random_.one_in(8))
      return add_sum_of_zeros(name, type);
    const bool can_reduce = !type.is_floating() || rules_.has_extremes;
    if (can_reduce && !has_functions_ && random_.one_in(4)) {
      if (!type.is_floating() && !type.is_bool() && random_.one_in(2))
        return add_own_reducer(name, type);
      return add_reduction(name, type);
    }
    const std::vector<int> shape = random_.one_in(4) ? random_shape() : shape_;
    add(name, shape, [&](const Axes& axes) {
      ExpressionMaker maker = maker_of(axes);
      const Expr e = maker.value(type, random_.between(1, 4));
      program_.notes.operation("element", type);
      return has_functions_ && type.is_floating() ? function_of(maker, e) : e;
    });
    if (has_functions_ && type.is_floating()) program_.tolerance = tolerance_of(type);
  }

  /// Adds the stage of known elements: multiples of a small step, from any number of the type on.
  void add_places(const std::string& name) {
    DataType type = random_type(random_);
    if (!type.is_integral() || type.is_bool()) type = random_.one_in(2) ? UInt(64) : Int(64);
    const int count = random_.between(1, 16), step = random_.between(0, 7);
    const int last = step * (count - 1);
    std::mt19937 engine = random_.engine();
    testing::Number first = testing::special_number(type, engine);
    if (random_.one_in(2)) first = testing::Number::of(random_.between(0, 20));
    first.whole = std::min(first.whole, greatest_of(type) - last);
    add(name, {count}, [&](const Axes& axes) {
      return cast(type, axes[0].index * step) + testing::constant_of(first, type);
    });
    places_ = Places{known_.back(), {}};
    for (int n = 0; n < count; ++n)
      places_->elements.push_back(testing::Number::of(first.whole + n * step));
  }

  static testing::Whole greatest_of(DataType type) {
    return (testing::Whole{1} << (type.is_uint() ? type.bits : type.bits - 1)) - 1;
  }

  struct Reduction {
    std::vector<int> shape;
    std::vector<te::IterVar> over;
    /// The axes in `over`, with their extents.
    Axes axes;
  };
  Reduction random_reduction() {
    Reduction r{random_.one_in(2) ? shape_ : std::vector<int>{random_.between(1, 8)}, {}, {}};
    const int rank = random_.between(1, 2);
    for (int n = 0; n < rank; ++n) {
      const int extent = random_.one_in(30) ? 0 : random_.between(1, rank == 1 ? 17 : 6);
      r.over.push_back(te::reduce_axis({0, extent}, "k" + std::to_string(n)));
      r.axes.push_back({r.over.back(), extent});
    }
    return r;
  }

  static Axes joined(Axes a, const Axes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  void add_reduction(const std::string& name, DataType type) {
    const Reduction r = random_reduction();
    const std::vector<te::IterVar>& over = r.over;
    add(name, r.shape, [&](const Axes& axes) {
      ExpressionMaker maker = maker_of(joined(axes, r.axes));
      const Expr e = maker.value(type, random_.between(0, 2));
      te::ReduceOptions options;
      if (random_.one_in(3)) options.where = maker.condition(2);
      if (random_.one_in(6)) options.init = {maker.constant(type)};
      const int kind = random_.between(0, type.is_floating() ? 1 : 3);
      program_.notes.operation(type.is_bool() ? kind % 2 ? "all" : "any"
                               : kind == 0    ? "max"
                               : kind == 1    ? "min"
                               : kind == 2    ? "sum"
                                              : "prod",
                               type);
      if (type.is_bool()) return kind % 2 ? te::all(e, over, options) : te::any(e, over, options);
      return kind == 0   ? te::max(e, over, options)
             : kind == 1 ? te::min(e, over, options)
             : kind == 2 ? te::sum(e, over, options)
                         : te::prod(e, over, options);
    });
  }

  /// Its result is -0.0 if no element that the condition admits is 0.0.
  void add_sum_of_zeros(const std::string& name, DataType type) {
    const Reduction r = random_reduction();
    program_.notes.operation("sum of zeros", type);
    const auto body = [&](std::span<const Var> vars) -> Expr {
      ExpressionMaker maker = maker_of(joined(axes_of(vars, r.shape), r.axes));
      const Expr negative = tir::make_float(type, -0.0), positive = make_const(type, 0);
      const Expr e = select(maker.condition(1), negative, positive);
      te::ReduceOptions options{.where = maker.condition(2), .init = {negative}};
      return te::sum(e, r.over, options);
    };
    add(te::compute(extents(r.shape), body, name, {.tag = kSumOfZeros}), r.shape);
  }

  /// A reducer that is not associative, or not commutative.
  void add_own_reducer(const std::string& name, DataType type) {
    using Args = std::span<const Var>;
    using Types = std::span<const DataType>;
    using Exprs = std::vector<Expr>;
    const Reduction r = random_reduction();
    const auto constant = [](DataType t, int value) { return make_const(t, value); };
    te::Reducer reducer = te::comm_reducer(
        [&](Args x, Args y) {
          return Exprs{max(min(x[0] + y[0], constant(type, 100)), constant(type, 0))};
        },
        [&](Types) { return Exprs{constant(type, 0)}; }, "saturating");
    const int kind = random_.between(0, 4);
    if (kind == 1)
      reducer = te::comm_reducer([](Args x, Args y) { return Exprs{x[0] - y[0]}; },
                                 [&](Types) { return Exprs{constant(type, 0)}; }, "difference");
    if (kind == 2)
      reducer = te::comm_reducer(
          [&](Args x, Args y) {
            const Expr is_marked = y[0] != constant(type, 0);
            return Exprs{select(is_marked, y[0], x[0]), select(is_marked, y[1], x[1])};
          },
          [&](Types) {
            return Exprs{constant(type, 0), constant(type, 0)};
          },
          "last");
    if (kind == 3)
      reducer = te::comm_reducer(
          [](Args x, Args y) {
            return Exprs{x[0] * y[0], x[1] * y[0] + y[1]};
          },
          [&](Types) {
            return Exprs{constant(type, 1), constant(type, 0)};
          },
          "composition");
    if (kind == 4)
      reducer = te::comm_reducer(
          [&](Args x, Args y) { return Exprs{min(x[0] + y[0], constant(type, 100))}; },
          [&](Types) { return Exprs{constant(type, 0)}; }, "limited");
    static const std::vector<const char*> kNames = {"saturating sum", "difference",
                                                    "last of the marked", "composition of maps",
                                                    "sum with a limit"};
    program_.notes.operation(kNames[static_cast<std::size_t>(kind)], type);
    const std::vector<te::Tensor> outputs = te::compute_multi(
        extents(r.shape),
        [&](std::span<const Var> vars) {
          ExpressionMaker maker = maker_of(joined(axes_of(vars, r.shape), r.axes));
          Exprs elements = {maker.value(type, random_.between(0, 1))};
          if (kind == 2 || kind == 3) elements.push_back(maker.value(type, random_.between(0, 1)));
          return reducer(elements, r.over, {});
        },
        name);
    for (const te::Tensor& output : outputs) add(output, r.shape);
  }

  static Axes axes_of(std::span<const Var> vars, const std::vector<int>& shape) {
    Axes axes;
    for (std::size_t d = 0; d < vars.size(); ++d) axes.push_back({vars[d], shape[d]});
    return axes;
  }

  void add(const std::string& name, const std::vector<int>& shape,
           const std::function<Expr(const Axes&)>& body) {
    add(te::compute(
            extents(shape),
            [&](std::span<const Var> vars) -> Expr { return body(axes_of(vars, shape)); }, name),
        shape);
  }

  void add(const te::Tensor& t, const std::vector<int>& shape) {
    known_.push_back({t, shape});
    program_.stages.push_back(t);
    if (t.value_index() > 0) return;
    std::ostringstream text;
    text << t.op() << " of " << t.dtype().str();
    program_.text.push_back(text.str());
  }

  ExpressionMaker maker_of(const Axes& axes) {
    return {random_, program_.notes, rules_, kept_,
            [this, axes](DataType type) { return leaf(axes, type); }};
  }

  Expr function_of(ExpressionMaker& maker, const Expr& x) {
    program_.notes.operation("function such as exp", x.dtype());
    switch (random_.between(0, 11)) {
      case 0:
        return exp(x);
      case 1:
        return exp2(x);
      case 2:
        return log(x);
      case 3:
        return log2(x);
      case 4:
        return log10(x);
      case 5:
        return rsqrt(x);
      case 6:
        return tanh(x);
      case 7:
        return atan(x);
      case 8:
        return sigmoid(x);
      case 9:
        return erf(x);
      case 10:
        return sqrt(x);
      default:
        return pow(x, maker.value(x.dtype(), 0));
    }
  }

  Expr noted(const char* kind, Expr e) {
    program_.notes.feature("read", kind);
    return e;
  }

  std::optional<Expr> leaf(const Axes& axes, DataType type) {
    if ((type == Int(32) || type == Int(64)) && random_.one_in(5)) return shifted_bits(axes, type);
    if (is_of_axes_ ? !random_.one_in(4) : random_.one_in(8)) {
      const Expr i = random_.pick(axes).index * random_.between(1, 3) + random_.between(-300, 300);
      return noted("an axis as data", cast(type, i));
    }
    if (type.is_bool() && random_.one_in(3)) return protected_comparison(axes);
    if (places_ && random_.one_in(3))
      if (const auto element = element_at_known_data(axes)) return cast(type, *element);
    std::vector<const KnownTensor*> fitting;
    for (const KnownTensor& k : known_)
      if (k.tensor.dtype() == type) fitting.push_back(&k);
    if (fitting.empty()) return std::nullopt;
    return read(*random_.pick(fitting), axes);
  }

  /// An axis or a narrow element, shifted so far that its upper bits are dropped.
  Expr shifted_bits(const Axes& axes, DataType type) {
    std::vector<const KnownTensor*> narrow;
    for (const KnownTensor& k : known_)
      if (const DataType own = k.tensor.dtype();
          own.is_integral() && !own.is_bool() && own.bits < type.bits && !has_no_elements(k))
        narrow.push_back(&k);
    const bool is_axis = narrow.empty() || is_of_axes_ || random_.one_in(2);
    const Expr bits = is_axis ? random_.pick(axes).index + random_.between(0, 3)
                              : plain_read(*random_.pick(narrow), axes);
    const int by = type.bits - random_.between(1, is_axis ? 5 : bits.dtype().bits);
    return noted(is_axis ? "an axis shifted" : "narrow data shifted", cast(type, bits)
                                                                          << make_const(type, by));
  }

  /// An index in bounds for all values of the axes.
  Expr plain_index(const Axes& axes, std::size_t d, int extent) {
    const Axis& axis = d < axes.size() && !random_.one_in(6) ? axes[d] : random_.pick(axes);
    if (axis.extent > extent)
      return random_.one_in(2) ? floormod(axis.index, extent) : min(axis.index, extent - 1);
    if (random_.one_in(8)) return noted("backwards", extent - 1 - axis.index);
    if (axis.extent * 2 - 1 <= extent && random_.one_in(4)) return noted("strided", axis.index * 2);
    return axis.index;
  }

  /// An index that may be outside, and what has to hold so that it is not.
  GuardedIndex guarded_index(const Axes& axes, int extent) {
    const Axis &a = random_.pick(axes), &b = random_.pick(axes);
    const int offset = random_.between(1, 3);
    const auto below = [&](const Expr& e) { return e < extent; };
    const auto not_negative = [](const Expr& e) { return e >= 0; };
    switch (random_.between(0, 5)) {
      case 0: {
        const Expr e = a.index - offset;
        program_.notes.feature("guarded index", "before");
        if (a.extent - offset > extent) return {e, {a.index >= offset, below(e)}};
        return {e, {random_.one_in(2) ? a.index >= offset : not_negative(e)}};
      }
      case 1: {
        const Expr e = a.index + offset;
        program_.notes.feature("guarded index", "after");
        return {e, {random_.one_in(2) ? a.index < extent - offset : below(e)}};
      }
      case 2: {
        const Expr e = a.index * 2 - offset;
        program_.notes.feature("guarded index", "strided");
        return {e, {not_negative(e), below(e)}};
      }
      case 3: {
        const Expr e = extent - offset - a.index * random_.between(1, 2);
        program_.notes.feature("guarded index", "backwards");
        return {e, {not_negative(e)}};
      }
      case 4: {
        const Expr e = a.index * b.index;
        program_.notes.feature("guarded index", "a product of axes");
        return {e, {below(e)}};
      }
      default: {
        std::vector<const KnownTensor*> integers;
        for (const KnownTensor& k : known_)
          if (k.tensor.dtype().is_integral() && !k.tensor.dtype().is_bool() && !has_no_elements(k))
            integers.push_back(&k);
        if (integers.empty()) return {a.index + offset, {a.index < extent - offset}};
        program_.notes.feature("guarded index", "of data");
        const Expr data = plain_read(*random_.pick(integers), axes);
        const Expr e = random_.one_in(3) ? data + make_const(data.dtype(), offset) : data;
        if (!fits(extent, e.dtype())) return {e, {not_negative(e)}};
        return {e, {not_negative(e), below(e)}};
      }
    }
  }

  /// An element of a stage at an index that is computed from known data.
  std::optional<Expr> element_at_known_data(const Axes& axes) {
    std::vector<const KnownTensor*> stages;
    for (const KnownTensor& k : known_)
      if (!k.tensor.op().as<te::Placeholder>() && !has_no_elements(k)) stages.push_back(&k);
    const KnownTensor& from = *random_.pick(stages);
    std::vector<Expr> at;
    for (std::size_t d = 0; d + 1 < from.shape.size(); ++d)
      at.push_back(plain_index(axes, d, from.shape[d]));
    const auto last = index_of_known_data(axes, from.shape.back());
    if (!last) return std::nullopt;
    at.push_back(*last);
    return noted("at known data", from.tensor(at));
  }

  /// An index that a few operators with constants compute from a known element. It is in
  /// [0, extent) for all known elements.
  std::optional<Expr> index_of_known_data(const Axes& axes, int extent) {
    constexpr int kTrials = 20;
    const Expr element = plain_read(places_->stage, axes);
    for (int n = 0; n < kTrials; ++n) {
      Expr e = element;
      std::vector<testing::Number> values = places_->elements;
      try {
        for (int m = random_.between(1, 3); m > 0; --m) apply_operator(e, values);
      } catch (const testing::NoOpinion&) {
        continue;
      }
      if (std::ranges::all_of(values, [&](const testing::Number& value) {
            return value.whole >= 0 && value.whole < extent;
          }))
        return random_.one_in(4) ? cast(Int(32), e) : e;
    }
    return std::nullopt;
  }

  testing::Number constant_for(DataType type) {
    std::mt19937 engine = random_.engine();
    return random_.one_in(3) ? testing::Number::of(random_.between(1, 16))
                             : testing::special_number(type, engine);
  }

  /// Applies an operator with a constant, or a clamp, to an expression and to its values.
  void apply_operator(Expr& e, std::vector<testing::Number>& values) {
    using tir::BinaryOp;
    static const std::vector<BinaryOp> kOperators = {
        BinaryOp::Add,      BinaryOp::Sub,      BinaryOp::Mul,      BinaryOp::FloorDiv,
        BinaryOp::FloorMod, BinaryOp::TruncDiv, BinaryOp::TruncMod, BinaryOp::Max};
    const DataType type = e.dtype();
    const auto apply = [&](BinaryOp op, const testing::Number& by) {
      e = tir::make_binary(op, e, testing::constant_of(by, type));
      for (testing::Number& value : values) value = testing::combined(op, value, by, type);
    };
    const BinaryOp op = random_.pick(kOperators);
    const testing::Number by = constant_for(type);
    if (op == BinaryOp::Max || random_.one_in(4)) {
      apply(BinaryOp::Max, by);
      return apply(BinaryOp::Min, constant_for(type));
    }
    if (by.whole != 0) apply(op, by);
  }

  static bool has_no_elements(const KnownTensor& from) {
    return std::ranges::find(from.shape, 0) != from.shape.end();
  }

  Expr plain_read(const KnownTensor& from, const Axes& axes) {
    std::vector<Expr> at;
    for (std::size_t d = 0; d < from.shape.size(); ++d)
      at.push_back(plain_index(axes, d, from.shape[d]));
    return from.tensor(at);
  }

  struct GuardedRead {
    Expr element, condition;
  };
  GuardedRead guarded_read(const KnownTensor& from, const Axes& axes) {
    std::vector<Expr> at;
    std::vector<Expr> conditions;
    const std::size_t guarded =
        from.shape.size() == 1 || random_.one_in(2) ? from.shape.size() - 1 : 0;
    for (std::size_t d = 0; d < from.shape.size(); ++d) {
      if (d != guarded) {
        at.push_back(plain_index(axes, d, from.shape[d]));
        continue;
      }
      const GuardedIndex index = guarded_index(axes, from.shape[d]);
      at.push_back(index.index);
      conditions = index.conditions;
    }
    Expr all = conditions[0];
    for (std::size_t n = 1; n < conditions.size(); ++n) all = all && conditions[n];
    return {from.tensor(at), all};
  }

  Expr other_value(DataType type) {
    return type.is_floating() || type.is_bool() ? make_const(type, 0)
                                                : make_const(type, random_.between(0, 3));
  }

  Expr clamped(const Expr& i, std::int64_t first, std::int64_t last) {
    const Expr low = make_const(i.dtype(), first), high = make_const(i.dtype(), last);
    return random_.one_in(2) ? max(min(i, high), low) : min(max(i, low), high);
  }

  /// The index, or the index clamped to nearly all values of its type, modulo the extent.
  Expr remainder(const Expr& i, int extent) {
    const DataType type = i.dtype();
    const Expr divisor = make_const(type, extent);
    const Expr dividend = random_.one_in(2) ? i
                                            : min(max(i, min_value(type) + make_const(type, 1)),
                                                  max_value(type) - make_const(type, 1));
    return type.is_uint() && random_.one_in(2) ? truncmod(dividend, divisor)
                                               : floormod(dividend, divisor);
  }

  Expr read(const KnownTensor& from, const Axes& axes) {
    if (has_no_elements(from)) return other_value(from.tensor.dtype());
    if (random_.one_in(8)) {
      const int last = from.shape.back() - 1;
      const Expr i = guarded_index(axes, from.shape.back()).index;
      std::vector<Expr> at;
      for (std::size_t d = 0; d + 1 < from.shape.size(); ++d)
        at.push_back(plain_index(axes, d, from.shape[d]));
      if (!fits(last + 1, i.dtype())) return plain_read(from, axes);
      const bool is_clamped = random_.one_in(2);
      at.push_back(is_clamped ? clamped(i, 0, last) : remainder(i, last + 1));
      return noted(is_clamped ? "clamped" : "wrapped around", from.tensor(at));
    }
    if (!random_.one_in(3)) return plain_read(from, axes);
    const GuardedRead r = guarded_read(from, axes);
    const Expr other = other_value(from.tensor.dtype());
    switch (random_.between(0, 2)) {
      case 0:
        return noted("guarded by if_then_else", if_then_else(r.condition, r.element, other));
      case 1:
        return noted("guarded by select", select(r.condition, r.element, other));
      default:
        return noted("guarded by select", select(!r.condition, other, r.element));
    }
  }

  /// A comparison of an element, which `&&` or `||` evaluates only where the element exists.
  std::optional<Expr> protected_comparison(const Axes& axes) {
    const KnownTensor& from = random_.pick(known_);
    if (has_no_elements(from)) return std::nullopt;
    const GuardedRead r = guarded_read(from, axes);
    const Expr e =
        from.tensor.dtype().is_bool() ? r.element : r.element > other_value(from.tensor.dtype());
    if (random_.one_in(2)) return noted("protected by &&", r.condition && e);
    return noted("protected by ||", !r.condition || e);
  }

  Random& random_;
  Kept& kept_;
  ExpressionRules rules_;
  bool has_functions_;
  /// Whether most operands are conversions of axes, so that whole expressions contain no element.
  bool is_of_axes_;
  RandomProgram program_;
  std::vector<int> shape_;
  std::vector<KnownTensor> known_;
  std::optional<Places> places_;
};

}  // namespace

RandomProgram special_program(Random& random, Kept& kept) {
  return SpecialProgramMaker(random, kept).run();
}

}  // namespace tenon::fuzz
