#include "tenon/topi/parts.h"

#include <algorithm>

#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

namespace {

std::int64_t constant_extent(const std::string& what, const Tensor& x, std::size_t n,
                             const SourceLocation& where) {
  if (const std::optional<std::int64_t> extent = tir::constant_int(x.shape()[n])) return *extent;
  throw TypeError(what + ": dimension " + std::to_string(n) + " of `" + x.name() + "` has extent " +
                      tir::print_expr(x.shape()[n]) + ", which must be constant here",
                  where);
}

}  // namespace

// ---- several tensors ----------------------------------------------------------------------------

namespace {

/// Throws unless all tensors have the type and the extents of the first one. Dimension `except` is
/// not compared.
void check_alike(const std::string& what, const std::vector<Tensor>& tensors,
                 std::optional<std::size_t> except, const SourceLocation& where) {
  const Tensor& first = tensors.front();
  for (const Tensor& other : tensors) {
    if (other.dtype() != first.dtype())
      throw TypeError(what + ": `" + first.name() + "` is " + first.dtype().str() + ", `" +
                          other.name() + "` is " + other.dtype().str() + "; cast one of them",
                      where);
    bool alike = other.ndim() == first.ndim();
    for (std::size_t n = 0; alike && n < first.shape().size(); ++n)
      alike = n == except || same_extent(other.shape()[n], first.shape()[n]);
    if (!alike)
      throw TypeError(what + ": " + describe(first) + " and " + describe(other) +
                          " are not known to have the same extents" +
                          (except ? " but for dimension " + std::to_string(*except) : ""),
                      where);
  }
}

/// Returns a text such as "topi::stack `T_stack` of 3 tensors".
std::string describe_all(const std::string& function, const std::string& name,
                         const std::vector<Tensor>& tensors, const SourceLocation& where) {
  const std::string what = "topi::" + function + " `" + name + "`";
  if (tensors.empty()) throw TypeError(what + ": no tensor is given", where);
  return what + " of " + std::to_string(tensors.size()) + " tensors";
}

}  // namespace

