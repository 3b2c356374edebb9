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
#include <list>
#include <map>
#include <unordered_set>

#include "lower/hoisted_extents.h"
#include "lower/loops/storage_timeline.h"
#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- computation in place -----------------------------------------------------------------------

// Legality of in-place computation: whether a statement may write one buffer into the memory of
// another buffer that it reads, as in dst[i] = f(src[i]).

/// The sources whose memory a statement that writes `dst` can reuse, computed once for all
/// candidates.
///
/// A source is safe if it is not written and is read only in the value of the single store to dst,
/// at the same index and with the same type. Moreover, dst must not be read, no index may be loaded
/// from memory, no code may be opaque, and each element of dst must be written once. The last
/// condition requires that the index of the stores, which is the same in all branches, is injective
/// over the enclosing loops and the threads that share the memory.
class InPlaceSources {
 public:
  InPlaceSources(const tir::Stmt& s, const tir::Var& dst,
                 const std::vector<RangedVar>& sharing_threads);
  bool is_safe(const tir::Var& src) const { return all_safe_ && !unsafe_.contains(&src.node()); }

 private:
  void stmt(const tir::Stmt& s);
  void store(const tir::Store& n);
  void expr(const tir::Expr& e);
  void load(const tir::Expr& self, const tir::Load& n);
  bool each_element_once(const tir::Store& n) const;

  tir::Var dst_;
  std::vector<RangedVar> loops_;
  std::vector<tir::Expr> guards_;                  // the enclosing conditions
  std::unordered_set<const tir::ExprNode*> lets_;  // the lets of the statement
  bool all_safe_ = true;
  std::unordered_set<const tir::ExprNode*> unsafe_;
  const tir::Store* current_ = nullptr;  // the store to dst whose value is being visited
  int index_depth_ = 0;
  const tir::Store* first_store_ = nullptr;  // the first store to dst
  int stores_ = 0;                           // maximum number of stores to dst on a path
};

InPlaceSources::InPlaceSources(const Stmt& s, const Var& dst,
                               const std::vector<RangedVar>& sharing_threads)
    : dst_(dst), loops_(sharing_threads) {
  if (!s.as<Attr>() && !s.as<For>() && !s.as<If>() && !s.as<Store>()) {
    all_safe_ = false;
    return;
  }
  stmt(s);
  all_safe_ = all_safe_ && stores_ <= 1;
}

void InPlaceSources::stmt(const Stmt& s) {
  if (!all_safe_) return;
  const auto children = [&] {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  };
  // A while loop may store to an element repeatedly, and an extern operation may store anywhere.
  const auto refuse = [&] { all_safe_ = false; };
  match(
      s.node().value, [&](const Store& n) { store(n); },
      [&](const If& n) {
        expr(n.condition);
        const int before = stores_;
        const std::size_t outside = guards_.size();
        for_each_conjunct(n.condition, [&](const Expr& part) {
          if (effect_of(part) == Effect::Pure) guards_.push_back(part);
        });
        stmt(n.then_case);
        guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(outside), guards_.end());
        const int after_then = std::exchange(stores_, before);
        if (n.else_case) stmt(*n.else_case);
        stores_ = std::max(stores_, after_then);
      },
      [&](const For& n) {
        const bool repeats = !is_one(n.extent);
        if (repeats) loops_.push_back({n.var, Range::from_min_extent(n.min, n.extent)});
        children();
        if (repeats) loops_.pop_back();
      },
      [&](const Let& n) {
        lets_.insert(&n.var.node());
        children();
      },
      [&](const Attr& n) { n.kind == AttrKind::ExternScope ? refuse() : children(); },
      [&](const While&) { refuse(); }, [&](const Allocate&) { children(); },
      [&](const Assert&) { children(); }, [&](const Evaluate&) { children(); },
      [&](const Seq&) { children(); }, [&](const Realize&) { refuse(); },
      [&](const BufferView&) { refuse(); }, [&](const Prefetch&) { refuse(); },
      [&](const BlockRealize&) { refuse(); });
}

