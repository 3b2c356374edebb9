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
// Sharing: a statement may be the last use of one buffer and also the first write of another. If it
// reads and writes the same element in each step, the second buffer takes over the memory of the
// first (in place). Free memory is reused for buffers of similar size. Memory of the scopes `local`
// and `warp` is only reused in place. Small values and buffers with several physical dimensions do
// not share memory.
#include "lower/passes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/hoisted_extents.h"
#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- timeline ----

// The timeline that the pass uses for planning: the statements of a function in order, each with
// the allocations that it uses. Each scope has a begin and an end.

using AllocationId = int;

struct Allocation {
  Allocate node;
  /// The extents to allocate. They do not use variables defined between `place` and the original
  /// allocation.
  std::vector<Expr> extents;
  Expr condition;
  /// The allocation site: the loop, let or thread attribute in whose body the memory is allocated;
  /// nullptr for the function body.
  const StmtNode* place;
  /// The enclosing thread axes whose threads share the memory. A statement may compute in place
  /// only if every index distinguishes these threads.
  std::vector<RangedVar> sharing_threads;
  /// Whether tasks of a persistent region share the memory. Some tasks may still read the memory
  /// when others have reached a later statement.
  bool is_shared_by_tasks;
  /// The number of the block of memory that StoragePlanner assigns; nullopt if the memory is never
  /// used.
  std::optional<std::size_t> block = {};

  StorageScope scope() const { return memory_scope(node.data); }

  /// The size in bits; nullopt if an extent is not constant or the product overflows.
  std::optional<std::int64_t> constant_bits() const {
    std::int64_t bits = static_cast<std::int64_t>(node.dtype.bits) * node.dtype.lanes;
    for (const Expr& extent : extents) {
      const auto value = constant_int(extent);
      if (!value || *value < 0 || __builtin_mul_overflow(bits, *value, &bits)) return std::nullopt;
    }
    return bits;
  }
};

struct Moment {
  enum class Kind : std::uint8_t { Leaf, Begin, End };
  Kind kind;
  Stmt stmt;
  /// The allocations that the statement uses but does not contain, in order of first use. The Begin
  /// and the End of a scope have the same list.
  std::vector<AllocationId> touched;
  /// Whether `touched` covers the whole statement. It is false if only the operands of an attribute
  /// or allocation are covered.
  bool is_whole_statement = true;
};

struct StorageTimeline {
  std::vector<Allocation> allocations;
  std::vector<Moment> moments;
  std::unordered_map<const ExprNode*, AllocationId> by_data;

  std::optional<AllocationId> find(const Var& data) const {
    const auto it = by_data.find(&data.node());
    if (it == by_data.end()) return std::nullopt;
    return it->second;
  }
};

class TimelineMaker {
 public:
  StorageTimeline make(const Stmt& body) {
    stmt(body);
    return std::move(timeline_);
  }

 private:
  /// An enclosing statement that defines a variable for its body.
  struct Definition {
    const StmtNode* stmt;
    Var var;
    std::optional<Range> range;
    /// Whether the iterations run concurrently, so that each needs its own memory.
    bool is_private;
    std::optional<ThreadTag> thread;
  };

  // ---- statements -------------------------------------------------------------------------------

  void stmt(const Stmt& s) {
    match(
        s.node().value, [&](const Store& n) { leaf(s, [&] { store(n); }); },
        [&](const Evaluate& n) { leaf(s, [&] { expr(n.value); }); },
        [&](const Seq& n) {
          for (const Stmt& child : n.stmts) stmt(child);
        },
        [&](const Allocate& n) { allocate(s, n); }, [&](const Attr& n) { attr(s, n); },
        [&](const For& n) {
          scope(s, [&] {
            expr(n.min), expr(n.extent);
            const bool is_private = n.kind == ForKind::Parallel;
            inside({&s.node(), n.var, Range::from_min_extent(n.min, n.extent), is_private, {}},
                   n.body);
          });
        },
        [&](const Let& n) {
          scope(s, [&] {
            expr(n.value);
            inside({&s.node(), n.var, std::nullopt, false, {}}, n.body);
          });
        },
        [&](const If& n) {
          scope(s, [&] {
            expr(n.condition);
            stmt(n.then_case);
            if (n.else_case) stmt(*n.else_case);
          });
        },
        [&](const While& n) { scope(s, [&] { expr(n.condition), stmt(n.body); }); },
        [&](const Assert& n) { scope(s, [&] { expr(n.condition), stmt(n.body); }); },
        [](const Realize&) { refuse("a realize"); },
        [](const BufferView&) { refuse("a buffer view"); },
        [](const Prefetch&) { refuse("a prefetch"); },
        [](const BlockRealize&) { refuse("a block"); });
  }

