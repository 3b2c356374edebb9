// Operators of transformer networks, in addition to matrix products (nn.h).
//
//   te::Tensor H = topi::layer_norm(X, Gamma, Beta);
//   te::Tensor O = topi::attention(Q, K, V);          // {heads, queries, width}
//   te::Tensor F = topi::gelu(topi::dense(H, W, Bias));
//
// Each function takes floats and declares operations with axes ax0, ax1, ...
//
// TypeError for tensors of another rank, extents that do not or may not match, and types other than
// floats.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Tags of the operations.
inline constexpr const char* kLayerNorm = "layer_norm";
inline constexpr const char* kRmsNorm = "rms_norm";
inline constexpr const char* kAttention = "attention";

/// Computes x (1 + erf(x / sqrt 2)) / 2: Hendrycks and Gimpel, "Gaussian Error Linear Units", the
/// exact form.
Tensor gelu(const Tensor& x, Name name = "T_gelu",
            SourceLocation where = SourceLocation::current());

/// Computes (x - mean) / sqrt(variance + epsilon) * gamma + beta over the last dimension: Ba, Kiros
/// and Hinton, "Layer Normalization". The variance is the population variance (divided by the
/// number of elements). Declares three operations: <name>_sum, <name>_squares, and `name`.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon = 1e-5,
                  Name name = "T_layer_norm", SourceLocation where = SourceLocation::current());

/// Computes x / sqrt(mean of squares + epsilon) * gamma over the last dimension: Zhang and
/// Sennrich, "Root Mean Square Layer Normalization". Declares two operations: <name>_squares, and
/// `name`.
Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon = 1e-5,
                Name name = "T_rms_norm", SourceLocation where = SourceLocation::current());

/// Options of attention.
struct AttentionOptions {
  /// Positive factor of the products of queries and keys. Nullopt: 1 / sqrt(width).
  std::optional<double> scale = std::nullopt;
  Name name = "T_attention";
};
/// Computes softmax(scale q k^T) v for queries {heads, m, width}, keys {heads, n, width} and values
/// {heads, n, depth}: Vaswani and others, "Attention Is All You Need". Declares six operations:
/// <name>_scores, _maxelem, _exp, _expsum, _values, and `name`. The exponentials are multiplied by
/// the values before the division by their sum.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options = {},
                 SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
