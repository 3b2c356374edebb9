// Expands a prefetch of a region into loops over its cache lines, which prefetch one address per
// line.
//
//   prefetch A[i + 1, 0 .. 64)                                // float32: 16 elements per line
//   for (prefetch.A.0, 0, 1) {
//     for (prefetch.A.1, 0, 4) {
//       @tir.prefetch(@tir.address_of(A[((prefetch.A.0 + i) + 1), (prefetch.A.1*16)]), 0, 3, 1)
//
// The pass runs before flatten_storage, because the addresses have multi-dimensional indices.
// Inside a vectorized loop, the region covers all lanes; if it cannot be determined, nothing is
// prefetched. options.legacy_prefetch_index produces the indices of TVM 0.9 text, in reverse order
// of the dimensions.
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr int kCacheLineBytes = 64;

/// Returns (inner, step): a cache line holds `step` elements of dimension `inner`, including all
/// dimensions inside it.
std::pair<int, int> walk_of(const Buffer& buffer) {
  const int line = std::max(1, kCacheLineBytes / buffer->dtype.bytes());
  int inner = buffer->rank() - 1;
  std::int64_t block = 1;
  while (inner > 0) {
    const std::optional<std::int64_t> extent = constant_int(buffer->shape[inner]);
    if (!extent || *extent < 1 || block * *extent > line) break;
    block *= *extent;
    --inner;
  }
  return {inner, static_cast<int>(line / block)};
}

Var loop_var(const Buffer& buffer, int dim) {
  return Var("prefetch." + buffer->name + "." + std::to_string(dim));
}

Stmt prefetch_of(const Buffer& buffer, const std::vector<Expr>& indices) {
  const Expr address = make_call(Handle(), Intrin::address_of, {make_load(buffer, indices)});
  return make_evaluate(make_call(buffer->dtype, Intrin::prefetch, {address, 0, 3, 1}));
}

Expr lines(const Range& range, int step) { return truncdiv(range.extent - 1, step) + 1; }

Stmt loops_around(Stmt s, const std::vector<Var>& vars, int inner, int step,
                  const std::vector<Range>& region) {
  for (int dim = inner; dim >= 0; --dim)
    s = make_stmt(For{vars[dim], 0, dim == inner ? lines(region[dim], step) : region[dim].extent,
                      ForKind::Serial, s});
  return s;
}

Stmt loops_of(const Buffer& buffer, const std::vector<Range>& region) {
  const auto [inner, step] = walk_of(buffer);
  std::vector<Expr> indices;
  std::vector<Var> vars;
  for (int dim = 0; dim < buffer->rank(); ++dim) {
    vars.push_back(loop_var(buffer, dim));
    const Expr& min = region[dim].min;
    indices.push_back(dim < inner ? vars[dim] + min : dim == inner ? vars[dim] * step + min : min);
  }
  return loops_around(prefetch_of(buffer, indices), vars, inner, step, region);
}

/// Returns the loops of TVM 0.9 text: the indices are in reverse order, and each loop has the
/// variable of the mirrored dimension.
Stmt legacy_loops_of(const Buffer& buffer, const std::vector<Range>& region) {
  const auto [inner, step] = walk_of(buffer);
  std::vector<Expr> indices;
  std::vector<Var> vars;
  for (int dim = buffer->rank() - 1; dim > inner; --dim) indices.push_back(region[dim].min);
  for (int dim = inner; dim >= 0; --dim) {
    vars.push_back(loop_var(buffer, dim));
    indices.push_back(dim == inner ? region[dim].min + step * vars.back()
                                   : vars.back() + region[dim].min);
  }
  return loops_around(prefetch_of(buffer, indices), vars, inner, step, region);
}

/// Replaces the prefetches in `s` by loops. `lanes` has the variables of the vectorized loops
/// around and before `s`. Entries are not removed, because each variable has exactly one
/// definition.
Stmt with_prefetch_loops(const Stmt& s, bool legacy, arith::IntervalMap& lanes) {
  if (const For* loop = s.as<For>(); loop && loop->kind == ForKind::Vectorized)
    lanes.set(loop->var,
              arith::Interval::from_range(Range::from_min_extent(loop->min, loop->extent)));
  const Prefetch* prefetch = s.as<Prefetch>();
  if (!prefetch)
    return map_statements(s, [&](const Stmt& c) { return with_prefetch_loops(c, legacy, lanes); });
  const Buffer& buffer = prefetch->buffer;
  if (prefetch->region.size() != buffer->shape.size())
    internal_error("a prefetch of `" + buffer->name + "` of another rank");
  std::vector<Range> region = prefetch->region;
  if (lanes.size() > 0) {
    for (Range& range : region) {
      const arith::Interval first = arith::values_of(range.min, lanes);
      const arith::Interval last = arith::values_of(range.min + range.extent - 1, lanes);
      if (!first.is_bounded() || !last.is_bounded()) return make_nop();
      range = arith::Interval::of(*first.min(), *last.max()).to_range(range, arith::Facts());
    }
  }
  return legacy ? legacy_loops_of(buffer, region) : loops_of(buffer, region);
}

}  // namespace

PrimFunc inject_prefetch(const PrimFunc& func, const PassOptions& options) {
  arith::IntervalMap lanes;
  return with_body(func, with_prefetch_loops(func.body, options.legacy_prefetch_index, lanes));
}

}  // namespace tenon::lowering
