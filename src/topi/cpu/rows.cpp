// Operators on rows for CPUs (topi/cpu.h): softmax, norms, row reductions.
#include "topi/cpu/rows.h"

#include <algorithm>
#include <bit>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/nn.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Operation;
using te::Schedule;
using te::Stage;
using tir::Expr;

// ---- reductions ---------------------------------------------------------------------------------

RowReduction::RowReduction(const Schedule& s, const Tensor& reduction, const TargetFacts& target)
    : result(reduction), lanes_(lanes_of(reduction.dtype(), target)) {
  constexpr int kVectors = 4, kMinTerms = 8;
  const Operation op = reduction.op();
  const std::optional<double> terms = count_of(reduced_extents(op));
  if (op.num_outputs() > 1 || terms.value_or(kMinTerms) < kMinTerms) return;
  if (terms && *terms < lanes_)
    lanes_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(*terms)));
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
    const IterVar terms = part.op().reduce_axis(0), results = part.op().axis().back();
    if (tensor.op().same_as(partial.front().op())) {
      auto [vector, lane] = part.split(results, lanes_);
      part.reorder({terms, vector, lane}).unroll(vector).vectorize(lane);
      part.pragma(terms, kPartitioned, 1);
    } else {
      part.reorder({terms, results}).unroll(terms).vectorize(results);
    }
  }
  if (!partial.empty()) s[result].unroll(s[result].op().reduce_axis(0));
}

// ---- groups of stages ---------------------------------------------------------------------------

namespace {

/// Whether each read of the input has the reader's first `rows` axes as its first indices.
bool reads_own_row(const Operation& reader, const Operation& input, std::size_t rows) {
  bool is_own = true;
  const auto check = [&](const Expr& e) {
    tir::walk(e, [&](const tir::ProducerLoad& load) {
      if (!Tensor::of(load).op().same_as(input)) return;
      is_own = is_own && load.indices.size() >= rows;
      for (std::size_t n = 0; is_own && n < rows; ++n)
        is_own = load.indices[n].same_as(reader.axis()[n].var());
    });
  };
  if (reader.axis().size() < rows) return false;
  for (const Expr& e : reader.body()) check(e);
  return is_own;
}

/// A tensor and the operations that each of its rows requires only for that row.
class RowGroup {
 public:
  RowGroup(const Schedule& s, const Tensor& out, std::size_t rows) : rows_(rows) {
    std::vector<Operation> group{out.op()};
    const std::vector<Stage> stages = s.stages();
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      const Operation op = stage->op();
      if (!op.as<te::Compute>() || is_one_of(op, group) || !is_only_for(s, *stage, group)) continue;
      if (is_core(op.output(0)) || !are_own_rows(group, op)) continue;
      group.push_back(op);
    }
    members_.assign(group.begin() + 1, group.end());
  }

  std::size_t rows() const { return rows_; }
  /// The operations other than the tensor's own, readers first.
  const std::vector<Operation>& members() const { return members_; }
  bool has_reduction() const {
    return std::any_of(members_.begin(), members_.end(),
                       [](const Operation& op) { return !op.reduce_axis().empty(); });
  }

 private:
  bool are_own_rows(const std::vector<Operation>& readers, const Operation& op) const {
    bool is_read = false;
    for (const Operation& reader : readers) {
      if (!reads(reader, op)) continue;
      is_read = true;
      if (!reads_own_row(reader, op, rows_)) return false;
    }
    return is_read;
  }

  std::size_t rows_;
  std::vector<Operation> members_;
};

/// Returns the group with the largest number of leading dimensions as rows for which some operation
/// is computed per row.
std::optional<RowGroup> group_of(const Schedule& s, const Tensor& out) {
  const std::size_t dimensions = out.shape().size();
  if (!out.op().reduce_axis().empty()) return RowGroup(s, out, dimensions);
  for (std::size_t rows = dimensions; rows-- > 0;) {
    const RowGroup group(s, out, rows);
    if (group.has_reduction()) return group;
  }
  return std::nullopt;
}

