#include "lower/loops/storage_timeline.h"

#include <algorithm>

#include "lower/hoisted_extents.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

StorageScope Allocation::scope() const {
  const VarNode* var = node.data.as<VarNode>();
  return var && var->pointer ? var->pointer->scope.value_or(StorageScope::Global)
                             : StorageScope::Global;
}

std::optional<std::int64_t> Allocation::constant_bits() const {
  std::int64_t bits = static_cast<std::int64_t>(node.dtype.bits) * node.dtype.lanes;
  for (const Expr& extent : extents) {
    const auto value = constant_int(extent);
    if (!value || *value < 0 || __builtin_mul_overflow(bits, *value, &bits)) return std::nullopt;
  }
  return bits;
}

std::optional<AllocationId> StorageTimeline::find(const Var& data) const {
  const auto it = by_data.find(&data.node());
  if (it == by_data.end()) return std::nullopt;
  return it->second;
}

namespace {

class TimelineMaker {
 public:
  StorageTimeline make(const Stmt& body) {
    stmt(body);
    return std::move(timeline_);
  }

 private:
  /// A statement that defines a variable for its body.
  struct Definition {
    const StmtNode* stmt;
    Var var;
    std::optional<Range> range;
    /// Whether the iterations run concurrently, so that memory must be allocated inside.
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
        [&](const Realize&) {
          internal_error("rewrite_storage wants flat memory, found a realize");
        },
        [&](const BufferView&) {
          internal_error("rewrite_storage wants flat memory, found a buffer view");
        },
        [&](const Prefetch&) {
          internal_error("rewrite_storage wants flat memory, found a prefetch");
        },
        [&](const BlockRealize&) {
          internal_error("rewrite_storage wants flat memory, found a block");
        });
  }

  void store(const Store& n) {
    expr(n.value);
    for (const Expr& index : n.indices) expr(index);
    touch(n.buffer->data);
  }

  void attr(const Stmt& s, const Attr& n) {
    if (const auto* axis = std::get_if<IterVar>(&n.subject);
        axis && n.kind == AttrKind::ThreadExtent) {
      Definition thread{&s.node(), axis->var(),
                        Range::from_min_extent(make_int(n.value.dtype(), 0), n.value), !in_kernel_,
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
  void leaf(const Stmt& s, F f) {
    open_.emplace_back();
    f();
    close(Moment{Moment::Kind::Leaf, s, {}});
  }

  /// Records the operands of a statement whose body is not a scope.
  void operands(const Stmt& s, const Expr& e) {
    open_.emplace_back();
    expr(e);
    close(Moment{Moment::Kind::Leaf, s, {}, false});
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

  void close(Moment moment) {
    moment.touched = std::move(open_.back());
    open_.pop_back();
    if (!moment.touched.empty()) timeline_.moments.push_back(std::move(moment));
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
    // The first definition between the place and the allocation.
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

  /// Replaces the extent by a bound without inner variables, or moves the place inwards.
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
  /// The level of each allocation: the number of scopes open at the allocation.
  std::vector<std::size_t> levels_;
  /// The allocations that the open scopes and the current leaf touch, by level.
  std::vector<std::vector<AllocationId>> open_;
  std::vector<Definition> definitions_;
  bool in_kernel_ = false;
  /// The number of definitions around the open persistent region.
  std::optional<std::size_t> region_;
};

}  // namespace

StorageTimeline make_storage_timeline(const Stmt& body) { return TimelineMaker().make(body); }

}  // namespace tenon::lowering
