// BLAS level 1 (topi/blas.h).
#include <algorithm>
#include <cmath>
#include <functional>

#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/topi/blas.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::blas {

using cpu::kPartitioned;
using te::IterVar;
using te::Schedule;
using te::Stage;
using te::Tensor;
using tir::Buffer;
using tir::Expr;
using tir::PrimFunc;
using tir::Range;
using tir::TargetFacts;
using tir::Var;

namespace {

/// Minimum length of a vector that is divided among threads.
constexpr int kForThreads = 1 << 16;

/// The arguments of a BLAS routine. Arrays are bound to buffers.
struct Arguments {
  std::vector<te::FunctionArgument> list;
  std::vector<std::pair<Tensor, Buffer>> binds;

  Var scalar(const char* name, DataType type) {
    const Var scalar(name, type);
    list.push_back(scalar);
    return scalar;
  }
  template <class Options>
  Tensor vector(const Expr& n, const char* name, const Options& options) {
    const Tensor tensor = te::placeholder({n}, name, options.dtype);
    tir::BufferOptions of_buffer{.name = name, .data_alignment = options.dtype.bytes()};
    if (!options.unit_strides) of_buffer.strides = {Var(std::string("inc") + name)};
    bind(tensor, tir::decl_buffer({n}, options.dtype, of_buffer));
    return tensor;
  }
  Tensor matrix(const Expr& rows, const Expr& columns, const DataType& type) {
    const Tensor tensor = te::placeholder({rows, columns}, "A", type);
    bind(tensor, tir::decl_buffer(
                     {rows, columns}, type,
                     {.name = "A", .strides = {Var("lda"), 1}, .data_alignment = type.bytes()}));
    return tensor;
  }
  void bind(const Tensor& tensor, const Buffer& buffer) {
    list.push_back(buffer);
    binds.emplace_back(tensor, buffer);
  }
  /// Adds an argument of rank 0 that receives the result.
  void bind_result(const Tensor& tensor) {
    const DataType type = tensor.dtype();
    bind(tensor, tir::decl_buffer({}, type, {.name = "result", .data_alignment = type.bytes()}));
  }
  /// Makes the tensor use the memory of another tensor.
  void store_in(const Tensor& tensor, const Tensor& other) {
    const auto found =
        std::ranges::find_if(binds, [&](const auto& bind) { return bind.first.same_as(other); });
    binds.emplace_back(tensor, found->second);
  }
};

PrimFunc function_of(const Schedule& s, const Arguments& arguments, const char* name) {
  const te::StageGraph graph = te::freeze(s);
  std::vector<std::pair<Tensor, Buffer>> binds = arguments.binds;
  std::erase_if(binds, [&](const auto& bind) { return !graph.find(bind.first.op()); });
  return te::schedule_ops(graph, te::infer_bound(graph), arguments.list,
                          {.name = name, .binds = std::move(binds)});
}

/// A function that returns the complete schedule of a routine, with or without threads.
using Arrange = std::function<Schedule(bool has_threads)>;

/// Returns a function that runs `large` if the condition `is_large` holds, and `small` otherwise.
/// Both functions have the same parameters.
PrimFunc either(const Expr& is_large, const PrimFunc& large, const PrimFunc& small) {
  PrimFunc func = small;
  std::vector<tir::StageLine> lines = tir::stage_lines(small.attrs);
  std::ranges::copy(tir::stage_lines(large.attrs), std::back_inserter(lines));
  tir::note_stage_lines(func.attrs, lines);
  func.body = tir::make_stmt(tir::If{is_large, tir::fresh_copy(large.body), small.body});
  return func;
}

/// Returns a function with two copies of the loops. The copy with threads runs if `is_large` holds.
/// The copy without threads runs otherwise, because starting threads would take longer than the
/// loops.
PrimFunc with_threads_if(const Expr& is_large, const Arrange& arrange, const Arguments& arguments,
                         const char* name, const TargetFacts& target) {
  const PrimFunc small = function_of(arrange(false), arguments, name);
  if (target.cores < 2) return small;
  return either(is_large, function_of(arrange(true), arguments, name), small);
}

/// Returns the function with a body that only runs if the factor is not 0.
PrimFunc unless_zero(const Var& factor, PrimFunc func) {
  const Expr condition = factor != tir::make_const(factor.dtype(), 0);
  func.body = tir::make_stmt(tir::If{condition, func.body, std::nullopt});
  return func;
}

// ---- maps ---------------------------------------------------------------------------------------

/// Divides the iterations into one part for each core. Each thread always gets the same part, so a
/// vector that fits the caches of all cores stays there between calls.
IterVar share_out(const Stage& stage, const IterVar& loop, int cores) {
  auto [parts, own] = stage.split_by_nparts(loop, cores);
  stage.parallel(parts);
  return own;
}

Schedule arrange_map(const Tensor& out, bool has_threads, const TargetFacts& target) {
  constexpr int kVectors = 4;
  const int lanes = cpu::lanes_of(out.dtype(), target);
  const Schedule s = te::create_schedule(out);
  const Stage stage = s[out];
  auto [groups, of_group] = stage.split(stage.op().axis(0), kVectors * lanes);
  stage.pragma(has_threads ? share_out(stage, groups, target.cores) : groups, kPartitioned, 1);
  cpu::vectorize_loop(stage, of_group, lanes);
  return s;
}

}  // namespace

