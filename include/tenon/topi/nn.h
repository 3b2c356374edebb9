// Operators of neural networks: matrix products, softmax, pooling, convolution.
//
//   te::Tensor H = topi::relu(topi::dense(X, W, Bias));                       // X W^T + Bias
//   te::Tensor C = topi::conv2d_nchw(I, K, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
//   te::Tensor P = topi::max_pool2d(C, {2, 2}, {.stride = {2, 2}});
//
// Each function declares operations with axes ax0, ax1, ... and the tags below. A product is
// computed in the type to which its operands are promoted, or in `out_dtype`, to which they are
// cast first; use Int(32) for int8 operands.
//
// TypeError for tensors of another rank, extents that do not or may not match, and types that the
// expressions do not support.
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

/// Layout of the operands, and type and name of the result.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::optional<DataType> out_dtype = std::nullopt;
  /// Name of the result. Default: "T_matmul" or "T_batch_matmul".
  Name name = "";
};

/// Multiplies {m, k} by {k, n}. A transposed operand has the shape {k, m} or {n, k}.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {},
              SourceLocation where = SourceLocation::current());
/// Multiplies {b, m, k} by {b, k, n}. An operand with b = 1 is used for all matrices of the other.
Tensor batch_matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {},
                    SourceLocation where = SourceLocation::current());

/// Options of dense.
struct DenseOptions {
  std::optional<DataType> out_dtype = std::nullopt;
  Name name = "T_dense";
};
/// Multiplies {m, k} by the transpose of the weights {n, k}.
Tensor dense(const Tensor& x, const Tensor& weight, DenseOptions options = {},
             SourceLocation where = SourceLocation::current());
/// Overload that adds a bias {n}, as a separate operation "T_add".
Tensor dense(const Tensor& x, const Tensor& weight, const Tensor& bias, DenseOptions options = {},
             SourceLocation where = SourceLocation::current());

// ---- softmax ------------------------------------------------------------------------------------

/// Computes exp(x) divided by its sum along a dimension. Declares four operations:
/// T_softmax_maxelem, which is subtracted to avoid overflow, T_softmax_exp, T_softmax_expsum, and
/// `name`.
Tensor softmax(const Tensor& x, int axis = -1, Name name = "T_softmax_norm",
               SourceLocation where = SourceLocation::current());

// ---- windows over images {batch, channel, height, width} ----------------------------------------

/// The order of an image's dimensions: {batch, channel, height, width} or {batch, height, width,
/// channel}.
enum class Layout { Nchw, Nhwc };

/// Options of pooling.
struct PoolOptions {
  /// Values for the height and the width.
  std::array<int, 2> stride = {1, 1};
  /// Top, left, bottom, right. Smaller than the window.
  std::array<int, 4> padding = {0, 0, 0, 0};
  Layout layout = Layout::Nchw;
  /// Name of the result. Default: "T_<function>".
  Name name = "";
};

/// Computes the maximum of every window. Padding has the minimum value of the type and is a
/// separate operation, "T_pad".
Tensor max_pool2d(const Tensor& x, std::array<int, 2> window, PoolOptions options = {},
                  SourceLocation where = SourceLocation::current());
/// Computes the mean of every window of floats, ignoring padding. Declares two operations: the
/// sums, "<name>_sum", and the quotients.
Tensor avg_pool2d(const Tensor& x, std::array<int, 2> window, PoolOptions options = {},
                  SourceLocation where = SourceLocation::current());

/// Options of convolutions.
struct ConvolutionOptions {
  std::array<int, 2> stride = {1, 1};
  std::array<int, 2> dilation = {1, 1};
  /// Zero padding: top, left, bottom, right.
  std::array<int, 4> padding = {0, 0, 0, 0};
  std::optional<DataType> out_dtype = std::nullopt;
  /// Name of the result. Default: "T_<function>".
  Name name = "";
};

/// Convolution of images {batch, in, height, width} with kernels {out, in, kernel height, kernel
/// width}. Padding is a separate operation, "T_pad".
Tensor conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                   SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
