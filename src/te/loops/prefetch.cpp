#include "te/loops/prefetch.h"

#include "tenon/arith/interval.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;

namespace {

/// Whether the index is itself read from memory. Its value in a later iteration is unknown and may
/// not exist.
bool is_looked_up(const Load& load) {
  bool found = false;
  for (const Expr& index : load.indices) walk(index, [&](const Load&) { found = true; });
  return found;
}

/// The reads of a buffer at predictable indices, with the loops and threads around them inside the
/// body.
struct ReadRegion {
  std::vector<std::vector<Interval>> per_dim;
  IntervalMap loops;
};

ReadRegion region_read(const Buffer& buffer, const Stmt& body) {
  ReadRegion region{std::vector<std::vector<Interval>>(buffer.shape().size()), {}};
  walk(
      body,
      [&](const For& loop) {
        region.loops.set(loop.var,
                         Interval::from_range(Range::from_min_extent(loop.min, loop.extent)));
      },
      [&](const Attr& attr) {
        if (attr.kind != AttrKind::ThreadExtent && attr.kind != AttrKind::VirtualThread) return;
        region.loops.set(std::get<IterVar>(attr.subject).var(),
                         Interval::from_range(Range(0, attr.value)));
      },
      [&](const Load& load) {
        if (!load.buffer.same_as(buffer) || is_looked_up(load)) return;
        for (std::size_t i = 0; i < load.indices.size(); ++i) {
          region.per_dim[i].push_back(values_of(load.indices[i], region.loops));
        }
      });
  return region;
}

}  // namespace

Stmt with_prefetch(const Buffer& buffer, const Var& loop, const Expr& offset, const Stmt& body) {
  const ReadRegion read = region_read(buffer, body);
  VarMap later;
  set(later, loop, loop + offset);
  std::vector<Range> region;
  for (const std::vector<Interval>& reads : read.per_dim) {
    const Interval all = hull(reads);
    if (!all.is_bounded()) return body;
    const Range now = all.to_range(Range::from_min_extent(*all.min(), 1), arith::Facts());
    region.push_back(Range::from_min_extent(substitute_folding(now.min, later),
                                            substitute_folding(now.extent, later)));
  }
  return make_seq({make_stmt(Prefetch{buffer, std::move(region)}), body});
}

}  // namespace tenon::te