void InPlaceSources::store(const Store& n) {
  ++index_depth_;
  for (const Expr& index : n.indices) expr(index);
  --index_depth_;
  if (!n.buffer->data.same_as(dst_)) {
    unsafe_.insert(&n.buffer->data.node());
    expr(n.value);
    return;
  }
  ++stores_;
  if (!each_element_once(n)) all_safe_ = false;
  first_store_ = &n;
  current_ = &n;
  expr(n.value);
  current_ = nullptr;
}

bool InPlaceSources::each_element_once(const Store& n) const {
  // Branches must store at the same index, because one branch must not read as the source what
  // another has written.
  const bool is_at_same_index =
      !first_store_ || std::equal(n.indices.begin(), n.indices.end(), first_store_->indices.begin(),
                                  first_store_->indices.end(), [](const Expr& a, const Expr& b) {
                                    return structural_equal(a, b);
                                  });
  const bool uses_let = std::any_of(n.indices.begin(), n.indices.end(), [&](const Expr& index) {
    return uses_var(index, [&](const Expr& var) { return lets_.contains(&var.node()); });
  });
  if (!is_at_same_index || uses_let || n.indices.size() != 1 ||
      effect_of(n.indices[0]) != Effect::Pure)
    return false;
  arith::Access access = arith::access_of(arith::AccessKind::Write, n.buffer, n.indices);
  access.guards = guards_;
  std::vector<arith::FreeVar> loops;
  for (const RangedVar& loop : loops_) loops.push_back({loop.var, loop.range});
  arith::Facts facts;
  return arith::touches_distinct_elements(access, loops, facts);
}

void InPlaceSources::expr(const Expr& e) {
  if (const Load* n = e.as<Load>()) return load(e, *n);
  if (e.as<VarNode>() && e.dtype().is_handle()) {
    // A use of the address itself permits any access.
    if (e.same_as(dst_)) all_safe_ = false;
    unsafe_.insert(&e.node());
  }
  for_each_child(e, [&](const Expr& child) { expr(child); });
}

void InPlaceSources::load(const Expr& self, const Load& n) {
  const Var& src = n.buffer->data;
  if (src.same_as(dst_) || index_depth_ > 0) {
    all_safe_ = false;
    return;
  }
  const bool at_same_index =
      current_ && current_->value.dtype() == self.dtype() &&
      current_->indices.size() == n.indices.size() &&
      std::equal(n.indices.begin(), n.indices.end(), current_->indices.begin(),
                 [](const Expr& a, const Expr& b) { return structural_equal(a, b); });
  if (!at_same_index) unsafe_.insert(&src.node());
  ++index_depth_;
  for (const Expr& index : n.indices) expr(index);
  --index_depth_;
}

// ---- assignment of memory -----------------------------------------------------------------------

// Assignment of allocations to shared pieces of memory, and the placement of each piece.

/// One piece of memory.
struct StorageBlock {
  const tir::StmtNode* place;
  tir::StorageScope scope;
  /// The allocations that live in the block, in order; the first one gives the name.
  std::vector<AllocationId> tenants;
  /// The size of the largest tenant; nullopt if it is not constant.
  std::optional<std::int64_t> constant_bits;
};

struct StoragePlan {
  /// The blocks in order of first use.
  std::vector<StorageBlock> blocks;
  /// The block of each allocation; nullopt if it is never used.
  std::vector<std::optional<std::size_t>> block_of;
};

/// The maximum ratio of sizes between free memory and an allocation that reuses it.
constexpr std::int64_t kMatchRange = 16;
/// The size in bits up to which values are left to the code generator's registers.
constexpr std::int64_t kSmallBits = 32;
/// The maximum number of buffers that a statement begins for in-place reuse to be attempted.
constexpr std::size_t kMaxInPlaceBegins = 2;