PrimFunc axpy(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("axpy", options.dtype, target, where);
  Arguments arguments;
  const Var n = Var::size("n"), alpha = arguments.scalar("alpha", options.dtype);
  const Tensor x = arguments.vector(n, "x", options), y = arguments.vector(n, "y", options);
  const Tensor out = te::compute(
      {n}, {"i"}, [&](Var i) { return alpha * x(i) + y(i); }, "axpy");
  arguments.store_in(out, y);
  return unless_zero(
      alpha, with_threads_if(
                 n >= kForThreads, [&](bool threads) { return arrange_map(out, threads, target); },
                 arguments, "axpy", target));
}

PrimFunc rot(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("rot", options.dtype, target, where);
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options), y = arguments.vector(n, "y", options);
  const Var c = arguments.scalar("c", options.dtype), s = arguments.scalar("s", options.dtype);
  const std::vector<Tensor> out = te::compute_multi(
      {n}, {"i"},
      [&](Var i) -> std::vector<Expr> {
        return {c * x(i) + s * y(i), c * y(i) - s * x(i)};
      },
      "rot");
  arguments.store_in(out[0], x);
  arguments.store_in(out[1], y);
  return with_threads_if(
      n >= kForThreads, [&](bool threads) { return arrange_map(out[0], threads, target); },
      arguments, "rot", target);
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

/// Returns the sum over the axes. It starts from -0, because adding -0 never changes a number and
/// the compiler removes the addition. The sum of no terms is -0.
Expr sum_of(const Expr& term, const std::vector<IterVar>& axes) {
  static const te::Reducer sum =
      te::comm_reducer([](std::span<const Var> a,
                          std::span<const Var> b) -> std::vector<Expr> { return {a[0] + b[0]}; },
                       [](std::span<const DataType> types) -> std::vector<Expr> {
                         return {tir::make_const(types[0], -0.0)};
                       },
                       "sum");
  return sum(term, axes);
}

/// The terms of a reduction over a vector. Each step processes several hardware vectors. The
/// missing terms of the last step are identity elements, so that full steps need no condition.
class Terms {
 public:
  /// Covers all terms of a vector of length `n`. Covers no terms unless `condition` holds.
  Terms(const Expr& n, DataType type, const TargetFacts& target, const Expr& condition = true)
      : Terms(n, type, target, 0, tir::if_then_else(condition, steps_of(n, type, target), 0),
              kVectors) {}
  /// Covers `steps` steps, beginning with step `first`. If they would end past the vector, all of
  /// them begin earlier. Precondition: the vector has at least `steps` whole steps.
  static Terms whole_steps(const Expr& n, const Expr& first, const Expr& steps, DataType type,
                           const TargetFacts& target) {
    const int width = kVectors * cpu::lanes_of(type, target);
    return {n, type, target, tir::min(first * width, n - steps * width), steps, kVectors};
  }
  /// Covers all terms of a vector of at least one step, in steps of `vectors` hardware vectors. The
  /// last step begins earlier if it would end past the vector. It then repeats terms of the step
  /// before.
  static Terms overlapping(const Expr& n, DataType type, const TargetFacts& target, int vectors) {
    const int width = vectors * cpu::lanes_of(type, target);
    Terms terms(n, type, target, 0, tir::ceildiv(n, width), vectors);
    terms.last_ = n - width;
    return terms;
  }