  [[noreturn]] static void refuse(const std::string& what) {
    internal_error("rewrite_storage wants flat memory, found " + what);
  }

  void store(const Store& n) {
    expr(n.value);
    for (const Expr& index : n.indices) expr(index);
    touch(n.buffer->data);
  }

  void attr(const Stmt& s, const Attr& n) {
    if (const auto* axis = std::get_if<IterVar>(&n.subject);
        axis && n.kind == AttrKind::ThreadExtent) {
      Definition thread{&s.node(), axis->var(), Range::from_extent(n.value), !in_kernel_,
                        axis->thread()};
      if (in_kernel_) {
        operands(s, n.value);
        return inside(std::move(thread), n.body);
      }
      in_kernel_ = true;
      scope(s, [&] { expr(n.value), inside(std::move(thread), n.body); });
      in_kernel_ = false;
      return;
    }
    if (n.kind == AttrKind::ExternScope) return scope(s, [&] { expr(n.value), stmt(n.body); });
    if (is_pragma(n, PragmaKey::ParallelLaunchPoint) && !region_) {
      region_ = definitions_.size();
      stmt(n.body);
      region_.reset();
      return;
    }
    if (n.kind != AttrKind::Pragma) operands(s, n.value);
    stmt(n.body);
  }

  void allocate(const Stmt& s, const Allocate& n) {
    for (const Expr& extent : n.extents) operands(s, extent);
    const AllocationId id = static_cast<AllocationId>(timeline_.allocations.size());
    timeline_.allocations.push_back(placed(n));
    timeline_.by_data.emplace(&n.data.node(), id);
    levels_.push_back(open_.size());
    stmt(n.body);
  }

  // ---- moments ----------------------------------------------------------------------------------

  template <class F>
  void leaf(const Stmt& s, F f, bool is_whole_statement = true) {
    open_.emplace_back();
    f();
    Moment moment{Moment::Kind::Leaf, s, std::move(open_.back()), is_whole_statement};
    open_.pop_back();
    if (!moment.touched.empty()) timeline_.moments.push_back(std::move(moment));
  }

  /// Records the operands of a statement whose body is not a scope.
  void operands(const Stmt& s, const Expr& e) {
    leaf(
        s, [&] { expr(e); }, false);
  }

  template <class F>
  void scope(const Stmt& s, F f) {
    const std::size_t begin = timeline_.moments.size();
    timeline_.moments.push_back({Moment::Kind::Begin, s, {}});
    open_.emplace_back();
    f();
    timeline_.moments[begin].touched = open_.back();
    timeline_.moments.push_back({Moment::Kind::End, s, std::move(open_.back())});
    open_.pop_back();
  }

  void inside(Definition definition, const Stmt& body) {
    definitions_.push_back(std::move(definition));
    stmt(body);
    definitions_.pop_back();
  }

  void expr(const Expr& e) {
    for_each_child(e, [&](const Expr& child) { expr(child); });
    if (const Load* load = e.as<Load>()) touch(load->buffer->data);
    if (e.as<VarNode>() && e.dtype().is_handle()) touch(Var::of(e));
  }

  void touch(const Var& data) {
    const auto found = timeline_.find(data);
    if (!found) return;
    const std::size_t level = levels_[*found];
    internal_check(level < open_.size(), "memory is used outside every statement");
    std::vector<AllocationId>& touched = open_[level];
    if (touched.empty() || touched.back() != *found) touched.push_back(*found);
  }

