// Lowers a block program to loops over multi-dimensional buffers:
// - Block iterators are replaced by their bindings, and predicates become `if`.
// - An init runs under an `if` in the first iteration of its reduction.
// - A buffer becomes a Realize of the box that its uses need.
// - A loop bound to a thread becomes a thread extent, and pragmas of loops become attributes.
//
//   for i, j_0, k, j_1: block Y ...                 // root block allocates Y[128, 128]
//   for j_1: block C reads Y, writes C
//   =>  for i, j_0 { realize Y[i:i+1, j_0*4:j_0*4+4] {
//         for k, j_1 { if (k == 0) Y = 0; Y += ... } ... } }
//
// Loops with one iteration and no annotation are removed; their variables are replaced by their
// minimum.
#include "lower/passes.h"

#include <algorithm>
#include <ranges>

#include "lower/loops/thread_reductions.h"
#include "lower/rewriting.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/nested_threads.h"
#include "tenon/tir/opaque_blocks.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;

namespace {

// ---- buffers ----

// Placement of the buffers of a block program. Each buffer is allocated around the innermost loop,
// let or block that contains all its accesses. Its size covers these accesses.

/// The buffers that are allocated in each block and in the body of each loop and let, as statements
/// without a body. They are in the order in which the program declares them. Their bounds use only
/// variables defined outside the allocation point.
using BufferPlaces = std::unordered_map<const StmtNode*, std::vector<Realize>>;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A statement that opens a scope: a loop, a let or a block.
struct Scope {
  const StmtNode* stmt;
  std::size_t parent;
  int depth;
};

/// The kind of an access. A view only names elements, without accessing them.
enum class Use : unsigned char { Load, Store, View };

/// One conjunct of a condition of a branch around an access.
struct Condition {
  const StmtNode* stmt;
  Expr holds;
  /// Whether this is the condition under which the init of a reduction runs.
  bool is_beginning;
};

struct BlockAccess {
  std::size_t scope;
  /// The first and last indices of the accessed box; nullopt if the access is through a pointer.
  std::optional<std::vector<Expr>> first, last;
  Use use;
  /// The conditions of the enclosing branches and blocks, outermost first.
  std::vector<Condition> conditions = {};
  /// Whether the access is only listed in the header of a block, which stands for accesses through
  /// pointers in its body.
  bool is_of_header = false;
};

struct Allocated {
  Buffer buffer;
  /// The block that declares the buffer.
  std::size_t owner;
  /// The accesses in program order.
  std::vector<BlockAccess> accesses;
  std::vector<Realize::DimAlign> align;
  /// This dimension and all following ones are allocated with their full extents, because a
  /// match_buffer declares a stride that is the product of these extents. kNone if there is no such
  /// stride.
  std::size_t first_whole = kNone;
};

class BlockBufferPlanner {
 public:
  explicit BlockBufferPlanner(const OpaqueBlocks& blocks) : blocks_(blocks), memory_(blocks.body) {
    stmt(blocks.body);
  }

  BufferPlaces places() {
    BufferPlaces result;
    for (Allocated& a : buffers_) {
      // Buffers without uses get no memory.
      if (a.accesses.empty()) continue;
      const std::size_t place = place_of(a);
      result[scopes_[place].stmt].push_back(
          {a.buffer, box(a, place), make_true(), make_nop(), {.align = a.align}});
    }
    return result;
  }

 private:
  const OpaqueBlocks& blocks_;
  arith::WrittenMemory memory_;
  std::vector<Scope> scopes_;
  std::size_t here_ = kNone;
  std::vector<Allocated> buffers_;
  std::unordered_map<const void*, std::size_t> by_data_;
  /// The buffers of match_buffer statements, by data pointer.
  std::unordered_map<const void*, BufferRegion> matched_;
  std::vector<const Block*> around_;
  std::vector<Condition> conditions_;

  // ---- collecting accesses ----

  template <class F>
  void scope(const Stmt& s, F inside) {
    const int depth = here_ == kNone ? 0 : scopes_[here_].depth + 1;
    scopes_.push_back({&s.node(), here_, depth});
    const std::size_t outside = std::exchange(here_, scopes_.size() - 1);
    inside();
    here_ = outside;
  }

