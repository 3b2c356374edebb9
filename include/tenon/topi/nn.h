// Neural networks: products of matrices, softmax, pooling, convolution.
//
//   te::Tensor H = topi::relu(topi::dense(X, W, Bias));                       // X W^T + Bias
//   te::Tensor C = topi::conv2d_nchw(I, K, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
//   te::Tensor P = topi::max_pool2d(C, {2, 2}, {.stride = {2, 2}});
//
// Each declares operations with axes ax0, ax1, ... and the tags below. A product is computed in the
// type that its operands are promoted to, or in `out_dtype`, to which they are then cast first:
// int8 operands are best summed up in Int(32).
//
// TypeError: tensors of another rank; extents that do not fit or are not known to; types that the
// expressions refuse.
#pragma once

#include <array>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Tags of the operations.
inline constexpr const char* kMatmul = "matmul";
inline constexpr const char* kBatchMatmul = "batch_matmul";
inline constexpr const char* kDense = "dense";
inline constexpr const char* kSoftmaxOutput = "softmax_output";
inline constexpr const char* kMaxPool = "pool_max";
inline constexpr const char* kSumPool = "pool_sum";
inline constexpr const char* kConv2dNchw = "conv2d_nchw";

// ---- products -----------------------------------------------------------------------------------

/// How the factors lie, and what the result is.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::optional<DataType> out_dtype = std::nullopt;
  /// "T_matmul" or "T_batch_matmul" unless said.
  Name name = "";
};

/// {m, k} by {k, n}; a transposed operand is given as {k, m} or {n, k}.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {},
              SourceLocation where = SourceLocation::current());
/// {b, m, k} by {b, k, n}; an operand of one matrix serves all of the other's.
Tensor batch_matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {},
                    SourceLocation where = SourceLocation::current());

/// As MatmulOptions, for a layer.
struct DenseOptions {
  std::optional<DataType> out_dtype = std::nullopt;
  Name name = "T_dense";
};
/// {m, k} by weights {n, k}: a row of weights for every column of the result.
Tensor dense(const Tensor& x, const Tensor& weight, DenseOptions options = {},
             SourceLocation where = SourceLocation::current());
/// The same and a bias {n}, which is added by an operation of its own, "T_add".
Tensor dense(const Tensor& x, const Tensor& weight, const Tensor& bias, DenseOptions options = {},
             SourceLocation where = SourceLocation::current());

// ---- softmax ------------------------------------------------------------------------------------

/// exp(x) over its sum along a dimension. Four operations: T_softmax_maxelem, which is subtracted
/// so that nothing overflows, T_softmax_exp, T_softmax_expsum, and `name`.
Tensor softmax(const Tensor& x, int axis = -1, Name name = "T_softmax_norm",
               SourceLocation where = SourceLocation::current());

// ---- windows over images {batch, channel, height, width} ----------------------------------------

/// How windows move, and what lies beside the input.
struct PoolOptions {
  /// Of height and width.
  std::array<int, 2> stride = {1, 1};
  /// Top, left, bottom, right; less than the window has.
  std::array<int, 4> padding = {0, 0, 0, 0};
  /// "T_<function>" unless said.
  Name name = "";
};

/// The greatest of every window. Padding is the least value, in an operation of its own, "T_pad".
Tensor max_pool2d(const Tensor& x, std::array<int, 2> window, PoolOptions options = {},
                  SourceLocation where = SourceLocation::current());
/// The mean of every window, of floats; what is padding does not count. Two operations: the sums,
/// "<name>_sum", and the quotients.
Tensor avg_pool2d(const Tensor& x, std::array<int, 2> window, PoolOptions options = {},
                  SourceLocation where = SourceLocation::current());

/// How windows move, and what lies beside the input.
struct ConvolutionOptions {
  std::array<int, 2> stride = {1, 1};
  std::array<int, 2> dilation = {1, 1};
  /// Top, left, bottom, right, of zeros.
  std::array<int, 4> padding = {0, 0, 0, 0};
  std::optional<DataType> out_dtype = std::nullopt;
  /// "T_<function>" unless said.
  Name name = "";
};

/// Images {batch, in, height, width} by kernels {out, in, kernel height, kernel width}. Padding is
/// an operation of its own, "T_pad".
Tensor conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                   SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
