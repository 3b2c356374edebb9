// Turns vectors with equal gaps in memory, such as interleaved channels, into dense vectors and a
// shuffle.
//
//   C[ramp(b, 3, 16)] = x    C[ramp(b + 1, 3, 16)] = y    C[ramp(b + 2, 3, 16)] = z
//   =>   C[ramp(b, 1, 48)] = shuffle([x, y, z], [0, 16, 32, 1, 17, 33, ...])
//
// Splits a gather whose lanes interleave several dense vectors, as in a fused axis of channels:
//
//   A[floormod(ramp(0, 1, 48), 3)*n + floordiv(ramp(0, 1, 48), 3)]
//   =>   shuffle([A[ramp(0, 1, 16)], A[ramp(n, 1, 16)], A[ramp(2*n, 1, 16)]], [0, 16, 32, ...])
//
// Replaces a gather of elements that lie within one vector, as at the edge of an image with clamped
// indices:
//
//   A[max(ramp(-1, 1, 4), broadcast(0, 4)) + broadcast(b, 4)]
//   =>   shuffle([A[ramp(b, 1, 2)], A[ramp(b + 1, 1, 2)]], [0, 0, 1, 3])
//
// Combines two to four vectors at a time. Stores are combined only if none of them changes an
// element that a later one reads.
#include "lower/passes.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>

#include "lower/cpu/loop_body.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr int kMinChannels = 2, kMaxChannels = 4;

/// Returns the interleaved vectors: the first lane of each vector, then the second lane of each,
/// and so on.
Expr interleaved(const std::vector<Expr>& vectors) {
  const int lanes = vectors[0].dtype().lanes;
  std::vector<Expr> picks;
  for (int lane = 0; lane < lanes; ++lane)
    for (std::size_t n = 0; n < vectors.size(); ++n)
      picks.emplace_back(static_cast<int>(n) * lanes + lane);
  return make_shuffle(vectors, picks);
}

class Interleaver {
 public:
  Stmt stmt(const Stmt& s) {
    // The stores of a vector branch skip elements, so its accesses cannot be dense.
    if (!contains<Ramp>(s)) return s;
    if (const If* n = s.as<If>(); n && n->condition.dtype().is_vector()) return s;
    if (const For* n = s.as<For>())
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    if (const Let* n = s.as<Let>(); n && n->var.dtype().is_int()) let(*n);
    const Stmt inside = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
    const Seq* n = inside.as<Seq>();
    return n ? sequence(*n, inside) : inside;
  }

 private:
  void let(const Let& n) {
    constexpr std::size_t kMaxInlined = 256;
    if (arith::wraps(n.value, facts_)) return arith::bind_data(n.var, facts_);
    const Expr value = substitute(substitute(n.value, vector_lets_), lets_);
    if (node_count(value) <= kMaxInlined)
      set(n.var.dtype().is_vector() ? vector_lets_ : lets_, n.var, value);
  }

  // ---- stores ----

  Stmt sequence(const Seq& n, const Stmt& self) const {
    std::vector<Stmt> parts;
    for (std::size_t at = 0; at < n.stmts.size();) {
      const std::span<const Stmt> rest = std::span(n.stmts).subspan(at);
      if (std::optional<Stmt> dense = dense_store(rest)) {
        at += static_cast<std::size_t>(channels_of(rest.front()));
        parts.push_back(std::move(*dense));
      } else {
        parts.push_back(n.stmts[at++]);
      }
    }
    return parts.size() == n.stmts.size() ? self : make_seq(std::move(parts));
  }

  static const Ramp* place_of(const Stmt& s) {
    const Store* store = s.as<Store>();
    return store && store->indices.size() == 1 && store->buffer->dtype.is_scalar()
               ? store->indices[0].as<Ramp>()
               : nullptr;
  }

  /// Returns the number of interleaved stores, including `s`, that together leave no gaps; 0 if the
  /// stride is unsuitable.
  static int channels_of(const Stmt& s) {
    const Ramp* place = place_of(s);
    const std::int64_t stride = place ? constant_int(place->stride).value_or(0) : 0;
    return stride >= kMinChannels && stride <= kMaxChannels ? static_cast<int>(stride) : 0;
  }

  /// Returns one dense store that replaces the first statements of the list; nullopt unless these
  /// statements fill each other's gaps.
  std::optional<Stmt> dense_store(std::span<const Stmt> stmts) const {
    const int channels = channels_of(stmts.front());
    if (channels == 0 || stmts.size() < static_cast<std::size_t>(channels)) return std::nullopt;
    const Store& first = *stmts.front().as<Store>();
    const Ramp& first_place = *place_of(stmts.front());
    std::map<std::int64_t, const Store*> by_offset;
    for (const Stmt& s : stmts.first(static_cast<std::size_t>(channels))) {
      const Ramp* place = place_of(s);
      if (channels_of(s) != channels || place->lanes != first_place.lanes) return std::nullopt;
      const Store& store = *s.as<Store>();
      if (!store.buffer.same_as(first.buffer) || reads_another_place(store)) return std::nullopt;
      const std::optional<std::int64_t> offset = constant_int(arith::simplify(
          substitute(place->base, lets_) - substitute(first_place.base, lets_), facts_));
      if (!offset) return std::nullopt;
      by_offset.emplace(*offset, &store);
    }
    // The offsets must be distinct and consecutive.
    const std::int64_t span = by_offset.rbegin()->first - by_offset.begin()->first + 1;
    if (span != channels || static_cast<int>(by_offset.size()) != channels) return std::nullopt;
    std::vector<Expr> values;
    for (const auto& [offset, store] : by_offset) values.push_back(store->value);
    const Ramp& lowest = *by_offset.begin()->second->indices[0].as<Ramp>();
    return make_store(
        first.buffer, interleaved(values),
        {make_ramp(lowest.base, make_int(lowest.base.dtype(), 1), first_place.lanes * channels)});
  }

