// Gives a temporary vector elements, as in TVM 0.9 text, if all its accesses are whole aligned
// vectors of one width.
//
//   allocate(B, float32, [64]); B[ramp(j*4, 1, 4)] = ...
//   =>   allocate(B, float32x4, [16]); B[j] = ...
#include "lower/passes.h"

#include <unordered_map>

#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/modular_set.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The allocation and the accesses of a temporary.
struct Usage {
  DataType element;
  Expr last_extent;
  /// The common type of all accesses; nullopt before the first one.
  std::optional<DataType> access;
  bool mixed = false;
};

/// Returns the number of lanes of a whole aligned vector access, or the number of lanes of an
/// element for other accesses.
int accessed_lanes(const Usage& usage, const Expr& index) {
  const Ramp* ramp = index.as<Ramp>();
  if (!ramp || !is_one(ramp->stride) || usage.element.lanes != 1) return usage.element.lanes;
  const arith::ModularSet base = arith::modular_set(ramp->base, arith::Facts());
  return base.coeff % ramp->lanes == 0 && base.base % ramp->lanes == 0 ? ramp->lanes : 1;
}

/// The usage of each allocation, by data pointer.
using Usages = std::unordered_map<const ExprNode*, Usage>;

Usages usages_of(const Stmt& body) {
  Usages usages;
  const auto access = [&](const Var& data, DataType type, const Expr& last_index) {
    const auto it = usages.find(&data.node());
    if (it == usages.end()) return;
    Usage& usage = it->second;
    const DataType accessed = stored_type(type).with_lanes(accessed_lanes(usage, last_index));
    if (usage.access && *usage.access != accessed) usage.mixed = true;
    usage.access = accessed;
  };
  tir::detail::walk_stmt(
      body,
      [&](const Expr& e) {
        if (const Load* n = e.as<Load>()) {
          access(n->buffer->data, e.dtype(), n->indices.back());
        } else if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) {
          access(Var::of(n->args[1]), n->args[0].dtype(), n->args[2]);
        } else if (const Call* n = as_call(e, Intrin::address_of)) {
          // A callee that receives the address of an element may access scalars there.
          const Load* load = n->args[0].as<Load>();
          const auto it = load ? usages.find(&load->buffer->data.node()) : usages.end();
          if (it != usages.end()) it->second.mixed = true;
        }
      },
      [&](const Stmt& s) {
        if (const Allocate* n = s.as<Allocate>()) {
          usages.insert_or_assign(&n->data.node(),
                                  Usage{stored_type(n->dtype), n->extents.back(), {}});
        } else if (const Store* n = s.as<Store>()) {
          access(n->buffer->data, n->value.dtype(), n->indices.back());
        }
      });
  return usages;
}

class ElementVectorizer {
 public:
  explicit ElementVectorizer(const Stmt& body) : usages_(usages_of(body)) {}

  Stmt run(const Stmt& body) { return usages_.empty() ? body : stmt(body); }

