#include "lower/block_buffers.h"

#include <algorithm>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"

namespace tenon::lowering {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A loop or a block.
struct Scope {
  const StmtNode* stmt;
  std::size_t parent;
  int depth;
};

/// What is done with elements where they are named: a view only says where others are.
enum class Use : unsigned char { Load, Store, View };

struct Access {
  std::size_t scope;
  /// Nothing is known of accesses through pointers.
  std::optional<std::vector<Expr>> indices;
  Use use;
};

struct Allocated {
  Buffer buffer;
  /// The block that declares it.
  std::size_t owner;
  /// In program order.
  std::vector<Access> accesses;
  std::vector<Realize::DimAlign> align;
  /// Whether its first access is by a block that reads it as it finds it.
  bool is_read_first = false;
};

/// Whether memory of this scope is seen by all the threads of the dimension.
bool is_shared_by(StorageScope scope, ThreadTag tag) {
  switch (scope) {
    case StorageScope::Global:
      return true;
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return !tag.is_block();
    case StorageScope::Warp:
      return tag.is_thread() && tag.dim == 0;
    default:
      return false;
  }
}

class Planner {
 public:
  explicit Planner(const OpaqueBlocks& blocks) : blocks_(blocks) { stmt(blocks.body); }

  BufferPlaces places() {
    BufferPlaces result;
    for (Allocated& a : buffers_) {
      // Memory that nobody touches is not made.
      if (a.accesses.empty()) continue;
      const std::size_t place = place_of(a);
      result[scopes_[place].stmt].push_back({a.buffer, box(a, place), a.align});
    }
    return result;
  }

 private:
  const OpaqueBlocks& blocks_;
  std::vector<Scope> scopes_;
  std::size_t here_ = kNone;
  std::vector<Allocated> buffers_;
  std::unordered_map<const void*, std::size_t> by_data_;
  /// Matched buffers, by data pointer.
  std::unordered_map<const void*, BufferRegion> matched_;
  /// What a block that is around reads and writes at once.
  std::vector<const Block*> around_;

  // ---- reading ----

  template <class F>
  void scope(const Stmt& s, F inside) {
    const int depth = here_ == kNone ? 0 : scopes_[here_].depth + 1;
    scopes_.push_back({&s.node(), here_, depth});
    const std::size_t outside = std::exchange(here_, scopes_.size() - 1);
    inside();
    here_ = outside;
  }

  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    if (const For* loop = s.as<For>()) {
      expr(loop->min), expr(loop->extent);
      scope(s, [&] { stmt(loop->body); });
    } else if (const BlockRealize* realize = s.as<BlockRealize>()) {
      expr(realize->predicate);
      scope(s, [&] { block(*realize->block); });
    } else if (const Store* store = s.as<Store>()) {
      expr(store->value);
      for (const Expr& index : store->indices) expr(index);
      access(store->buffer, store->indices, Use::Store);
    } else {
      for_each_child(
          s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
    }
  }