Tensor concatenate(std::vector<Tensor> tensors, int axis, Name name, SourceLocation where) {
  const std::string what = describe_all("concatenate", name, tensors, where);
  const std::size_t along = dimension_of(what, axis, tensors.front().shape().size(), where);
  check_alike(what, tensors, along, where);
  // The start of each tensor in the result, and the end of the last tensor.
  std::vector<Expr> begins{zero_like(tensors.front().shape()[along])};
  for (const Tensor& tensor : tensors)
    begins.push_back(sum_of(what, {begins.back(), tensor.shape()[along]}, where));
  std::vector<Expr> shape = tensors.front().shape();
  shape[along] = begins.back();
  const auto element = [&](Indices indices) {
    const auto read = [&](std::size_t k) {
      std::vector<Expr> own(indices.begin(), indices.end());
      own[along] = own[along] - begins[k];
      return tensors[k](own, where);
    };
    Expr value = read(tensors.size() - 1);
    for (std::size_t k = tensors.size() - 1; k-- > 0;)
      value = tir::if_then_else(indices[along] < begins[k + 1], read(k), value);
    return value;
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

Tensor stack(std::vector<Tensor> tensors, int axis, Name name, SourceLocation where) {
  const std::string what = describe_all("stack", name, tensors, where);
  const std::size_t along = dimension_of(what, axis, tensors.front().shape().size() + 1, where);
  check_alike(what, tensors, std::nullopt, where);
  const std::vector<Expr> shape =
      with(tensors.front().shape(), along, static_cast<int>(tensors.size()));
  const auto element = [&](Indices indices) {
    const std::vector<Expr> own = without(indices, along);
    Expr value = tensors.back()(own, where);
    for (std::size_t k = tensors.size() - 1; k-- > 0;)
      value =
          tir::if_then_else(indices[along] == static_cast<int>(k), tensors[k](own, where), value);
    return value;
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

// ---- parts --------------------------------------------------------------------------------------

namespace {

/// Declares the slices of dimension `along` between adjacent borders.
std::vector<Tensor> parts_between(const std::string& what, const Tensor& x, std::size_t along,
                                  const std::vector<std::int64_t>& borders, const std::string& name,
                                  const SourceLocation& where) {
  const DataType type = x.shape()[along].dtype();
  std::vector<Tensor> parts;
  for (std::size_t k = 0; k + 1 < borders.size(); ++k) {
    std::vector<Expr> shape = x.shape();
    shape[along] = tir::make_int(type, borders[k + 1] - borders[k]);
    const auto element = [&](Indices indices) {
      std::vector<Expr> read(indices.begin(), indices.end());
      read[along] = read[along] + tir::make_int(type, borders[k]);
      return x(read, where);
    };
    parts.push_back(declare_injective(what, shape, element, name, where));
  }
  return parts;
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, std::vector<int> at, int axis, Name name,
                          SourceLocation where) {
  const std::string what = describe("split", name, x);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  const std::int64_t end = constant_extent(what, x, along, where);
  std::vector<std::int64_t> borders{0};
  borders.insert(borders.end(), at.begin(), at.end());
  borders.push_back(end);
  if (!std::is_sorted(borders.begin(), borders.end()))
    throw TypeError(what + ": the places must rise from 0 to the extent of dimension " +
                        std::to_string(along) + ", " + std::to_string(end),
                    where);
  return parts_between(what, x, along, borders, name, where);
}

std::vector<Tensor> split_sections(const Tensor& x, int sections, int axis, Name name,
                                   SourceLocation where) {
  const std::string what = describe("split_sections", name, x);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  const std::int64_t extent = constant_extent(what, x, along, where);
  if (sections <= 0 || extent % sections != 0)
    throw TypeError(what + ": " + std::to_string(sections) + " parts do not divide dimension " +
                        std::to_string(along) + ", of extent " + std::to_string(extent),
                    where);
  std::vector<std::int64_t> borders;
  for (std::int64_t k = 0; k <= sections; ++k) borders.push_back(extent / sections * k);
  return parts_between(what, x, along, borders, name, where);
}

namespace {

/// Returns the first index and the number of elements of a slice of a dimension of constant extent,
/// as Python defines it.
std::pair<std::int64_t, std::int64_t> slice_of(std::int64_t extent, std::int64_t begin,
                                               std::int64_t end, std::int64_t stride) {
  // A slice with a negative stride may end at -1, before the first element.
  const std::int64_t least = stride > 0 ? 0 : -1, greatest = stride > 0 ? extent : extent - 1;
  const auto place = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, least, greatest);
  };
  const std::int64_t from = place(begin), to = place(end),
                     length = stride > 0 ? to - from : from - to;
  const std::int64_t step = std::abs(stride);
  return {from, length > 0 ? (length + step - 1) / step : 0};
}

}  // namespace

Tensor strided_slice(const Tensor& x, std::vector<int> begin, std::vector<int> end,
                     std::vector<int> strides, Name name, SourceLocation where) {
  const std::string what = describe("strided_slice", name, x);
  if (begin.size() != end.size() || strides.size() > begin.size() ||
      begin.size() > x.shape().size())
    throw TypeError(what + ": got " + std::to_string(begin.size()) + " begins, " +
                        std::to_string(end.size()) + " ends and " + std::to_string(strides.size()) +
                        " strides",
                    where);
  strides.resize(begin.size(), 1);
  std::vector<std::int64_t> firsts;
  std::vector<Expr> shape = x.shape();
  for (std::size_t n = 0; n < begin.size(); ++n) {
    if (strides[n] == 0)
      throw TypeError(what + ": the stride of dimension " + std::to_string(n) + " is 0", where);
    const auto [first, count] =
        slice_of(constant_extent(what, x, n, where), begin[n], end[n], strides[n]);
    firsts.push_back(first);
    shape[n] = tir::make_int(shape[n].dtype(), count);
  }
  const auto element = [&](Indices indices) {
    std::vector<Expr> read(indices.begin(), indices.end());
    for (std::size_t n = 0; n < firsts.size(); ++n) {
      const DataType type = read[n].dtype();
      read[n] = read[n] * tir::make_int(type, strides[n]) + tir::make_int(type, firsts[n]);
    }
    return x(read, where);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

namespace {

/// Returns the index clamped to the valid indices of the dimension.
Expr clamped(const Expr& index, const Expr& extent) {
  const bool is_wide =
      extent.dtype().bits > 32 || index.dtype().bits > 32 || index.dtype() == UInt(32);
  const DataType type = Int(is_wide ? 64 : 32);
  const Expr last = tir::cast(type, extent) - 1;
  // A uint64 index is clamped to the last index before it is converted, because int64 does not
  // represent all uint64 values.
  const Expr low = index.dtype() == UInt(64) ? tir::min(index, tir::cast(UInt(64), last)) : index;
  return tir::max(tir::min(tir::cast(type, low), last), 0);
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int axis, Name name, SourceLocation where) {
  const std::string what = describe("take", name, x) + " by " + describe(indices);
  const std::size_t along = dimension_of(what, axis, x.shape().size(), where);
  const auto place = static_cast<std::ptrdiff_t>(along),
             count = static_cast<std::ptrdiff_t>(indices.ndim());
  if (!indices.dtype().is_integral() || indices.dtype().is_bool() || !indices.dtype().is_scalar())
    throw TypeError(what + ": indices must be integers, got " + indices.dtype().str(), where);
  if (tir::is_zero(x.shape()[along]))
    throw TypeError(what + ": dimension " + std::to_string(along) + " has no elements to take",
                    where);
  std::vector<Expr> shape = without(x.shape(), along);
  shape.insert(shape.begin() + place, indices.shape().begin(), indices.shape().end());
  const auto element = [&](Indices all) {
    const Expr index = indices(all.subspan(along, indices.shape().size()), where);
    std::vector<Expr> read(all.begin(), all.begin() + place);
    read.push_back(clamped(index, x.shape()[along]));
    read.insert(read.end(), all.begin() + place + count, all.end());
    return x(read, where);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

Tensor pad(const Tensor& x, std::vector<Expr> before, std::vector<Expr> after, const Operand& value,
           Name name, SourceLocation where) {
  const std::string what = describe("pad", name, x);
  const std::vector<Expr>& extents = x.shape();
  if (before.size() > extents.size() || after.size() > extents.size())
    throw TypeError(what + ": got " + std::to_string(before.size()) +
                        " numbers of elements before and " + std::to_string(after.size()) +
                        " after for " + std::to_string(extents.size()) + " dimensions",
                    where);
  check_given(what, "number before dimension", before, where);
  check_given(what, "number after dimension", after, where);
  before.resize(extents.size(), 0);
  after.resize(extents.size(), 0);
  std::vector<Expr> shape;
  for (std::size_t n = 0; n < extents.size(); ++n) {
    for (const Expr& count : {before[n], after[n]})
      if (const std::optional<std::int64_t> known = tir::constant_int(count); known && *known < 0)
        throw TypeError(what + ": dimension " + std::to_string(n) + " cannot have " +
                            std::to_string(*known) +
                            " additional elements; use strided_slice to remove elements",
                        where);
    shape.push_back(sum_of(what, {before[n], extents[n], after[n]}, where));
  }
  const auto element = [&](Indices indices) {
    Expr inside = tir::make_true();
    std::vector<Expr> read;
    for (std::size_t n = 0; n < extents.size(); ++n) {
      if (!tir::is_zero(before[n])) inside = inside && indices[n] >= before[n];
      if (!tir::is_zero(after[n])) inside = inside && indices[n] < before[n] + extents[n];
      read.push_back(indices[n] - before[n]);
    }
    const Expr fill = value.beside(x.dtype());
    if (fill.dtype() != x.dtype())
      throw TypeError("the value is " + fill.dtype().str() + ", the tensor " + x.dtype().str());
    return tir::if_then_else(inside, x(read, where), fill);
  };
  return declare_injective(what, shape, element, std::move(name), where);
}

}  // namespace tenon::topi
