// Checks shared by the constructors of operations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/arith/facts.h"
#include "tenon/te/operation.h"

namespace tenon::te {

/// Checks that extents are integers, and non-negative if constant. Makes them indices.
void check_shape(std::vector<Expr>& shape, const std::string& what, const SourceLocation& where);
/// Whether a value of the type is a single integer.
bool is_integer_scalar(DataType type);
/// Returns an extent or the begin of a range as an index; see tir::as_index. Throws TypeError if it
/// is not an integer or does not fit int64. `what` names the value in the message.
Expr to_index(const Expr& e, const std::string& what, const SourceLocation& where);
/// Returns a text such as "[n, 16]".
std::string print_list(const std::vector<Expr>& list);
/// Returns a number without its type, and any other expression as print_expr does.
std::string plain_text(const Expr& e);
/// Throws TypeError for a type that arrays cannot have.
void check_element_type(DataType type, const std::string& what, const SourceLocation& where);
/// Makes an axis over [0, extent), whose variable has the type of the extent.
IterVar axis_over(const Expr& extent, Name name, IterKind kind = IterKind::DataParallel);
/// Makes one data-parallel axis per dimension, named i0, i1, ... unless the user gave names.
std::vector<IterVar> declare_axes(const std::vector<Expr>& shape, std::vector<std::string> names,
                                  bool named, const std::string& what, const SourceLocation& where);
/// Throws TypeError for a buffer whose type or shape differs from that of its tensor. Extents must
/// be provably equal. If `compared_at_run_time` is true, extents that are not constant may differ.
void check_buffer_of(const Tensor& tensor, const tir::Buffer& buffer, bool compared_at_run_time,
                     const std::string& what, const SourceLocation& where);
/// Checks the body of an extern operation or intrinsic. Throws TypeError if the body accesses a
/// buffer that it neither receives nor allocates. Also throws if it contains reads of tensors or
/// reductions, because loop programs cannot contain them.
void check_body(const Stmt& body, std::span<const tir::Buffer> ins,
                std::span<const tir::Buffer> outs, const std::string& what,
                const SourceLocation& where);
void check_arity(std::optional<int> arity, std::size_t rank, const std::string& what,
                 const SourceLocation& where);

/// Returns the data axes of an operation that have loops. The other ones are dimensions of an
/// intrinsic.
std::span<const IterVar> scheduled_axes(const Operation& op);
/// Returns all outputs of the operation, in order.
std::vector<Tensor> outputs_of(const Operation& op);

// The tag of a new operation.

/// Returns the explicit tag. If it is empty, returns the tag of the thread's current TagScope. For
/// constructors that users call; operations created by primitives inherit the tag of their origin.
std::string declared_tag(std::string own);

// Numbers of elements and iterations, which may be unknown.

/// A number of elements or iterations; nullopt if it is unknown or exceeds int64.
using Count = std::optional<std::int64_t>;

inline Count product(const Count& a, const Count& b) {
  std::int64_t result = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? Count(result) : std::nullopt;
}
inline Count sum(const Count& a, const Count& b) {
  std::int64_t result = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Count(result) : std::nullopt;
}

// Pairing of the dimensions of two boxes, either of which may have additional dimensions of extent
// 1.

using tir::Expr;

/// The pairing of the dimensions of a region with those of an intrinsic's tensor: the index of the
/// intrinsic's dimension for each dimension of the region; nullopt if unpaired. Dimensions are
/// paired in order, and either side may have unpaired dimensions of extent 1.
using DimPairs = std::vector<std::optional<std::size_t>>;

/// Whether all dimensions of the intrinsic's tensor, whose number is `rank`, are paired with the
/// last dimensions of the region, in order.
bool are_the_last(const DimPairs& pairs, std::size_t rank);

/// Returns the pairing; nullopt if the dimensions cannot be paired.
std::optional<DimPairs> pair_dims(const std::vector<Expr>& part, const std::vector<Expr>& theirs,
                                  arith::Facts& facts);

}  // namespace tenon::te
