#include "topi/ops/patterns.h"

#include <algorithm>

#include "tenon/arith/reducer_laws.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/nn.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

using te::IterVar;
using te::Operation;
using tir::Expr;

namespace {

const tir::ReduceNode* reduction_of(const Operation& op) {
  const te::Compute* compute = op.as<te::Compute>();
  return compute ? compute->reduction() : nullptr;
}

bool is_axis(const Expr& index, const IterVar& axis) { return index.same_as(axis.var()); }

}  // namespace

void refuse(const char* function, const Tensor& out, const std::string& why,
            const SourceLocation& where) {
  throw ScheduleError(std::string(function) + " of `" + out.name() + "`: " + why, where);
}

bool is_one_of(const Operation& op, const std::vector<Operation>& all) {
  return std::ranges::any_of(all, [&](const Operation& other) { return other.same_as(op); });
}

std::vector<Expr> reduced_extents(const Operation& op) {
  std::vector<Expr> extents;
  for (const IterVar& axis : op.reduce_axis()) extents.push_back(axis.dom()->extent);
  return extents;
}

bool has_free_terms(const Operation& op) {
  const tir::ReduceNode* reduction = reduction_of(op);
  if (!reduction) return false;
  for (const IterVar& user : op.reduce_axis())
    for (const IterVar& used : op.root_iter_vars())
      if (tir::uses_var(user.dom()->min, used.var()) ||
          tir::uses_var(user.dom()->extent, used.var()))
        return false;
  return !arith::find_counterexample(*reduction->combiner, reduction->source,
                                     !reduction->init.empty(),
                                     {.regroups = true, .reorders = true});
}

// ---- products -----------------------------------------------------------------------------------

namespace {

std::vector<std::vector<Expr>> loads_of(const tir::ReduceNode& sum) {
  std::vector<std::vector<Expr>> loads;
  tir::walk(sum.source[0], [&](const tir::ProducerLoad& load) { loads.push_back(load.indices); });
  return loads;
}

/// Returns the indices of the two loads of a sum of products over `axes` axes. Empty for any other
/// operation.
std::vector<std::vector<Expr>> indices_of_factors(const Tensor& x, std::size_t axes) {
  if (x.op().num_outputs() != 1 || x.op().reduce_axis().size() != axes ||
      x.op().inputs().size() > 2 || !has_free_terms(x.op()))
    return {};
  const tir::ReduceNode& sum = *reduction_of(x.op());
  std::vector<std::vector<Expr>> loads = loads_of(sum);
  if (loads.size() != 2 || !tir::is_true(sum.condition)) return {};
  return loads;
}

}  // namespace

bool is_product(const Tensor& x) {
  const std::string& tag = x.op().tag();
  const auto rank = static_cast<std::size_t>(x.ndim());
  if ((tag != kMatmul && tag != kDense && tag != kBatchMatmul) || (rank != 2 && rank != 3))
    return false;
  const std::vector<std::vector<Expr>> factors = indices_of_factors(x, 1);
  const auto is_factor = [&](std::size_t n) {
    const IterVar &own = x.op().axis()[rank - 2 + n], &k = x.op().reduce_axis()[0];
    const std::vector<Expr>& at = factors[n];
    if (at.size() != rank) return false;
    if (rank == 3 && !is_axis(at[0], x.op().axis()[0]) && !tir::is_constant(at[0])) return false;
    const Expr &row = at[rank - 2], &column = at[rank - 1];
    return (is_axis(row, own) && is_axis(column, k)) || (is_axis(row, k) && is_axis(column, own));
  };
  return !factors.empty() && is_factor(0) && is_factor(1);
}

bool is_transposed(const Tensor& product, std::size_t factor) {
  const IterVar& k = product.op().reduce_axis()[0];
  return is_axis(loads_of(*reduction_of(product.op()))[factor].back(), k) == (factor == 1);
}

ProductExtents::ProductExtents(const Tensor& product)
    : rows(tir::constant_int(product.shape()[product.shape().size() - 2])),
      columns(tir::constant_int(product.shape().back())),
      depth(tir::constant_int(product.op().reduce_axis(0).dom()->extent)) {}

bool ProductExtents::are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const {
  return rows && columns && depth && *rows % m == 0 && *columns % n == 0 && *depth % k == 0 &&
         *rows > 0 && *columns > 0 && *depth > 0;
}

bool is_convolution(const Tensor& x) {
  const std::string& tag = x.op().tag();
  if ((tag != kConv2dNchw && tag != kGroupConv2dNchw && tag != kConv2dNhwc) || x.ndim() != 4)
    return false;
  const std::vector<std::vector<Expr>> factors = indices_of_factors(x, 3);
  if (factors.empty() || factors[0].size() != 4) return false;
  const std::vector<IterVar>& axes = x.op().axis();
  std::vector<IterVar> of_kernel = x.op().reduce_axis();
  const IterVar& filter = axes[tag == kConv2dNhwc ? 3 : 1];
  of_kernel.insert(tag == kConv2dNhwc ? of_kernel.end() : of_kernel.begin(), filter);
  // The channel index of a grouped convolution depends on the filter; other indices of the data
  // must not.
  const auto has_filter = [&](const Expr& index) { return tir::uses_var(index, filter.var()); };
  return is_axis(factors[0][0], axes[0]) && std::ranges::equal(factors[1], of_kernel, is_axis) &&
         (tag == kGroupConv2dNchw || std::ranges::none_of(factors[0], has_filter));
}

