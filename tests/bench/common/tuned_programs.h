// Programs that the benchmarks tune, and as what their peers compute them.
#pragma once

#include <tenon/te/tensor.h>
#include <tenon/tir/function.h>

#include "tests/bench/common/operators.h"

namespace tenon::bench {

/// The arguments A, B and C of a product of square float32 matrices.
std::vector<te::Tensor> product_tensors(int size);
/// Without a bias: the images, the filters and the result.
std::vector<te::Tensor> convolution_tensors(const Convolution& shape);

/// Their block programs, with these parameters.
tir::IRModule product(int size);
tir::IRModule convolution(const Convolution& shape);

}  // namespace tenon::bench