/// Whether recomputing the operation costs no more than storing its result.
bool is_cheap(const Operation& op) {
  bool has_call = false;
  tir::walk(op.body().front(), [&](const tir::Call&) { has_call = true; });
  return !has_call;
}

int reads_of(const Operation& reader, const Operation& input) {
  int count = 0;
  for (const Expr& e : reader.body())
    tir::walk(e, [&](const tir::ProducerLoad& load) {
      if (Tensor::of(load).op().same_as(input)) ++count;
    });
  return count;
}

bool is_read_once(const RowGroup& group, const Tensor& out, const Operation& op) {
  int count = reads_of(out.op(), op);
  for (const Operation& reader : group.members()) count += reads_of(reader, op);
  return count == 1;
}

/// Prefetches the next row while a row is computed. Excludes rows of at least half of the L1 cache,
/// which would evict the current row's data, and rows below 1 KiB, which the hardware prefetcher
/// handles.
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

void arrange_group(const Schedule& s, const Tensor& out, const RowGroup& group,
                   const TargetFacts& target) {
  std::vector<RowReduction> reductions;
  std::vector<Operation> kept;
  std::optional<double> terms = terms_of(out.op());
  for (const Operation& op : group.members()) {
    if (terms) *terms += terms_of(op).value_or(0);
    if (!op.reduce_axis().empty())
      reductions.push_back(RowReduction(s, op.output(0), target));
    else if (te::is_injective(op) && (is_cheap(op) || is_read_once(group, out, op)))
      s[op].compute_inline();
    else
      kept.push_back(op);
  }
  const bool is_reduction = !out.op().reduce_axis().empty();
  if (is_reduction) reductions.push_back(RowReduction(s, out, target));

  const Stage stage = s[out];
  const std::vector<IterVar> axes = stage.op().axis();
  std::optional<IterVar> row;
  if (group.rows() > 0) {
    const auto own = static_cast<std::ptrdiff_t>(group.rows());
    const std::vector<Expr> shape = out.shape();
    std::vector<Expr> of_a_row(shape.begin() + own, shape.end());
    for (const Expr& extent : reduced_extents(out.op())) of_a_row.push_back(extent);
    row = share_out_rows(stage, {axes.begin(), axes.begin() + own}, count_of(of_a_row), terms);
  }
  if (!is_reduction) {
    const IterVar vectors = vectorize_loop(stage, axes.back(), lanes_of(out.dtype(), target));
    // The sums of softmax are at least 1, so their reciprocals are finite and normal.
    if (out.op().tag() == kSoftmaxOutput) stage.pragma(vectors, "allow_reciprocals", 1);
  }
  for (const RowReduction& reduction : reductions) {
    const bool is_own = is_reduction && reduction.result.op().same_as(out.op());
    if (row && !is_own) s[reduction.result].compute_at(stage, *row);
    reduction.arrange(s, stage, row);
  }
  for (const Operation& op : kept) {
    const Stage member = s[op];
    if (row) member.compute_at(stage, *row);
    if (member.op().axis().size() > group.rows()) {
      const int lanes = lanes_of(op.output(0).dtype(), target);
      const IterVar vectors = vectorize_loop(member, member.op().axis().back(), lanes);
      prefetch_next_row(member, vectors, lanes, target);
    }
  }
}

}  // namespace

bool arrange_rows(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<RowGroup> group = group_of(s, out);
  if (group) arrange_group(s, out, *group, target);
  return group.has_value();
}

Schedule schedule_rows(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_rows(s, out, target))
    throw ScheduleError("schedule_rows of `" + out.name() +
                            "`: nothing is reduced for each row of it (topi::softmax, layer_norm, "
                            "sum over the last dimensions)",
                        where);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
