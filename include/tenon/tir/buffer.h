// Buffers: typed, shaped, strided views of memory behind a data pointer.
#pragma once

#include "tenon/support/name.h"
#include "tenon/tir/handles.h"

namespace tenon::tir {

/// Whether a dimension of extent 1 may be read with any index (stride 0 at run time). A buffer that
/// broadcasts and is given no strides gets a variable for each.
enum class BufferKind : std::uint8_t { Default, AutoBroadcast };

/// What a Buffer refers to.
struct BufferNode {
  Var data;
  DataType dtype;
  std::vector<Expr> shape;
  /// Empty: compact, row-major. In elements.
  std::vector<Expr> strides;
  /// Physical dimensions begin at these logical dimensions; empty: one physical dimension.
  std::vector<int> axis_separators;
  /// In elements.
  Expr elem_offset;
  std::string name;
  /// Bytes.
  int data_alignment = kDefaultAlignment;
  /// elem_offset is a multiple of this; 0 elements of freedom is 1.
  int offset_factor = 1;
  BufferKind kind = BufferKind::Default;
  /// The name that it had before it was moved into the memory `name`; empty where it was not.
  std::string moved_from = {};

  static constexpr int kDefaultAlignment = 128;

  /// Of the data pointer; Global where the pointer says nothing.
  StorageScope scope() const;
  /// The name by which stage_lines.h knows it.
  const std::string& stage_name() const { return moved_from.empty() ? name : moved_from; }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// How a buffer lies in memory; nothing of it need be given.
struct BufferOptions {
  Name name = "buffer";
  /// Given: used as the data pointer; its scope then is the buffer's.
  std::optional<Var> data = std::nullopt;
  std::vector<Expr> strides = {};
  std::optional<Expr> elem_offset = std::nullopt;
  Name scope = "";
  int data_alignment = 0;  // 0: the default of 128 bytes
  /// 0: elem_offset is 0. Otherwise elem_offset is a fresh variable that is a multiple of the
  /// factor.
  int offset_factor = 0;
  BufferKind kind = BufferKind::Default;
  std::vector<int> axis_separators = {};
};

/// TypeError: extents, strides or an offset that are no integers or negative, an alignment that is
/// no power of two, strides of another rank, separators out of order, a data pointer that is none
/// or of other elements, an offset that is no multiple of its factor.
Buffer decl_buffer(std::vector<Expr> shape, DataType dtype = Float(32), BufferOptions options = {},
                   SourceLocation where = SourceLocation::current());

/// A copy of the node for a buffer that differs in some fields.
Buffer make_buffer(BufferNode node);

/// The row-major strides of a shape; rank 0 gives none.
std::vector<Expr> compact_strides(const std::vector<Expr>& shape);

/// The element offset of an index: elem_offset + sum(index * stride), one entry per physical
/// dimension.
std::vector<Expr> element_offset(const Buffer& buffer, const std::vector<Expr>& indices);

/// The same memory as a buffer with one entry per physical dimension: what flattened code accesses.
Buffer flattened(const Buffer& buffer);

}  // namespace tenon::tir