  /// Returns the number of steps for a vector of length `n`. The last step may be partial.
  static Expr steps_of(const Expr& n, DataType type, const TargetFacts& target) {
    return tir::ceildiv(n, kVectors * cpu::lanes_of(type, target));
  }

  Expr first() const { return first_; }
  Expr offset() const {
    const Expr begin = step_ * width();
    return (last_ ? tir::min(begin, *last_) : begin) + lane_;
  }
  Expr index() const { return first_ + offset(); }
  /// Returns `term` if the index is within the vector, otherwise `value`.
  Expr or_else(const Expr& term, const Expr& value) const {
    const bool may_exceed = tir::is_zero(first_) && !last_;
    return may_exceed ? tir::if_then_else(index() < n_, term, value) : term;
  }
  /// Returns the element of the vector, or 0 if the index is past its end.
  Expr element(const Tensor& x) const { return or_else(x(index()), tir::make_const(x.dtype(), 0)); }
  int width() const { return vectors_ * lanes_; }
  std::vector<IterVar> axes() const { return {step_, lane_}; }
  Expr length() const { return n_; }

  /// Schedules the reduction. If threads are used, each thread reduces one part of the vector. A
  /// part is reduced to several vectors of partial results, because the latency of an operation
  /// exceeds its issue interval. The partial results are then reduced to one vector, and its halves
  /// are combined repeatedly.
  void arrange(const Schedule& s, const Tensor& result, bool has_threads, int cores) const {
    if (!has_threads) return arrange_steps(s, result);
    const IterVar steps = s[result].op().reduce_axis(0);
    const Tensor part = s.rfactor(result, s[result].split_by_nparts(steps, cores).outer);
    arrange_steps(s, part);
    s[part].parallel(s[part].op().axis(0));
  }

  /// Schedules a reduction without threads. If the result has a dimension, every element of the
  /// result is such a reduction.
  void arrange_steps(const Schedule& s, const Tensor& result) const {
    const Stage stage = s[result];
    std::vector<Stage> partial;
    const auto factor = [&](const IterVar& terms) {
      partial.push_back(s[s.rfactor(result, terms, result.ndim())]);
    };
    // The axis over the terms within a step is the only one with a constant extent.
    factor(*std::ranges::find_if(stage.op().reduce_axis(), [](const IterVar& axis) {
      return tir::constant_int(axis.dom()->extent).has_value();
    }));
    for (int count = width() > lanes_ ? lanes_ : lanes_ / 2; count > 1; count /= 2)
      factor(stage.split(stage.op().reduce_axis(0), count).inner);
    const IterVar place =
        result.ndim() > 0 ? stage.op().axis(0) : stage.fuse(std::vector<IterVar>{});
    for (const Stage& each : partial) {
      each.compute_at(stage, place).set_scope("local");
      cpu::arrange_partial_results(each, each.same_as(partial.front()), lanes_);
    }
    stage.unroll(stage.op().reduce_axis(0));
  }

 private:
  Terms(const Expr& n, DataType type, const TargetFacts& target, const Expr& first,
        const Expr& steps, int vectors)
      : lanes_(cpu::lanes_of(type, target)),
        vectors_(vectors),
        n_(n),
        first_(first),
        step_(te::reduce_axis({0, steps}, "step")),
        lane_(te::reduce_axis({0, width()}, "lane")) {}

  static constexpr int kVectors = 4;

  int lanes_, vectors_;
  Expr n_, first_;
  /// Maximum index of a step's first term; nullopt if steps may end past the vector.
  std::optional<Expr> last_;
  IterVar step_, lane_;
};

/// Returns the function that computes `out` from the reduction `sum`. Both may be the same tensor.
PrimFunc reduction(const Terms& terms, const Tensor& sum, const Tensor& out, Arguments& arguments,
                   const char* name, const TargetFacts& target) {
  arguments.bind_result(out);
  const auto arrange = [&](bool has_threads) {
    const Schedule s = te::create_schedule(out);
    terms.arrange(s, sum, has_threads, target.cores);
    return s;
  };
  return with_threads_if(terms.length() >= kForThreads, arrange, arguments, name, target);
}

Tensor scalar(const Expr& value, const char* name) {
  return te::compute(
      {}, [&](std::span<const Var>) { return value; }, name);
}

}  // namespace