// ---- other operators ----------------------------------------------------------------------------

std::optional<Softmax> find_softmax(const Tensor& out) {
  const auto inputs_of = [](const Tensor& x) { return x.op().inputs(); };
  if (out.op().tag() != kSoftmaxOutput || inputs_of(out).size() != 2) return std::nullopt;
  const Tensor power = inputs_of(out)[0], sum = inputs_of(out)[1];
  if (inputs_of(power).size() != 2) return std::nullopt;
  const Tensor x = inputs_of(power)[0], greatest = inputs_of(power)[1];
  for (const Tensor& t : {x, power})
    if (t.ndim() != out.ndim() || !t.dtype().is_floating()) return std::nullopt;
  for (const Tensor& t : {sum, greatest})
    if (t.ndim() + 1 != out.ndim() || t.op().reduce_axis().size() != 1) return std::nullopt;
  const tir::Range &terms = *sum.op().reduce_axis()[0].dom(),
                   &values = *greatest.op().reduce_axis()[0].dom();
  if (!tir::structural_equal({terms.min, terms.extent}, {values.min, values.extent}))
    return std::nullopt;
  const auto is_map = [](const Tensor& t, const Expr& element) {
    return t.op().body().size() == 1 && tir::structural_equal(t.op().body().front(), element);
  };
  for (std::size_t along = 0; along < out.shape().size(); ++along) {
    const auto all = [](const Tensor& t) {
      return std::vector<Expr>(t.op().axis().begin(), t.op().axis().end());
    };
    const auto rest = [&](const Tensor& t) { return without(t.op().axis(), along); };
    const auto reduces = [&](const Tensor& t, tir::BinaryOp op, const Tensor& source) {
      const tir::ReduceNode* reduction = reduction_of(t.op());
      if (!reduction || reduction->source.size() != 1 || !reduction->init.empty()) return false;
      const tir::Binary* combine = reduction->combiner->result[0].as<tir::Binary>();
      return combine && combine->op == op && tir::is_true(reduction->condition) &&
             tir::structural_equal(reduction->source[0],
                                   source(with(t.op().axis(), along, t.op().reduce_axis()[0])));
    };
    if (is_map(out, power(all(out)) / sum(rest(out))) &&
        is_map(power, tir::exp(x(all(power)) - greatest(rest(power)))) &&
        reduces(sum, tir::BinaryOp::Add, power) && reduces(greatest, tir::BinaryOp::Max, x))
      return Softmax(greatest, power, sum, along);
  }
  return std::nullopt;
}

std::optional<Permutation> find_permutation(const Operation& op) {
  if (!te::is_injective(op) || op.inputs().size() != 1) return std::nullopt;
  std::optional<std::vector<Expr>> read;
  bool is_plain = true;
  tir::walk(op.body().front(), [&](const tir::ProducerLoad& load) {
    if (!read) read = load.indices;
    is_plain = is_plain && tir::structural_equal(*read, load.indices);
  });
  Permutation axes;
  for (const Expr& index : read.value_or(std::vector<Expr>{})) {
    const auto own =
        std::ranges::find_if(op.axis(), [&](const IterVar& axis) { return is_axis(index, axis); });
    const bool is_own = own != op.axis().end();
    is_plain = is_plain && (is_own || tir::is_constant(index));
    axes.push_back(is_own ? std::optional<std::size_t>(own - op.axis().begin()) : std::nullopt);
  }
  return read && is_plain ? std::optional(axes) : std::nullopt;
}

bool is_reshape(const Operation& op) {
  if (!te::is_injective(op) || op.inputs().size() != 1) return false;
  const tir::ProducerLoad* read = op.body().front().as<tir::ProducerLoad>();
  if (!read) return false;
  const auto place = [](const std::vector<Expr>& indices, const std::vector<Expr>& shape) {
    const std::vector<Expr> strides = tir::compact_strides(shape);
    Expr sum = 0;
    for (std::size_t n = 0; n < indices.size(); ++n) sum = sum + indices[n] * strides[n];
    return sum;
  };
  arith::Facts facts;
  std::vector<Expr> own;
  for (const IterVar& axis : op.axis()) {
    facts.bind(axis.var(), *axis.dom());
    own.push_back(axis.var());
  }
  return arith::can_prove_equal(place(own, op.output(0).shape()),
                                place(read->indices, op.inputs().front().shape()), facts);
}

}  // namespace tenon::topi
