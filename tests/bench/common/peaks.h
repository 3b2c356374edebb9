// The most operations on narrow numbers that this machine does in a second, measured: beside
// multiply_add_peak, of float32.
#pragma once

namespace tenon::bench {

/// 10^9 operations a second in sums of products of bytes and of bfloat16, by this processor's
/// instructions for them; where it has none, those of float32.
double byte_product_peak(int threads);
double bfloat_product_peak(int threads);
/// 10^9 operations a second in multiply-adds of float64.
double double_multiply_add_peak(int threads);

}  // namespace tenon::bench
