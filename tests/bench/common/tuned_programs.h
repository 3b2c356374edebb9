// Programs that the benchmarks tune, and as what their peers compute them.
#pragma once

#include <tenon/tir/function.h>

#include "tests/bench/common/onednn.h"

namespace tenon::bench {

/// Of square float32 matrices: A, B and C are its parameters.
tir::IRModule product(int size);
/// Without a bias: the images, the filters and the result are its parameters.
tir::IRModule convolution(const Convolution& shape);

}  // namespace tenon::bench
