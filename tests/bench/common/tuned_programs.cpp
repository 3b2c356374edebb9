#include "tests/bench/common/tuned_programs.h"

#include <tenon/tenon.h>
#include <tenon/topi/convolution.h>
#include <tenon/topi/nn.h>

namespace tenon::bench {

std::vector<te::Tensor> product_tensors(int size) {
  const te::Tensor A = te::placeholder({size, size}, "A"), B = te::placeholder({size, size}, "B");
  return {A, B, topi::matmul(A, B, {.name = "C"})};
}

std::vector<te::Tensor> convolution_tensors(const Convolution& c) {
  const te::Tensor X = te::placeholder({c.batch, c.in, c.height, c.width}, "X");
  const te::Tensor W = te::placeholder({c.out, c.in, c.kernel, c.kernel}, "W");
  const te::Tensor Y = topi::conv2d_nchw(
      X, W,
      {.stride = {c.stride, c.stride}, .padding = {c.padding, c.padding, c.padding, c.padding}});
  return {X, W, Y};
}

namespace {

tir::IRModule block_program(const std::vector<te::Tensor>& parameters) {
  return {{{"main", te::create_prim_func({parameters.begin(), parameters.end()})}}};
}

}  // namespace

tir::IRModule product(int size) { return block_program(product_tensors(size)); }

tir::IRModule convolution(const Convolution& shape) {
  return block_program(convolution_tensors(shape));
}

}  // namespace tenon::bench
