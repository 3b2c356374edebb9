#include "tenon/te/tensor.h"

#include <ostream>

#include "te/operations/declare.h"
#include "tenon/te/operation.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

Expr checked_read(const Tensor& tensor, std::vector<Expr> indices, const SourceLocation& where) {
  const std::string name = "tensor `" + tensor.name() + "`";
  if (indices.size() != tensor.shape().size()) {
    const std::size_t rank = tensor.shape().size();
    throw TypeError(name + " has " + std::to_string(rank) +
                        (rank == 1 ? " dimension" : " dimensions") + ", but is read with " +
                        std::to_string(indices.size()) +
                        (indices.size() == 1 ? " index" : " indices"),
                    where);
  }
  for (std::size_t n = 0; n < indices.size(); ++n) {
    if (indices[n].is_moved_from())
      throw TypeError(name + ": index " + std::to_string(n) + " has been moved from", where);
    const DataType type = indices[n].dtype();
    if (!type.is_integral() || type.is_bool())
      throw TypeError(name + ": index " + std::to_string(n) + " must be an integer, got `" +
                          tir::print_expr(indices[n]) + "` of type " + type.str(),
                      where);
    if (!type.is_scalar() && n + 1 < indices.size())
      throw TypeError(name + ": only the last index may be a vector, but index " +
                          std::to_string(n) + " is " + type.str(),
                      where);
    indices[n] = tir::as_index(indices[n]);
  }
  return tir::make_producer_load(tensor.producer(), std::move(indices));
}

}  // namespace

TensorList::TensorList(const Tensor& tensor) : tensors_{tensor} {}
TensorList::TensorList(std::initializer_list<Tensor> tensors) : tensors_(tensors) {}
TensorList::TensorList(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}

Tensor Tensor::of(const tir::ProducerLoad& load) {
  auto node = std::dynamic_pointer_cast<const TensorNode>(load.producer);
  internal_check(node != nullptr, "a read of something that is no te::Tensor");
  return Tensor(std::move(node));
}

const std::vector<Expr>& Tensor::shape() const { return node_->shape(); }
DataType Tensor::dtype() const { return node_->dtype(); }
std::string Tensor::name() const { return node_->name(); }
Operation Tensor::op() const { return node_->op; }
int Tensor::value_index() const { return node_->index; }
bool Tensor::same_as(const Tensor& other) const {
  return node_->op.same_as(other.node_->op) && node_->index == other.node_->index;
}
tir::ProducerRef Tensor::producer() const { return node_.pointer(); }

Expr Tensor::read(std::initializer_list<const Operand*> indices,
                  const SourceLocation& where) const {
  std::vector<Expr> values;
  values.reserve(indices.size());
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const Operand& index = **(indices.begin() + n);
    // A literal takes the type of its dimension's extent.
    const DataType own = index.alone().dtype();
    const bool typed =
        index.is_literal() && n < shape().size() && own.is_integral() && !own.is_bool();
    values.push_back(typed ? index.beside(shape()[n].dtype()) : index.alone());
  }
  return checked_read(*this, std::move(values), where);
}

Expr Tensor::operator()(SourceLocation where) const { return read({}, where); }
Expr Tensor::operator()(const Operand& i) const { return read({&i}, i.where()); }
Expr Tensor::operator()(const Operand& i, const Operand& j) const {
  return read({&i, &j}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k) const {
  return read({&i, &j, &k}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k,
                        const Operand& l) const {
  return read({&i, &j, &k, &l}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                        const Operand& m) const {
  return read({&i, &j, &k, &l, &m}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                        const Operand& m, const Operand& n) const {
  return read({&i, &j, &k, &l, &m, &n}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                        const Operand& m, const Operand& n, const Operand& o) const {
  return read({&i, &j, &k, &l, &m, &n, &o}, i.where());
}
Expr Tensor::operator()(const Operand& i, const Operand& j, const Operand& k, const Operand& l,
                        const Operand& m, const Operand& n, const Operand& o,
                        const Operand& p) const {
  return read({&i, &j, &k, &l, &m, &n, &o, &p}, i.where());
}
Expr Tensor::operator()(const std::vector<Expr>& indices, SourceLocation where) const {
  return checked_read(*this, indices, where);
}
Expr Tensor::operator()(std::span<const Expr> indices, SourceLocation where) const {
  return checked_read(*this, {indices.begin(), indices.end()}, where);
}
Expr Tensor::operator()(std::span<const Var> indices, SourceLocation where) const {
  return checked_read(*this, {indices.begin(), indices.end()}, where);
}

TensorRegion Tensor::region(std::vector<Slice> slices, SourceLocation where) const {
  if (slices.size() != shape().size())
    throw TypeError("tensor `" + name() + "` has " + std::to_string(shape().size()) +
                        " dimensions, but its region has " + std::to_string(slices.size()),
                    where);
  std::vector<Range> ranges;
  for (const Slice& slice : slices) {
    const std::string what = "a bound of a region of tensor `" + name() + "`";
    ranges.push_back(Range::from_min_extent(to_index(slice.range.min, what, where),
                                            to_index(slice.range.extent, what, where)));
  }
  return {*this, std::move(ranges)};
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  out << "Tensor(shape=[";
  for (std::size_t n = 0; n < tensor.shape().size(); ++n)
    out << (n == 0 ? "" : ", ") << tir::print_legacy(tensor.shape()[n]);
  return out << "], op.name=" << tensor.op().name() << ')';
}

}  // namespace tenon::te
