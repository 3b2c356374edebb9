#include "te/operations/body.h"

#include <algorithm>
#include <map>

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

std::vector<Expr> map_bodies(const std::vector<Expr>& bodies, tir::ExprMap f,
                             ReduceDomains domains) {
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
  const bool axes = domains == ReduceDomains::Mapped && map_domains(changed.axis, f);
  Expr condition = f(changed.condition);
  if (!reducer && !sources && !inits && !axes && condition.same_as(changed.condition))
    return bodies;
  changed.condition = std::move(condition);
  return components_of(std::make_shared<const ReduceNode>(std::move(changed)));
}

Expr LoadRewriter::operator()(const Expr& e) {
  if (const Expr* known = done_.find(&e.node())) return *known;
  Expr result = tir::map_children(e, [this](const Expr& child) { return (*this)(child); });
  if (const tir::ProducerLoad* load = result.as<tir::ProducerLoad>())
    if (std::optional<Expr> replacement = replace_(*load)) result = *std::move(replacement);
  done_.try_emplace(&e.node(), result);
  return result;
}

namespace {

std::size_t memoized_tree_size(const Expr& e, std::size_t limit,
                               DenseMap<const tir::ExprNode*, std::size_t>& sizes) {
  if (const std::size_t* known = sizes.find(&e.node())) return *known;
  std::size_t size = 1;
  tir::for_each_child(e, [&](const Expr& child) {
    size = std::min(limit, size + memoized_tree_size(child, limit, sizes));
  });
  sizes.try_emplace(&e.node(), size);
  return size;
}

}  // namespace

std::size_t tree_size(const Expr& e, std::size_t limit) {
  DenseMap<const tir::ExprNode*, std::size_t> sizes;
  return memoized_tree_size(e, limit, sizes);
}

void TensorCollector::add(const Tensor& tensor) {
  const bool known = std::ranges::any_of(found, [&](const Tensor& t) { return t.same_as(tensor); });
  if (!known) found.push_back(tensor);
}

void TensorCollector::visit(const Expr& e) {
  if (tir::is_constant(e) || e.as<tir::VarNode>() || !seen_.try_emplace(&e.node(), true).second)
    return;
  if (const tir::Reduce* reduce = e.as<tir::Reduce>()) {
    const ReduceNode& r = *reduce->reduction;
    if (!seen_reductions_.try_emplace(&r, true).second) return;
    for (const IterVar& axis : r.axis) {
      if (!axis.dom()) continue;
      visit(axis.dom()->min);
      visit(axis.dom()->extent);
    }
    for (const Expr& source : r.source) visit(source);
    for (const Expr& init : r.init) visit(init);
    visit(r.condition);
    return;
  }
  tir::for_each_child(e, [this](const Expr& child) { visit(child); });
  if (const tir::ProducerLoad* load = e.as<tir::ProducerLoad>()) add(Tensor::of(*load));
}

namespace {

class ReadCollector {
 public:
  void visit(const Expr& e) {
    if (is_constant(e) || e.as<VarNode>() || !visited_.try_emplace(&e.node(), true).second) return;
    for_each_child(e, [&](const Expr& child) { visit(child); });
    if (const ProducerLoad* load = e.as<ProducerLoad>()) add(*load);
  }
  std::vector<TensorReads> take() { return std::move(reads_); }

 private:
  void add(const ProducerLoad& load) {
    const std::pair key{load.producer->operation_identity(), load.producer->value_index()};
    auto [place, is_new] = place_.try_emplace(key, reads_.size());
    if (is_new) reads_.push_back({Tensor::of(load), {}});
    std::vector<std::vector<Expr>>& indices = reads_[place->second].indices;
    bool known = std::ranges::any_of(indices, [&](const std::vector<Expr>& other) {
      return structural_equal(other, load.indices);
    });
    if (!known) indices.push_back(load.indices);
  }

  DenseMap<const ExprNode*, bool> visited_;
  /// The position in `reads_` of each operation's output. Never iterated, because the keys are
  /// addresses.
  std::map<std::pair<const void*, int>, std::size_t> place_;
  std::vector<TensorReads> reads_;
};

}  // namespace

std::vector<TensorReads> collect_reads(const Operation& op) {
  ReadCollector collector;
  for (const Expr& body : op.body()) collector.visit(body);
  if (const TensorCompute* compute = op.as<TensorCompute>()) {
    for (const TensorRegion& input : compute->inputs) {
      for (const Range& range : input.ranges) {
        collector.visit(range.min);
        collector.visit(range.extent);
      }
    }
    for (const Expr& scalar : compute->scalar_inputs) collector.visit(scalar);
    for (const IterVar& axis : compute->reduce_axis) {
      collector.visit(axis.dom()->min);
      collector.visit(axis.dom()->extent);
    }
  }
  return collector.take();
}

}  // namespace tenon::te
