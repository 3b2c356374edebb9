// Rewriting the bodies of an operation as a whole: components of one reduction stay components of
// one reduction.
#pragma once

#include "tenon/support/dense_map.h"
#include "tenon/te/operation.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// Kept: reduction axes stay the handles that users and relations have. Mapped: one whose range
/// changes is made anew.
enum class ReduceDomains : std::uint8_t { Kept, Mapped };

/// Applies f to every body, or, where they are components of a reduction, to its sources, inits,
/// condition and (if mapped) the ranges of its axes. Bodies that do not change are the same
/// handles.
std::vector<Expr> map_bodies(const std::vector<Expr>& bodies, tir::ExprMap f,
                             ReduceDomains domains = ReduceDomains::Kept);

/// Bodies with one reduction in place of another.
std::vector<Expr> components_of(const std::shared_ptr<const tir::ReduceNode>& reduction);

/// Rewrites an expression bottom-up, each shared sub-expression once: what is shared before is
/// shared after. `f` is asked about reads of tensors whose indices are rewritten already; nullopt
/// keeps the read.
class LoadRewriter {
 public:
  using Replace = std::function<std::optional<Expr>(const tir::ProducerLoad& load)>;
  explicit LoadRewriter(Replace replace) : replace_(std::move(replace)) {}
  Expr operator()(const Expr& e);

 private:
  Replace replace_;
  DenseMap<const tir::ExprNode*, Expr> done_;
};

/// Nodes of the written-out tree, saturating at `limit`; takes time in proportion to the shared
/// graph.
std::size_t tree_size(const Expr& e, std::size_t limit);

/// The tensors that expressions read, in order of first appearance (a read inside an index before
/// the read around it), added to `found`.
class TensorCollector {
 public:
  std::vector<Tensor> found;
  void add(const Tensor& tensor);
  void visit(const Expr& e);

 private:
  DenseMap<const tir::ExprNode*, bool> seen_;
  DenseMap<const tir::ReduceNode*, bool> seen_reductions_;
};

}  // namespace tenon::te
