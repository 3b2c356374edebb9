#include "te/operations/body.h"

#include <algorithm>

#include "tenon/support/dense_map.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using tir::ReduceNode;
using namespace tir;

namespace {

/// Applies f to each expression. Returns whether an expression changed.
bool map_list(std::vector<Expr>& list, tir::ExprMap f) {
  bool changed = false;
  for (Expr& e : list) {
    Expr mapped = f(e);
    changed |= !mapped.same_as(e);
    e = std::move(mapped);
  }
  return changed;
}

}  // namespace

CommReducer map_reducer(const CommReducer& reducer, tir::ExprMap f) {
  CommReducerNode changed = *reducer;
  const bool results = map_list(changed.result, f);
  const bool identities = map_list(changed.identity, f);
  if (!results && !identities) return reducer;
  return std::make_shared<const CommReducerNode>(std::move(changed));
}

std::vector<Expr> components_of(const std::shared_ptr<const ReduceNode>& reduction) {
  std::vector<Expr> bodies;
  for (std::size_t n = 0; n < reduction->source.size(); ++n)
    bodies.push_back(tir::make_reduce(reduction, static_cast<int>(n)));
  return bodies;
}

namespace {

/// Applies f to the ranges of the axes. Returns whether a range changed.
bool map_domains(std::vector<IterVar>& axes, tir::ExprMap f) {
  bool changed = false;
  for (IterVar& axis : axes) {
    const Range dom = *axis.dom();
    Expr min = f(dom.min), extent = f(dom.extent);
    if (min.same_as(dom.min) && extent.same_as(dom.extent)) continue;
    axis = IterVar(Range::from_min_extent(std::move(min), std::move(extent)), axis.var(),
                   axis.kind(), axis.thread());
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<Expr> map_bodies(const std::vector<Expr>& bodies, tir::ExprMap f, bool maps_ranges) {
  const tir::Reduce* reduce = bodies.empty() ? nullptr : bodies.front().as<tir::Reduce>();
  std::vector<Expr> result = bodies;
  if (!reduce) {
    map_list(result, f);
    return result;
  }
  ReduceNode changed = *reduce->reduction;
  changed.combiner = map_reducer(changed.combiner, f);
  const bool reducer = changed.combiner != reduce->reduction->combiner;
  const bool sources = map_list(changed.source, f);
  const bool inits = map_list(changed.init, f);
  const bool axes = maps_ranges && map_domains(changed.axis, f);
  Expr condition = f(changed.condition);
  if (!reducer && !sources && !inits && !axes && condition.same_as(changed.condition))
    return bodies;
  changed.condition = std::move(condition);
  return components_of(std::make_shared<const ReduceNode>(std::move(changed)));
}

void for_each_space(const Scan& scan,
                    FunctionRef<void(std::size_t k, std::size_t dim, const IterVar& axis)> f) {
  for (std::size_t k = 0, axis = 0; k < scan.update.size(); ++k)
    for (std::size_t dim = 1; dim < scan.update[k].shape().size(); ++dim)
      f(k, dim, scan.spatial_axis[axis++]);
}

Expr rewrite_loads(const Expr& e,
                   FunctionRef<std::optional<Expr>(const ProducerLoad& load)> replace,
                   ExprMemo& done) {
  if (const Expr* known = done.find(&e.node())) return *known;
  Expr result =
      map_children(e, [&](const Expr& child) { return rewrite_loads(child, replace, done); });
  if (const ProducerLoad* load = result.as<ProducerLoad>())
    if (std::optional<Expr> replacement = replace(*load)) result = *std::move(replacement);
  done.try_emplace(&e.node(), result);
  return result;
}

namespace {

/// Calls f on every read of a tensor in `e`, except in sub-expressions that are in `seen`, to which
/// it adds the visited ones. A read inside an index precedes the read around it.
void visit_reads(const Expr& e, DenseMap<const ExprNode*, bool>& seen,
                 FunctionRef<void(const ProducerLoad&)> f) {
  if (is_constant(e) || e.as<VarNode>() || !seen.try_emplace(&e.node(), true).second) return;
  for_each_child(e, [&](const Expr& child) { visit_reads(child, seen, f); });
  if (const ProducerLoad* load = e.as<ProducerLoad>()) f(*load);
}

}  // namespace

void add_once(std::vector<Tensor>& tensors, const Tensor& tensor) {
  if (std::ranges::none_of(tensors, [&](const Tensor& known) { return known.same_as(tensor); }))
    tensors.push_back(tensor);
}

void add_tensors_read(std::span<const Expr> expressions, std::vector<Tensor>& found) {
  DenseMap<const ExprNode*, bool> seen;
  for (const Expr& e : expressions)
    visit_reads(e, seen, [&](const ProducerLoad& load) { add_once(found, Tensor::of(load)); });
}

std::vector<Tensor> tensors_read(const Expr& e) {
  std::vector<Tensor> found;
  add_tensors_read({&e, 1}, found);
  return found;
}

std::vector<TensorRead> collect_reads(const Operation& op) {
  std::vector<TensorRead> all;
  DenseMap<const ExprNode*, bool> seen;
  const auto visit = [&](const Expr& e) {
    visit_reads(e, seen, [&](const ProducerLoad& load) {
      const Tensor tensor = Tensor::of(load);
      const auto is_same = [&](const TensorRead& known) {
        return known.first.same_as(tensor) && structural_equal(known.second, load.indices);
      };
      if (std::ranges::none_of(all, is_same)) all.emplace_back(tensor, load.indices);
    });
  };
  const auto visit_range = [&](const Range& range) {
    visit(range.min);
    visit(range.extent);
  };
  for (const Expr& body : op.body()) visit(body);
  if (const TensorCompute* compute = op.as<TensorCompute>()) {
    for (const TensorRegion& input : compute->inputs)
      for (const Range& range : input.ranges) visit_range(range);
    for (const Expr& scalar : compute->scalar_inputs) visit(scalar);
    for (const IterVar& axis : compute->reduce_axis) visit_range(*axis.dom());
  }
  return all;
}

}  // namespace tenon::te