  /// Whether the store reads elements of its own buffer that it does not store.
  static bool reads_another_place(const Store& store) {
    const auto is_other = [&](const Load& load) {
      return load.buffer->data.same_as(store.buffer->data) &&
             !(load.buffer.same_as(store.buffer) &&
               structural_equal(load.indices[0], store.indices[0]));
    };
    return any_node(store.value, is_other) || any_node(store.indices[0], is_other);
  }

  // ---- loads ----

  Expr expr(const Expr& e) {
    if (!contains<Load>(e)) return e;
    // The arms of a vector choice are evaluated lane by lane, so only the condition is rewritten.
    if (const Call* n = as_call(e, Intrin::if_then_else); n && n->args[0].dtype().is_vector())
      return make_call(e.dtype(), n->callee, {expr(n->args[0]), n->args[1], n->args[2]});
    const Expr result = map_children(e, [&](const Expr& child) { return expr(child); });
    const Load* load = result.as<Load>();
    if (!load || load->indices.size() != 1 || !load->buffer->dtype.is_scalar()) return result;
    const Expr index = substitute(load->indices[0], vector_lets_);
    if (index.dtype().is_scalar() || index.as<Ramp>() || index.as<Broadcast>() ||
        contains<Load>(index) || contains<Call>(index))
      return result;
    if (std::optional<Expr> dense = neighbours(load->buffer, index)) return *dense;
    for (int channels = kMinChannels; channels <= kMaxChannels; ++channels)
      if (std::optional<Expr> dense = dense_loads(load->buffer, index, channels)) return *dense;
    return result;
  }

  /// Returns the index of the first lane, and the constant offset of each lane from it; nullopt if
  /// the distances between the lanes are not constant.
  std::optional<std::pair<Expr, std::vector<std::int64_t>>> positions_of(const Expr& index) const {
    const std::optional<Expr> base = lane_value(index, Expr(0));
    std::vector<std::int64_t> offsets;
    for (int lane = 0; lane < index.dtype().lanes; ++lane) {
      const std::optional<Expr> value = base ? lane_value(index, Expr(lane)) : std::nullopt;
      const std::optional<std::int64_t> offset =
          value ? constant_int(arith::simplify(*value - *base, facts_)) : std::nullopt;
      if (!offset) return std::nullopt;
      offsets.push_back(*offset);
    }
    return std::pair(*base, std::move(offsets));
  }

  /// Returns a load whose elements lie within one vector as a shuffle of dense loads.
  std::optional<Expr> neighbours(const Buffer& buffer, const Expr& index) const {
    const auto positions = positions_of(index);
    if (!positions) return std::nullopt;
    const auto& [base, offsets] = *positions;
    const int lanes = index.dtype().lanes;
    const auto [first, last] = std::ranges::minmax(offsets);
    if (last - first >= lanes) return std::nullopt;
    const DataType type = base.dtype();
    const Expr begin = arith::simplify(base + make_int(type, first));
    const int span = static_cast<int>(last - first) + 1;
    if (span == 1) return make_broadcast(make_load(buffer, {begin}), lanes);
    // Uses two overlapping loads of a power-of-two width, because code generators would split loads
    // of other widths.
    const int width = static_cast<int>(std::bit_floor(static_cast<unsigned>(span)));
    const auto vector_at = [&](int first_element) {
      const Expr at = arith::simplify(begin + make_int(type, first_element));
      return make_load(buffer, {make_ramp(at, make_int(type, 1), width)});
    };
    std::vector<Expr> vectors = {vector_at(0)};
    if (width < span) vectors.push_back(vector_at(span - width));
    bool is_in_order = width == lanes;
    std::vector<Expr> picks;
    for (const std::int64_t offset : offsets) {
      const int element = static_cast<int>(offset - first);
      is_in_order = is_in_order && element == static_cast<int>(picks.size());
      picks.emplace_back(element < width ? element : element - (span - width) + width);
    }
    return is_in_order ? vectors[0] : make_shuffle(vectors, picks);
  }

  /// Returns the load as one contiguous load per channel.
  std::optional<Expr> dense_loads(const Buffer& buffer, const Expr& index, int channels) {
    const int lanes = index.dtype().lanes;
    if (lanes % channels != 0 || lanes / channels < 2) return std::nullopt;
    const Var lane("lane"), group("group");
    const std::optional<Expr> position = lane_value(index, lane);
    if (!position) return std::nullopt;
    facts_.bind(group, Range(0, lanes / channels));
    std::vector<Expr> vectors;
    for (int channel = 0; channel < channels; ++channel) {
      VarMap in_group;
      set(in_group, lane, group * channels + channel);
      const Expr at = arith::simplify(substitute(substitute(*position, in_group), lets_), facts_);
      const std::optional<Expr> step = step_of(at, group);
      if (!step || !is_one(*step)) return std::nullopt;
      VarMap first;
      set(first, group, Expr(0));
      vectors.push_back(
          make_load(buffer, {make_ramp(arith::simplify(substitute(at, first), facts_),
                                       make_int(index.dtype().element(), 1), lanes / channels)}));
    }
    return interleaved(vectors);
  }

  arith::Facts facts_;
  /// The values of scalar lets and of vector lets, with inner lets inlined.
  VarMap lets_, vector_lets_;
};

}  // namespace

PrimFunc interleave_lanes(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return with_body(func, Interleaver().stmt(func.body));
}

}  // namespace tenon::lowering