  template <class F>
  void under(const Stmt& s, const Expr& condition, F inside) {
    const std::size_t outside = conditions_.size();
    for_each_conjunct(condition, [&](const Expr& part) {
      if (!is_true(part))
        conditions_.push_back({&s.node(), part, blocks_.inits.contains(&s.node())});
    });
    inside();
    truncate(conditions_, outside);
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    if (const For* loop = s.as<For>()) {
      expr(loop->min), expr(loop->extent);
      scope(s, [&] { stmt(loop->body); });
    } else if (const BlockRealize* realize = s.as<BlockRealize>()) {
      expr(realize->predicate);
      under(s, realize->predicate, [&] { scope(s, [&] { block(*realize->block); }); });
    } else if (const If* branch = s.as<If>()) {
      expr(branch->condition);
      under(s, branch->condition, [&] { stmt(branch->then_case); });
      if (branch->else_case)
        under(*branch->else_case, make_not(branch->condition), [&] { stmt(*branch->else_case); });
    } else if (const Store* store = s.as<Store>()) {
      expr(store->value);
      for (const Expr& index : store->indices) expr(index);
      access(store->buffer, store->indices, Use::Store);
    } else if (const Let* let = s.as<Let>()) {
      expr(let->value);
      scope(s, [&] { stmt(let->body); });
    } else {
      for_each_child(
          s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
    }
  }

  void block(const Block& b) {
    for (const Buffer& buffer : b.alloc_buffers) {
      by_data_.insert_or_assign(&buffer->data.node(), buffers_.size());
      buffers_.push_back({buffer, here_, {}, {}, kNone});
    }
    for (const MatchBuffer& match : b.match_buffers) {
      for (const Range& range : match.source.region) expr(range.min), expr(range.extent);
      matched_.insert_or_assign(&match.buffer->data.node(), match.source);
    }
    around_.push_back(&b);
    // The view is defined at the block. Its region therefore counts as an access there, even if all
    // uses of the view are further inside.
    for (const MatchBuffer& match : b.match_buffers) {
      region(match.source, Use::View);
      keep_strides(match);
    }
    stmt(b.body);
    around_.pop_back();
    // The n-th entry of the annotation applies to the n-th buffer that the block writes.
    if (const auto found = b.annotations.find("buffer_dim_align"); found != b.annotations.end())
      alignment(b, found->second);
  }

  void keep_strides(const MatchBuffer& match) {
    Buffer source = match.source.buffer;
    for (auto at = matched_.find(&source->data.node()); at != matched_.end();
         at = matched_.find(&source->data.node()))
      source = at->second.buffer;
    const auto found = by_data_.find(&source->data.node());
    if (found == by_data_.end()) return;
    const std::vector<Expr>&shape = source->shape, &strides = match.buffer->strides;
    std::int64_t stride = 1;
    for (std::size_t n = 1; n <= strides.size(); ++n) {
      std::size_t& first = buffers_[found->second].first_whole;
      if (constant_int(strides[strides.size() - n]) == stride)
        first = std::min(first, shape.size() - n + 1);
      stride *= constant_int(shape[shape.size() - n]).value_or(0);
    }
  }

  void alignment(const Block& b, const Annotation& note) {
    const auto* entries = std::get_if<std::vector<Annotation>>(&note.value);
    if (!entries) return;
    for (const Annotation& entry : *entries) {
      const auto* numbers = std::get_if<std::vector<Annotation>>(&entry.value);
      if (!numbers || numbers->size() != 4) continue;
      std::vector<std::int64_t> values;
      for (const Annotation& number : *numbers)
        values.push_back(annotation_int(number).value_or(-1));
      if (values[0] < 0 || static_cast<std::size_t>(values[0]) >= b.writes.size()) continue;
      const Buffer& buffer = b.writes[static_cast<std::size_t>(values[0])].buffer;
      const auto found = by_data_.find(&buffer->data.node());
      if (found == by_data_.end()) continue;
      buffers_[found->second].align.push_back(
          {static_cast<int>(values[1]), static_cast<int>(values[2]), static_cast<int>(values[3])});
    }
  }

  void expr(const Expr& e) {
    if (const Load* load = e.as<Load>()) access(load->buffer, load->indices, Use::Load);
    // A data pointer outside of a load may be used to access any element.
    if (e.as<VarNode>()) touch_all(&e.node());
    for_each_operand(
        e, [&](const Expr& c) { expr(c); },
        [&](const Expr& condition, const Expr& c) {
          conditions_.push_back({nullptr, condition, false});
          expr(c);
          conditions_.pop_back();
        });
  }

  void access(const Buffer& buffer, const std::vector<Expr>& indices, Use use) {
    BufferRegion element{buffer, {}};
    for (const Expr& index : indices)
      element.region.push_back(Range::from_min_extent(index, make_int(index.dtype().element(), 1)));
    region(std::move(element), use);
  }

  /// Records an access of the whole region. A region of a matched buffer is recorded as a region of
  /// its source.
  void region(BufferRegion part, Use use, bool is_of_header = false) {
    const auto matched = matched_.find(&part.buffer->data.node());
    if (matched != matched_.end()) {
      BufferRegion source = matched->second;
      part.region.insert(part.region.begin(), source.region.size() - part.region.size(), {0, 1});
      for (std::size_t d = 0; d < part.region.size(); ++d)
        source.region[d] = Range::from_min_extent(source.region[d].min + part.region[d].min,
                                                  part.region[d].extent);
      return region(std::move(source), use, is_of_header);
    }
    std::vector<Expr> first, last;
    for (const Range& range : part.region) {
      first.push_back(range.min);
      last.push_back(is_one(range.extent) ? range.min : range.min + range.extent - 1);
    }
    touch(&part.buffer->data.node(),
          {here_, std::move(first), std::move(last), use, {}, is_of_header});
  }

  /// Records an access whose elements are unknown. It is assumed to access the elements that the
  /// header of the nearest block lists or, without such a header, all elements of the buffer.
  void touch_all(const void* data) {
    std::vector<const void*> names = {data};
    for (auto at = matched_.find(data); at != matched_.end(); at = matched_.find(names.back()))
      names.push_back(&at->second.buffer->data.node());
    if (!by_data_.contains(names.back())) return;
    const auto is_own = [&](const BufferRegion& r) {
      return std::ranges::find(names, &r.buffer->data.node()) != names.end();
    };
    for (std::size_t n = around_.size(); n-- > 0;) {
      const Block& block = *around_[n];
      if (std::ranges::none_of(block.reads, is_own) && std::ranges::none_of(block.writes, is_own))
        continue;
      for (const BufferRegion& r : block.reads)
        if (is_own(r)) region(r, Use::Load, true);
      for (const BufferRegion& r : block.writes)
        if (is_own(r)) region(r, Use::Store, true);
      break;
    }
    touch(names.back(), {here_, std::nullopt, std::nullopt, Use::View});
  }

  void touch(const void* data, BlockAccess own) {
    const auto found = by_data_.find(data);
    if (found == by_data_.end()) return;
    own.conditions = conditions_;
    buffers_[found->second].accesses.push_back(std::move(own));
  }

  // ---- placement ----

  std::size_t parent(std::size_t scope) const { return scopes_[scope].parent; }

  std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) {
      if (scopes_[a].depth >= scopes_[b].depth)
        a = parent(a);
      else
        b = parent(b);
    }
    return a;
  }

