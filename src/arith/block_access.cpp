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

/// The access mask (bit 0: read, bit 1: write) that is assumed for an address if its use is
/// unknown.
constexpr std::int64_t kReadsAndWrites = 3;

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
    iters_ = &block.iters;
    declared_ = {block.reads, block.writes};
    for (const Buffer& buffer : block.alloc_buffers) hide(buffer);
    for (const MatchBuffer& match : block.match_buffers) match_buffer(match.buffer, match.source);
    body_ = &block.body;
    if (block.init) {
      part_ = Part::Init;
      stmt(*block.init);
      part_ = Part::Update;
    }
    stmt(block.body);
    BlockAccess access;
    for (const Touched& touched : writes_) access.writes.push_back(touched.region());
    for (const Touched& touched : reads_) access.reads.push_back(touched.region());
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

  /// Whether the visitor is in the init or in the update of a block. None for a block without an
  /// init.
  enum class Part : std::uint8_t { None, Init, Update };
  Part part_ = Part::None;
  const std::vector<IterVar>* iters_ = nullptr;
  const Stmt* body_ = nullptr;
  /// The regions that the block declares already.
  BlockAccess declared_;
  using Loops = std::vector<std::pair<Var, Range>>;
  /// The loops around the current statement, outermost first.
  Loops loops_;
  /// The conditions under which the current statement runs.
  std::vector<Expr> conditions_;
  /// The number of enclosing guarded() calls. If it is not 0, a condition may prevent the access.
  int guards_ = 0;
  /// Regions in which this instance has provably stored every element.
  std::vector<std::pair<Buffer, std::vector<Interval>>> stored_;

  void hide(const Buffer& buffer) { hidden_.insert(&buffer->data.node()); }

  void match_buffer(const Buffer& buffer, const BufferRegion& source) {
    by_data_.try_emplace(&buffer->data.node(), buffer);
    matched_.insert_or_assign(buffer.get(), source);
  }

  void stmt(const Stmt& s) {
    match(
        s.node().value,
        [&](const Store& n) {
          touch(writes_, n.buffer, n.indices);
          expr(n.value);
          for (const Expr& index : n.indices) expr(index);
          std::vector<Range> element;
          for (const Expr& index : n.indices)
            element.push_back(Range::from_min_extent(index, make_int(index.dtype().element(), 1)));
          stored({n.buffer, std::move(element)});
        },
        [&](const For& n) {
          expr(n.min), expr(n.extent);
          const Range range = Range::from_min_extent(n.min, n.extent);
          relax(n.var, range);
          loops_.emplace_back(n.var, range);
          stmt(n.body);
          loops_.pop_back();
        },
        [&](const If& n) {
          expr(n.condition);
          under(n.condition, n.then_case);
          if (n.else_case) under(make_not(n.condition), *n.else_case);
        },
        [&](const While& n) {
          expr(n.condition);
          under(n.condition, n.body);
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

  void under(const Expr& condition, const Stmt& s) {
    conditions_.push_back(condition);
    stmt(s);
    conditions_.pop_back();
  }

  void children(const Stmt& s) {
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
  }

  void expr(const Expr& e) {
    if (const Load* load = e.as<Load>()) touch(reads_, load->buffer, load->indices);
    if (const Call* call = as_call(e, Intrin::tvm_access_ptr)) return access_ptr(*call);
    if (as_call(e, Intrin::prefetch) || as_call(e, Intrin::isnullptr)) return;
    if (const Call* call = as_call(e, Intrin::address_of))
      if (const Load* load = call->args[0].as<Load>()) address(load->buffer->data, kReadsAndWrites);
    if (e.as<VarNode>()) address(e, kReadsAndWrites);
    for_each_operand(
        e, [&](const Expr& c) { expr(c); },
        [&](const Expr&, const Expr& c) { guarded([&] { expr(c); }); });
  }

  /// Runs `visit` for an operand or a nested block whose accesses a condition may prevent.
  template <class F>
  void guarded(F visit) {
    ++guards_;
    visit();
    --guards_;
  }

  /// Records the accesses through the address of a buffer. They are assumed to be in the regions
  /// that the block declares. If it declares no region of the buffer, all elements may be accessed:
  /// read if bit 0 of `mask` is set, written if bit 1 is set.
  void address(const Expr& data, std::int64_t mask) {
    bool is_declared = false;
    const auto add = [&](std::vector<Touched>& all, const std::vector<BufferRegion>& regions) {
      for (const BufferRegion& region : regions) {
        if (!region.buffer->data.same_as(data)) continue;
        is_declared = true;
        touch(all, region.buffer, box(region.region));
      }
    };
    add(reads_, declared_.reads), add(writes_, declared_.writes);
    const auto known = by_data_.find(&data.node());
    if (is_declared || known == by_data_.end()) return;
    const Buffer buffer = known->second;
    const std::vector<Interval> whole(buffer->shape.size(), Interval::everything());
    if (mask & 1) touch(reads_, buffer, whole);
    if (mask & 2) touch(writes_, buffer, whole);
  }

  /// Handles an access pointer with the arguments (type, data pointer, offset, extent, mask).
  void access_ptr(const Call& call) {
    for (std::size_t n = 2; n < call.args.size(); ++n) expr(call.args[n]);
    address(call.args[1], constant_int(call.args[4]).value_or(kReadsAndWrites));
  }

  /// Adds the declared regions of a nested block, for the values of its iterators. A block with a
  /// reduction declares only writes. If the reduction may have begun before this instance, the
  /// block also reads the previous value, so its writes are added to the reads.
  void block(const BlockRealize& n) {
    for (const Expr& value : n.values) expr(value);
    expr(n.predicate);
    VarMap values;
    for (std::size_t i = 0; i < n.block->iters.size(); ++i)
      set(values, n.block->iters[i].var(), n.values[i]);
    auto add = [&](std::vector<Touched>& all, const std::vector<BufferRegion>& regions) {
      for (const BufferRegion& r : regions) {
        std::vector<Range> region = r.region;
        for (Range& range : region) range = substitute(range, values);
        touch(all, r.buffer, box(region));
      }
    };
    const auto add_all = [&] {
      add(reads_, n.block->reads);
      if (n.block->init && !begins_inside(n)) add(reads_, n.block->writes);
      add(writes_, n.block->writes);
    };
    if (!is_true(n.predicate)) return guarded(add_all);
    add_all();
    for (const BufferRegion& written : n.block->writes) {
      std::vector<Range> region;
      for (const Range& range : written.region) region.push_back(substitute(range, values));
      stored({written.buffer, std::move(region)});
    }
  }

  /// Whether each reduction of the nested block provably begins in this instance of the outer
  /// block. This is proved by an iteration of the inner loops that runs the init, has the same
  /// values of the nested block's spatial iterators, and is not later than the current iteration.
  bool begins_inside(const BlockRealize& n) const {
    const auto reduces = [&](std::size_t i) {
      return n.block->iters[i].kind() == IterKind::Reduce;
    };
    const auto any_value = [&](bool is_reduced, auto&& holds) {
      for (std::size_t i = 0; i < n.values.size(); ++i)
        if (reduces(i) == is_reduced && holds(n.values[i])) return true;
      return false;
    };
    // Moves each loop that a reduction iterator uses to its first iteration. If spatial iterators
    // use the loop as well, and the reduction iterator is `loop % divisor`, rounds the loop down to
    // a multiple of `divisor` instead.
    VarMap first;
    for (const auto& [var, range] : loops_) {
      const auto uses = [&](const Expr& value) { return uses_var(value, var); };
      if (!any_value(true, uses)) continue;
      if (!any_value(false, uses)) {
        set(first, var, range.min);
        continue;
      }
      any_value(true, [&](const Expr& value) {
        return any_node(value, [&](const Binary& digit) {
          if (digit.op != BinaryOp::FloorMod || !constant_int(digit.b) || !uses(digit.a) ||
              !can_prove_equal(floormod(range.min, digit.b), Expr(0)))
            return false;
          set(first, var, floordiv(var, digit.b) * digit.b);
          return true;
        });
      });
    }
    const auto moves = [&](const Expr& e) {
      return uses_var(e, [&](const Expr& v) { return first.contains(&v.node()); });
    };
    Facts facts;
    for (const auto& [var, range] : loops_) {
      if (moves(range.min) || moves(range.extent)) return false;
      facts.bind(var, range);
    }
    for (const IterVar& iter : *iters_)
      if (iter.dom()) facts.bind(iter.var(), *iter.dom());
    for (std::size_t i = 0; i < n.values.size(); ++i) {
      if (uses_let(n.values[i])) return false;
      const Expr begun = substitute(n.values[i], first);
      const Expr& expected = reduces(i) ? n.block->iters[i].dom()->min : n.values[i];
      if (contains<Load>(begun)) {
        if (reduces(i) || moves(n.values[i]) || is_overwritten(begun)) return false;
      } else if (!can_prove_equal(begun, expected, facts)) {
        return false;
      }
    }
    const auto holds_at_first = [&](const auto& self, const Expr& condition) -> bool {
      if (const Binary* both = as_binary(condition, BinaryOp::And))
        return self(self, both->a) && self(self, both->b);
      return (!moves(condition) && !uses_let(condition) && !is_overwritten(condition)) ||
             can_prove(substitute(condition, first), facts);
    };
    return holds_at_first(holds_at_first, n.predicate) &&
           std::ranges::all_of(conditions_, [&](const Expr& condition) {
             return holds_at_first(holds_at_first, condition);
           });
  }

  /// Records a region that a statement stores, if this instance provably stores every element of
  /// the region before the statements that follow.
  void stored(const BufferRegion& written) {
    if (part_ == Part::None || !conditions_.empty() || matched_.contains(written.buffer.get()))
      return;
    if (part_ == Part::Update && !loops_.empty()) return;
    for (const auto& [var, range] : loops_)
      if (is_relaxed(range.min) || is_relaxed(range.extent)) return;
    Loops loops = loops_;
    for (const Range& range : written.region)
      if (range.min.dtype().is_vector() || is_overwritten(range.min) || !is_dense(range, loops))
        return;
    // `is_dense` has removed the loops that occur in the range. The remaining loops only repeat the
    // stores, so each of them must provably have an iteration.
    for (const auto& [var, range] : loops)
      if (!can_prove(range.extent > 0)) return;
    stored_.emplace_back(written.buffer, box(written.region));
  }

  /// Whether the expression reads memory that the body may write.
  bool is_overwritten(const Expr& e) const {
    return any_node(e, [&](const Load& load) {
      return uses_var(*body_, load.buffer->data) || any_node(*body_, [&](const Store& store) {
               return store.buffer->data.same_as(load.buffer->data);
             });
    });
  }

  /// Whether the ranges of all iterations together cover an interval without gaps. Removes the
  /// loops that occur in the range from `loops`.
  bool is_dense(const Range& range, Loops& loops) const {
    Expr width = range.extent;
    for (auto loop = loops.end(); loop-- != loops.begin();) {
      const auto& [var, own] = *loop;
      if (uses_var(range.extent, var)) return false;
      if (!uses_var(range.min, var)) continue;
      const Expr step = simplify(substitute(range.min, VarMap{{&var.node(), var + 1}}) - range.min);
      if (!constant_int(step) || !can_prove(step >= 1 && step <= width)) return false;
      // If the ranges of two iterations overlap, the width computed below is positive even for a
      // loop without iterations. The loop must therefore provably have an iteration.
      if (!can_prove(step == width || own.extent > 0)) return false;
      width = simplify(width + step * (own.extent - 1));
      loop = loops.erase(loop);
    }
    return !uses_let(range.min);
  }

  /// Whether the value uses a let or a thread axis inside the block.
  bool uses_let(const Expr& e) const {
    return uses_var(e, [&](const Expr& v) {
      return relaxed_.find(v.node()) &&
             std::ranges::none_of(loops_, [&](const auto& loop) { return loop.first.same_as(v); });
    });
  }

  /// Whether this instance has stored all elements of the box.
  bool is_stored(const Buffer& buffer, const std::vector<Interval>& box) const {
    return std::ranges::any_of(stored_, [&](const auto& stored) {
      if (!stored.first.same_as(buffer)) return false;
      for (std::size_t d = 0; d < box.size(); ++d) {
        const Interval &outer = stored.second[d], &inner = box[d];
        if (!outer.is_bounded() || !inner.is_bounded()) return false;
        if (!can_prove(*outer.min() <= *inner.min()) || !can_prove(*inner.max() <= *outer.max()))
          return false;
      }
      return true;
    });
  }

  void relax(const Var& var, const Range& range) {
    relaxed_.set(var, values_of(Interval::from_range(range), relaxed_));
  }

  /// Whether the value varies with the block's loops and lets.
  bool is_relaxed(const Expr& e) const {
    return uses_var(e, [&](const Expr& v) { return relaxed_.find(v.node()); });
  }

  /// Whether the value can be the end of a region. It must be a scalar. It must not load from a
  /// buffer that exists only inside the block. If a condition guards the access, it must not load
  /// at all, because the region is evaluated without the condition.
  bool is_end(const Expr& e) const {
    const bool is_guarded = guards_ > 0 || !conditions_.empty();
    return e.dtype().is_scalar() && !any_node(e, [&](const Load& load) {
             return is_guarded || hidden_.contains(&load.buffer->data.node()) ||
                    matched_.contains(load.buffer.get());
           });
  }

  /// Returns the interval of an index. An index that does not vary inside the block is not
  /// simplified.
  Interval interval(const Expr& index) const {
    return is_relaxed(index) ? values_of(index, relaxed_) : Interval::point(index);
  }

  Interval side(const Range& range) const {
    if (is_one(range.extent)) return interval(range.min);
    // Simplifies min + extent - 1 before computing its bounds. Otherwise the minimum and the extent
    // could take their greatest values in different iterations, and the interval would be too
    // large.
    return values_of(Interval::of(range.min, simplify(range.min + range.extent - 1)), relaxed_);
  }

  std::vector<Interval> box(const std::vector<Range>& region) const {
    std::vector<Interval> sides;
    for (const Range& range : region) sides.push_back(side(range));
    return sides;
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
    for (Interval& side : box)
      if (side.is_bounded() && !(is_end(*side.min()) && is_end(*side.max())))
        side = Interval::everything();
    const auto matched = matched_.find(buffer.get());
    if (matched != matched_.end()) {
      const BufferRegion& source = matched->second;
      return touch(all, source.buffer, in_source(source, box));
    }
    if (&all == &reads_ && part_ == Part::Update && is_stored(buffer, box)) return;
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
        result.push_back(side(range));
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
