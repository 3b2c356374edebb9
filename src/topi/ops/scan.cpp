#include "tenon/topi/scan.h"

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

/// Returns the indices or extents with that of the scanned dimension moved to the front.
template <class List>
std::vector<Expr> with_time_first(const List& list, std::size_t along) {
  return with(without(list, along), 0, list[along]);
}

struct ScanFunction {
  const char* name;
  int first;
  Expr (*combine)(const Expr& a, const Expr& b);
  Expr (*reduce)(const Operand& e, std::vector<te::IterVar> axis, te::ReduceOptions options);
};

Tensor one_after_another(const ScanFunction& function, const Tensor& x, std::size_t along,
                         const CumulativeOptions& options, const std::string& name,
                         const std::string& what, const SourceLocation& where) {
  const DataType type = options.dtype.value_or(x.dtype());
  const std::vector<Expr> shape = with_time_first(x.shape(), along);
  std::vector<Expr> first = shape;
  first[0] = tir::min(shape[0], 1);

  // Returns the element `steps` steps before the indices `i`. The first index is the time.
  const auto element = [&](Indices i, int steps) {
    const std::vector<Expr> at = with(i.subspan(1), along, i[0] - steps);
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

/// Declares a scan that is divided into blocks of the scanned dimension (a blocked prefix sum).
Tensor block_by_block(const ScanFunction& function, const Tensor& x, std::size_t along,
                      const CumulativeOptions& options, const std::string& name,
                      const std::string& what, const SourceLocation& where) {
  constexpr int kMax = 1 << 20;
  const int size = *options.block;
  if (size < 1 || size > kMax)
    throw TypeError(what + ": blocks are of 1 to 2^20 elements, got " + std::to_string(size),
                    where);
  const DataType type = options.dtype.value_or(x.dtype());
  const auto part = [&](const std::vector<Expr>& shape, const Element& element,
                        const char* suffix) {
    return declare(what, shape, element, name + suffix, "", where);
  };

  // The input with the scanned dimension split into blocks: {.., block, element, ..}. For an
  // exclusive sum, it is shifted by one element and starts with the identity.
  const Expr& extent = x.shape()[along];
  const std::optional<std::int64_t> known = tir::constant_int(extent);
  const bool is_whole = known && *known % size == 0;
  std::vector<Expr> shape = with(x.shape(), along + 1, size);
  shape[along] = tir::floordiv(sum_of(what, {extent, size - 1}, where), size);
  const Tensor blocks = part(
      shape,
      [&](Indices i) {
        const int earlier = options.exclusive ? 1 : 0;
        std::vector<Expr> at = without(i, along + 1);
        at[along] = i[along] * size + i[along + 1] - earlier;
        const Expr element = tir::cast(type, Operand(x(at, where), where));
        Expr inside = tir::make_true();
        if (options.exclusive) inside = inside && at[along] >= 0;
        if (!is_whole) inside = inside && at[along] < extent;
        if (tir::is_one(inside)) return element;
        return tir::if_then_else(inside, element, tir::make_const(type, function.first));
      },
      "_blocks");

  // The sum of each block, and for each block the sum of all preceding blocks.
  const te::IterVar k = te::reduce_axis({0, size}, "k", where);
  const Tensor sums = part(
      without(blocks.shape(), along + 1),
      [&](Indices i) {
        return function.reduce(Operand(blocks(with(i, along + 1, k), where), where), {k}, {});
      },
      "_sums");
  const Tensor before =
      one_after_another(function, sums, along, {.exclusive = true}, name + "_before", what, where);
  const Tensor within =
      one_after_another(function, blocks, along + 1, {}, name + "_within", what, where);
  const Tensor result = part(
      blocks.shape(),
      [&](Indices i) {
        return function.combine(before(without(i, along + 1), where), within(i, where));
      },
      "_of_blocks");
  return declare(
      what, x.shape(),
      [&](Indices i) {
        std::vector<Expr> at = with(i, along + 1, tir::floormod(i[along], size));
        at[along] = tir::floordiv(i[along], size);
        return result(at, where);
      },
      name, kCumulativeBlocks, where);
}

Tensor cumulative(const ScanFunction& function, const Tensor& x, int axis,
                  const CumulativeOptions& options, const SourceLocation& where) {
  const std::string name = or_else(options.name, (std::string("T_") + function.name).c_str());
  const std::string what = describe(function.name, name, x);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  const auto declare_scan = options.block ? block_by_block : one_after_another;
  return declare_scan(function, x, along, options, name, what, where);
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, CumulativeOptions options, SourceLocation where) {
  const auto add = [](const Expr& a, const Expr& b) { return a + b; };
  return cumulative({"cumsum", 0, add, te::sum}, x, axis, options, where);
}

Tensor cumprod(const Tensor& x, int axis, CumulativeOptions options, SourceLocation where) {
  const auto multiply = [](const Expr& a, const Expr& b) { return a * b; };
  return cumulative({"cumprod", 1, multiply, te::prod}, x, axis, options, where);
}

}  // namespace tenon::topi
