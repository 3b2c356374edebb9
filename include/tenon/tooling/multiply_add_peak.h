// Measurement of this machine's peak rate of single-precision multiply-adds.
//
//   const double gflops = multiply_add_peak(2);      // two threads; a multiply-add is two operations
//
// Runs independent chains of multiply-adds in the widest vector registers, enough of them to hide
// the latency. Does not use the compiler whose code is compared with it.
#pragma once

namespace tenon {

/// Returns the rate in 10^9 operations per second. Takes about 0.1 seconds.
double multiply_add_peak(int threads);

}  // namespace tenon