PrimFunc dot(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("dot", options.dtype, target, where);
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options), y = arguments.vector(n, "y", options);
  const Terms terms(n, options.dtype, target);
  const Tensor sum = scalar(sum_of(terms.element(x) * terms.element(y), terms.axes()), "sum");
  return reduction(terms, sum, scalar(sum() + 0, "dot"), arguments, "dot", target);
}

PrimFunc asum(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("asum", options.dtype, target, where);
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options);
  const Terms terms(n, options.dtype, target);
  const Tensor sum = scalar(sum_of(tir::abs(terms.element(x)), terms.axes()), "sum");
  return reduction(terms, sum, scalar(sum() + 0, "asum"), arguments, "asum", target);
}

namespace {

/// Squares of float32 neither overflow nor underflow in float64.
PrimFunc nrm2_of_float32(const VectorOptions& options, const TargetFacts& target) {
  const DataType wide = Float(64);
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options);
  const Terms terms(n, wide, target);
  const Expr element = tir::cast(wide, terms.element(x));
  const Tensor sum = scalar(sum_of(element * element, terms.axes()), "squares");
  const Tensor out = scalar(tir::cast(options.dtype, tir::sqrt(sum() + 0)), "nrm2");
  return reduction(terms, sum, out, arguments, "nrm2", target);
}

}  // namespace

PrimFunc nrm2(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("nrm2", options.dtype, target, where);
  if (options.dtype == Float(32)) return nrm2_of_float32(options, target);
  // The sum is computed again with scaled elements if it overflows, or if it is so small that
  // squares may have underflowed. The scale is a power of two.
  constexpr int kSmall = -900, kGreat = 1023, kUp = 700, kDown = -560;
  const auto power = [](int exponent) {
    return tir::make_const(Float(64), std::ldexp(1.0, exponent));
  };
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options);
  const auto squares = [&](const Terms& terms, const Expr& factor, const char* name) {
    const Expr scaled = terms.element(x) * factor;
    return scalar(sum_of(scaled * scaled, terms.axes()), name);
  };
  const Terms terms(n, options.dtype, target);
  const Tensor sum = squares(terms, power(0), "squares");
  const Expr is_small = sum()<power(kSmall), is_great = sum()> power(kGreat);
  const Terms again(n, options.dtype, target, is_small || is_great);
  const Tensor scaled =
      squares(again, tir::if_then_else(is_small, power(kUp), power(kDown)), "scaled_squares");
  const Tensor out =
      scalar(tir::if_then_else(
                 is_small || is_great,
                 tir::sqrt(scaled()) * tir::if_then_else(is_small, power(-kUp), power(-kDown)),
                 tir::sqrt(sum() + 0)),
             "nrm2");
  arguments.bind_result(out);
  const auto arrange = [&](bool has_threads) {
    const Schedule s = te::create_schedule(out);
    terms.arrange(s, sum, has_threads, target.cores);
    again.arrange_steps(s, scaled);
    return s;
  };
  return with_threads_if(n >= kForThreads, arrange, arguments, "nrm2", target);
}

namespace {

/// A maximum reduction that ignores NaN. The identity element is less than any absolute value.
te::Reducer greatest_number() {
  return te::comm_reducer(
      [](std::span<const Var> a, std::span<const Var> b) -> std::vector<Expr> {
        return {tir::select(b[0] > a[0], b[0], a[0])};
      },
      [](std::span<const DataType> types) -> std::vector<Expr> {
        return {tir::make_const(types[0], -1)};
      },
      "greatest_number");
}

}  // namespace