/// The allocations whose first use, and those whose last use, is at a moment.
struct Events {
  std::vector<AllocationId> begins, ends;
};

std::vector<Events> find_events(const StorageTimeline& timeline) {
  std::vector<Events> events(timeline.moments.size());
  std::vector<bool> seen(timeline.allocations.size(), false);
  for (std::size_t m = timeline.moments.size(); m-- > 0;) {
    if (timeline.moments[m].kind == Moment::Kind::Begin) continue;
    for (AllocationId id : timeline.moments[m].touched) {
      if (!seen[id]) events[m].ends.push_back(id);
      seen[id] = true;
    }
  }
  std::fill(seen.begin(), seen.end(), false);
  for (std::size_t m = 0; m < timeline.moments.size(); ++m) {
    if (timeline.moments[m].kind == Moment::Kind::End) continue;
    for (AllocationId id : timeline.moments[m].touched) {
      if (!seen[id]) events[m].begins.push_back(id);
      seen[id] = true;
    }
  }
  return events;
}

/// Returns, for the moment at which a scope begins, the moment at which it ends.
std::vector<std::size_t> find_ends(const StorageTimeline& timeline) {
  std::vector<std::size_t> end_of(timeline.moments.size()), open;
  for (std::size_t m = 0; m < timeline.moments.size(); ++m) {
    end_of[m] = m;
    if (timeline.moments[m].kind == Moment::Kind::Begin) open.push_back(m);
    if (timeline.moments[m].kind == Moment::Kind::End) {
      end_of[open.back()] = m;
      open.pop_back();
    }
  }
  return end_of;
}

class StoragePlanner {
 public:
  explicit StoragePlanner(const StorageTimeline& timeline)
      : timeline_(timeline), handed_over_(timeline.allocations.size(), false) {
    plan_.block_of.resize(timeline.allocations.size());
  }

  StoragePlan run() {
    const std::vector<Events> events = find_events(timeline_);
    const std::vector<std::size_t> end_of = find_ends(timeline_);
    for (std::size_t m = 0; m < timeline_.moments.size(); ++m) {
      const Moment& moment = timeline_.moments[m];
      begin(moment, events[m].begins, events[end_of[m]].ends);
      if (moment.kind == Moment::Kind::End) free_.erase(&moment.stmt.node());
      for (AllocationId id : events[m].ends) {
        if (!handed_over_[id]) release(*plan_.block_of[id]);
      }
    }
    return std::move(plan_);
  }

 private:
  /// The free memory at one place.
  struct FreeBlocks {
    std::multimap<std::int64_t, std::size_t> by_bits;
    std::list<std::size_t> of_unknown_size;
  };

  const Allocation& allocation(AllocationId id) const { return timeline_.allocations[id]; }
  DataType element_of(const StorageBlock& block) const {
    return allocation(block.tenants.front()).node.dtype.element();
  }

  void begin(const Moment& moment, const std::vector<AllocationId>& begins,
             const std::vector<AllocationId>& ends) {
    const bool detect_in_place = begins.size() <= kMaxInPlaceBegins && moment.is_whole_statement;
    for (AllocationId id : begins) {
      std::optional<std::size_t> block;
      if (detect_in_place) block = find_in_place(id, moment.stmt, ends);
      if (!block) block = find_free(allocation(id));
      if (!block) block = make_block(allocation(id));
      plan_.blocks[*block].tenants.push_back(id);
      plan_.block_of[id] = block;
    }
  }

