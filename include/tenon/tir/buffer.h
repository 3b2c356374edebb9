// Buffers: typed, shaped, strided views of memory behind a data pointer.
#pragma once

#include "tenon/support/name.h"
#include "tenon/tir/handles.h"

namespace tenon::tir {

/// Whether the buffer broadcasts. If a dimension of an AutoBroadcast buffer has extent 1 at run
/// time, its stride is 0, so that any index reads the same element. An AutoBroadcast buffer that is
/// declared without strides gets one stride variable per dimension.
enum class BufferKind : std::uint8_t { Default, AutoBroadcast };

/// The node that a Buffer refers to.
struct BufferNode {
  Var data;
  DataType dtype;
  std::vector<Expr> shape;
  /// Strides in elements. Empty: compact and row-major.
  std::vector<Expr> strides;
  /// Logical dimensions at which a new physical dimension begins. Empty: one physical dimension.
  std::vector<int> axis_separators;
  /// Offset of the first element from the data pointer, in elements.
  Expr elem_offset;
  std::string name;
  /// Alignment of the data pointer in bytes.
  int data_alignment = kDefaultAlignment;
  /// `elem_offset` is a multiple of this factor; 1 if nothing is known.
  int offset_factor = 1;
  BufferKind kind = BufferKind::Default;
  /// The name that this buffer had before its storage was merged with that of other buffers. Empty
  /// if it was not merged.
  std::string moved_from = {};

  static constexpr int kDefaultAlignment = 128;

  /// Returns the scope of the data pointer; Global if the pointer's type names no scope.
  StorageScope scope() const;
  /// Returns the name that identifies the buffer in stage_lines.h.
  const std::string& stage_name() const { return moved_from.empty() ? name : moved_from; }
  int rank() const { return static_cast<int>(shape.size()); }
};

/// Optional properties of a buffer declaration.
struct BufferOptions {
  Name name = "buffer";
  /// The data pointer to use. The buffer then has the scope of this pointer. Nullopt: a new
  /// pointer.
  std::optional<Var> data = std::nullopt;
  std::vector<Expr> strides = {};
  std::optional<Expr> elem_offset = std::nullopt;
  Name scope = "";
  int data_alignment = 0;  // in bytes; 0 means 128
  /// 0: `elem_offset` is 0. Otherwise the new buffer gets a variable as its `elem_offset`, which is
  /// known to be a multiple of this factor.
  int offset_factor = 0;
  BufferKind kind = BufferKind::Default;
  std::vector<int> axis_separators = {};
};

/// Declares a buffer. TypeError if
/// - an extent, a stride or the offset is not a scalar integer, or is a negative constant,
/// - the alignment is not a power of two,
/// - the strides have another rank, or the axis separators are out of order,
/// - `data` is not a data pointer,
/// - the offset is a constant that is not a multiple of the offset factor.
Buffer decl_buffer(std::vector<Expr> shape, DataType dtype = Float(32), BufferOptions options = {},
                   SourceLocation where = SourceLocation::current());

/// Returns a new buffer with the fields of `node`.
Buffer make_buffer(BufferNode node);

/// Returns the row-major strides of a shape; empty for rank 0.
std::vector<Expr> compact_strides(const std::vector<Expr>& shape);

/// Returns the offset of an element from the data pointer: elem_offset + sum(index * stride). The
/// result has one entry per physical dimension.
std::vector<Expr> element_offset(const Buffer& buffer, const std::vector<Expr>& indices);

/// Returns a buffer for the same memory that is accessed with one index per physical dimension.
/// Code after flatten_storage uses such buffers.
Buffer flattened(const Buffer& buffer);

}  // namespace tenon::tir
