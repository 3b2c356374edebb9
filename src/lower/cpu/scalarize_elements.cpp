// Rewrites memory with vector elements as memory with scalar elements that vectors access. For host
// code; never printed.
//
//   allocate(B, float32x4, [16]); B[j] = ...
//   =>   allocate(B, float32, [64]); B[ramp(j*4, 1, 4)] = ...
//
// The pass undoes vectorize_elements, which rewrite_storage applies for TVM 0.9 text. Passes that
// look for sums, rows and vectors of other widths then see one canonical form of vector accesses.
#include "lower/passes.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Allocations with vector elements and constant sizes that are accessed only by whole elements.
class Candidates {
 public:
  explicit Candidates(const Stmt& body) {
    tir::detail::walk_stmt(
        body,
        [&](const Expr& e) {
          // A use of the pointer itself may depend on the allocated type.
          if (e.as<VarNode>()) found_.erase(&e.node());
          if (const Load* n = e.as<Load>()) access(n->buffer, n->indices);
        },
        [&](const Stmt& s) {
          if (const Allocate* n = s.as<Allocate>()) consider(*n);
          if (const Store* n = s.as<Store>()) access(n->buffer, n->indices);
        });
  }

  bool contain(const Var& data) const { return found_.contains(&data.node()); }
  bool empty() const { return found_.empty(); }

 private:
  void consider(const Allocate& n) {
    if (n.dtype.lanes == 1) return;
    std::int64_t elements = n.dtype.lanes;
    for (const Expr& extent : n.extents) {
      const std::optional<std::int64_t> size = constant_int(extent);
      // The scalar index must fit int32.
      if (!size || *size > std::numeric_limits<std::int32_t>::max() / elements) return;
      elements *= std::max<std::int64_t>(*size, 1);
    }
    found_.insert(&n.data.node());
  }

  void access(const Buffer& buffer, const std::vector<Expr>& indices) {
    if (!indices.back().dtype().is_scalar() || !buffer->strides.empty() ||
        !is_zero(buffer->elem_offset))
      found_.erase(&buffer->data.node());
  }

  std::unordered_set<const ExprNode*> found_;
};

class Scalarizer {
 public:
  explicit Scalarizer(const Candidates& candidates) : candidates_(candidates) {}

  Stmt run(const Stmt& body) {
    return rewrite(
        body,
        [&](const Load& n, const Expr&) -> std::optional<Expr> {
          if (!candidates_.contain(n.buffer->data)) return std::nullopt;
          return make_load(renewed(n.buffer), elements(n.buffer, n.indices));
        },
        [&](const Store& n, const Stmt&) -> std::optional<Stmt> {
          if (!candidates_.contain(n.buffer->data)) return std::nullopt;
          return make_store(renewed(n.buffer), n.value, elements(n.buffer, n.indices));
        },
        [&](const Allocate& n, const Stmt&) -> std::optional<Stmt> {
          if (!candidates_.contain(n.data)) return std::nullopt;
          std::vector<Expr> extents = n.extents;
          extents.back() = times(extents.back(), n.dtype.lanes);
          return make_stmt(Allocate{renewed(n.data), n.dtype.element(), std::move(extents),
                                    n.condition, n.body, n.double_buffer});
        });
  }

 private:
  Var renewed(const Var& data) {
    const auto [it, is_new] = vars_.try_emplace(&data.node(), data);
    if (is_new) {
      const std::optional<PointerType>& pointer = data.as<VarNode>()->pointer;
      it->second = Var(data.name(), PointerType{pointer->element.element(), pointer->scope});
    }
    return it->second;
  }

  Buffer renewed(const Buffer& buffer) {
    if (const auto found = buffers_.find(buffer.get()); found != buffers_.end())
      return found->second;
    BufferNode node = *buffer.get();
    node.data = renewed(buffer->data);
    node.shape.back() = times(node.shape.back(), node.dtype.lanes);
    node.dtype = node.dtype.element();
    return buffers_.emplace(buffer.get(), make_buffer(std::move(node))).first->second;
  }

  static std::vector<Expr> elements(const Buffer& buffer, std::vector<Expr> indices) {
    const int lanes = buffer->dtype.lanes;
    indices.back() =
        make_ramp(times(indices.back(), lanes), make_int(indices.back().dtype(), 1), lanes);
    return indices;
  }

  static Expr times(const Expr& e, int lanes) {
    return arith::simplify(e * make_int(e.dtype(), lanes));
  }

  const Candidates& candidates_;
  std::unordered_map<const ExprNode*, Var> vars_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc scalarize_elements(const PrimFunc& func, const PassOptions&) {
  const Candidates candidates(func.body);
  if (candidates.empty()) return func;
  PrimFunc result = func;
  result.body = Scalarizer(candidates).run(func.body);
  return result;
}

}  // namespace tenon::lowering