  const For* loop_of(std::size_t scope) const {
    return std::get_if<For>(&scopes_[scope].stmt->value);
  }
  /// Returns the loops around the scope that are inside `place`, innermost first; all loops if
  /// `place` is kNone.
  std::vector<const For*> loops_inside(std::size_t place, std::size_t scope) const {
    std::vector<const For*> loops;
    for (; scope != place && scope != kNone; scope = parent(scope))
      if (const For* loop = loop_of(scope)) loops.push_back(loop);
    return loops;
  }
  const Let* let_of(std::size_t scope) const {
    return std::get_if<Let>(&scopes_[scope].stmt->value);
  }

  std::size_t place_of(const Allocated& a) const {
    std::size_t place = a.accesses.front().scope;
    for (const BlockAccess& access : a.accesses) place = common(place, access.scope);
    while (place != a.owner && is_repeated(place, a.owner) && keeps_values(a, place))
      place = parent(place);
    std::size_t result = place;
    const auto carried = blocks_.carried_by.find(&a.buffer->data.node());
    if (carried == blocks_.carried_by.end()) return result;
    for (std::size_t scope = place; scope != a.owner; scope = parent(scope)) {
      const For* loop = loop_of(scope);
      const bool is_carried = loop && std::ranges::any_of(carried->second, [&](const Var& v) {
                                return v.same_as(loop->var);
                              });
      if (is_carried) result = parent(scope);
    }
    return result;
  }