 private:
  Stmt stmt(const Stmt& s) {
    if (const Allocate* n = s.as<Allocate>()) {
      if (const std::optional<Var> data = renew(*n)) {
        std::vector<Expr> extents = n->extents;
        extents.back() = divided(extents.back(), *data);
        return make_stmt(Allocate{*data, element_of(*data), std::move(extents), n->condition,
                                  stmt(n->body), n->double_buffer});
      }
    } else if (const Store* n = s.as<Store>()) {
      if (const Expr* data = find(n->buffer->data))
        return make_store(renewed_buffer(n->buffer, *data), expr(n->value),
                          indices(n->indices, *data));
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

  Expr expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      if (const Expr* data = find(n->buffer->data))
        return make_load(renewed_buffer(n->buffer, *data), indices(n->indices, *data));
    } else if (e.as<VarNode>()) {
      const Expr* data = find(e);
      return data ? *data : e;
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  /// Returns the data pointer that replaces the one of the allocation; nullopt if it is kept.
  std::optional<Var> renew(const Allocate& n) {
    const Usage& usage = usages_.at(&n.data.node());
    if (usage.mixed || !usage.access || usage.element.lanes != 1) return std::nullopt;
    const int lanes = usage.access->lanes;
    if (lanes == 1 || usage.access->element() != usage.element || n.dtype.is_bool())
      return std::nullopt;
    const arith::ModularSet extent = arith::modular_set(usage.last_extent, arith::Facts());
    if (extent.coeff % lanes != 0 || extent.base % lanes != 0) return std::nullopt;
    const std::optional<PointerType>& pointer = n.data.as<VarNode>()->pointer;
    const PointerType type{n.dtype.with_lanes(lanes), pointer ? pointer->scope : std::nullopt};
    const Var data(n.data.name(), type);
    set(renewed_, n.data, data);
    return data;
  }

  const Expr* find(const Expr& data) const {
    const auto it = renewed_.find(&data.node());
    return it == renewed_.end() ? nullptr : &it->second;
  }

  std::vector<Expr> indices(const std::vector<Expr>& old, const Expr& data) {
    std::vector<Expr> result = mapped(old, [&](const Expr& index) { return expr(index); });
    result.back() = divided(result.back().as<Ramp>()->base, data);
    return result;
  }

  Buffer renewed_buffer(const Buffer& buffer, const Expr& data) {
    return copy_once(buffers_, buffer, [&](BufferNode& node) {
      node.data = Var::of(data);
      node.dtype = node.dtype.with_lanes(element_of(data).lanes);
      node.shape.back() = divided(node.shape.back(), data);
    });
  }

  static DataType element_of(const Expr& data) { return data.as<VarNode>()->pointer->element; }

  /// Returns the number of vectors in memory of `e` scalars.
  static Expr divided(const Expr& e, const Expr& data) {
    return fold(BinaryOp::FloorDiv, e, make_int(e.dtype(), element_of(data).lanes));
  }

  const Usages usages_;
  /// The new data pointer of each renewed allocation.
  VarMap renewed_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc vectorize_elements(const PrimFunc& func, const PassOptions&) {
  // Vectors are accessed only by ramps, or by intrinsics through pointers. Other functions are
  // unchanged.
  if (!contains<Ramp>(func.body) && !contains<Call>(func.body)) return func;
  return with_body(func, ElementVectorizer(func.body).run(func.body));
}

// Gives each access of memory that is allocated inside a vectorized loop its own buffer object over
// the same memory. TVM 0.9 text declares such a buffer once per access.
//
//   allocate(B, float32x4, [1]) {
//     B_1: Buffer(B, float32x4, [1], [])[0] = A[ramp(0, 1, 4)]
//     C[ramp(0, 1, 4)] = B_2: Buffer(B, float32x4, [1], [])[0]
//
// The pass runs while vectorized loops are still loops.

namespace {

/// Gives each access of one allocation its own buffer object.
Stmt with_own_buffers(const Stmt& body, const Var& data) {
  return with_accesses(body, data, [](const Buffer& buffer, const std::vector<Expr>& indices) {
    return std::pair(make_buffer(BufferNode(*buffer.get())), indices);
  });
}

Stmt part(const Stmt& s, bool has_lanes) {
  if (const For* loop = s.as<For>(); loop && loop->kind == ForKind::Vectorized) {
    const bool becomes_lanes =
        constant_int(loop->extent).value_or(1) > 1 && !contains(loop->body, ForKind::Vectorized);
    has_lanes = has_lanes || becomes_lanes;
  }
  const Stmt inside = map_statements(s, [&](const Stmt& c) { return part(c, has_lanes); });
  const Allocate* memory = inside.as<Allocate>();
  if (!memory || !has_lanes) return inside;
  Allocate own = *memory;
  own.body = with_own_buffers(memory->body, memory->data);
  return make_stmt(std::move(own));
}

}  // namespace

PrimFunc part_lane_buffers(const PrimFunc& func, const PassOptions& options) {
  if (options.disable_vectorize) return func;
  return with_body(func, part(func.body, false));
}

}  // namespace tenon::lowering