PrimFunc iamax(const VectorOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("iamax", options.dtype, target, where);
  // The maximum of each part of the vector is computed first. Only the part with the maximum is
  // then searched for the index. The last part begins earlier if it would end past the vector.
  constexpr int kParts = 16, kForParts = 1 << 14, kFewParts = 4, kBytesForFewParts = 1 << 13;
  Arguments arguments;
  const Var n = Var::size("n");
  const Tensor x = arguments.vector(n, "x", options);
  const Buffer result = tir::decl_buffer({}, Int(32), {.name = "result", .data_alignment = 4});
  arguments.list.push_back(result);
  const te::Reducer reducer = greatest_number();
  const Expr none = tir::max_value(Int(32)), least = tir::make_const(options.dtype, -1);
  const auto finished = [&](const Schedule& s, const Tensor& out) {
    Arguments all = arguments;
    all.binds.emplace_back(out, result);
    return function_of(s, all, "iamax");
  };
  const auto search = [&](const Terms& terms, const Tensor& greatest) {
    const Expr is_found = tir::abs(x(terms.index())) == greatest();
    return scalar(
        te::min(terms.or_else(tir::select(is_found, terms.offset(), none), none), terms.axes()),
        "first");
  };
  const auto index_of = [&](const Tensor& first, const Expr& begin) {
    return scalar(tir::if_then_else(first() < n, tir::cast(Int(32), begin) + first(),
                                    tir::select(n > 0, 0, -1)),
                  "iamax");
  };
  const auto in_parts = [&](int parts, bool has_threads) {
    const Expr steps = Terms::steps_of(tir::ceildiv(n, parts), options.dtype, target);
    const auto terms_of_part = [&](const Expr& part) {
      return Terms::whole_steps(n, part * steps, steps, options.dtype, target);
    };
    std::optional<Terms> of_part;
    const Tensor maxima = te::compute(
        {parts}, {"part"},
        [&](Var part) {
          of_part.emplace(terms_of_part(part));
          return reducer(tir::abs(x(of_part->index())), of_part->axes());
        },
        "maxima");
    const IterVar k = te::reduce_axis({0, parts}, "part");
    const Tensor greatest = scalar(reducer(maxima(k), {k}), "greatest");
    const IterVar p = te::reduce_axis({0, parts}, "part");
    const Tensor part = scalar(
        te::min(tir::if_then_else(maxima(p) == greatest(), p.var(), parts - 1), {p}), "part");
    // Uses 64 bits, because an index that is computed from elements may wrap in 32 bits. The
    // accesses would then not be contiguous.
    const Terms again = terms_of_part(tir::cast(Int(64), part()));
    const Tensor first = search(again, greatest), out = index_of(first, again.first());
    const Schedule s = te::create_schedule(out);
    of_part->arrange_steps(s, maxima);
    if (has_threads) share_out(s[maxima], s[maxima].op().axis(0), target.cores);
    again.arrange_steps(s, first);
    return finished(s, out);
  };
  const auto in_one_part = [&](const Terms& terms, const Terms& again) {
    const Tensor greatest =
        scalar(reducer(terms.or_else(tir::abs(x(terms.index())), least), terms.axes()), "greatest");
    const Tensor first = search(again, greatest), out = index_of(first, 0);
    const Schedule s = te::create_schedule(out);
    terms.arrange_steps(s, greatest);
    again.arrange_steps(s, first);
    return finished(s, out);
  };
  const auto all = [&] { return Terms(n, options.dtype, target); };
  PrimFunc func = in_one_part(all(), all());
  for (const int vectors : {1, 4}) {
    const auto overlapping = [&] { return Terms::overlapping(n, options.dtype, target, vectors); };
    const Terms terms = overlapping();
    func = either(n >= terms.width(), in_one_part(terms, overlapping()), func);
  }
  func = either(n >= kBytesForFewParts / options.dtype.bytes(), in_parts(kFewParts, false), func);
  func = either(n >= kForParts, in_parts(kParts, false), func);
  return target.cores > 1 ? either(n >= kForThreads, in_parts(kParts, true), func) : func;
}

// ---- products of matrices and vectors -----------------------------------------------------------

namespace {

/// Minimum number of elements of a matrix that is divided among threads.
constexpr int kElementsForThreads = 1 << 16;

Expr is_large(const Expr& rows, const Expr& columns) {
  return tir::cast(Int(64), rows) * columns >= kElementsForThreads;
}

/// The arguments of gemv, and the computation of its result from op(A)*x.
struct Gemv {
  Gemv(const MatrixOptions& options)
      : type(options.dtype),
        alpha(arguments.scalar("alpha", type)),
        A(arguments.matrix(m, n, type)),
        x(arguments.vector(options.transposed ? m : n, "x", options)),
        beta(arguments.scalar("beta", type)),
        y(arguments.vector(options.transposed ? n : m, "y", options)) {}

