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
#include "topi/ops/windows.h"

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

/// Returns the loads of the two factors if the value is a product of two elements, each of which
/// may be cast. Empty for any other value.
std::vector<const tir::ProducerLoad*> loads_of_factors(const Expr& value) {
  const tir::Binary* product = tir::as_binary(value, tir::BinaryOp::Mul);
  if (!product) return {};
  std::vector<const tir::ProducerLoad*> loads;
  for (const Expr& factor : {product->a, product->b}) {
    const tir::Cast* cast = factor.as<tir::Cast>();
    const auto* load = (cast ? cast->value : factor).as<tir::ProducerLoad>();
    if (!load) return {};
    loads.push_back(load);
  }
  return loads;
}

/// Returns the loads of the two factors of a sum of products over `axes` axes. Empty for any other
/// operation.
std::vector<const tir::ProducerLoad*> loads_of_factors(const Tensor& x, std::size_t axes) {
  const tir::ReduceNode* sum = reduction_of(x.op());
  if (!sum || x.op().num_outputs() != 1 || x.op().inputs().size() > 2 || sum->axis.size() != axes ||
      !sum->init.empty() || !tir::is_true(sum->condition) ||
      !tir::as_binary(sum->combiner->result[0], tir::BinaryOp::Add) ||
      !tir::structural_equal(sum->combiner->identity[0], tir::make_const(x.dtype(), 0)) ||
      !std::ranges::all_of(sum->axis,
                           [](const IterVar& axis) { return tir::is_zero(axis.dom()->min); }))
    return {};
  return loads_of_factors(sum->source[0]);
}

/// Whether the dimension of the load's tensor is indexed by the axis, and has its extent.
bool is_along(const tir::ProducerLoad& load, std::size_t dimension, const IterVar& axis) {
  return is_axis(load.indices[dimension], axis) &&
         arith::can_prove_equal(Tensor::of(load).shape()[dimension], axis.dom()->extent, {});
}

/// Whether dimension 0 of the load's tensor is indexed by the axis and has its extent, or is
/// indexed by 0 and has extent 1.
bool is_batch(const tir::ProducerLoad& load, const IterVar& axis) {
  return is_along(load, 0, axis) ||
         (tir::is_zero(load.indices[0]) && tir::is_one(Tensor::of(load).shape()[0]));
}

/// Whether the index depends on both axes and no other variable.
bool is_window(const Expr& index, const IterVar& place, const IterVar& point) {
  return !tir::contains<tir::ProducerLoad>(index) && tir::uses_var(index, place.var()) &&
         tir::uses_var(index, point.var()) && tir::free_vars(index).size() == 2;
}

/// Whether the index is the channel `in` of the group to which the filter belongs. `channels` and
/// `filters` are totals over all groups; `of_group` is the number of channels per group.
bool is_channel_of_group(const Expr& index, const IterVar& filter, const IterVar& in,
                         const Expr& channels, const Expr& filters, const Expr& of_group) {
  const auto all = tir::constant_int(channels), outs = tir::constant_int(filters),
             ins = tir::constant_int(of_group);
  if (!all || !outs || !ins || *ins < 1 || *all % *ins != 0 || *all < *ins) return false;
  const Expr filters_of_group = tir::make_int(filter.var().dtype(), *outs * *ins / *all);
  if (tir::is_zero(filters_of_group)) return false;
  arith::Facts facts;
  for (const IterVar& axis : {filter, in}) facts.bind(axis.var(), *axis.dom());
  return arith::can_prove_equal(
      index, tir::floordiv(filter.var(), filters_of_group) * of_group + in.var(), facts);
}

/// Returns the loads of the factors of a matrix product: the one that is indexed by the row of the
/// result, and the one that is indexed by the column. Empty for any other operation.
std::vector<const tir::ProducerLoad*> loads_of_product(const Tensor& x) {
  const auto rank = static_cast<std::size_t>(x.ndim());
  std::vector<const tir::ProducerLoad*> factors = loads_of_factors(x, 1);
  if (factors.empty() || (rank != 2 && rank != 3)) return {};
  const IterVar& k = x.op().reduce_axis()[0];
  const auto is_factor = [&](const tir::ProducerLoad& load, const IterVar& own) {
    if (load.indices.size() != rank) return false;
    if (rank == 3 && !is_batch(load, x.op().axis()[0])) return false;
    return (is_along(load, rank - 2, own) && is_along(load, rank - 1, k)) ||
           (is_along(load, rank - 2, k) && is_along(load, rank - 1, own));
  };
  const IterVar &row = x.op().axis()[rank - 2], &column = x.op().axis()[rank - 1];
  if (is_factor(*factors[1], row)) std::swap(factors[0], factors[1]);
  if (is_factor(*factors[0], row) && is_factor(*factors[1], column)) return factors;
  return {};
}

}  // namespace

