#include "lower/loops/storage_plan.h"

#include <algorithm>
#include <list>
#include <map>

#include "lower/loops/in_place.h"
#include "tenon/tir/block.h"

namespace tenon::lowering {

using namespace tir;

namespace {

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

}  // namespace

StoragePlan plan_storage(const StorageTimeline& timeline) { return StoragePlanner(timeline).run(); }

}  // namespace tenon::lowering
