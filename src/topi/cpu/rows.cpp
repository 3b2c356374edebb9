// Operators on rows for CPUs (topi/cpu.h): softmax, norms, row reductions, attention.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/transformer.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Operation;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Range;
using tir::Var;

// ---- reductions ---------------------------------------------------------------------------------

namespace {

/// The stages of a reduction over each row. The first stage computes several vectors of partial
/// results, because the latency of an operation exceeds its issue interval. The next stages reduce
/// them to one vector, and combine its halves repeatedly. The last stage computes the final result.
/// A reduction whose terms must keep their order is not split.
struct RowReduction {
  Tensor result;
  /// The stages of partial results, in the order of computation. Empty if the reduction is not
  /// split.
  std::vector<Tensor> partial;

  /// Splits the reduction. Precondition: no schedule primitive has been applied to its stage.
  RowReduction(const Schedule& s, const Tensor& reduction, const TargetFacts& target);
  /// Schedules the loops of all stages. Attaches the partial results at `place`, a loop of `stage`.
  /// Without `place`, the stages of the partial results remain at the root.
  void arrange(const Schedule& s, const Stage& stage, const std::optional<IterVar>& place) const;

 private:
  /// Adds a stage with `results` partial results, each of which reduces every `results`-th term.
  void add_part(const Schedule& s, const IterVar& terms, int results);

  int lanes_;
};

/// Whether vectors of the rows that `reduction` reads from memory cross cache lines, but vectors of
/// half the length do not.
bool starts_within_lines(const Operation& reduction, double terms, int lanes) {
  const Expr& term = reduction.as<te::Compute>()->reduction()->source.front();
  const auto* load = term.as<tir::ProducerLoad>();
  if (!load || !Tensor::of(*load).op().as<te::Placeholder>()) return false;
  const int bytes = term.dtype().bytes();
  return lanes * bytes == kBytesOfALine &&
         std::fmod(terms * bytes, kBytesOfALine) == kBytesOfALine / 2;
}

RowReduction::RowReduction(const Schedule& s, const Tensor& reduction, const TargetFacts& target)
    : result(reduction), lanes_(lanes_of(reduction.dtype(), target)) {
  constexpr int kVectors = 4, kMinTerms = 8;
  const Operation op = reduction.op();
  const std::optional<double> terms = count_of(reduced_extents(op));
  if (op.num_outputs() > 1 || terms.value_or(kMinTerms) < kMinTerms || !has_free_terms(op)) return;
  if (terms && *terms < lanes_)
    lanes_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(*terms)));
  if (terms && starts_within_lines(op, *terms, lanes_)) lanes_ /= 2;
  const int vectors = terms.value_or(0) < 2 * kVectors * lanes_ ? 1 : kVectors;
  const Stage stage = s[reduction];
  add_part(s, fused(stage, op.reduce_axis()), vectors * lanes_);
  if (vectors > 1) add_part(s, stage.op().reduce_axis(0), lanes_);
  for (int half = lanes_ / 2; half > 1; half /= 2) add_part(s, stage.op().reduce_axis(0), half);
}

void RowReduction::add_part(const Schedule& s, const IterVar& terms, int results) {
  partial.push_back(s.rfactor(result, s[result].split(terms, results).inner, result.ndim()));
}

void RowReduction::arrange(const Schedule& s, const Stage& stage,
                           const std::optional<IterVar>& place) const {
  for (const Tensor& tensor : partial) {
    const Stage part = s[tensor];
    if (place) part.compute_at(stage, *place).set_scope("local");
    arrange_partial_results(part, tensor.op().same_as(partial.front().op()), lanes_);
  }
  if (!partial.empty()) s[result].unroll(s[result].op().reduce_axis(0));
}

}  // namespace

// ---- groups of stages ---------------------------------------------------------------------------

