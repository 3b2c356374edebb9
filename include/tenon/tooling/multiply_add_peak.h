// The most multiply-adds in single precision that this machine does in a second, measured.
//
//   const double gflops = multiply_add_peak(2);      // of two threads; a multiply-add is two operations
//
// Chains of multiply-adds that wait for nothing but themselves, in the widest vector registers
// there are, as many as hide the time that one takes. Written apart from the compiler whose code is
// to be compared with it.
#pragma once

namespace tenon {

/// 10^9 operations a second. Takes about 0.1 seconds.
double multiply_add_peak(int threads);

}  // namespace tenon
