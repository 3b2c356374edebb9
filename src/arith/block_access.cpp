#include "tenon/arith/block_access.h"

#include <algorithm>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Maximum number of simplification rounds for the ends of a range.
constexpr int kMaxRounds = 4;

/// All accesses to one buffer.
class Touched {
 public:
  explicit Touched(Buffer buffer) : buffer_(std::move(buffer)), dims_(buffer_->shape.size()) {}

  const Buffer& buffer() const { return buffer_; }

  void add(const std::vector<Interval>& box) {
    for (std::size_t d = 0; d < dims_.size(); ++d) add(dims_[d], box[d]);
  }

  BufferRegion region() const {
    BufferRegion result{buffer_, {}};
    for (std::size_t d = 0; d < dims_.size(); ++d)
      result.region.push_back(range(dims_[d], buffer_->shape[d]));
    return result;
  }

 private:
  static bool is_same(const Interval& a, const Interval& b) {
    return a.is_bounded() && b.is_bounded() && structural_equal(*a.min(), *b.min()) &&
           structural_equal(*a.max(), *b.max());
  }

  static void add(std::vector<Interval>& all, const Interval& more) {
    const bool is_known =
        std::ranges::any_of(all, [&](const Interval& one) { return is_same(one, more); });
    if (!is_known) all.push_back(more);
  }

  static Range range(const std::vector<Interval>& all, const Expr& extent) {
    const Range whole = Range::from_extent(extent);
    if (all.size() > 1) return range_by_ends(hull(all).to_range(whole, Facts()));
    const Interval& one = all.front();
    if (one.is_bounded() && structural_equal(*one.min(), *one.max()))
      return Range::from_min_extent(*one.min(), make_int(one.min()->dtype(), 1));
    return range_by_ends(one.to_range(whole, Facts()));
  }

  Buffer buffer_;
  /// The distinct intervals of every dimension, in order of discovery.
  std::vector<std::vector<Interval>> dims_;
};

class Finder {
 public:
  explicit Finder(std::span<const Buffer> visible) {
    for (const Buffer& buffer : visible) by_data_.emplace(&buffer->data.node(), buffer);
  }

  BlockAccess find(const Block& block) {
    for (const Buffer& buffer : block.alloc_buffers) hide(buffer);
    for (const MatchBuffer& match : block.match_buffers) match_buffer(match.buffer, match.source);
    if (block.init) stmt(*block.init);
    stmt(block.body);
    BlockAccess access;
    for (const Touched& touched : writes_) access.writes.push_back(touched.region());
    for (const Touched& touched : reads_) {
      const bool is_result =
          block.init && std::ranges::any_of(writes_, [&](const Touched& written) {
            return written.buffer().same_as(touched.buffer());
          });
      if (!is_result) access.reads.push_back(touched.region());
    }
    return access;
  }

 private:
  std::unordered_map<const void*, Buffer> by_data_;
  /// Data pointers of memory that the block allocates.
  std::unordered_set<const void*> hidden_;
  std::unordered_map<const void*, BufferRegion> matched_;
  /// Variables of loops inside the block, with their ranges.
  IntervalMap relaxed_;
  std::vector<Touched> reads_, writes_;

  void hide(const Buffer& buffer) { hidden_.insert(&buffer->data.node()); }

  void match_buffer(const Buffer& buffer, const BufferRegion& source) {
    matched_.insert_or_assign(buffer.get(), source);
  }