  /// Whether the scope may run more than once in one run of `owner`.
  bool is_repeated(std::size_t scope, std::size_t owner) const {
    return std::ranges::any_of(loops_inside(owner, scope),
                               [](const For* loop) { return !is_one(loop->extent); });
  }

  // ---- sizes ----

  bool is_inside(std::size_t scope, std::size_t place) const {
    while (scope != kNone && scope != place) scope = parent(scope);
    return scope == place;
  }

  /// Returns the scope and all scopes that enclose it, outermost first.
  std::vector<std::size_t> with_outer(std::size_t scope) const {
    std::vector<std::size_t> result;
    for (; scope != kNone; scope = parent(scope)) result.push_back(scope);
    std::ranges::reverse(result);
    return result;
  }

  /// Returns the ranges of the variables of loops and lets around an access. Only variables are
  /// included that are defined inside `place`, or that differ between threads that share the
  /// memory.
  IntervalMap relaxed(const Allocated& a, std::size_t access, std::size_t place) const {
    IntervalMap map;
    for (const std::size_t scope : with_outer(access)) {
      const bool is_in = scope != place && is_inside(scope, place);
      if (const For* loop = loop_of(scope)) {
        const auto& thread = traits_of(*loop).thread;
        if (!is_in && !(thread && is_shared_along(a.buffer->scope(), *thread))) continue;
        const Range range = Range::from_min_extent(loop->min, loop->extent);
        map.set(loop->var, values_of(Interval::from_range(range), map));
      } else if (const Let* let = let_of(scope)) {
        if (is_in || map.size() > 0) map.set(let->var, values_of(let->value, map));
      }
    }
    return map;
  }

  arith::Facts facts_at(std::size_t place) const {
    arith::Facts facts;
    for (const std::size_t scope : with_outer(place))
      if (const For* loop = loop_of(scope))
        facts.bind(loop->var, Range::from_min_extent(loop->min, loop->extent));
      else if (const Let* let = let_of(scope))
        facts.bind_bound(let->var, arith::const_bound(let->value, facts));
    return facts;
  }

  /// Returns the accessed box, in terms of variables that are defined outside the scope `place`.
  /// Precondition: the indices of the access are known.
  std::vector<Interval> box_of(const Allocated& a, const BlockAccess& access, std::size_t place,
                               const arith::Facts& facts) const {
    const IntervalMap map = relaxed(a, access.scope, place);
    const auto is_stable = [&](const std::optional<Expr>& end) {
      if (!end || !contains<Load>(*end)) return true;
      return access.conditions.empty() && memory_.is_stable(*end);
    };
    std::vector<Interval> result;
    for (std::size_t d = 0; d < access.first->size(); ++d) {
      const Expr &first = (*access.first)[d], &last = (*access.last)[d];
      Interval own = values_of(first, map);
      if (!first.same_as(last)) own = arith::hull({own, values_of(last, map)}, facts);
      // An end of the box is not used if it reads memory: the memory may change between `place` and
      // the access, and a condition of the access may protect the read.
      if (!is_stable(own.min()) || !is_stable(own.max())) own = Interval::everything();
      result.push_back(std::move(own));
    }
    return result;
  }