  const Expr& length() const { return y.shape()[0]; }
  Expr zero() const { return tir::make_const(type, 0); }
  Expr scaled_y(const Expr& i) const {
    return tir::if_then_else(beta == zero(), zero(), beta * y(i));
  }
  Tensor result(const Tensor& products) const {
    return te::compute(
        {length()}, {"i"}, [&](Var i) { return alpha * products(i) + scaled_y(i); }, "gemv");
  }
  PrimFunc function(const Schedule& s, const Tensor& out) const {
    Arguments all = arguments;
    all.store_in(out, y);
    return function_of(s, all, "gemv");
  }
  /// Returns the function for alpha = 0, which only scales y.
  PrimFunc scale(const TargetFacts& target) const {
    const Tensor out = te::compute(
        {length()}, {"i"}, [&](Var i) { return scaled_y(i); }, "scale");
    return function(arrange_map(out, false, target), out);
  }

  DataType type;
  Var m = Var::size("m"), n = Var::size("n");
  Arguments arguments;
  Var alpha;
  Tensor A, x;
  Var beta;
  Tensor y;
};

/// Computes several rows at a time, so that they share the loads of x.
PrimFunc gemv_by_rows(const Gemv& g, bool has_threads, const TargetFacts& target) {
  constexpr int kRows = 4;
  const int lanes = cpu::lanes_of(g.type, target);
  const IterVar step = te::reduce_axis({0, tir::ceildiv(g.n, lanes)}, "step"),
                lane = te::reduce_axis({0, lanes}, "lane");
  const Expr k = step * lanes + lane;
  const auto or_zero = [&](const Expr& e) { return tir::if_then_else(k < g.n, e, g.zero()); };
  const Tensor products = te::compute(
      {g.m}, {"i"},
      [&](Var i) {
        return sum_of(or_zero(g.A(i, k)) * or_zero(g.x(k)), {step, lane});
      },
      "products");
  const Tensor out = g.result(products);
  const Schedule s = te::create_schedule(out);
  const Stage stage = s[out], last = s[products];
  auto [blocks, row] = stage.split(stage.op().axis(0), kRows);
  stage.pragma(blocks, kPartitioned, 1);
  const Stage first = s[s.rfactor(products, lane, 1)];
  std::vector<Stage> stages = {first};
  for (int count = lanes / 2; count > 1; count /= 2)
    stages.push_back(s[s.rfactor(products, last.split(last.op().reduce_axis(0), count).inner, 1)]);
  stages.push_back(last);
  for (const Stage& each : stages) {
    each.compute_at(stage, blocks).set_scope("local");
    const IterVar of_row = each.op().axis(0), terms = each.op().reduce_axis(0);
    each.unroll(of_row);
    if (each.same_as(first))
      each.reorder({terms, of_row, each.op().axis(1)}).pragma(terms, kPartitioned, 1);
    else
      each.unroll(terms);
    if (each.same_as(last)) continue;
    each.vectorize(each.op().axis(1));
    if (!each.same_as(first)) each.reorder({of_row, terms, each.op().axis(1)});
  }
  if (has_threads) share_out(stage, blocks, target.cores);
  return g.function(s, out);
}

/// Accumulates columns of A in registers. Each step loads `vectors` vectors of a row. There are
/// `sets` sets of accumulators, each for other rows.
PrimFunc gemv_by_columns(const Gemv& g, int vectors, int sets, const TargetFacts& target) {
  const int lanes = cpu::lanes_of(g.type, target), width = vectors * lanes;
  const IterVar k = te::reduce_axis({0, g.m}, "k");
  // The number of columns is rounded up to whole vectors, so that no step has a condition.
  const Expr columns = tir::ceildiv(g.n, width) * width;
  const Tensor products = te::compute(
      {columns}, {"j"},
      [&](Var j) { return sum_of(tir::if_then_else(j < g.n, g.A(k, j), g.zero()) * g.x(k), {k}); },
      "products");
  const Tensor out = g.result(products);
  const Schedule s = te::create_schedule(out);
  const Stage stage = s[out], sums = s[products];
  auto [blocks, column] = stage.split(stage.op().axis(0), width);
  stage.pragma(blocks, kPartitioned, 1).vectorize(column);
  std::vector<Stage> stages = {sums};
  if (sets > 1) {
    stages.push_back(s[s.rfactor(products, sums.split(k, sets).inner, 0)]);
    const IterVar set = stages.back().op().axis(0);
    stages.back().unroll(set).pragma(stages.back().op().reduce_axis(0), kPartitioned, 1);
    sums.unroll(sums.op().reduce_axis(0));
  }
  for (const Stage& each : stages) {
    each.compute_at(stage, blocks).set_scope("local");
    auto [vector, lane] = each.split(each.op().axis().back(), lanes);
    std::vector<IterVar> order = {each.op().reduce_axis(0)};
    if (each.op().axis().size() > 1) order.push_back(each.op().axis(0));
    order.insert(order.end(), {vector, lane});
    each.reorder(order).unroll(vector).vectorize(lane);
  }
  return g.function(s, out);
}

/// Processes one segment of the columns after the other. Adds several rows of A at a time to the
/// sums of the segment, which stay in the L1 cache.
PrimFunc gemv_by_segments(const Gemv& g, bool has_threads, const TargetFacts& target) {
  constexpr int kRows = 8;
  const int lanes = cpu::lanes_of(g.type, target);
  const int most = cpu::elements_at_hand(g.type, target);
  const IterVar k = te::reduce_axis({0, g.m}, "k");
  const Tensor products = te::compute(
      {g.n}, {"j"}, [&](Var j) { return sum_of(g.A(k, j) * g.x(k), {k}); }, "products");
  const Tensor out = g.result(products);
  const Schedule s = te::create_schedule(out);
  const Stage stage = s[out], columns = s[products];
  // The segments consist of whole vectors and have about equal lengths.
  const int parts_of_segments = has_threads ? target.cores : 1;
  const Expr segments_count = tir::ceildiv(g.n, parts_of_segments * most) * parts_of_segments;
  const Expr vectors = tir::ceildiv(g.n, lanes);
  const Expr length =
      tir::max(tir::floordiv(vectors + segments_count - 1, segments_count), 1) * lanes;
  auto [segments, column] = stage.split(stage.op().axis(0), length);
  cpu::vectorize_loop(stage, column, lanes);
  columns.compute_at(stage, segments);
  auto [rows, row] = columns.split(k, kRows);
  auto [vector, lane] = columns.split(columns.op().axis(0), lanes);
  columns.reorder({rows, vector, row, lane}).unroll(row).vectorize(lane);
  columns.pragma(rows, kPartitioned, 1).pragma(vector, kPartitioned, 1);
  if (has_threads) stage.parallel(segments);
  return g.function(s, out);
}

}  // namespace

