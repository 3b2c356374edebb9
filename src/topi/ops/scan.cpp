#include "tenon/topi/scan.h"

#include <algorithm>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

using Indices = std::span<const Var>;

/// Returns the indices with that of the scanned dimension moved to the front.
std::vector<Expr> with_time_first(Indices i, std::size_t axis) {
  std::vector<Expr> at(i.begin(), i.end());
  std::rotate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis),
              at.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return at;
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
  std::vector<Expr> shape = x.shape();
  std::rotate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(along),
              shape.begin() + static_cast<std::ptrdiff_t>(along) + 1);
  std::vector<Expr> first = shape;
  first[0] = tir::min(shape[0], 1);

  // Returns the element `steps` steps before the indices `i`. The first index is the time.
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

/// A scan of one dimension, divided into blocks (a blocked prefix sum).
class Blocks {
 public:
  Blocks(const ScanFunction& function, const Tensor& x, std::size_t along,
         const CumulativeOptions& options, std::string name, std::string what,
         const SourceLocation& where)
      : function_(function),
        x_(x),
        along_(along),
        options_(options),
        name_(std::move(name)),
        what_(std::move(what)),
        where_(where),
        type_(options.dtype.value_or(x.dtype())),
        size_(checked_size()) {}

  Tensor running() const {
    const Tensor blocks = in_blocks(), all_before = before(blocks),
                 within = one_after_another(function_, blocks, along_ + 1, {}, name_ + "_within",
                                            what_, where_);
    const Tensor result = declare(
        blocks.shape(),
        [&](Indices i) {
          return function_.combine(all_before(without(i, along_ + 1), where_), within(i, where_));
        },
        "_of_blocks");
    return topi::declare(
        what_, x_.shape(),
        [&](Indices i) {
          std::vector<Expr> at(i.begin(), i.end());
          at[along_] = tir::floordiv(i[along_], size_);
          at.insert(at.begin() + place(1), tir::floormod(i[along_], size_));
          return result(at, where_);
        },
        name_, kCumulativeBlocks, where_);
  }

 private:
  int checked_size() const {
    constexpr int kMax = 1 << 20;
    if (*options_.block < 1 || *options_.block > kMax)
      throw TypeError(
          what_ + ": blocks are of 1 to 2^20 elements, got " + std::to_string(*options_.block),
          where_);
    return *options_.block;
  }

  Tensor declare(const std::vector<Expr>& shape, const Element& element, const char* suffix) const {
    return topi::declare(what_, shape, element, name_ + suffix, "", where_);
  }

  std::ptrdiff_t place(int behind = 0) const {
    return static_cast<std::ptrdiff_t>(along_) + behind;
  }
  static std::vector<Expr> without(Indices i, std::size_t n) {
    std::vector<Expr> at(i.begin(), i.end());
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(n));
    return at;
  }

  /// Returns the input with the scanned dimension split into blocks: {.., block, element, ..}. For
  /// an exclusive sum, it is shifted by one element and starts with the identity.
  Tensor in_blocks() const {
    const Expr& extent = x_.shape()[along_];
    const std::optional<std::int64_t> known = tir::constant_int(extent);
    const bool is_whole = known && *known % size_ == 0;
    std::vector<Expr> shape = x_.shape();
    shape[along_] = tir::floordiv(sum_of(what_, {extent, size_ - 1}, where_), size_);
    shape.insert(shape.begin() + place(1), size_);
    return declare(
        shape,
        [&](Indices i) {
          const int earlier = options_.exclusive ? 1 : 0;
          std::vector<Expr> at = without(i, along_ + 1);
          at[along_] = i[along_] * size_ + i[along_ + 1] - earlier;
          const Expr element = tir::cast(type_, Operand(x_(at, where_), where_));
          Expr inside = tir::make_true();
          if (options_.exclusive) inside = inside && at[along_] >= 0;
          if (!is_whole) inside = inside && at[along_] < extent;
          if (tir::is_one(inside)) return element;
          return tir::if_then_else(inside, element, tir::make_const(type_, function_.first));
        },
        "_blocks");
  }

  /// Returns, for each block, the sum of all preceding blocks.
  Tensor before(const Tensor& blocks) const {
    const te::IterVar element = te::reduce_axis({0, size_}, "k", where_);
    std::vector<Expr> shape = blocks.shape();
    shape.erase(shape.begin() + place(1));
    const Tensor sums = declare(
        shape,
        [&](Indices i) {
          std::vector<Expr> at(i.begin(), i.end());
          at.insert(at.begin() + place(1), element);
          return function_.reduce(Operand(blocks(at, where_), where_), {element}, {});
        },
        "_sums");
    const std::string name = name_ + "_before";
    return one_after_another(function_, sums, along_, {.exclusive = true}, name, what_, where_);
  }

  const ScanFunction& function_;
  const Tensor& x_;
  const std::size_t along_;
  const CumulativeOptions& options_;
  const std::string name_, what_;
  const SourceLocation& where_;
  const DataType type_;
  const int size_;
};

Tensor cumulative(const ScanFunction& function, const Tensor& x, int axis,
                  const CumulativeOptions& options, const SourceLocation& where) {
  const std::string name = or_else(options.name, (std::string("T_") + function.name).c_str());
  const std::string what = describe(function.name, name, x);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  if (options.block) return Blocks(function, x, along, options, name, what, where).running();
  return one_after_another(function, x, along, options, name, what, where);
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
