#include "topi/ops/products.h"

#include "tenon/tir/walk.h"
#include "tenon/topi/nn.h"

namespace tenon::topi {

bool is_product(const Tensor& x) {
  const std::string& tag = x.op().tag();
  if (tag != kMatmul && tag != kDense && tag != kBatchMatmul) return false;
  // Users may set the same tag, so the operation is checked too.
  const int rank = x.ndim();
  if ((rank != 2 && rank != 3) || x.op().num_outputs() != 1) return false;
  const std::vector<Tensor> inputs = x.op().inputs();
  return x.op().reduce_axis().size() == 1 && !inputs.empty() && inputs.size() <= 2 &&
         inputs.front().ndim() == rank && inputs.back().ndim() == rank;
}

bool is_transposed(const Tensor& product, std::size_t factor) {
  const tir::ReduceNode& sum = *product.op().body()[0].as<tir::Reduce>()->reduction;
  const tir::Var k = sum.axis[0].var();
  bool ends_with_k = false;
  std::size_t number = 0;
  tir::walk(sum.source[0], [&](const tir::ProducerLoad& n) {
    if (number++ == factor) ends_with_k = n.indices.back().same_as(k);
  });
  return factor == 0 ? !ends_with_k : ends_with_k;
}

ProductExtents::ProductExtents(const Tensor& product)
    : rows(tir::constant_int(product.shape()[product.shape().size() - 2])),
      columns(tir::constant_int(product.shape().back())),
      depth(tir::constant_int(product.op().reduce_axis(0).dom()->extent)) {}

bool ProductExtents::are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const {
  return rows && columns && depth && *rows % m == 0 && *columns % n == 0 && *depth % k == 0 &&
         *rows > 0 && *columns > 0 && *depth > 0;
}

}  // namespace tenon::topi
