// Checks shared by the constructors of operations.
#pragma once

#include <cstdint>

#include "tenon/te/operation.h"

namespace tenon::te {

/// Checks that extents are integers, and non-negative if constant. Narrow or unsigned types become
/// int32 or int64.
void check_shape(std::vector<Expr>& shape, const std::string& what, const SourceLocation& where);
/// Whether a value of the type is a single integer.
bool is_integer_scalar(DataType type);
/// Returns a text such as "[n, 16]".
std::string print_list(const std::vector<Expr>& list);
/// Throws TypeError for a type that arrays cannot have.
void check_element_type(DataType type, const std::string& what, const SourceLocation& where);
/// Makes one data-parallel axis per dimension, named i0, i1, ... unless the user gave names.
std::vector<IterVar> declare_axes(const std::vector<Expr>& shape, std::vector<std::string> names,
                                  bool named, const std::string& what, const SourceLocation& where);
/// The required agreement of shapes. NotContradicted: non-constant extents are compared at run
/// time.
enum class ShapeRule : std::uint8_t { Proved, NotContradicted };
/// Throws TypeError for a buffer whose type or shape differs from that of its tensor.
void check_buffer_of(const Tensor& tensor, const tir::Buffer& buffer, ShapeRule rule,
                     const std::string& what, const SourceLocation& where);
/// Checks the body of an extern operation or intrinsic. Throws TypeError if it accesses a buffer
/// that it neither receives nor allocates, or contains elements of tensors or reductions, which
/// loop programs cannot contain.
void check_body(const Stmt& body, std::span<const tir::Buffer> ins,
                std::span<const tir::Buffer> outs, const std::string& what,
                const SourceLocation& where);
void check_arity(std::optional<int> arity, std::size_t rank, const std::string& what,
                 const SourceLocation& where);

/// Returns all outputs of the operation, in order.
std::vector<Tensor> outputs_of(const Operation& op);

}  // namespace tenon::te
