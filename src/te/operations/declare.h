// Checks that the makers of operations share.
#pragma once

#include <cstdint>

#include "tenon/te/operation.h"

namespace tenon::te {

/// Integers, not negative where constant; narrow or unsigned types become int32 or int64.
void check_shape(std::vector<Expr>& shape, const std::string& what, const SourceLocation& where);
/// Whether a value of the type is one integer.
bool is_integer_scalar(DataType type);
/// "[n, 16]"
std::string print_list(const std::vector<Expr>& list);
/// TypeError for a type that no array holds.
void check_element_type(DataType type, const std::string& what, const SourceLocation& where);
/// One data-parallel axis per dimension; i0, i1, ... where the user named none.
std::vector<IterVar> declare_axes(const std::vector<Expr>& shape, std::vector<std::string> names,
                                  bool named, const std::string& what, const SourceLocation& where);
/// NotContradicted: extents that are not constant are compared when the function runs.
enum class ShapeRule : std::uint8_t { Proved, NotContradicted };
/// TypeError for a buffer of another type or shape than the tensor that it is to hold.
void check_buffer_of(const Tensor& tensor, const tir::Buffer& buffer, ShapeRule rule,
                     const std::string& what, const SourceLocation& where);
/// TypeError for the body of an extern operation or an intrinsic that accesses a buffer which it is
/// neither given nor makes, or that holds what no loop program does: elements of tensors,
/// reductions.
void check_body(const Stmt& body, std::span<const tir::Buffer> ins,
                std::span<const tir::Buffer> outs, const std::string& what,
                const SourceLocation& where);
void check_arity(std::optional<int> arity, std::size_t rank, const std::string& what,
                 const SourceLocation& where);

/// All outputs of the operation, in order.
std::vector<Tensor> outputs_of(const Operation& op);

}  // namespace tenon::te
