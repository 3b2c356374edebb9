#include <algorithm>

#include "tests/common/loop_intrinsics.h"
#include "tests/fuzz/program_maker.h"

namespace tenon::fuzz {

namespace {

using Buffers = std::span<const tir::Buffer>;

/// Loops that store an element for every index, of the kinds that a user may write.
tir::Stmt stores(const tir::Buffer& to, const std::vector<Expr>& shape, tir::ForKind outermost,
                 const std::function<Expr(const std::vector<Expr>&)>& value) {
  std::vector<Var> vars;
  std::vector<Expr> at;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    vars.emplace_back("x" + std::to_string(d), shape[d].dtype());
    at.push_back(vars.back());
  }
  tir::Stmt code = tir::make_store(to, value(at), at);
  for (std::size_t d = shape.size(); d-- > 0;) {
    const tir::ForKind kind = d == 0 ? outermost : tir::ForKind::Serial;
    code = tir::make_stmt(
        tir::For{vars[d], make_const(shape[d].dtype(), 0), shape[d], kind, std::move(code)});
  }
  return code;
}

}  // namespace

/// A tensor backwards along its first dimension, by statements over whole buffers; now and then
/// also as it is, as a second output.
bool ProgramMaker::add_extern(const std::string& name) {
  const KnownTensor from = random_.pick(tensors_);
  if (from.shape.empty()) return false;
  const std::vector<Expr> shape = from.tensor.shape();
  const bool has_two = random_.one_in(3);
  const tir::ForKind kind = random_.one_in(3) ? tir::ForKind::Parallel : tir::ForKind::Serial;
  const te::ExternBody body = [&](Buffers ins, Buffers outs) -> te::ExternResult {
    const auto backwards = [&](std::vector<Expr> at) {
      at[0] = shape[0] - 1 - at[0];
      return tir::make_load(ins[0], std::move(at));
    };
    const auto same = [&](const std::vector<Expr>& at) { return tir::make_load(ins[0], at); };
    std::vector<tir::Stmt> all = {stores(outs[0], shape, kind, backwards)};
    if (has_two) all.push_back(stores(outs[1], shape, tir::ForKind::Serial, same));
    return tir::make_seq(std::move(all));
  };
  program_.notes.operation(has_two ? "extern of two outputs" : "extern", from.tensor.dtype());
  std::vector<std::vector<Expr>> shapes(has_two ? 2 : 1, shape);
  for (const te::Tensor& output : te::extern_multi(shapes, {from.tensor}, body, name))
    add_output(output, from.shape, from.magnitude);
  return true;
}

/// Mixtures of a matrix's rows, by statements whose loops begin where the first rows, which are
/// only copied, end; columns as one vector.
bool ProgramMaker::add_extern_sums(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from || from->shape[0].times_n + from->shape[1].times_n > 0) return false;
  const DataType type = from->tensor.dtype();
  const int summed = from->shape[0].plus, columns = from->shape[1].plus;
  const int begin = random_.between(0, std::min(3, summed)), rows = begin + random_.between(1, 17);
  // Some rows again, where there are few.
  const int terms = random_.one_in(2) ? summed : random_.between(8, 17);
  constexpr int kWeights = 5;
  const Magnitude sum = sum_of(product_of(from->magnitude, magnitude_of(kWeights)), terms);
  if (!is_held(type, sum) || !from->magnitude.exact || columns > 64) return false;
  const auto kind = columns > 1 ? tir::ForKind::Vectorized : tir::ForKind::Serial;
  const te::ExternBody body = [&](Buffers ins, Buffers outs) -> te::ExternResult {
    tir::IRBuilder ib;
    const tir::BufferRef in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
    const auto for_columns = [&](const std::function<void(Var)>& each) {
      ib.for_range(0, columns, "j", each, {.kind = kind});
    };
    ib.for_range(0, begin, "first", [&](Var i) {
      for_columns([&](Var j) { out[{i, j}] = Expr(in[{i, j}]); });
    });
    ib.for_range(begin, rows, "i", [&](Var i) {
      for_columns([&](Var j) { out[{i, j}] = make_const(type, 0); });
      ib.for_range(0, terms, "k", [&](Var k) {
        const Expr row = terms > summed ? floormod(k, summed) : Expr(k);
        const Expr weight = cast(type, floormod(i * 3 + k, kWeights));
        for_columns([&](Var j) { out[{i, j}] = Expr(out[{i, j}]) + Expr(in[{row, j}]) * weight; });
      });
    });
    return ib.get();
  };
  program_.notes.operation("extern that sums", type);
  const Shape shape = {{rows}, {columns}};
  add_output(te::extern_op(extents(shape), {from->tensor}, body, name), shape, in_type(type, sum));
  return true;
}

