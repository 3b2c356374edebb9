// Recognition of operators, for schedules. Users may set the same tags, so the operations are
// checked too.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Whether the operation is a reduction whose terms may be grouped and ordered in any way: its
/// axes are independent, and no counterexample to the laws of its reducer is found.
bool has_free_terms(const te::Operation& op);

// ---- products -----------------------------------------------------------------------------------

/// Whether the tensor is a matmul, dense or batch_matmul.
bool is_product(const Tensor& x);

/// Whether the first (0) or the second (1) factor is stored transposed, with respect to matrices of
/// (rows, depth) and (depth, columns). Precondition: is_product.
bool is_transposed(const Tensor& product, std::size_t factor);

/// The extents of one matrix product; nullopt if symbolic.
struct ProductExtents {
  std::optional<std::int64_t> rows, columns, depth;

  explicit ProductExtents(const Tensor& product);
  bool are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

/// Whether the tensor is a conv2d_nchw, group_conv2d_nchw or conv2d_nhwc. Its first input is the
/// image, its last one the kernel.
bool is_convolution(const Tensor& x);

// ---- other operators ----------------------------------------------------------------------------

/// The tensors that topi::softmax declares, and the normalized dimension.
struct Softmax {
  Tensor greatest, power, sum;
  std::size_t along;
};
/// Returns nullopt unless the tensor is a softmax: exp(x - max(x)) divided by its sum.
std::optional<Softmax> find_softmax(const Tensor& out);

/// The axes that index the dimensions of an input; nullopt for a constant index.
using Permutation = std::vector<std::optional<std::size_t>>;
/// Returns the permutation with which a map reads its only input; nullopt if reads differ or an
/// index is computed.
std::optional<Permutation> find_permutation(const te::Operation& op);

/// Whether the operation copies the elements of its only input in their order, to another shape.
bool is_reshape(const te::Operation& op);

}  // namespace tenon::topi