  std::optional<std::size_t> find_in_place(AllocationId id, const Stmt& s,
                                           const std::vector<AllocationId>& ends) {
    const Allocation& dst = allocation(id);
    // Fragments of equal size may be tiles of different shapes.
    if (dst.is_shared_by_tasks || dst.scope() > StorageScope::Local) return std::nullopt;
    std::optional<InPlaceSources> sources;
    for (AllocationId src : ends) {
      if (src == id || handed_over_[src] || !plan_.block_of[src]) continue;
      const StorageBlock& block = plan_.blocks[*plan_.block_of[src]];
      if (block.scope != dst.scope() || block.place != dst.place ||
          element_of(block) != dst.node.dtype.element() ||
          block.constant_bits != dst.constant_bits()) {
        continue;
      }
      if (!sources) sources.emplace(s, dst.node.data, dst.sharing_threads);
      if (!sources->is_safe(allocation(src).node.data)) continue;
      handed_over_[src] = true;
      return plan_.block_of[src];
    }
    return std::nullopt;
  }

  static bool is_shared_in_turn(const Allocation& a) {
    if (a.is_shared_by_tasks) return false;
    const StorageScope scope = a.scope();
    if (scope == StorageScope::SharedDyn) return a.extents.size() == 1;
    if (scope != StorageScope::Global && scope != StorageScope::Shared) return false;
    if (a.node.dtype.is_handle() || a.extents.size() != 1) return false;
    const auto bits = a.constant_bits();
    return !bits || *bits > kSmallBits;
  }

  std::optional<std::size_t> find_free(const Allocation& a) {
    if (!is_shared_in_turn(a)) return std::nullopt;
    FreeBlocks& free = free_[a.place];
    const auto bits = a.constant_bits();
    if (!bits) return take_of_unknown_size(free, a);
    const auto fits = free.by_bits.lower_bound(*bits);
    const auto end = free.by_bits.upper_bound(*bits * kMatchRange);
    for (auto it = fits; it != end; ++it) {
      if (plan_.blocks[it->second].scope == a.scope()) return take(free, it, *bits);
    }
    const auto begin = free.by_bits.lower_bound(*bits / kMatchRange);
    for (auto it = fits; it != begin;) {
      --it;
      const StorageBlock& block = plan_.blocks[it->second];
      if (block.scope == a.scope() && element_of(block) == a.node.dtype.element())
        return take(free, it, *bits);
    }
    return std::nullopt;
  }

  std::size_t take(FreeBlocks& free, std::multimap<std::int64_t, std::size_t>::iterator it,
                   std::int64_t bits) {
    const std::size_t block = it->second;
    plan_.blocks[block].constant_bits = std::max(bits, *plan_.blocks[block].constant_bits);
    free.by_bits.erase(it);
    return block;
  }

  std::optional<std::size_t> take_of_unknown_size(FreeBlocks& free, const Allocation& a) {
    for (auto it = free.of_unknown_size.begin(); it != free.of_unknown_size.end(); ++it) {
      const StorageBlock& block = plan_.blocks[*it];
      if (block.scope != a.scope() || element_of(block) != a.node.dtype.element()) continue;
      const std::size_t found = *it;
      free.of_unknown_size.erase(it);
      return found;
    }
    return std::nullopt;
  }

  std::size_t make_block(const Allocation& a) {
    plan_.blocks.push_back({a.place, a.scope(), {}, a.constant_bits()});
    return plan_.blocks.size() - 1;
  }

  void release(std::size_t index) {
    const StorageBlock& block = plan_.blocks[index];
    if (!is_shared_in_turn(allocation(block.tenants.front()))) return;
    FreeBlocks& free = free_[block.place];
    if (block.constant_bits) {
      free.by_bits.emplace(*block.constant_bits, index);
    } else {
      free.of_unknown_size.push_back(index);
    }
  }

  const StorageTimeline& timeline_;
  StoragePlan plan_;
  /// Used for look-up only, never iterated.
  std::unordered_map<const StmtNode*, FreeBlocks> free_;
  std::vector<bool> handed_over_;
};

StoragePlan plan_storage(const StorageTimeline& timeline) { return StoragePlanner(timeline).run(); }

// ---- the pass -----------------------------------------------------------------------------------

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