  /// Whether the store fills a whole box: over the loops inside of `place`, its indices take every
  /// value between those of the first and the last iteration.
  bool is_dense(const BlockAccess& store, std::size_t place) const {
    const std::vector<const For*> loops = loops_inside(place, store.scope);
    // If two indices depend on the same loop, the loop only fills a diagonal.
    for (const For* loop : loops) {
      const auto depends = [&](const Expr& index) { return uses_var(index, loop->var); };
      if (std::ranges::count_if(*store.first, depends) > 1) return false;
    }
    const auto is_inner = [&](const Expr& var) {
      return std::ranges::any_of(loops, [&](const For* loop) { return loop->var.same_as(var); });
    };
    return std::ranges::none_of(*store.first, [&](const Expr& index) {
      return any_node(index, [&](const Binary& n) {
        const bool has_gaps =
            n.op == BinaryOp::Mul || n.op == BinaryOp::FloorDiv || n.op == BinaryOp::FloorMod;
        return has_gaps && (uses_var(n.a, is_inner) || uses_var(n.b, is_inner));
      });
    });
  }

  /// Returns a box of elements that the store fills if the condition holds; nullopt if no such box
  /// is known.
  std::optional<std::vector<Interval>> narrow_box_of(const BlockAccess& store, std::size_t place,
                                                     const Expr& condition) const {
    std::vector<std::pair<Var, Range>> domain;
    for (std::size_t scope = store.scope; scope != place; scope = parent(scope)) {
      if (let_of(scope)) return std::nullopt;
      if (const For* loop = loop_of(scope))
        domain.emplace_back(loop->var, Range::from_min_extent(loop->min, loop->extent));
    }
    std::vector<Range> region;
    for (const Expr& first : *store.first) {
      if (contains<Load>(first)) return std::nullopt;
      region.push_back(Range::from_min_extent(first, 1));
    }
    return arith::region_lower_bound(region, domain, condition);
  }

  // ---- lifetimes ----

  /// Whether one execution of the scope `place` may read an element that an earlier execution
  /// stored. This is possible if some load reads an element that the same execution has not stored
  /// before.
  bool keeps_values(const Allocated& a, std::size_t place) const {
    bool has_views = false, has_header = false;
    for (const BlockAccess& access : a.accesses) {
      has_views = has_views || !access.first;
      has_header = has_header || access.is_of_header;
    }
    if (has_views && !has_header) return true;
    for (std::size_t n = 0; n < a.accesses.size(); ++n) {
      const BlockAccess& load = a.accesses[n];
      if (load.use != Use::Load || !load.first) continue;
      bool is_stored = false;
      for (std::size_t m = 0; m < n && !is_stored; ++m)
        is_stored = a.accesses[m].use == Use::Store && a.accesses[m].first &&
                    stores_all(a, a.accesses[m], load, place);
      if (!is_stored) return true;
    }
    return false;
  }

  /// Whether `store` writes all elements that the later `load` reads, in each run of the innermost
  /// scope that contains both.
  bool stores_all(const Allocated& a, const BlockAccess& store, const BlockAccess& load,
                  std::size_t place) const {
    const std::size_t top = common(store.scope, load.scope);
    if (!is_inside(top, place)) return false;
    const arith::Facts facts = facts_at(top);
    Expr narrowing = make_true();
    for (const Condition& condition : store.conditions) {
      const bool is_shared = std::ranges::any_of(load.conditions, [&](const Condition& other) {
        return other.stmt == condition.stmt || (memory_.is_stable(condition.holds) &&
                                                structural_equal(other.holds, condition.holds));
      });
      if (!is_shared && !holds(a, store, condition, top)) narrowing = narrowing && condition.holds;
    }
    // Shared memory is filled by all threads of a block together.
    const bool fills_box =
        is_true(narrowing) && (is_shared_memory(a.buffer->scope()) || is_dense(store, top));
    const auto found = fills_box ? std::optional(box_of(a, store, top, facts))
                                 : narrow_box_of(store, top, narrowing);
    if (!found) return false;
    const std::vector<Interval>&stored = *found, loaded = box_of(a, load, top, facts);
    for (std::size_t d = 0; d < stored.size(); ++d) {
      if (stored[d].is_empty() || loaded[d].is_empty()) continue;
      if (!stored[d].is_bounded() || !loaded[d].is_bounded()) return false;
      const Expr last = a.buffer->shape[d] - 1;
      const auto at_most = [&](const Expr& x, const Expr& y) {
        return arith::can_prove(x <= y, facts);
      };
      // A box may appear to exceed the buffer although a condition keeps the access in bounds.
      const bool has_first =
          at_most(*stored[d].min(), Expr(0)) || at_most(*stored[d].min(), *loaded[d].min());
      const bool has_last =
          at_most(last, *stored[d].max()) || at_most(*loaded[d].max(), *stored[d].max());
      if (!has_first || !has_last) return false;
    }
    return true;
  }

