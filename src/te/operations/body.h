// Rewriting of all bodies of an operation together. Components of one reduction remain components
// of one reduction.
#pragma once

#include "tenon/support/dense_map.h"
#include "tenon/te/operation.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The treatment of reduction axes. Kept: they remain the handles that users and relations hold.
/// Mapped: an axis whose range changes is recreated.
enum class ReduceDomains : std::uint8_t { Kept, Mapped };

/// Applies f to every body or, for components of a reduction, to its reducer, sources, inits,
/// condition and (if mapped) the ranges of its axes. Bodies that do not change are returned as the
/// same handles.
std::vector<Expr> map_bodies(const std::vector<Expr>& bodies, tir::ExprMap f,
                             ReduceDomains domains = ReduceDomains::Kept);

/// Applies f to the combination and the identity of a reducer, which may use axes of the operation
/// and parameters of the function. Returns the same handle if nothing changes.
tir::CommReducer map_reducer(const tir::CommReducer& reducer, tir::ExprMap f);

/// Returns bodies that are the components of the reduction.
std::vector<Expr> components_of(const std::shared_ptr<const tir::ReduceNode>& reduction);

/// Rewrites an expression bottom-up, preserving sharing: each shared sub-expression is rewritten
/// once. `f` receives reads of tensors with rewritten indices; nullopt keeps the read.
class LoadRewriter {
 public:
  using Replace = std::function<std::optional<Expr>(const tir::ProducerLoad& load)>;
  explicit LoadRewriter(Replace replace) : replace_(std::move(replace)) {}
  Expr operator()(const Expr& e);

 private:
  Replace replace_;
  DenseMap<const tir::ExprNode*, Expr> done_;
};

/// Returns the number of nodes of the expression as a tree, at most `limit`. Takes time linear in
/// the shared graph.
std::size_t tree_size(const Expr& e, std::size_t limit);

/// Collects the tensors that expressions read in `found`, in order of first appearance (a read
/// inside an index precedes the read around it).
class TensorCollector {
 public:
  std::vector<Tensor> found;
  void add(const Tensor& tensor);
  void visit(const Expr& e);

 private:
  DenseMap<const tir::ExprNode*, bool> seen_;
  DenseMap<const tir::ReduceNode*, bool> seen_reductions_;
};

// The reads of an operation, by tensor.

/// The reads of one tensor in an operation: index lists without duplicates, in order of appearance.
struct TensorReads {
  Tensor tensor;
  std::vector<std::vector<Expr>> indices;
};

/// Returns the reads of single elements: in the bodies of a compute (including sources, conditions,
/// inits and ranges of reductions), and in the scalars and region bounds of a tensor compute. Empty
/// for other kinds.
std::vector<TensorReads> collect_reads(const Operation& op);

}  // namespace tenon::te
