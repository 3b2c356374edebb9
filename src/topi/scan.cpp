#include "tenon/topi/scan.h"

#include <algorithm>

#include "tenon/tir/expr.h"
#include "topi/declare.h"

namespace tenon::topi {

namespace {

using Indices = std::span<const Var>;

/// The scanned dimension of the indices first.
std::vector<Expr> with_time_first(Indices i, std::size_t axis) {
  std::vector<Expr> at(i.begin(), i.end());
  std::rotate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis),
              at.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return at;
}

struct Function {
  const char* name;
  int first;
  Expr (*combine)(const Expr& a, const Expr& b);
};

Tensor cumulative(const Function& function, const Tensor& x, int axis,
                  const CumulativeOptions& options, const SourceLocation& where) {
  const std::string name = or_else(options.name, (std::string("T_") + function.name).c_str());
  const std::string what = describe(function.name, name, x);
  const std::size_t rank = x.shape().size(), along = dimension_of(what, axis, rank, where);
  const DataType type = options.dtype.value_or(x.dtype());
  std::vector<Expr> shape = x.shape();
  std::rotate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(along),
              shape.begin() + static_cast<std::ptrdiff_t>(along) + 1);
  std::vector<Expr> first = shape;
  first[0] = tir::make_int(shape[0].dtype(), 1);

  // The element at an index whose first place is the time, some steps earlier.
  const auto element = [&](Indices i, int steps) {
    std::vector<Expr> at(i.begin() + 1, i.end());
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(along), Expr(i[0]) - steps);
    return tir::cast(type, Operand(x(at, where), where));
  };
  const int before = options.exclusive ? 1 : 0;
  const Tensor state = te::placeholder(shape, name + "_state", type, where);
  const Tensor init = declare(
      what, first,
      [&](Indices i) {
        return options.exclusive ? tir::make_const(type, function.first) : element(i, 0);
      },
      name + "_init", "", where);
  const Tensor update = declare(
      what, shape,
      [&](Indices i) {
        std::vector<Expr> last(i.begin(), i.end());
        last[0] = last[0] - 1;
        return function.combine(state(last, where), element(i, before));
      },
      name + "_update", "", where);
  const Tensor scan = te::scan(init, update, state, {x}, along == 0 ? name : name + "_scan", where);
  if (along == 0) return scan;
  return declare_injective(
      what, x.shape(), [&](Indices i) { return scan(with_time_first(i, along), where); }, name,
      where);
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, CumulativeOptions options, SourceLocation where) {
  const auto add = [](const Expr& a, const Expr& b) { return a + b; };
  return cumulative({"cumsum", 0, add}, x, axis, options, where);
}

Tensor cumprod(const Tensor& x, int axis, CumulativeOptions options, SourceLocation where) {
  const auto multiply = [](const Expr& a, const Expr& b) { return a * b; };
  return cumulative({"cumprod", 1, multiply}, x, axis, options, where);
}

}  // namespace tenon::topi