  // ---- placement --------------------------------------------------------------------------------

  Allocation placed(const Allocate& n) {
    Allocation result{n, n.extents, n.condition, nullptr, {}, false};
    // The first definition between the attach point of the memory and the Allocate statement.
    std::size_t first_inner = definitions_.size();
    while (first_inner > 0 && !definitions_[first_inner - 1].is_private) --first_inner;
    if (first_inner > 0) result.place = definitions_[first_inner - 1].stmt;
    result.sharing_threads = sharing_threads(result.scope());
    for (Expr& extent : result.extents) place_extent(extent, first_inner, result);
    if (first_inner < definitions_.size())
      for (Expr& extent : result.extents) extent = with_safe_divisors(extent);
    if (innermost_used(n.condition, first_inner)) result.condition = make_true();
    result.is_shared_by_tasks = region_ && first_inner <= *region_;
    return result;
  }

  std::optional<std::size_t> innermost_used(const Expr& e, std::size_t first_inner) const {
    for (std::size_t n = definitions_.size(); n > first_inner; --n) {
      if (uses_var(e, definitions_[n - 1].var)) return n - 1;
    }
    return std::nullopt;
  }

  /// Replaces the extent by an upper bound without inner variables. If no bound is found, moves the
  /// attach point inwards.
  void place_extent(Expr& extent, std::size_t& first_inner, Allocation& allocation) {
    const auto innermost = innermost_used(extent, first_inner);
    if (!innermost) return;
    std::vector<RangedVar> loops;
    bool all_ranged = true;
    for (std::size_t n = first_inner; n < definitions_.size(); ++n) {
      if (definitions_[n].range) {
        loops.push_back({definitions_[n].var, *definitions_[n].range});
      } else if (uses_var(extent, definitions_[n].var)) {
        all_ranged = false;
      }
    }
    if (const auto bound = all_ranged ? extent_bound(extent, loops) : std::nullopt) {
      if (!innermost_used(*bound, first_inner)) {
        extent = *bound;
        return;
      }
    }
    first_inner = *innermost + 1;
    allocation.place = definitions_[*innermost].stmt;
  }

  std::vector<RangedVar> sharing_threads(StorageScope scope) const {
    std::vector<RangedVar> threads;
    const bool by_block = is_shared_memory(scope);
    if (!by_block && scope != StorageScope::Global) return threads;
    for (const Definition& definition : definitions_) {
      if (!definition.thread || (by_block && !definition.thread->is_thread())) continue;
      if (is_one(definition.range->extent)) continue;
      threads.push_back({definition.var, *definition.range});
    }
    return threads;
  }

  StorageTimeline timeline_;
  /// The level of each allocation: the number of scopes that enclose it.
  std::vector<std::size_t> levels_;
  /// The allocations that the enclosing scopes and the current leaf statement use; one list per
  /// level.
  std::vector<std::vector<AllocationId>> open_;
  std::vector<Definition> definitions_;
  bool in_kernel_ = false;
  /// The number of definitions that enclose the current persistent region.
  std::optional<std::size_t> region_;
};

// ---- computation in place -----------------------------------------------------------------------

// Legality of in-place computation: decides whether a statement may write one buffer into the
// memory of another buffer that it reads, as in dst[i] = f(src[i]).

/// The source buffers whose memory can be reused for `dst` by a statement that writes `dst`.
/// Computed once for all candidates.
///
/// A source is safe if it is not written and is read only in the value of the single store to dst,
/// at the same index and with the same type. In addition, dst must not be read, indices must not be
/// loaded from memory, there must be no calls of unknown code, and each element of dst must be
/// written once. The last condition requires that the index is injective over the enclosing loops
/// and over the threads that share the memory. All branches must store at this index.
class InPlaceSources {
 public:
  InPlaceSources(const Stmt& s, const Var& dst, const std::vector<RangedVar>& sharing_threads)
      : dst_(dst), loops_(sharing_threads) {
    all_safe_ = s.as<Attr>() || s.as<For>() || s.as<If>() || s.as<Store>();
    stmt(s);
    all_safe_ = all_safe_ && stores_ <= 1;
  }
  bool is_safe(const Var& src) const { return all_safe_ && !unsafe_.contains(&src.node()); }

