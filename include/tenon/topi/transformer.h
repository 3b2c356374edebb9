// What networks of the transformer kind are made of, beside products of matrices (nn.h).
//
//   te::Tensor H = topi::layer_norm(X, Gamma, Beta);
//   te::Tensor O = topi::attention(Q, K, V);          // {heads, queries, width}
//   te::Tensor F = topi::gelu(topi::dense(H, W, Bias));
//
// Each declares operations with axes ax0, ax1, ... and takes floats.
//
// TypeError: tensors of another rank; extents that do not fit or are not known to; no floats.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Tags of the operations.
inline constexpr const char* kLayerNorm = "layer_norm";
inline constexpr const char* kRmsNorm = "rms_norm";
inline constexpr const char* kAttention = "attention";

/// x (1 + erf(x / sqrt 2)) / 2: Hendrycks and Gimpel, "Gaussian Error Linear Units", exactly.
Tensor gelu(const Tensor& x, Name name = "T_gelu",
            SourceLocation where = SourceLocation::current());

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, of the last dimension: Ba, Kiros and
/// Hinton, "Layer Normalization". The variance is that around the mean, divided by the number of
/// elements. Three operations: <name>_sum, <name>_squares, and `name`.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon = 1e-5,
                  Name name = "T_layer_norm", SourceLocation where = SourceLocation::current());

/// x / sqrt(mean of squares + epsilon) * gamma, of the last dimension: Zhang and Sennrich, "Root
/// Mean Square Layer Normalization". Two operations: <name>_squares, and `name`.
Tensor rms_norm(const Tensor& x, const Tensor& gamma, double epsilon = 1e-5,
                Name name = "T_rms_norm", SourceLocation where = SourceLocation::current());

/// What attention is computed with.
struct AttentionOptions {
  /// Of the products of queries and keys, positive; 1 / sqrt(width) unless said.
  std::optional<double> scale = std::nullopt;
  Name name = "T_attention";
};
/// softmax(scale q k^T) v, of queries {heads, m, width}, keys {heads, n, width} and values {heads,
/// n, depth}: Vaswani and others, "Attention Is All You Need". Six operations: <name>_scores,
/// _maxelem, _exp, _expsum, _values, and `name`; what exp makes is divided by its sum only after it
/// has been multiplied by the values.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options = {},
                 SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