/// Rows, or pairs of them that lie side by side, each by one call of an intrinsic, whose code is
/// loops.
bool ProgramMaker::add_region(const std::string& name) {
  const KnownTensor* from = random_matrix(false);
  if (!from || from->shape[1].times_n > 0) return false;
  const KnownTensor matrix = *from;
  const DataType type = matrix.tensor.dtype();
  const Expr width = value(matrix.shape[1]);
  const Size& height = matrix.shape[0];
  const bool in_pairs = height.times_n == 0 && height.plus >= 2 && random_.one_in(2);
  const int count = in_pairs ? 2 : 1;
  const std::vector<Expr> tile = in_pairs ? std::vector<Expr>{2, width} : std::vector<Expr>{width};
  const te::Tensor a = te::placeholder(tile, "a", type);
  const te::Tensor part = te::compute(
      tile,
      [&](std::span<const Var> at) {
        const Expr column = width - 1 - at.back();
        return in_pairs ? a(at[0], column) : a(column);
      },
      "part");
  using Strides = testing::LoopIntrinsicOptions::Strides;
  const te::TensorIntrin backwards =
      testing::loop_intrinsic(part, {.strides = in_pairs ? Strides::Declared : Strides::OfRows});
  const Shape shape = in_pairs ? Shape{{height.plus / 2}, {2}, matrix.shape[1]} : matrix.shape;
  const te::Tensor rows = te::tensor_compute(
      extents(shape), {"row"},
      [&](Var row) {
        return backwards({matrix.tensor.region(
            {Range::from_min_extent(row * count, count), Range::from_min_extent(0, width)})});
      },
      name);
  program_.notes.operation(in_pairs ? "region of pairs of rows" : "region", type);
  add_output(rows, shape, matrix.magnitude);
  return true;
}

/// A tensor without elements, and what is computed of it: nothing, or reductions over nothing.
bool ProgramMaker::add_nothing(const std::string& name) {
  const Shape shape = random_.one_in(2) ? Shape{{0}, {random_.between(1, 20)}}
                                        : Shape{{random_.between(1, 20)}, {0}};
  for (const Size& size : shape) note_extent(size);
  const DataType type = random_.one_in(2) ? Int(32) : type_;
  const te::Tensor nothing = te::compute(
      extents(shape),
      [&](std::span<const Var> at) { return element(axes_of(at, shape), type).value; },
      name + ".nothing");
  program_.stages.push_back(nothing);
  program_.text.push_back(name + ".nothing = " + nothing.op().name());
  if (random_.one_in(2)) {
    // Its readers are without elements too.
    program_.stages.push_back(te::compute(
        extents(shape), [&](std::span<const Var> at) { return nothing(at[0], at[1]); }, name));
    return true;
  }
  const std::size_t empty = shape[0].plus == 0 ? 0 : 1;
  const te::IterVar k = te::reduce_axis({0, value(shape[empty])}, "k");
  program_.notes.feature("reduction over", "nothing");
  const Shape rest = {shape[1 - empty]};
  const te::Tensor reduced = te::compute(
      extents(rest),
      [&](std::span<const Var> at) {
        const Expr e = empty == 0 ? nothing(k, at[0]) : nothing(at[0], k);
        return type.is_bool() ? te::all(e, {k}) : te::sum(e, {k});
      },
      name);
  add_output(reduced, rest, magnitude_of(1));
  return true;
}

/// A chain of which one dimension is n, which may be 0 here: nothing is read but at the same row,
/// or at all of them.
void ProgramMaker::add_rows_of_any_number() {
  program_.least_size = 0;
  program_.notes.feature("extent", "n, which may be 0");
  const Size any{0, 1}, width{random_.between(1, 17)};
  const Shape shape = random_.one_in(2) ? Shape{any, width} : Shape{width, any};
  const std::size_t rows = shape[0].times_n > 0 ? 0 : 1;
  te::Tensor last = te::placeholder(extents(shape), "A", Int(32));
  program_.inputs.push_back(last);
  program_.text.push_back("n may be 0");
  const auto add = [&](const te::Tensor& t, const Shape& of) {
    add_output(t, of, magnitude_of_any(Int(32)));
  };
  const int count = random_.between(1, 4);
  for (int n = 0; n < count; ++n) {
    last = te::compute(
        extents(shape),
        [&](std::span<const Var> at) {
          std::vector<Expr> other(at.begin(), at.end());
          other[1 - rows] = value(width) - 1 - other[1 - rows];
          return last(other) * 3 + last(at[0], at[1]) + random_.between(0, 5);
        },
        "T" + std::to_string(n));
    add(last, shape);
  }
  program_.notes.feature("stages", count == 1 ? "1" : "2 to 9");
  if (random_.one_in(3)) return;
  const std::size_t over = random_.one_in(3) ? 1 - rows : rows;
  const te::IterVar k = te::reduce_axis({0, value(shape[over])}, "k");
  const Shape rest = {shape[1 - over]};
  program_.notes.operation("sum", Int(32));
  const te::Tensor sums = te::compute(
      extents(rest),
      [&](std::span<const Var> at) {
        return te::sum(over == 0 ? last(k, at[0]) : last(at[0], k), {k});
      },
      "S");
  add(sums, rest);
  if (random_.one_in(2)) return;
  add(te::compute(
          extents(shape),
          [&](std::span<const Var> at) { return last(at[0], at[1]) - sums(at[1 - over]); }, "R"),
      shape);
}

}  // namespace tenon::fuzz
