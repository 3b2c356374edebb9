#include "tenon/tir/buffer.h"

#include <algorithm>

#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"
#include "tir/operands.h"

namespace tenon::tir {

const std::vector<Expr>& Buffer::shape() const { return node_->shape; }
const std::vector<Expr>& Buffer::strides() const { return node_->strides; }
DataType Buffer::dtype() const { return node_->dtype; }
StorageScope Buffer::scope() const { return node_->scope(); }
const std::string& Buffer::name() const { return node_->name; }

StorageScope BufferNode::scope() const { return memory_scope(data); }

Buffer make_buffer(BufferNode node) {
  return Buffer(std::make_shared<const BufferNode>(std::move(node)));
}

namespace {

/// Returns the fault of an expression that has to be a non-negative integer; empty if it has none.
std::string integer_fault(const std::string& what, const Expr& e) {
  if (e.is_moved_from()) return what + " has been moved from";
  if (!e.dtype().is_integral() || e.dtype().is_bool() || !e.dtype().is_scalar())
    return what + " must be an integer, got " + e.dtype().str();
  if (const auto value = constant_int(e); value && *value < 0)
    return what + " is negative: " + std::to_string(*value);
  return "";
}

/// Validates a buffer declaration and returns the first fault; empty if the declaration is valid.
std::string declaration_fault(const std::vector<Expr>& shape, const BufferOptions& options) {
  const int alignment = options.data_alignment;
  if (alignment < 0 || (alignment & (alignment - 1)) != 0)
    return "the alignment must be positive and a power of two, got " + std::to_string(alignment);
  if (options.offset_factor < 0) return "the offset factor must not be negative";
  if (!options.strides.empty() && options.strides.size() != shape.size())
    return "got " + std::to_string(options.strides.size()) + " strides for " +
           std::to_string(shape.size()) + " dimensions";
  int previous = 0;
  for (const int at : options.axis_separators) {
    if (at < previous || at > static_cast<int>(shape.size()))
      return "axis separators must be in order and within the rank";
    previous = at;
  }
  if (options.data && !options.data->dtype().is_handle())
    return "the data pointer `" + options.data->name() + "` is a " + options.data->dtype().str();
  for (const auto& [list, what] :
       {std::pair(&shape, "an extent"), std::pair(&options.strides, "a stride")})
    for (const Expr& e : *list)
      if (std::string fault = integer_fault(what, e); !fault.empty()) return fault;
  std::int64_t elements = 1;
  for (const Expr& extent : shape)
    if (const auto value = constant_int(extent);
        value && __builtin_mul_overflow(elements, *value, &elements))
      return "it has more elements than a 64-bit index can count";
  if (!options.elem_offset) return "";
  if (std::string fault = integer_fault("elem_offset", *options.elem_offset); !fault.empty())
    return fault;
  const auto offset = constant_int(*options.elem_offset);
  if (offset && options.offset_factor > 0 && *offset % options.offset_factor != 0)
    return "elem_offset " + std::to_string(*offset) + " is not a multiple of the offset factor " +
           std::to_string(options.offset_factor);
  return "";
}

}  // namespace

Buffer decl_buffer(std::vector<Expr> shape, DataType dtype, BufferOptions options,
                   SourceLocation where) {
  if (const std::string fault = declaration_fault(shape, options); !fault.empty())
    throw TypeError("decl_buffer `" + options.name + "`: " + fault, where);
  for (std::vector<Expr>* sizes : {&shape, &options.strides})
    std::ranges::transform(*sizes, sizes->begin(), as_index);
  if (options.elem_offset) options.elem_offset = as_index(*options.elem_offset);
  // A dimension that may be broadcast needs a stride variable, because its stride may be 0.
  if (options.kind == BufferKind::AutoBroadcast && options.strides.empty())
    for (const Expr& extent : shape) options.strides.push_back(Var("stride", extent.dtype()));
  std::optional<StorageScope> scope;
  if (!options.scope.empty()) scope = parse_storage_scope(options.scope, where);
  const DataType storage = dtype.is_bool() ? Int(8, dtype.lanes) : dtype;
  Var data = options.data ? *options.data : Var(options.name, PointerType{storage, scope});
  const DataType index = shape.empty() ? Int(32) : shape.front().dtype();
  Expr offset = options.elem_offset ? *options.elem_offset
                : options.offset_factor > 0
                    ? static_cast<Expr>(Var(options.name + "_elem_offset", index))
                    : make_int(index, 0);
  return make_buffer({.data = std::move(data),
                      .dtype = dtype,
                      .shape = std::move(shape),
                      .strides = std::move(options.strides),
                      .axis_separators = std::move(options.axis_separators),
                      .elem_offset = std::move(offset),
                      .name = std::move(options.name),
                      .data_alignment = options.data_alignment > 0 ? options.data_alignment
                                                                   : BufferNode::kDefaultAlignment,
                      .offset_factor = options.offset_factor > 0 ? options.offset_factor : 1,
                      .kind = options.kind});
}

void check_inside(const Buffer& buffer, std::size_t place, const Expr& index, const Expr& extent,
                  int count, const SourceLocation& where) {
  const auto first = constant_int(index), limit = constant_int(extent);
  if (!first || (*first >= 0 && (!limit || *first <= *limit - count))) return;
  throw BoundError("buffer `" + buffer.name() + "`: index " + std::to_string(place) + " is " +
                       std::to_string(*first) +
                       (count == 1 ? "" : ", of " + std::to_string(count) + " neighbours") +
                       ", outside of the extent " + print_expr(extent),
                   where);
}

Expr element_count(const std::vector<Expr>& shape) {
  Expr count = make_int(Int(32), 1);
  for (const Expr& extent : shape) count = count * extent;
  return count;
}

std::vector<Expr> compact_strides(const std::vector<Expr>& shape) {
  std::vector<Expr> strides;
  if (shape.empty()) return strides;
  strides.assign(shape.size(), make_int(shape.back().dtype(), 1));
  for (std::size_t n = shape.size() - 1; n-- > 0;) strides[n] = strides[n + 1] * shape[n + 1];
  return strides;
}

namespace {

/// Returns, for every physical dimension, the logical dimensions [first, last) that it contains.
std::vector<std::pair<std::size_t, std::size_t>> physical_groups(const BufferNode& buffer) {
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  std::size_t first = 0;
  for (int separator : buffer.axis_separators) {
    groups.emplace_back(first, static_cast<std::size_t>(separator));
    first = static_cast<std::size_t>(separator);
  }
  groups.emplace_back(first, buffer.shape.size());
  return groups;
}

/// Returns the number of elements that the dimensions [first, last) of a buffer with strides span:
/// the extent of the outermost dimension times its stride. The outermost dimension is the one with
/// the largest product. A product that is not constant counts as larger than any constant.
Expr strided_extent(const BufferNode& buffer, std::size_t first, std::size_t last) {
  Expr outermost = buffer.strides[first] * buffer.shape[first];
  for (std::size_t n = first + 1; n < last; ++n) {
    const Expr product = buffer.strides[n] * buffer.shape[n];
    const auto largest = constant_int(outermost), value = constant_int(product);
    if (largest && (!value || *value > *largest)) outermost = product;
  }
  return outermost;
}

}  // namespace

std::vector<Expr> element_offset(const Buffer& buffer, const std::vector<Expr>& indices) {
  if (indices.size() != buffer->shape.size())
    throw TypeError("an access of buffer `" + buffer->name + "`: it has " +
                    std::to_string(buffer->rank()) + " dimensions, got " +
                    std::to_string(indices.size()) + " indices");
  std::vector<Expr> physical;
  for (auto [first, last] : physical_groups(*buffer.get())) {
    Expr offset = physical.empty() ? buffer->elem_offset : make_int(buffer->elem_offset.dtype(), 0);
    if (!buffer->strides.empty()) {
      // With explicit strides, the offset is a sum over dimensions.
      Expr sum = make_int(Int(32), 0);
      for (std::size_t n = first; n < last; ++n) sum = sum + indices[n] * buffer->strides[n];
      offset = offset + sum;
    } else if (first < last) {
      // In a compact layout, the offset is nested: ((i * d1 + j) * d2 + k).
      Expr sum = indices[first];
      for (std::size_t n = first + 1; n < last; ++n) sum = sum * buffer->shape[n] + indices[n];
      offset = offset + sum;
    }
    physical.push_back(std::move(offset));
  }
  return physical;
}

Buffer flattened(const Buffer& buffer) {
  std::vector<Expr> extents;
  for (auto [first, last] : physical_groups(*buffer.get())) {
    Expr extent = make_int(Int(32), 1);
    if (!buffer->strides.empty() && first < last) {
      extent = strided_extent(*buffer.get(), first, last);
    } else {
      for (std::size_t n = first; n < last; ++n)
        extent = n == first ? buffer->shape[n] : extent * buffer->shape[n];
    }
    extents.push_back(std::move(extent));
  }
  BufferNode flat = *buffer.get();
  flat.axis_separators.clear();
  for (std::size_t n = 1; n < extents.size(); ++n)
    flat.axis_separators.push_back(static_cast<int>(n));
  flat.shape = std::move(extents);
  flat.strides.clear();
  return make_buffer(std::move(flat));
}

Expr Buffer::access_ptr(const Name& mode, Expr offset, SourceLocation where) const {
  const int mask = mode == "r" ? 1 : mode == "w" ? 2 : mode == "rw" ? 3 : 0;
  if (mask == 0)
    throw TypeError("access_ptr of buffer `" + name() +
                        "`: the mode is \"r\", \"w\" or \"rw\", got \"" + mode + "\"",
                    where);
  const DataType type = offset.dtype();
  if (offset.is_moved_from() || !type.is_integral() || type.is_bool() || !type.is_scalar())
    throw TypeError("access_ptr of buffer `" + name() + "`: the offset must be an integer, got " +
                        (offset.is_moved_from() ? "one that has been moved from" : type.str()),
                    where);
  const Expr extent =
      strides().empty() ? element_count(shape()) : strided_extent(*node_, 0, shape().size());
  Expr element = make_call(node_->dtype, Intrin::type_annotation, {});
  return make_call(
      Handle(), Intrin::tvm_access_ptr,
      {element, node_->data, node_->elem_offset + offset, extent - offset, Expr(mask)});
}

namespace {

void check_indices(const Buffer& buffer, const std::vector<Expr>& indices,
                   const SourceLocation& where) {
  const std::string name = "buffer `" + buffer.name() + "`";
  if (indices.size() != buffer.shape().size())
    throw TypeError(name + " has " + std::to_string(buffer.shape().size()) + " dimensions, got " +
                        std::to_string(indices.size()) + " indices",
                    where);
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const DataType type = indices[n].dtype();
    if (indices[n].is_moved_from() || !type.is_integral() || type.is_bool())
      throw TypeError(
          name + ": an index must be an integer, got " +
              (indices[n].is_moved_from() ? "one that has been moved from" : type.str()),
          where);
    if (type.is_vector() && n + 1 < indices.size())
      throw TypeError(name + ": only the last index may be a vector, but index " +
                          std::to_string(n) + " is " + type.str(),
                      where);
  }
}

/// Checks that `lanes` consecutive elements from a constant index are within constant extents.
void check_inside(const Buffer& buffer, const std::vector<Expr>& indices, int lanes,
                  const SourceLocation& where) {
  for (std::size_t n = 0; n < indices.size(); ++n)
    check_inside(buffer, n, indices[n], buffer.shape()[n], n + 1 == indices.size() ? lanes : 1,
                 where);
}

/// Returns the indices of a vector access: consecutive elements of the buffer that together have
/// the type `type`.
std::vector<Expr> neighbours(const Buffer& buffer, std::vector<Expr> begin, DataType type,
                             std::string_view what, const SourceLocation& where) {
  check_indices(buffer, begin, where);
  const DataType own = buffer.dtype();
  const int count = type.lanes / own.lanes;
  const bool fits = type.element() == own.element() && count * own.lanes == type.lanes && count > 0;
  const bool is_one_place = begin.empty() || begin.back().dtype().is_scalar();
  if (!fits || !is_one_place || (begin.empty() && count > 1))
    throw TypeError(std::string(what) + " of buffer `" + buffer.name() + "` of " + own.str() +
                        ": " +
                        (is_one_place ? "there are no neighbours of type " + type.str() + " there"
                                      : "it begins at one element, not at " +
                                            std::to_string(begin.back().dtype().lanes)),
                    where);
  check_inside(buffer, begin, count, where);
  if (count > 1) begin.back() = make_ramp(begin.back(), make_int(begin.back().dtype(), 1), count);
  return begin;
}

}  // namespace

Expr Buffer::operator()(std::vector<Expr> indices, SourceLocation where) const {
  check_indices(*this, indices, where);
  check_inside(*this, indices, 1, where);
  return make_load(*this, std::move(indices));
}

Expr Buffer::vload(std::vector<Expr> begin, std::optional<DataType> type,
                   SourceLocation where) const {
  return make_load(*this,
                   neighbours(*this, std::move(begin), type.value_or(dtype()), "vload", where));
}

Stmt Buffer::vstore(std::vector<Expr> begin, const Expr& value, SourceLocation where) const {
  if (value.is_moved_from())
    throw TypeError("vstore of buffer `" + name() + "`: the value has been moved from", where);
  std::vector<Expr> indices = neighbours(*this, std::move(begin), value.dtype(), "vstore", where);
  return make_store(*this, value, std::move(indices));
}

Expr Buffer::offset_of(std::vector<Expr> indices, SourceLocation where) const {
  check_indices(*this, indices, where);
  if (!node_->axis_separators.empty())
    throw TypeError("offset_of buffer `" + name() + "`: it has " +
                        std::to_string(node_->axis_separators.size() + 1) + " physical dimensions",
                    where);
  return element_offset(*this, indices).front();
}

}  // namespace tenon::tir