  /// Whether the condition does not exclude any element that could be read. This is the case if it
  /// only keeps an index in bounds, or if it holds in the first iterations of the reduction.
  bool holds(const Allocated& a, const BlockAccess& store, const Condition& condition,
             std::size_t place) const {
    if (condition.is_beginning) return true;
    arith::Facts inside;
    std::vector<arith::Facts::Scope> known;
    for (std::size_t d = 0; d < store.first->size(); ++d)
      known.push_back(
          inside.assume((*store.first)[d] >= 0 && (*store.first)[d] < a.buffer->shape[d]));
    return arith::can_prove(condition.holds, inside) ||
           arith::can_prove(substitute(condition.holds, beginning(store, place)));
  }

  /// Maps the variable of each loop inside `place`, if it is a loop of the reduction that `store`
  /// initializes, to the minimum of the loop.
  VarMap beginning(const BlockAccess& store, std::size_t place) const {
    VarMap result;
    for (const For* loop : loops_inside(place, store.scope))
      for (const Condition& condition : store.conditions)
        if (condition.is_beginning && uses_var(condition.holds, loop->var))
          set(result, loop->var, loop->min);
    return result;
  }

  /// Whether an enclosing loop provably has no iterations. The extents of loops inside it are then
  /// meaningless.
  bool never_runs(const BlockAccess& access) const {
    return std::ranges::any_of(loops_inside(kNone, access.scope), [](const For* loop) {
      return constant_int(loop->extent).value_or(1) < 1;
    });
  }

  std::vector<Range> box(const Allocated& a, std::size_t place) const {
    const std::vector<Expr>& shape = a.buffer->shape;
    std::vector<Range> whole = whole_region(shape);
    if (!a.buffer->strides.empty()) return whole;
    const arith::Facts facts = facts_at(place);
    std::vector<std::vector<Interval>> touched(shape.size());
    for (const BlockAccess& access : a.accesses) {
      if (access.is_of_header || never_runs(access)) continue;
      if (!access.first || access.first->size() != shape.size()) return whole;
      const std::vector<Interval> own = box_of(a, access, place, facts);
      for (std::size_t d = 0; d < shape.size(); ++d) touched[d].push_back(own[d]);
    }
    if (touched.empty() || touched.front().empty()) return whole;
    std::vector<Range> result;
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.push_back(d < a.first_whole ? within(arith::hull(touched[d], facts), whole[d], facts)
                                         : whole[d]);
    return result;
  }

  /// Returns the intersection of the interval and the shape. Its extent is constant if the shape is
  /// constant.
  static Range within(const Interval& touched, const Range& whole, const arith::Facts& facts) {
    const Range reached = touched.to_range(whole, facts);
    const Expr min = arith::simplify(max(reached.min, whole.min), facts);
    const Expr extent = arith::simplify(tir::min(whole.extent, reached.extent), facts);
    if (constant_int(extent) || !constant_int(whole.extent))
      return Range::from_min_extent(min, extent);
    const std::optional<std::int64_t> most = arith::const_bound(extent, facts).max;
    if (most && *most < *constant_int(whole.extent))
      return Range::from_min_extent(min, make_int(extent.dtype(), *most));
    return whole;
  }
};

constexpr std::string_view kPragma = "pragma_";

