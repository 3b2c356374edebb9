// Recognition of operators for schedules on all targets, by what they compute. Users may declare
// the same operations without topi, and may set the same tags on other operations.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "tenon/te/operation.h"
#include "tenon/topi/nn.h"

namespace tenon::topi {

using te::Tensor;

/// Throws the ScheduleError of a schedule function that does not apply to `out`.
[[noreturn]] void refuse(const char* function, const Tensor& out, const std::string& why,
                         const SourceLocation& where);

bool is_one_of(const te::Operation& op, const std::vector<te::Operation>& all);

/// Returns the extents of the reduction axes. Empty if the operation is not a reduction.
std::vector<te::Expr> reduced_extents(const te::Operation& op);

/// Whether the operation is a reduction whose terms may be combined in any order and grouping. Its
/// axes must be independent, and no counterexample to the laws of its reducer may be found.
bool has_free_terms(const te::Operation& op);

// ---- products -----------------------------------------------------------------------------------

/// Whether the tensor is a product of two matrices, or of a batch of them: the sum of
/// `A[i, k] * B[k, j]` over k. Each factor may be transposed, cast, or common to the batch.
bool is_product(const Tensor& x);

/// Returns the two factors, which may be the same tensor. The product is the sum of their products
/// in either order. Precondition: is_product.
std::vector<Tensor> factors_of_product(const Tensor& product);

/// Whether factor 0 or 1 is stored transposed. Factor 0 of shape (rows, depth) and factor 1 of
/// shape (depth, columns) are not transposed. Precondition: is_product.
bool is_transposed(const Tensor& product, std::size_t factor);

/// The extents of one matrix product. An extent is nullopt if it is symbolic.
struct ProductExtents {
  std::optional<std::int64_t> rows, columns, depth;

  explicit ProductExtents(const Tensor& product);
  bool are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

/// Returns the layout of a two-dimensional convolution, declared like conv2d_nchw,
/// group_conv2d_nchw or conv2d_nhwc. Its first input is the image, and its last input is the
/// kernel. Nullopt for any other tensor.
std::optional<Layout> layout_of_convolution(const Tensor& x);
bool is_convolution(const Tensor& x);
/// Whether a filter of the convolution reads the channels of its group only.
bool has_groups(const Tensor& convolution);

/// Whether the tensor reduces a window of an image for each channel, as depthwise convolutions and
/// pooling do.
bool is_windowed(const Tensor& x);

// ---- other operators ----------------------------------------------------------------------------

/// {greatest, power, sum, along}: the operations that topi::softmax declares, and the normalized
/// dimension.
using Softmax = std::tuple<te::Operation, te::Operation, te::Operation, std::size_t>;
/// Returns the operations of a softmax, exp(x - max(x)) divided by its sum. Nullopt if `out` is not
/// a softmax.
std::optional<Softmax> find_softmax(const Tensor& out);

/// For each dimension of an input, the axis that is its index; nullopt for a constant index.
using Permutation = std::vector<std::optional<std::size_t>>;
/// Returns the permutation with which a map reads its only input. Nullopt if two reads differ, or
/// if an index is neither an axis nor constant.
std::optional<Permutation> find_permutation(const te::Operation& op);

/// Whether the operation copies the elements of its only input to another shape and keeps their
/// row-major order.
bool is_reshape(const te::Operation& op);

}  // namespace tenon::topi