namespace {

/// Whether the first `rows` indices of each read of the input are the reader's first axes.
bool reads_own_row(const Operation& reader, const Operation& input, std::size_t rows) {
  if (reader.axis().size() < rows) return false;
  const auto reads_other_row = [&](const tir::ProducerLoad& load) {
    if (!Tensor::of(load).op().same_as(input)) return false;
    bool is_own = load.indices.size() >= rows;
    for (std::size_t n = 0; is_own && n < rows; ++n)
      is_own = load.indices[n].same_as(reader.axis()[n].var());
    return !is_own;
  };
  return std::ranges::none_of(reader.body(),
                              [&](const Expr& e) { return tir::any_node(e, reads_other_row); });
}

/// Returns the producers of a tensor that can be computed together with it, row by row, consumers
/// first. The first `rows` dimensions are the rows. Only the operation of the tensor and other
/// operations of the group read such a producer, and each row of the tensor depends only on the
/// same row of the producer.
std::vector<Operation> producers_by_rows(const Schedule& s, const Tensor& out, std::size_t rows) {
  std::vector<Operation> group = group_with(
      s, out.op(), [](const Operation& op) { return !is_core(op.output(0)); },
      [&](const Operation& op, const std::vector<Operation>& readers) {
        // Without row dimensions, a reduction with output axes does not join the group. It is
        // scheduled on its own.
        const bool is_own = rows == 0 && !op.reduce_axis().empty() && !op.axis().empty();
        return !is_own && !is_core(op.output(0)) &&
               std::ranges::all_of(readers, [&](const Operation& reader) {
                 return reads_own_row(reader, op, rows);
               });
      });
  group.erase(group.begin());
  return group;
}

/// A number of rows, and the producers that are computed by rows.
using RowGroup = std::pair<std::size_t, std::vector<Operation>>;

/// Returns the group in which the maximum number of leading dimensions counts as rows, such that
/// the group contains a reduction. Nullopt if there is no such group.
std::optional<RowGroup> group_of(const Schedule& s, const Tensor& out) {
  const auto is_reduction = [](const Operation& op) { return !op.reduce_axis().empty(); };
  const std::size_t dimensions = out.shape().size();
  if (is_reduction(out.op())) return RowGroup(dimensions, producers_by_rows(s, out, dimensions));
  for (std::size_t rows = dimensions; rows-- > 0;) {
    const std::vector<Operation> members = producers_by_rows(s, out, rows);
    if (std::ranges::any_of(members, is_reduction)) return RowGroup(rows, members);
  }
  return std::nullopt;
}

/// Whether recomputing a row of the operation is at most as expensive as storing and loading it.
/// True without calls, and if the L2 cache does not hold the input, the row and the result.
bool is_cheap(const Operation& op, std::size_t rows, const TargetFacts& target) {
  const bool has_call = tir::any_node(op.body().front(), [](const tir::Call&) { return true; });
  const std::vector<Expr> shape = op.output(0).shape();
  const std::optional<double> elements =
      count_of({shape.begin() + static_cast<std::ptrdiff_t>(rows), shape.end()});
  constexpr int kArrays = 3;  // the input, the row and the result
  return !has_call ||
         kArrays * elements.value_or(0) * op.output(0).dtype().bytes() > target.caches.l2;
}

int reads_of(const Operation& reader, const Operation& input) {
  int count = 0;
  for (const Expr& e : reader.body())
    tir::walk(e, [&](const tir::ProducerLoad& load) {
      if (Tensor::of(load).op().same_as(input)) ++count;
    });
  return count;
}

bool is_read_once(const std::vector<Operation>& members, const Tensor& out, const Operation& op) {
  int count = reads_of(out.op(), op);
  for (const Operation& reader : members) count += reads_of(reader, op);
  return count == 1;
}

/// Prefetches the next row while the current row is computed. Rows of at least half of the L1 cache
/// are excluded, because they would evict the current row. Rows below 1 KiB are excluded, because
/// the hardware prefetcher handles them.
void prefetch_next_row(const Stage& member, const IterVar& vectors, int lanes,
                       const TargetFacts& target) {
  constexpr double kMin = 1024;
  const std::optional<double> own = count_of({member.op().output(0).shape().back()});
  for (const Tensor& tensor : member.op().inputs()) {
    if (!tensor.op().as<te::Placeholder>() || tensor.ndim() < 2) continue;
    const std::optional<double> elements = count_of({tensor.shape().back()}),
                                all = count_of(tensor.shape());
    if (!elements || elements != own || !all) continue;
    const int size = tensor.dtype().bytes();
    if (*elements * size < kMin || *elements * size > target.caches.l1 / 2.0) continue;
    if (*all * size > target.caches.l2)
      member.prefetch(tensor, vectors, static_cast<int>(*elements) / lanes);
  }
}

/// Returns the inputs of which a reduction reads one long row, from its beginning, and which exceed
/// a quarter of the L2 cache.
std::vector<Tensor> streamed_inputs(const Operation& reduction, const TargetFacts& target) {
  constexpr double kMinRow = 2048;
  std::vector<Tensor> streamed;
  if (reduction.reduce_axis().size() != 1) return streamed;
  const Var term = reduction.reduce_axis().front().var();
  const double terms = terms_of(reduction).value_or(0);
  // The loads of each tensor, or nullptr for a tensor that is not read along one row.
  std::vector<std::pair<Tensor, const tir::ProducerLoad*>> reads;
  const auto is_along_row = [&](const tir::ProducerLoad& load) {
    const auto uses_term = [&](const Expr& index) { return tir::uses_var(index, term); };
    return !load.indices.empty() && load.indices.back().same_as(term) &&
           std::ranges::none_of(load.indices.begin(), load.indices.end() - 1, uses_term);
  };
  for (const Expr& each : reduction.body())
    tir::walk(each, [&](const tir::ProducerLoad& load) {
      const Tensor input = Tensor::of(load);
      const auto known =
          std::ranges::find_if(reads, [&](const auto& read) { return read.first.same_as(input); });
      if (known == reads.end())
        reads.emplace_back(input, is_along_row(load) ? &load : nullptr);
      else if (known->second && !tir::structural_equal(known->second->indices, load.indices))
        known->second = nullptr;
    });
  for (const auto& [input, load] : reads) {
    const int size = input.dtype().bytes();
    if (load && input.op().as<te::Placeholder>() && terms * size >= kMinRow &&
        count_of(input.shape()).value_or(0) * size > target.caches.l2 / 4.0)
      streamed.push_back(input);
  }
  return streamed;
}

/// Prefetches the inputs of a reduction in its stage of partial results, because the prefetchers of
/// processors stop at the ends of pages. Sums of data in the L2 or L3 cache become up to 1.2 times
/// as fast (Zen 5).
void prefetch_ahead(const Stage& partial, const std::vector<Tensor>& inputs) {
  constexpr std::int64_t kBytesAhead = 2048;
  const std::int64_t results =
      tir::constant_int(partial.op().axis().back().dom()->extent).value_or(1);
  for (const Tensor& input : inputs) {
    const std::int64_t steps = kBytesAhead / (results * input.dtype().bytes());
    partial.prefetch(input, partial.op().reduce_axis(0), static_cast<int>(steps));
  }
}

void arrange_group(const Schedule& s, const Tensor& out, std::size_t rows,
                   const std::vector<Operation>& members, const TargetFacts& target) {
  std::vector<RowReduction> reductions;
  std::vector<Operation> kept;
  std::optional<double> terms = terms_of(out.op());
  for (const Operation& op : members) {
    if (terms) *terms += terms_of(op).value_or(0);
    if (!op.reduce_axis().empty())
      reductions.push_back(RowReduction(s, op.output(0), target));
    else if (te::is_injective(op) && (is_cheap(op, rows, target) || is_read_once(members, out, op)))
      s[op].compute_inline();
    else
      kept.push_back(op);
  }
  const bool is_reduction = !out.op().reduce_axis().empty();
  std::vector<Tensor> streamed;
  if (is_reduction && reductions.empty()) streamed = streamed_inputs(out.op(), target);
  if (is_reduction) reductions.push_back(RowReduction(s, out, target));

  const Stage stage = s[out];
  const std::vector<IterVar> axes = stage.op().axis();
  std::optional<IterVar> row;
  if (rows > 0) {
    const auto own = static_cast<std::ptrdiff_t>(rows);
    const std::vector<Expr> shape = out.shape();
    std::vector<Expr> of_a_row(shape.begin() + own, shape.end());
    for (const Expr& extent : reduced_extents(out.op())) of_a_row.push_back(extent);
    row = share_out_rows(stage, {axes.begin(), axes.begin() + own}, count_of(of_a_row), terms,
                         target.cores);
  }
  if (!is_reduction) {
    const IterVar vectors = vectorize_loop(stage, axes.back(), lanes_of(out.dtype(), target));
    // The sums of softmax are at least 1, so their reciprocals are finite and normal.
    if (find_softmax(out)) stage.pragma(vectors, "allow_reciprocals", 1);
  }
  for (const RowReduction& reduction : reductions) {
    const bool is_own = is_reduction && reduction.result.op().same_as(out.op());
    if (row && !is_own) s[reduction.result].compute_at(stage, *row);
    reduction.arrange(s, stage, row);
    if (is_own && !reduction.partial.empty())
      prefetch_ahead(s[reduction.partial.front()], streamed);
  }
  for (const Operation& op : kept) {
    const Stage member = s[op];
    if (row) member.compute_at(stage, *row);
    if (member.op().axis().size() > rows) {
      const int lanes = lanes_of(op.output(0).dtype(), target);
      const IterVar vectors = vectorize_loop(member, member.op().axis().back(), lanes);
      prefetch_next_row(member, vectors, lanes, target);
    }
  }
}

}  // namespace