PrimFunc gemv(const MatrixOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("gemv", options.dtype, target, where);
  const Gemv g(options);
  PrimFunc func = [&] {
    if (!options.transposed) return gemv_by_rows(g, false, target);
    // Short rows are not divided into segments.
    constexpr int kBytesForSegments = 1 << 10;
    const int lanes = cpu::lanes_of(g.type, target);
    return either(g.n * g.type.bytes() > kBytesForSegments, gemv_by_segments(g, false, target),
                  either(g.n > 2 * lanes, gemv_by_columns(g, 4, 2, target),
                         either(g.n > lanes, gemv_by_columns(g, 2, 4, target),
                                gemv_by_columns(g, 1, 4, target))));
  }();
  if (target.cores > 1)
    func = either(
        is_large(g.m, g.n),
        options.transposed ? gemv_by_segments(g, true, target) : gemv_by_rows(g, true, target),
        func);
  return either(g.alpha == g.zero(), g.scale(target), func);
}

PrimFunc ger(const MatrixOptions& options, const TargetFacts& target, SourceLocation where) {
  cpu::check_routine("ger", options.dtype, target, where);
  constexpr int kRows = 4;
  const DataType type = options.dtype;
  Arguments arguments;
  const Var m = Var::size("m"), n = Var::size("n"), alpha = arguments.scalar("alpha", type);
  const Tensor x = arguments.vector(m, "x", options), y = arguments.vector(n, "y", options);
  const Tensor A = arguments.matrix(m, n, type);
  const Tensor out = te::compute(
      {m, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + alpha * x(i) * y(j); }, "ger");
  arguments.store_in(out, A);
  const auto arrange = [&](bool has_threads) {
    const Schedule s = te::create_schedule(out);
    const Stage stage = s[out];
    auto [blocks, row] = stage.split(stage.op().axis(0), kRows);
    auto [vectors, lane] = stage.split(stage.op().axis(1), cpu::lanes_of(type, target));
    stage.reorder({blocks, vectors, row, lane}).unroll(row).vectorize(lane);
    stage.pragma(blocks, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
    if (has_threads) share_out(stage, blocks, target.cores);
    return s;
  };
  return unless_zero(alpha, with_threads_if(is_large(m, n), arrange, arguments, "ger", target));
}

}  // namespace tenon::topi::blas