  void stmt(const Stmt& s) {
    match(
        s.node().value,
        [&](const Store& n) {
          touch(writes_, n.buffer, n.indices);
          expr(n.value);
          for (const Expr& index : n.indices) expr(index);
        },
        [&](const For& n) {
          expr(n.min), expr(n.extent);
          relax(n.var, Range::from_min_extent(n.min, n.extent));
          stmt(n.body);
        },
        [&](const Attr& n) {
          expr(n.value);
          const IterVar* axis = std::get_if<IterVar>(&n.subject);
          if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread))
            relax(axis->var(), Range::from_extent(n.value));
          stmt(n.body);
        },
        [&](const Let& n) {
          expr(n.value);
          relaxed_.set(n.var, values_of(n.value, relaxed_));
          stmt(n.body);
        },
        [&](const Realize& n) { hide(n.buffer), children(s); },
        [&](const Allocate& n) { hidden_.insert(&n.data.node()), children(s); },
        [&](const BufferView& n) {
          match_buffer(n.view, {n.source, n.region});
          children(s);
        },
        [&](const BlockRealize& n) { block(n); }, [&](const auto&) { children(s); });
  }

  void children(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
  }

  void expr(const Expr& e) {
    if (const Load* load = e.as<Load>()) touch(reads_, load->buffer, load->indices);
    if (const Call* call = as_call(e, Intrin::tvm_access_ptr)) return access_ptr(*call);
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  /// Handles an access pointer with the arguments (type, data pointer, offset, extent, mask). It
  /// may access any element, for reading (1) or writing (2).
  void access_ptr(const Call& call) {
    for (std::size_t n = 2; n < call.args.size(); ++n) expr(call.args[n]);
    const auto known = by_data_.find(&call.args[1].node());
    if (known == by_data_.end()) return;
    const std::int64_t mask = constant_int(call.args[4]).value_or(3);
    const std::vector<Interval> whole(known->second->shape.size(), Interval::everything());
    if (mask & 1) touch(reads_, known->second, whole);
    if (mask & 2) touch(writes_, known->second, whole);
  }

  /// Adds the declared regions of a nested block, for the values of its iterators.
  void block(const BlockRealize& n) {
    for (const Expr& value : n.values) expr(value);
    expr(n.predicate);
    VarMap values;
    for (std::size_t i = 0; i < n.block->iters.size(); ++i)
      set(values, n.block->iters[i].var(), n.values[i]);
    auto add = [&](std::vector<Touched>& all, const std::vector<BufferRegion>& regions) {
      for (const BufferRegion& r : regions) {
        std::vector<Interval> box;
        for (const Range& range : r.region) {
          const Range bound = substitute(range, values);
          box.push_back(is_one(bound.extent) ? interval(bound.min)
                                             : values_of(Interval::from_range(bound), relaxed_));
        }
        touch(all, r.buffer, box);
      }
    };
    add(reads_, n.block->reads), add(writes_, n.block->writes);
  }

  void relax(const Var& var, const Range& range) {
    relaxed_.set(var, values_of(Interval::from_range(range), relaxed_));
  }

  /// An index that is invariant in the block's loops is kept unsimplified.
  Interval interval(const Expr& index) const {
    const bool moves = uses_var(index, [&](const Expr& v) { return relaxed_.find(v.node()); });
    return moves ? values_of(index, relaxed_) : Interval::point(index);
  }

  void touch(std::vector<Touched>& all, const Buffer& buffer, const std::vector<Expr>& indices) {
    by_data_.try_emplace(&buffer->data.node(), buffer);
    std::vector<Interval> box;
    for (const Expr& index : indices)
      box.push_back(index.dtype().is_vector() ? values_of(index, relaxed_) : interval(index));
    touch(all, buffer, box);
  }

  void touch(std::vector<Touched>& all, const Buffer& buffer, std::vector<Interval> box) {
    if (hidden_.contains(&buffer->data.node())) return;
    const auto matched = matched_.find(buffer.get());
    if (matched != matched_.end()) {
      const BufferRegion& source = matched->second;
      return touch(all, source.buffer, in_source(source, box));
    }
    auto own = std::ranges::find_if(
        all, [&](const Touched& touched) { return touched.buffer().same_as(buffer); });
    if (own == all.end()) own = all.insert(all.end(), Touched(buffer));
    own->add(box);
  }

  std::vector<Interval> in_source(const BufferRegion& source,
                                  const std::vector<Interval>& box) const {
    std::vector<Interval> result;
    const std::size_t dropped = source.region.size() - box.size();
    for (std::size_t d = 0; d < source.region.size(); ++d) {
      const Range& range = source.region[d];
      if (d < dropped || !box[d - dropped].is_bounded()) {
        result.push_back(is_one(range.extent) ? interval(range.min)
                                              : values_of(Interval::from_range(range), relaxed_));
        continue;
      }
      const Interval& part = box[d - dropped];
      const Interval start = interval(range.min);
      if (!start.is_bounded()) {
        result.push_back(Interval::everything());
        continue;
      }
      result.push_back(
          Interval::of(simplify(*start.min() + *part.min()), simplify(*start.max() + *part.max())));
    }
    return result;
  }
};

}  // namespace

BlockAccess find_block_access(const Block& block, std::span<const Buffer> visible) {
  return Finder(visible).find(block);
}

Block with_found_access(Block block, std::span<const Buffer> visible) {
  BlockAccess access = find_block_access(block, visible);
  block.reads = std::move(access.reads);
  block.writes = std::move(access.writes);
  return block;
}

Range range_by_ends(const Range& range) {
  Range result = range;
  for (int round = 0; round < kMaxRounds && !constant_int(result.extent); ++round) {
    const Expr end = simplify(range.min + result.extent);
    const Expr extent = is_zero(range.min) ? end : simplify(end - range.min);
    if (structural_equal(extent, result.extent)) break;
    result = Range::from_min_extent(range.min, extent);
  }
  return result;
}

}  // namespace tenon::arith