bool arrange_rows(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<RowGroup> group = group_of(s, out);
  if (group) arrange_group(s, out, group->first, group->second, target);
  return group.has_value();
}

Schedule schedule_rows(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_rows(s, out, target))
    refuse("schedule_rows", out,
           "nothing is reduced for each row of it (topi::softmax, layer_norm, sum over the last "
           "dimensions)",
           where);
  leave_loops_to_compiler(s, {});
  return s;
}

// ---- attention ----------------------------------------------------------------------------------

namespace {

/// The tensors of an attention, as topi::attention declares them.
struct Attention {
  Tensor out, values, sum, power, scores, greatest, keys;

  std::vector<te::Operation> operations() const {
    return {out.op(), values.op(), sum.op(), power.op(), greatest.op(), scores.op()};
  }
};

/// Returns the inputs of the operation that computes `x`; nullopt unless their ranks, in order, are
/// `dimensions`.
std::optional<std::vector<Tensor>> inputs_of(const Tensor& x, std::vector<int> dimensions) {
  const std::vector<Tensor> inputs = x.op().inputs();
  if (inputs.size() != dimensions.size()) return std::nullopt;
  for (std::size_t n = 0; n < inputs.size(); ++n)
    if (inputs[n].ndim() != dimensions[n]) return std::nullopt;
  return inputs;
}

bool is_reduction(const Tensor& x) {
  return x.op().reduce_axis().size() == 1 && has_free_terms(x.op());
}

/// Checks the tag and the data flow, because users may set the same tag.
std::optional<Attention> find_attention(const Tensor& out) {
  if (out.op().tag() != kAttention || out.ndim() != 3) return std::nullopt;
  const auto of_out = inputs_of(out, {3, 2});
  if (!of_out) return std::nullopt;
  const Tensor &values = (*of_out)[0], &sum = (*of_out)[1];
  const auto of_sum = inputs_of(sum, {3});
  if (!of_sum || !is_reduction(values) || !is_reduction(sum)) return std::nullopt;
  const Tensor& power = of_sum->front();
  const auto of_power = inputs_of(power, {3, 2});
  if (!of_power || !reads(values.op(), power.op())) return std::nullopt;
  const Tensor &scores = (*of_power)[0], &greatest = (*of_power)[1];
  if (!is_reduction(scores) || !is_reduction(greatest) || !reads(greatest.op(), scores.op()))
    return std::nullopt;
  // The same tensor may serve as queries and as keys.
  const std::vector<Tensor> factors = scores.op().inputs();
  if (factors.empty() || factors.size() > 2 || factors.back().ndim() != 3) return std::nullopt;
  return Attention{out, values, sum, power, scores, greatest, factors.back()};
}

/// Returns the number of queries per block. The scores of a block, and their exponentials, stay in
/// the L2 cache.
int queries_of_a_block(const Attention& a, int tile_rows, const TargetFacts& target) {
  constexpr std::int64_t kMax = 64;
  const std::int64_t keys = tir::constant_int(a.keys.shape()[1]).value_or(1024);
  const std::int64_t bytes = 2 * std::max<std::int64_t>(keys, 1) * a.scores.dtype().bytes();
  const std::int64_t tiles = target.caches.l2 / 2 / bytes / tile_rows;
  return static_cast<int>(std::clamp<std::int64_t>(tiles * tile_rows, tile_rows, kMax));
}

/// Pads the last panel with zeros for missing keys, so that its tiles are computed like the others.
void compute_whole_panels(const Stage& tile, const Stage& keys, int width) {
  const std::optional<std::int64_t> count = tir::constant_int(keys.op().output(0).shape()[1]);
  if (!count || *count == 0 || tile.op().inputs().size() != 2) return;
  const IterVar of_tile = tile.op().axis()[2], of_keys = keys.op().axis()[1];
  keys.round_up(of_keys);
  tile.round_up(of_tile);
  // If the tile is wider than the number of keys, no loop around it overruns the keys. The bounds
  // must be set explicitly.
  if (*count < width) {
    keys.bound(of_keys, Range(0, width));
    tile.bound(of_tile, Range(0, width));
  }
}

/// Returns the number of vectors of keys in a panel, at most `most`. The last panel is padded, so
/// the number with fewer missing vectors is chosen.
int vectors_of_keys(const Attention& a, int lanes, int most) {
  const std::optional<std::int64_t> keys = tir::constant_int(a.keys.shape()[1]);
  const auto padded = [&](int vectors) { return parts_of(*keys, vectors * lanes) * vectors; };
  return keys && most > 2 && padded(most - 1) < padded(most) ? most - 1 : most;
}

/// Whether a matrix of the tensor exceeds half of the L1 cache. Rows whose length is a power of two
/// would then evict each other.
bool exceeds_half_of_l1(const Tensor& x, const TargetFacts& target) {
  const std::optional<double> count = count_of({x.shape()[1], x.shape()[2]});
  return count.value_or(target.caches.l1) * x.dtype().bytes() > target.caches.l1 / 2.0;
}

/// Whether the iterations can be distributed about evenly over the cores.
bool share_out_evenly(const Expr& iterations, int cores) {
  constexpr std::int64_t kMany = 4;
  const std::int64_t count = tir::constant_int(iterations).value_or(1);
  return count % cores == 0 || count >= kMany * cores;
}

/// Keeps the accumulators of the tile in registers. The tile is spanned by the last two axes of the
/// stage.
void keep_tile_in_registers(const Stage& tile, int lanes) {
  constexpr int kStepsAtOnce = 8;
  const std::vector<IterVar> axes = tile.op().axis();
  keep_in_registers(tile, reduce_by_steps(tile, kStepsAtOnce), axes[1], axes[2], lanes);
}

}  // namespace