 private:
  void stmt(const Stmt& s) {
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
          truncate(guards_, outside);
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
        each_of<Allocate, Assert, Evaluate, Seq>(children),
        each_of<While, Realize, BufferView, Prefetch, BlockRealize>(refuse));
  }

  void store(const Store& n) {
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

  void expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) return load(e, *n);
    if (e.as<VarNode>() && e.dtype().is_handle()) {
      // If the address itself is used, any access is possible.
      if (e.same_as(dst_)) all_safe_ = false;
      unsafe_.insert(&e.node());
    }
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  void load(const Expr& self, const Load& n) {
    const Var& src = n.buffer->data;
    if (src.same_as(dst_) || index_depth_ > 0) {
      all_safe_ = false;
      return;
    }
    const bool at_same_index = current_ && current_->value.dtype() == self.dtype() &&
                               structural_equal(current_->indices, n.indices);
    if (!at_same_index) unsafe_.insert(&src.node());
    ++index_depth_;
    for (const Expr& index : n.indices) expr(index);
    --index_depth_;
  }

  bool each_element_once(const Store& n) const {
    // All branches must store at the same index. Otherwise one branch could overwrite an element of
    // the source that another one reads.
    const bool is_at_same_index =
        !first_store_ || structural_equal(n.indices, first_store_->indices);
    const bool uses_let = std::ranges::any_of(n.indices, [&](const Expr& index) {
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

  Var dst_;
  std::vector<RangedVar> loops_;
  std::vector<Expr> guards_;                  // the conditions around the current statement
  std::unordered_set<const ExprNode*> lets_;  // the variables of lets inside the statement
  bool all_safe_ = true;
  std::unordered_set<const ExprNode*> unsafe_;
  const Store* current_ = nullptr;  // the store to dst whose value is visited
  int index_depth_ = 0;
  const Store* first_store_ = nullptr;  // the first store to dst
  int stores_ = 0;                      // maximum number of stores to dst on one path
};

// ---- assignment of memory -----------------------------------------------------------------------

// Assigns allocations to blocks of memory that they share, and determines where each block is
// allocated.

/// A block of memory that one or more allocations use.
struct StorageBlock {
  const tir::StmtNode* place;
  tir::StorageScope scope;
  /// The allocations that use the block, in order of first use. The block has the name of the first
  /// one.
  std::vector<AllocationId> tenants;
  /// The size of the largest tenant in bits; nullopt if it is not constant.
  std::optional<std::int64_t> constant_bits;
};

/// The maximum ratio between the size of a free block and the size of an allocation that reuses it,
/// in either direction.
constexpr std::int64_t kMatchRange = 16;
/// Values of up to this size, in bits, do not share memory, because code generators keep them in
/// registers.
constexpr std::int64_t kSmallBits = 32;
/// In-place reuse is attempted only at statements in which the lifetimes of at most this number of
/// buffers begin.
constexpr std::size_t kMaxInPlaceBegins = 2;

/// Returns, for each moment, the allocations that are first used then or, if `is_last`, last used.
std::vector<std::vector<AllocationId>> find_uses(const StorageTimeline& timeline, bool is_last) {
  const Moment::Kind ignored = is_last ? Moment::Kind::Begin : Moment::Kind::End;
  std::vector<std::vector<AllocationId>> uses(timeline.moments.size());
  std::vector<char> seen(timeline.allocations.size(), 0);
  for (std::size_t n = 0; n < uses.size(); ++n) {
    const std::size_t m = is_last ? uses.size() - 1 - n : n;
    if (timeline.moments[m].kind == ignored) continue;
    for (AllocationId id : timeline.moments[m].touched)
      if (!std::exchange(seen[id], 1)) uses[m].push_back(id);
  }
  return uses;
}

/// Returns, for each moment that begins a scope, the moment that ends the scope.
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

/// Assigns a block to each allocation of the timeline. Returns the blocks in order of first use.
class StoragePlanner {
 public:
  explicit StoragePlanner(StorageTimeline& timeline)
      : timeline_(timeline), handed_over_(timeline.allocations.size(), false) {}

  std::vector<StorageBlock> run() {
    const auto begins = find_uses(timeline_, false), ends = find_uses(timeline_, true);
    const std::vector<std::size_t> end_of = find_ends(timeline_);
    for (std::size_t m = 0; m < timeline_.moments.size(); ++m) {
      const Moment& moment = timeline_.moments[m];
      begin(moment, begins[m], ends[end_of[m]]);
      if (moment.kind == Moment::Kind::End) free_.erase(&moment.stmt.node());
      for (AllocationId id : ends[m]) {
        if (!handed_over_[id]) release(*allocation(id).block);
      }
    }
    return std::move(blocks_);
  }

 private:
  /// The free blocks of one allocation site by their size, StorageBlock::constant_bits.
  using FreeBlocks = std::multimap<std::optional<std::int64_t>, std::size_t>;

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
      blocks_[*block].tenants.push_back(id);
      timeline_.allocations[id].block = block;
    }
  }

  std::optional<std::size_t> find_in_place(AllocationId id, const Stmt& s,
                                           const std::vector<AllocationId>& ends) {
    const Allocation& dst = allocation(id);
    // Fragments are not reused in place: fragments of equal size may be tiles of different shapes.
    if (dst.is_shared_by_tasks || dst.scope() > StorageScope::Local) return std::nullopt;
    std::optional<InPlaceSources> sources;
    for (AllocationId src : ends) {
      if (src == id || handed_over_[src] || !allocation(src).block) continue;
      const StorageBlock& block = blocks_[*allocation(src).block];
      if (block.scope != dst.scope() || block.place != dst.place ||
          element_of(block) != dst.node.dtype.element() ||
          block.constant_bits != dst.constant_bits()) {
        continue;
      }
      if (!sources) sources.emplace(s, dst.node.data, dst.sharing_threads);
      if (!sources->is_safe(allocation(src).node.data)) continue;
      handed_over_[src] = true;
      return allocation(src).block;
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
    // Only a block that is known to be large enough may have elements of another type.
    const auto suits = [&](FreeBlocks::iterator it, bool is_large_enough) {
      const StorageBlock& block = blocks_[it->second];
      return block.scope == a.scope() &&
             (is_large_enough || element_of(block) == a.node.dtype.element());
    };
    const auto take = [&](FreeBlocks::iterator it) {
      const std::size_t block = it->second;
      blocks_[block].constant_bits = std::max(bits, blocks_[block].constant_bits);
      free.erase(it);
      return block;
    };
    const auto fits = free.lower_bound(bits);
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    const auto end =
        free.upper_bound(bits ? std::min(*bits, kMax / kMatchRange) * kMatchRange : bits);
    for (auto it = fits; it != end; ++it)
      if (suits(it, bits.has_value())) return take(it);
    const auto begin = free.lower_bound(bits ? *bits / kMatchRange : bits);
    for (auto it = fits; it != begin;)
      if (suits(--it, false)) return take(it);
    return std::nullopt;
  }

  std::size_t make_block(const Allocation& a) {
    blocks_.push_back({a.place, a.scope(), {}, a.constant_bits()});
    return blocks_.size() - 1;
  }

  void release(std::size_t index) {
    const StorageBlock& block = blocks_[index];
    if (!is_shared_in_turn(allocation(block.tenants.front()))) return;
    free_[block.place].emplace(block.constant_bits, index);
  }

  StorageTimeline& timeline_;
  std::vector<StorageBlock> blocks_;
  /// The free blocks of each allocation site (Allocation::place). Never iterated, because the keys
  /// are addresses.
  std::unordered_map<const StmtNode*, FreeBlocks> free_;
  std::vector<bool> handed_over_;
};

// ---- the pass -----------------------------------------------------------------------------------

int bits_of(DataType type) { return type.bits * type.lanes; }

class StorageRewriter {
 public:
  explicit StorageRewriter(const Stmt& body) : timeline_(TimelineMaker().make(body)) {
    for (const StorageBlock& block : StoragePlanner(timeline_).run()) {
      blocks_.push_back(make_allocation(block));
      places_[block.place].push_back(blocks_.size() - 1);
    }
  }

  Stmt run(const Stmt& body) { return wrapped(nullptr, stmt(body)); }

 private:
  // ---- sizes ------------------------------------------------------------------------------------

  /// Returns the allocation of the block, without a body.
  Allocate make_allocation(const StorageBlock& block) const {
    const Allocation& first = timeline_.allocations[block.tenants.front()];
    DataType type = first.node.dtype;
    bool all_equal = true;
    for (AllocationId id : block.tenants) {
      const Allocation& tenant = timeline_.allocations[id];
      if (tenant.node.dtype.lanes > type.lanes) type = tenant.node.dtype;
      all_equal = all_equal && tenant.node.dtype == first.node.dtype &&
                  structural_equal(tenant.extents, first.extents);
    }
    if (all_equal) return {first.node.data, type, first.extents, first.condition, make_nop()};
    return {first.node.data, type, {common_extent(block, type)}, make_true(), make_nop()};
  }

  /// Returns the number of elements, of the given type, that the largest tenant needs.
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
    for (const std::size_t block : found->second | std::views::reverse) {
      Allocate allocation = blocks_[block];
      allocation.body = std::move(body);
      body = make_stmt(std::move(allocation));
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
      if (buffer.same_as(n->buffer) && value.same_as(n->value) && are_same(indices, n->indices))
        return s;
      return make_store(buffer, value, std::move(indices));
    }
    const StmtNode* place = &s.node();
    return map_children(
        s, [&](const Expr& e) { return expr(e); },
        [&](const Stmt& child) { return wrapped(place, stmt(child)); });
  }

  bool is_list(const Stmt& s) const { return s.as<Seq>() && !places_.contains(&s.node()); }

  /// Rewrites a sequence of stages. Each Allocate encloses all later stages; without the
  /// allocations, the stages are one flat list. The list is built in one pass, because building it
  /// level by level would take quadratic time.
  Stmt list(const Stmt& s, const Seq& n) {
    std::vector<Stmt> stmts;
    append(s, stmts);
    return std::ranges::equal(stmts, n.stmts, &Stmt::same_as) ? s : make_seq(std::move(stmts));
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
      if (buffer.same_as(n->buffer) && are_same(indices, n->indices)) return e;
      return make_load(buffer, std::move(indices));
    }
    if (e.as<VarNode>()) {
      const Allocate* block = block_of(Var::of(e));
      return block ? Expr(block->data) : e;
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  const Allocate* block_of(const Var& data) const {
    const auto id = timeline_.find(data);
    const std::optional<std::size_t> block = id ? timeline_.allocations[*id].block : std::nullopt;
    return block ? &blocks_[*block] : nullptr;
  }

  /// Returns the buffer as a view of the block that holds its memory.
  Buffer moved(const Buffer& buffer) {
    const Allocate* block = block_of(buffer->data);
    if (!block) return buffer;
    return copy_once(buffers_, buffer, [&](BufferNode& node) {
      const Allocation& allocation = timeline_.allocations[*timeline_.find(buffer->data)];
      node.data = block->data;
      if (node.name != block->data.name()) node.moved_from = node.stage_name();
      node.name = block->data.name();
      // If an extent of the allocation was replaced by its upper bound, the view gets the bound as
      // well.
      if (structural_equal(node.shape, allocation.node.extents)) node.shape = allocation.extents;
    });
  }

  StorageTimeline timeline_;
  std::vector<Allocate> blocks_;
  /// The blocks of each allocation site (Allocation::place). Never iterated, because the keys are
  /// addresses.
  std::unordered_map<const StmtNode*, std::vector<std::size_t>> places_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

PrimFunc rewrite_storage(const PrimFunc& func, const PassOptions&) {
  return with_body(func, StorageRewriter(func.body).run(func.body));
}

}  // namespace tenon::lowering