  void block(const Block& b) {
    for (const Buffer& buffer : b.alloc_buffers) {
      by_data_.insert_or_assign(&buffer->data.node(), buffers_.size());
      buffers_.push_back({buffer, here_, {}, {}});
    }
    for (const MatchBuffer& match : b.match_buffers) {
      for (const Range& range : match.source.region) expr(range.min), expr(range.extent);
      matched_.insert_or_assign(&match.buffer->data.node(), match.source);
    }
    around_.push_back(&b);
    // Views stand here, even if all that uses them is further inside.
    for (const MatchBuffer& match : b.match_buffers) region(match.source, Use::View);
    stmt(b.body);
    around_.pop_back();
    // It is about the n-th buffer that the block writes.
    if (const auto found = b.annotations.find("buffer_dim_align"); found != b.annotations.end())
      alignment(b, found->second);
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
    // A data pointer by itself: any element.
    if (e.as<VarNode>()) touch(&e.node(), std::nullopt, Use::Load);
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void access(const Buffer& buffer, const std::vector<Expr>& indices, Use use) {
    const auto matched = matched_.find(&buffer->data.node());
    if (matched == matched_.end()) return touch(&buffer->data.node(), indices, use);
    region(matched->second, use);
  }

  /// The whole region, from its beginning to its end.
  void region(const BufferRegion& part, Use use) {
    std::vector<Expr> first, last;
    for (const Range& range : part.region) {
      first.push_back(range.min);
      last.push_back(range.min + range.extent - 1);
    }
    access(part.buffer, first, use);
    access(part.buffer, last, use);
  }

  void touch(const void* data, std::optional<std::vector<Expr>> indices, Use use) {
    if (const auto matched = matched_.find(data); matched != matched_.end())
      return touch(&matched->second.buffer->data.node(), std::nullopt, use);
    const auto found = by_data_.find(data);
    if (found == by_data_.end()) return;
    Allocated& a = buffers_[found->second];
    if (a.accesses.empty()) {
      const auto& reads = around_.back()->reads;
      a.is_read_first = std::ranges::any_of(
          reads, [&](const BufferRegion& r) { return &r.buffer->data.node() == data; });
    }
    a.accesses.push_back({here_, std::move(indices), use});
  }

  // ---- where ----

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

  std::size_t place_of(const Allocated& a) const {
    if (a.is_read_first) return a.owner;
    std::size_t place = a.accesses.front().scope;
    for (const Access& access : a.accesses) place = common(place, access.scope);
    while (place != a.owner && leaves_elements(a, place)) place = parent(place);
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

  // ---- how large ----

  bool is_inside(std::size_t scope, std::size_t place) const {
    while (scope != kNone && scope != place) scope = parent(scope);
    return scope == place;
  }

  /// The loops around an access that run inside of the place, or whose threads share the memory,
  /// over their ranges; those outside first.
  IntervalMap relaxed(const Allocated& a, std::size_t access, std::size_t place) const {
    std::vector<const For*> loops;
    for (std::size_t scope = access; scope != kNone; scope = parent(scope)) {
      const For* loop = loop_of(scope);
      if (!loop) continue;
      const auto& thread = traits_of(*loop).thread;
      const bool is_in = scope != place && is_inside(scope, place);
      if (is_in || (thread && is_shared_by(a.buffer->scope(), *thread))) loops.push_back(loop);
    }
    IntervalMap map;
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      const Range range = Range::from_min_extent((*loop)->min, (*loop)->extent);
      map.set((*loop)->var, values_of(Interval::from_range(range), map));
    }
    return map;
  }

  arith::Facts facts_at(std::size_t place) const {
    arith::Facts facts;
    for (std::size_t scope = place; scope != kNone; scope = parent(scope))
      if (const For* loop = loop_of(scope))
        facts.bind(loop->var, Range::from_min_extent(loop->min, loop->extent));
    return facts;
  }

  /// The box of the accesses that `chosen` names, inside of the place. Nullopt if it is not known.
  template <class F>
  std::optional<std::vector<Interval>> box_of(const Allocated& a, std::size_t place,
                                              const arith::Facts& facts, F chosen) const {
    std::vector<std::vector<Interval>> touched(a.buffer->shape.size());
    for (const Access& access : a.accesses) {
      if (!access.indices || access.indices->size() != touched.size()) return std::nullopt;
      if (!chosen(access)) continue;
      const IntervalMap map = relaxed(a, access.scope, place);
      for (std::size_t d = 0; d < touched.size(); ++d)
        touched[d].push_back(values_of((*access.indices)[d], map));
    }
    std::vector<Interval> result;
    for (const std::vector<Interval>& dimension : touched)
      result.push_back(dimension.empty() ? Interval::empty() : arith::hull(dimension, facts));
    return result;
  }

  /// Whether iterations of the loop read elements that others have stored: more in some dimension
  /// than what each stores itself.
  bool leaves_elements(const Allocated& a, std::size_t place) const {
    const For* loop = loop_of(place);
    if (!loop || is_one(loop->extent)) return false;
    const arith::Facts facts = facts_at(place);
    const auto stores =
        box_of(a, place, facts, [](const Access& c) { return c.use == Use::Store; });
    const auto loads = box_of(a, place, facts, [](const Access& c) { return c.use == Use::Load; });
    if (!stores || !loads) return false;
    for (std::size_t d = 0; d < stores->size(); ++d) {
      const Interval &stored = (*stores)[d], &loaded = (*loads)[d];
      if (stored.is_empty() || loaded.is_empty()) return false;
      if (!stored.is_bounded() || !loaded.is_bounded()) return true;
      const Expr last = a.buffer->shape[d] - 1;
      const auto at_most = [&](const Expr& x, const Expr& y) {
        return arith::can_prove(x <= y, facts);
      };
      // What a condition keeps inside of the buffer may look as if it went beyond.
      const bool has_first =
          at_most(*stored.min(), Expr(0)) || at_most(*stored.min(), *loaded.min());
      const bool has_last = at_most(last, *stored.max()) || at_most(*loaded.max(), *stored.max());
      if (!has_first || !has_last) return true;
    }
    return false;
  }

  std::vector<Range> box(const Allocated& a, std::size_t place) const {
    const std::vector<Expr>& shape = a.buffer->shape;
    std::vector<Range> whole;
    for (const Expr& extent : shape)
      whole.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
    if (!a.buffer->strides.empty()) return whole;
    const arith::Facts facts = facts_at(place);
    const auto touched = box_of(a, place, facts, [](const Access&) { return true; });
    if (!touched) return whole;
    std::vector<Range> result;
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.push_back(within((*touched)[d], whole[d], facts));
    return result;
  }

  /// The part of the interval that is in the shape, with a constant extent where the shape is
  /// constant.
  static Range within(const Interval& touched, const Range& whole, const arith::Facts& facts) {
    if (!touched.is_bounded()) return whole;
    const Expr min = arith::simplify(max(*touched.min(), whole.min), facts);
    const Expr extent =
        arith::simplify(tir::min(whole.extent, *touched.max() - *touched.min() + 1), facts);
    if (constant_int(extent)) return Range::from_min_extent(min, extent);
    if (!constant_int(whole.extent)) return Range::from_min_extent(min, extent);
    const std::optional<std::int64_t> most = arith::const_bound(extent, facts).max;
    if (most && *most < *constant_int(whole.extent))
      return Range::from_min_extent(min, make_int(extent.dtype(), *most));
    return whole;
  }
};

}  // namespace

BufferPlaces place_block_buffers(const OpaqueBlocks& blocks) { return Planner(blocks).places(); }

}  // namespace tenon::lowering