bool has_own_schedule(const Schedule& s, const Tensor& x) {
  return find_request(s, x, is_core) || find_attention(x) || group_of(s, x);
}

bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<Attention> found = find_attention(out);
  if (!found) return false;
  const Attention& a = *found;
  const std::vector<te::Operation> all = a.operations();
  for (auto op = all.begin() + 1; op != all.end(); ++op)
    if (!is_only_for(s, s[*op], all)) return false;
  const int lanes = lanes_of(out.dtype(), target);
  const bool has_32_registers = target.vector_registers.count >= 32;
  const int rows = has_32_registers ? 8 : 4;
  const int width = vectors_of_keys(a, lanes, has_32_registers ? 3 : 2) * lanes;
  const int block = queries_of_a_block(a, rows, target);
  const bool has_threads = are_worth_threads(terms_of(a.scores.op()));

  const Tensor tile_of_scores = s.cache_write(a.scores, "local");
  const Tensor packed = s.cache_read(a.keys, "global", {tile_of_scores.op()});
  compute_whole_panels(s[tile_of_scores], s[packed], width);
  const RowReduction greatest(s, a.greatest, target), sum(s, a.sum, target);
  std::optional<Tensor> packed_values;
  for (const Tensor& input : a.values.op().inputs())
    if (!input.same_as(a.power) && input.ndim() == 3 && exceeds_half_of_l1(input, target))
      packed_values = s.cache_read(input, "global", {a.values.op()});
  const IterVar panels_of_keys = lay_out_turned_panels(s, packed, width, lanes);
  s[packed].pragma(panels_of_keys, kPartitioned, 1);

  const Stage result = s[out];
  const std::vector<IterVar> axes = result.op().axis();
  auto [blocks, query] = result.split(axes[1], block);
  auto [tiles, row] = result.split(query, rows);
  // One register must remain for the factor by which the columns are multiplied.
  const std::optional<std::int64_t> depth = tir::constant_int(out.shape()[2]);
  const std::int64_t vectors = std::max<std::int64_t>(depth.value_or(2 * lanes) / lanes, 1);
  const int columns = static_cast<int>(even_part(vectors, has_32_registers ? 3 : 2)) * lanes;
  auto [parts, column] = result.split(axes[2], columns);
  result.reorder({axes[0], blocks, parts, tiles, row, column});
  vectorize_loop(result, column, lanes);
  std::optional<IterVar> panels_of_values;
  if (packed_values) {
    panels_of_values = lay_out_in_panels(s[*packed_values], 2, 1, columns, lanes)[1];
    s[*packed_values].pragma(*panels_of_values, kPartitioned, 1);
  }
  result.pragma(tiles, kPartitioned, 1).pragma(parts, kPartitioned, 1);
  const bool has_own_heads = !has_threads || share_out_evenly(out.shape()[0], target.cores);
  const IterVar each = has_own_heads ? blocks : result.fuse(axes[0], blocks);
  if (has_own_heads) {
    // The block loop is not fused with the loop over heads, so that partitioning gives the last
    // block separate loops.
    result.pragma(blocks, kPartitioned, 1);
    s[packed].compute_at(result, axes[0]);
    if (packed_values) s[*packed_values].compute_at(result, axes[0]);
  }
  if (has_threads) {
    result.parallel(has_own_heads ? axes[0] : each);
    if (!has_own_heads) s[packed].parallel(panels_of_keys);
    if (!has_own_heads && packed_values) s[*packed_values].parallel(*panels_of_values);
  }
  s[a.values].compute_at(result, tiles).set_scope("local");
  keep_tile_in_registers(s[a.values], lanes);

  const Stage power = s[a.power];
  power.compute_at(result, each);
  const IterVar of_power = power.op().axis()[1];
  vectorize_loop(power, power.op().axis()[2], lanes);
  s[a.greatest].compute_at(power, of_power);
  greatest.arrange(s, power, of_power);
  const Stage sums = s[a.sum];
  sums.compute_at(result, each);
  sum.arrange(s, sums, sums.op().axis()[1]);

  const Stage scores = s[a.scores];
  scores.compute_at(result, each);
  const std::vector<IterVar> own = scores.op().axis();
  auto [rows_of_tiles, panels, i, j] = scores.tile(own[1], own[2], rows, width);
  scores.reorder({panels, rows_of_tiles, i, j});
  vectorize_loop(scores, j, lanes);
  scores.pragma(panels, kPartitioned, 1).pragma(rows_of_tiles, kPartitioned, 1);
  s[tile_of_scores].compute_at(scores, rows_of_tiles);
  keep_tile_in_registers(s[tile_of_scores], lanes);
  return true;
}

Schedule schedule_attention(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_attention(s, out, target))
    refuse("schedule_attention", out, "it is not a topi::attention", where);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
