#include "tenon/tir/buffer.h"

#include "tenon/tir/ops.h"

namespace tenon::tir {

const std::vector<Expr>& Buffer::shape() const { return node_->shape; }
const std::vector<Expr>& Buffer::strides() const { return node_->strides; }
DataType Buffer::dtype() const { return node_->dtype; }
const std::string& Buffer::name() const { return node_->name; }

StorageScope BufferNode::scope() const {
  const VarNode* pointer = data.as<VarNode>();
  return pointer->pointer && pointer->pointer->scope ? *pointer->pointer->scope : StorageScope::Global;
}

Buffer make_buffer(BufferNode node) { return Buffer(std::make_shared<const BufferNode>(std::move(node))); }

Buffer decl_buffer(std::vector<Expr> shape, DataType dtype, BufferOptions options, SourceLocation where) {
  auto fail = [&](const std::string& what) {
    throw TypeError("decl_buffer `" + options.name + "`: " + what, where);
  };
  if (options.data_alignment < 0) fail("the alignment must be positive");
  if (options.offset_factor < 0) fail("the offset factor must not be negative");
  if (!options.strides.empty() && options.strides.size() != shape.size())
    fail("got " + std::to_string(options.strides.size()) + " strides for " + std::to_string(shape.size()) +
         " dimensions");
  for (std::size_t n = 0; n < options.axis_separators.size(); ++n) {
    const int at = options.axis_separators[n];
    const int previous = n == 0 ? 0 : options.axis_separators[n - 1];
    if (at < previous || at > static_cast<int>(shape.size()))
      fail("axis separators must be in order and within the rank");
  }
  for (const Expr& extent : shape) {
    if (extent.is_moved_from()) fail("an extent has been moved from");
    if (!extent.dtype().is_integral() || !extent.dtype().is_scalar())
      fail("an extent must be an integer, got " + extent.dtype().str());
    if (const auto value = constant_int(extent); value && *value < 0)
      fail("an extent is negative: " + std::to_string(*value));
  }

  std::optional<StorageScope> scope;
  if (!options.scope.empty()) scope = parse_storage_scope(options.scope, where);
  const DataType storage = dtype.is_bool() ? Int(8, dtype.lanes) : dtype;
  Var data = options.data ? *options.data : Var(options.name, PointerType{storage, scope});
  const DataType index = shape.empty() ? Int(32) : shape.front().dtype();
  Expr offset = options.elem_offset         ? *options.elem_offset
                : options.offset_factor > 0 ? static_cast<Expr>(Var(options.name + "_elem_offset", index))
                                            : make_int(index, 0);
  return make_buffer(
      {.data = std::move(data),
       .dtype = dtype,
       .shape = std::move(shape),
       .strides = std::move(options.strides),
       .axis_separators = std::move(options.axis_separators),
       .elem_offset = std::move(offset),
       .name = std::move(options.name),
       .data_alignment = options.data_alignment > 0 ? options.data_alignment : BufferNode::kDefaultAlignment,
       .offset_factor = options.offset_factor > 0 ? options.offset_factor : 1,
       .kind = options.kind});
}

std::vector<Expr> compact_strides(const std::vector<Expr>& shape) {
  std::vector<Expr> strides;
  if (shape.empty()) return strides;
  strides.assign(shape.size(), make_int(shape.back().dtype(), 1));
  for (std::size_t n = shape.size() - 1; n-- > 0;) strides[n] = strides[n + 1] * shape[n + 1];
  return strides;
}

namespace {

/// The logical dimensions [first, last) of every physical one.
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

}  // namespace

std::vector<Expr> element_offset(const Buffer& buffer, const std::vector<Expr>& indices) {
  internal_check(indices.size() == buffer->shape.size(), "an index of the wrong rank");
  std::vector<Expr> physical;
  for (auto [first, last] : physical_groups(*buffer.get())) {
    Expr offset = physical.empty() ? buffer->elem_offset : make_int(buffer->elem_offset.dtype(), 0);
    if (!buffer->strides.empty()) {
      // With strides given, dimension by dimension.
      Expr sum = make_int(Int(32), 0);
      for (std::size_t n = first; n < last; ++n) sum = sum + indices[n] * buffer->strides[n];
      offset = offset + sum;
    } else if (first < last) {
      // Compact: nested, ((i * d1 + j) * d2 + k).
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
      extent = buffer->strides[first] * buffer->shape[first];
    } else {
      for (std::size_t n = first; n < last; ++n)
        extent = n == first ? buffer->shape[n] : extent * buffer->shape[n];
    }
    extents.push_back(std::move(extent));
  }
  BufferNode flat = *buffer.get();
  flat.axis_separators.clear();
  for (std::size_t n = 1; n < extents.size(); ++n) flat.axis_separators.push_back(static_cast<int>(n));
  flat.shape = std::move(extents);
  flat.strides.clear();
  return make_buffer(std::move(flat));
}

Expr Buffer::access_ptr(const Name& mode, Expr offset, SourceLocation where) const {
  const int mask = mode == "r" ? 1 : mode == "w" ? 2 : mode == "rw" ? 3 : 0;
  if (mask == 0)
    throw TypeError("access_ptr of buffer `" + name() + "`: the mode is \"r\", \"w\" or \"rw\", got \"" +
                        mode + "\"",
                    where);
  Expr extent = make_int(Int(32), 1);
  for (const Expr& dim : shape()) extent = extent * dim;
  if (!strides().empty()) extent = strides().front() * shape().front();
  Expr type = make_call(node_->dtype, Intrin::type_annotation, {});
  return make_call(Handle(), Intrin::tvm_access_ptr,
                   {type, node_->data, node_->elem_offset + offset, extent - offset, Expr(mask)});
}

Expr Buffer::operator()(std::vector<Expr> indices, SourceLocation where) const {
  if (indices.size() != shape().size())
    throw TypeError("buffer `" + name() + "` has " + std::to_string(shape().size()) + " dimensions, got " +
                        std::to_string(indices.size()) + " indices",
                    where);
  for (const Expr& index : indices)
    if (index.is_moved_from() || !index.dtype().is_integral())
      throw TypeError("buffer `" + name() + "`: an index must be an integer, got " +
                          (index.is_moved_from() ? "one that has been moved from" : index.dtype().str()),
                      where);
  return make_load(*this, std::move(indices));
}

}  // namespace tenon::tir
