// Places every temporary and assigns its memory.
//
//   for i { allocate(B, [8]); ...B... }; allocate(C, [8]) { ...C... }
//     =>  allocate(B, [8]) { for i { ...B... }; ...B, as C... }
//
// Placement: at the top of the function; inside the innermost enclosing parallel loop, whose
// iterations must not share memory; or directly inside the first thread attribute of a kernel. A
// size that uses an inner variable is replaced by its constant upper bound; without one, the
// allocation stays inside the definition of that variable.
//
// Sharing: a buffer whose last use is the statement that first writes another buffer, element by
// element, passes its memory on (in place). Free memory is reused for buffers of similar size.
// Memory of the scopes `local` and `warp` is only reused in place. Small values and buffers with
// several physical dimensions do not share memory.
#include "lower/passes.h"

#include <algorithm>

#include "lower/loops/storage_plan.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// An allocation that is ready to be wrapped around a body.
struct NewAllocation {
  Var data;
  DataType dtype;
  std::vector<Expr> extents;
  Expr condition;
};

int bits_of(DataType type) { return type.bits * type.lanes; }

class StorageRewriter {
 public:
  explicit StorageRewriter(const Stmt& body)
      : timeline_(make_storage_timeline(body)), plan_(plan_storage(timeline_)) {
    for (const StorageBlock& block : plan_.blocks) {
      blocks_.push_back(make_allocation(block));
      places_[block.place].push_back(blocks_.size() - 1);
    }
  }

  Stmt run(const Stmt& body) { return wrapped(nullptr, stmt(body)); }

 private:
  // ---- sizes ------------------------------------------------------------------------------------

  NewAllocation make_allocation(const StorageBlock& block) const {
    const Allocation& first = timeline_.allocations[block.tenants.front()];
    DataType type = first.node.dtype;
    bool all_equal = true;
    for (AllocationId id : block.tenants) {
      const Allocation& tenant = timeline_.allocations[id];
      if (tenant.node.dtype.lanes > type.lanes) type = tenant.node.dtype;
      all_equal = all_equal && tenant.node.dtype == first.node.dtype &&
                  same_extents(tenant.extents, first.extents);
    }
    if (all_equal) return {first.node.data, type, first.extents, first.condition};
    return {first.node.data, type, {common_extent(block, type)}, make_true()};
  }

  static bool same_extents(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
  }

  /// Returns the number of elements of the largest tenant.
  Expr common_extent(const StorageBlock& block, DataType type) const {
    const Expr& first = timeline_.allocations[block.tenants.front()].extents.front();
    if (block.constant_bits) {
      const std::int64_t count = (*block.constant_bits + bits_of(type) - 1) / bits_of(type);
      return make_int(fits(count, first.dtype()) ? first.dtype() : Int(64), count);
    }
    std::optional<Expr> largest;
    for (AllocationId id : block.tenants) {
      const Allocation& tenant = timeline_.allocations[id];
      const Expr size = in_elements(tenant.extents.front(), tenant.node.dtype, type);
      largest = largest ? max(*largest, size) : size;
    }
    return arith::simplify(*largest);
  }

  static Expr in_elements(const Expr& count, DataType from, DataType to) {
    if (bits_of(from) == bits_of(to)) return count;
    if (bits_of(from) % bits_of(to) == 0) return count * (bits_of(from) / bits_of(to));
    return floordiv(count * bits_of(from) + (bits_of(to) - 1), bits_of(to));
  }

  // ---- rewriting --------------------------------------------------------------------------------

  Stmt wrapped(const StmtNode* place, Stmt body) const {
    const auto found = places_.find(place);
    if (found == places_.end()) return body;
    for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
      const NewAllocation& block = blocks_[*it];
      body = make_stmt(
          Allocate{block.data, block.dtype, block.extents, block.condition, std::move(body)});
    }
    return body;
  }

  Stmt stmt(const Stmt& s) {
    if (const Allocate* n = s.as<Allocate>()) return stmt(n->body);
    if (is_list(s)) return list(s, *s.as<Seq>());
    if (const Store* n = s.as<Store>()) {
      const Expr value = expr(n->value);
      std::vector<Expr> indices = exprs(n->indices);
      const Buffer buffer = moved(n->buffer);
      if (buffer.same_as(n->buffer) && value.same_as(n->value) && same_handles(indices, n->indices))
        return s;
      return make_store(buffer, value, std::move(indices));
    }
    const StmtNode* place = &s.node();
    return map_children(
        s, [&](const Expr& e) { return expr(e); },
        [&](const Stmt& child) { return wrapped(place, stmt(child)); });
  }

  bool is_list(const Stmt& s) const { return s.as<Seq>() && !places_.contains(&s.node()); }

  /// Rewrites a sequence of stages. Each allocation contains all later stages; without the
  /// allocations, the stages form one flat list. Building it at once avoids quadratic time.
  Stmt list(const Stmt& s, const Seq& n) {
    std::vector<Stmt> stmts;
    append(s, stmts);
    const bool is_same = std::ranges::equal(
        stmts, n.stmts, [](const Stmt& a, const Stmt& b) { return a.same_as(b); });
    return is_same ? s : make_seq(std::move(stmts));
  }

  void append(Stmt s, std::vector<Stmt>& stmts) {
    while (true) {
      if (const Allocate* n = s.as<Allocate>()) {
        s = Stmt(n->body);
      } else if (is_list(s)) {
        const std::vector<Stmt>& parts = s.as<Seq>()->stmts;
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) append(parts[i], stmts);
        s = Stmt(parts.back());
      } else {
        stmts.push_back(stmt(s));
        return;
      }
    }
  }

  Expr expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      std::vector<Expr> indices = exprs(n->indices);
      const Buffer buffer = moved(n->buffer);
      if (buffer.same_as(n->buffer) && same_handles(indices, n->indices)) return e;
      return make_load(buffer, std::move(indices));
    }
    if (e.as<VarNode>()) {
      const NewAllocation* block = block_of(Var::of(e));
      return block ? Expr(block->data) : e;
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  static bool same_handles(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Expr& x, const Expr& y) { return x.same_as(y); });
  }

  const NewAllocation* block_of(const Var& data) const {
    const auto id = timeline_.find(data);
    return id && plan_.block_of[*id] ? &blocks_[*plan_.block_of[*id]] : nullptr;
  }

  /// Returns the buffer as a view of its block.
  Buffer moved(const Buffer& buffer) {
    const NewAllocation* block = block_of(buffer->data);
    if (!block) return buffer;
    if (const auto found = buffers_.find(buffer.get()); found != buffers_.end())
      return found->second;
    const Allocation& allocation = timeline_.allocations[*timeline_.find(buffer->data)];
    BufferNode node = *buffer.get();
    node.data = block->data;
    if (node.name != block->data.name()) node.moved_from = node.stage_name();
    node.name = block->data.name();
    // A size that was replaced by its bound is also replaced in the view.
    if (same_extents(node.shape, allocation.node.extents)) node.shape = allocation.extents;
    return buffers_.emplace(buffer.get(), make_buffer(std::move(node))).first->second;
  }

  StorageTimeline timeline_;
  StoragePlan plan_;
  std::vector<NewAllocation> blocks_;
  /// Used for look-up only, never iterated.
  std::unordered_map<const StmtNode*, std::vector<std::size_t>> places_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc rewrite_storage(const PrimFunc& func, const PassOptions&) {
  PrimFunc result = func;
  result.body = StorageRewriter(func.body).run(func.body);
  return result;
}

}  // namespace tenon::lowering