/// The second step: rebuilds loops and blocks without iterators, and allocates buffers at their
/// allocation points.
class Builder {
 public:
  explicit Builder(const BufferPlaces& places) : places_(places) {}

  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const For* loop = s.as<For>()) return made_loop(s, *loop);
    if (const BlockRealize* realize = s.as<BlockRealize>()) return block(s, *realize);
    if (const Let* let = s.as<Let>())
      return make_stmt(Let{let->var, expr(let->value), with_buffers(s, stmt(let->body))});
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  const BufferPlaces& places_;
  /// The variables of thread-bound loops, each with the thread variable that replaces it.
  VarMap threads_;
  /// The thread axes of the enclosing kernel. `open_threads_` is the number of thread-bound loops
  /// of the kernel that enclose the current statement.
  std::vector<IterVar> axes_;
  /// The thread dimensions that are launched with the outermost loop of the kernel, because their
  /// threads run all of it.
  std::vector<ThreadTag> launched_;
  int open_threads_ = 0;

  Expr expr(const Expr& e) { return threads_.empty() ? e : substitute(e, threads_); }
  Range range(const Range& r) { return Range::from_min_extent(expr(r.min), expr(r.extent)); }

  /// Encloses `body` in the buffers that are allocated at the statement `place`. The first buffer
  /// is outermost.
  Stmt with_buffers(const Stmt& place, Stmt body) {
    const auto found = places_.find(&place.node());
    if (found == places_.end()) return body;
    for (Realize placed : found->second | std::views::reverse) {
      for (Range& bound : placed.bounds) bound = range(bound);
      placed.body = std::move(body);
      body = make_stmt(std::move(placed));
    }
    return body;
  }

  Stmt block(const Stmt& s, const BlockRealize& realize) {
    Stmt body = stmt(realize.block->body);
    const auto& matches = realize.block->match_buffers;
    for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
      std::vector<Range> region;
      for (const Range& r : match->source.region) region.push_back(range(r));
      body = make_stmt(BufferView{match->buffer, match->source.buffer, std::move(region), body});
    }
    const Expr predicate = expr(realize.predicate);
    if (!is_true(predicate)) body = make_stmt(If{predicate, body, std::nullopt});
    return with_buffers(s, std::move(body));
  }

  Stmt made_loop(const Stmt& s, const For& loop) {
    const LoopTraits& traits = traits_of(loop);
    Stmt result = traits.thread ? thread(s, loop, *traits.thread) : serial(s, loop);
    for (const auto& [key, note] : traits.annotations) {
      if (!key.starts_with(kPragma)) continue;
      const Expr* value = std::get_if<Expr>(&note.value);
      if (!value)
        throw LowerError("loop `" + loop.var.name() + "`: the annotation \"" + key +
                         "\" is a list; a pragma must be a number or a string");
      result = make_stmt(Attr{AttrKind::Pragma, Expr(loop.var), key.substr(kPragma.size()), *value,
                              std::move(result)});
    }
    return result;
  }

  Stmt serial(const Stmt& s, const For& loop) {
    For copy{loop.var, expr(loop.min), expr(loop.extent), loop.kind, make_nop()};
    copy.body = with_buffers(s, stmt(loop.body));
    return make_stmt(std::move(copy));
  }

  // ---- threads ----

  Stmt thread(const Stmt& s, const For& loop, ThreadTag tag) {
    const bool is_kernel = open_threads_ == 0;
    if (is_kernel) begin_kernel(s, tag);
    const IterVar axis = tag.is_virtual() ? new_axis(loop, tag) : known_axis(tag);
    const Expr own = cast(loop.var.dtype(), axis.var());
    set(threads_, loop.var, is_zero(loop.min) ? own : own + expr(loop.min));
    ++open_threads_;
    Stmt body = with_buffers(s, stmt(loop.body));
    --open_threads_;
    threads_.erase(&loop.var.node());
    if (!structural_equal(expr(loop.extent), axis.dom()->extent)) {
      if (!tag.is_block()) check_reduces_alone(loop, axis, body);
      body = make_stmt(If{likely(own < expr(loop.extent)), std::move(body), std::nullopt});
    }
    if (is_kernel)
      for (std::size_t n = launched_.size(); n-- > 1;)
        body = launched(known_axis(launched_[n]), std::move(body));
    const bool is_running = !is_kernel && !tag.is_virtual() && is_launched(tag);
    return is_running ? body : launched(axis, std::move(body));
  }

  /// Throws if a reduction across threads is inside a guard that only some threads pass, because
  /// the other threads would not take part in it.
  static void check_reduces_alone(const For& loop, const IterVar& axis, const Stmt& body) {
    walk(body, [&](const Attr& attr) {
      if (attr.kind != AttrKind::ReduceScope) return;
      throw LowerError("loop `" + loop.var.name() + "` runs on " + print_expr(loop.extent) +
                       " of the " + print_expr(axis.dom()->extent) + " threads of `" +
                       axis.thread()->str() + "`, which reduce together inside of block `" +
                       std::get<CommReducer>(attr.subject)->name +
                       "`; split the loops so that both have as many iterations");
    });
  }

  static Stmt launched(const IterVar& axis, Stmt body) {
    const AttrKind kind =
        axis.thread()->is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent;
    return make_stmt(Attr{kind, axis, "", axis.dom()->extent, std::move(body)});
  }

  void begin_kernel(const Stmt& kernel, ThreadTag outermost) {
    axes_ = axes_of(kernel);
    launched_ = {outermost};
    for (const IterVar& axis : axes_)
      if (!(axis.thread() == outermost) && runs_all(kernel, *axis.thread()))
        launched_.push_back(*axis.thread());
  }

  bool is_launched(ThreadTag tag) const {
    return std::ranges::find(launched_, tag) != launched_.end();
  }

  /// Whether every statement is inside a loop that is bound to the thread dimension.
  static bool runs_all(const Stmt& s, ThreadTag tag) {
    if (const For* loop = s.as<For>(); loop && traits_of(*loop).thread == tag) return true;
    bool has_parts = false, all = true;
    for_each_statement(s, [&](const Stmt& c) { has_parts = true, all = all && runs_all(c, tag); });
    return has_parts && all;
  }

  IterVar known_axis(ThreadTag tag) const {
    for (const IterVar& axis : axes_)
      if (axis.thread() == tag) return axis;
    internal_error("a thread dimension that the kernel does not have");
  }

  static IterVar axis_of(ThreadTag tag, const Expr& extent) {
    return IterVar(Range::from_extent(extent), Var(tag.str(), extent.dtype()),
                   IterKind::ThreadIndex, tag);
  }

  static IterVar new_axis(const For& loop, ThreadTag tag) {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    if (!extent && tag.is_virtual())
      throw LowerError("loop `" + loop.var.name() + "` is bound to `" + tag.str() +
                       "`, which needs a constant extent, got " + print_expr(loop.extent));
    return axis_of(tag, loop.extent);
  }

  /// Returns the larger extent. Symbolic extents are compared at run time.
  static Expr longest(const Expr& a, const Expr& b) {
    const auto x = constant_int(a), y = constant_int(b);
    if (x && y) return *x < *y ? b : a;
    return structural_equal(a, b) ? a : max(a, b);
  }

  /// Returns the thread axes of the kernel. Each has the largest extent of the loops bound to it;
  /// shorter loops are guarded.
  static std::vector<IterVar> axes_of(const Stmt& kernel) {
    std::unordered_set<const void*> inside;
    walk(kernel, [&](const For& loop) { inside.insert(&loop.var.node()); });
    std::vector<IterVar> result;
    walk(kernel, [&](const For& loop) {
      const auto& tag = traits_of(loop).thread;
      if (!tag || tag->is_virtual()) return;
      if (uses_var(loop.extent, [&](const Expr& var) { return inside.contains(&var.node()); }))
        throw LowerError("loop `" + loop.var.name() + "` is bound to `" + tag->str() +
                         "`, and its extent " + print_expr(loop.extent) +
                         " differs between the threads of one kernel");
      const IterVar own = new_axis(loop, *tag);
      for (IterVar& known : result) {
        if (!(known.thread() == tag)) continue;
        const Expr extent = longest(known.dom()->extent, own.dom()->extent);
        if (!extent.same_as(known.dom()->extent)) known = axis_of(*tag, extent);
        return;
      }
      result.push_back(own);
    });
    return result;
  }
};

}  // namespace

PrimFunc lower_blocks(const PrimFunc& func, const PassOptions&) {
  const Stmt threads = serialize_nested_threads(func.body, /*is_global_shared=*/false);
  const OpaqueBlocks blocks = make_blocks_opaque(reduce_across_threads(threads));
  const BufferPlaces places = BlockBufferPlanner(blocks).places();
  return with_body(func, Builder(places).stmt(blocks.body));
}

}  // namespace tenon::lowering
