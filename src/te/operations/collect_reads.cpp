#include "te/operations/collect_reads.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/support/dense_map.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

bool same_indices(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
}

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
    bool known = std::any_of(indices.begin(), indices.end(), [&](const std::vector<Expr>& other) {
      return same_indices(other, load.indices);
    });
    if (!known) indices.push_back(load.indices);
  }

  struct HashKey {
    std::size_t operator()(const std::pair<const void*, int>& key) const {
      return std::hash<const void*>()(key.first) ^
             (static_cast<std::size_t>(key.second) * 0x9e3779b9u);
    }
  };
  DenseMap<const ExprNode*, bool> visited_;
  std::unordered_map<std::pair<const void*, int>, std::size_t, HashKey> place_;
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