bool is_product(const Tensor& x) { return !loads_of_product(x).empty() && has_free_terms(x.op()); }

std::vector<Tensor> factors_of_product(const Tensor& product) {
  std::vector<Tensor> factors;
  for (const tir::ProducerLoad* load : loads_of_product(product))
    factors.push_back(Tensor::of(*load));
  return factors;
}

bool is_transposed(const Tensor& product, std::size_t factor) {
  const IterVar& k = product.op().reduce_axis()[0];
  return is_axis(loads_of_product(product)[factor]->indices.back(), k) == (factor == 1);
}

ProductExtents::ProductExtents(const Tensor& product)
    : rows(tir::constant_int(product.shape()[product.shape().size() - 2])),
      columns(tir::constant_int(product.shape().back())),
      depth(tir::constant_int(product.op().reduce_axis(0).dom()->extent)) {}

bool ProductExtents::are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const {
  return rows && columns && depth && *rows % m == 0 && *columns % n == 0 && *depth % k == 0 &&
         *rows > 0 && *columns > 0 && *depth > 0;
}

std::optional<Layout> layout_of_convolution(const Tensor& x) {
  const std::vector<const tir::ProducerLoad*> factors = loads_of_factors(x, 3);
  if (factors.empty() || x.ndim() != 4) return std::nullopt;
  const tir::ProducerLoad &image = *factors[0], &kernel = *factors[1];
  if (image.indices.size() != 4 || kernel.indices.size() != 4) return std::nullopt;
  const std::vector<IterVar>&axes = x.op().axis(), &terms = x.op().reduce_axis();
  for (const Layout layout : {Layout::Nchw, Layout::Nhwc}) {
    const bool is_nchw = layout == Layout::Nchw;
    const std::size_t channel = channels_of(layout), height = height_of(layout);
    const IterVar &filter = axes[channel], &in = terms[is_nchw ? 0 : 2];
    const std::vector<IterVar> of_kernel = is_nchw
                                               ? std::vector{filter, terms[0], terms[1], terms[2]}
                                               : std::vector{terms[0], terms[1], terms[2], filter};
    bool fits = is_along(image, 0, axes[0]);
    for (std::size_t d = 0; d < 4; ++d) fits = fits && is_along(kernel, d, of_kernel[d]);
    for (std::size_t d = 0; d < 2; ++d)
      fits = fits && is_window(image.indices[height + d], axes[height + d], terms[is_nchw + d]);
    fits =
        fits &&
        (is_along(image, channel, in) ||
         (is_nchw && is_channel_of_group(image.indices[1], filter, in, Tensor::of(image).shape()[1],
                                         x.shape()[1], Tensor::of(kernel).shape()[1])));
    if (fits) return layout;
  }
  return std::nullopt;
}

bool is_convolution(const Tensor& x) { return layout_of_convolution(x) && has_free_terms(x.op()); }

bool has_groups(const Tensor& convolution) {
  return layout_of_convolution(convolution) == Layout::Nchw &&
         !is_axis(loads_of_factors(convolution, 3)[0]->indices[1],
                  convolution.op().reduce_axis()[0]);
}

bool is_windowed(const Tensor& x) {
  const std::vector<IterVar>& terms = x.op().reduce_axis();
  const std::vector<Tensor> inputs = x.op().inputs();
  const tir::ReduceNode* reduction = reduction_of(x.op());
  if (!reduction || x.ndim() != 4 || x.op().num_outputs() != 1 || terms.size() != 2 ||
      inputs.empty() || inputs.front().ndim() != 4)
    return false;
  const std::vector<IterVar>& axes = x.op().axis();
  const auto slides = [&](const tir::ProducerLoad& image) {
    const auto along = [&](Layout layout) {
      const std::size_t channel = channels_of(layout), height = height_of(layout);
      return is_window(image.indices[height], axes[height], terms[0]) &&
             is_window(image.indices[height + 1], axes[height + 1], terms[1]) &&
             tir::uses_var(image.indices[channel], axes[channel].var()) &&
             tir::free_vars(image.indices[channel]).size() == 1;
    };
    return is_along(image, 0, axes[0]) && (along(Layout::Nchw) || along(Layout::Nhwc));
  };
  const bool is_fixed = tir::any_node(reduction->source[0], [&](const tir::ProducerLoad& load) {
    return Tensor::of(load).op().same_as(inputs.front().op()) && !slides(load);
  });
  return !is_fixed && has_free_terms(x.op());
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
