#include "tenon/topi/gpu.h"

#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/tags.h"
#include "topi/ops/inline_maps.h"

namespace tenon::topi::gpu {

namespace {

using te::IterVar;
using te::Schedule;
using te::Stage;

[[noreturn]] void refuse(const char* function, const Tensor& out, const std::string& why,
                         const SourceLocation& where) {
  throw ScheduleError(std::string(function) + " of `" + out.name() + "`: " + why, where);
}

/// Returns the product of the extents, or nullopt if one is not constant.
std::optional<std::int64_t> count_of(const std::vector<te::Expr>& extents) {
  std::int64_t count = 1;
  for (const te::Expr& extent : extents) {
    const auto value = tir::constant_int(extent);
    if (!value || __builtin_mul_overflow(count, *value, &count)) return std::nullopt;
  }
  return count;
}

/// Returns the greatest power of two that exceeds neither argument.
int power_of_two(std::int64_t most, std::int64_t count) {
  int power = 1;
  while (power * 2 <= most && power * 2 <= count) power *= 2;
  return power;
}

IterVar thread(const char* tag) { return te::thread_axis(tag); }

}  // namespace

// ---- maps ---------------------------------------------------------------------------------------

Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (!te::is_injective(out.op()))
    refuse("schedule_elementwise", out, "it is not an elementwise map", where);
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_elementwise", out, {out.op()}, where);
  Stage stage = s[out];
  IterVar all = stage.fuse(stage.op().axis());
  const auto count = count_of(out.shape());
  constexpr int kLanes = 4;
  if (count && *count % kLanes == 0 && te::is_elementwise(stage.op())) {
    auto [vectors, lanes] = stage.split(all, kLanes);
    stage.vectorize(lanes);
    all = vectors;
  }
  auto [block, inside] = stage.split(all, std::min(256, target.max_threads_per_block));
  stage.bind(block, thread("blockIdx.x")).bind(inside, thread("threadIdx.x"));
  return s;
}

Schedule schedule_transpose(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const te::Operation op = out.op();
  if (!te::is_injective(op) || op.inputs().size() != 1 || out.ndim() < 2)
    refuse("schedule_transpose", out, "it is not a transposition of one tensor", where);
  Schedule s = te::create_schedule(out);
  const Tensor tile = s.cache_read(op.inputs()[0], "shared", {op});
  inline_maps(s, "schedule_transpose", out, {op}, where);
  Stage to = s[out];
  std::vector<IterVar> axes = to.op().axis();
  const IterVar x = axes.back(), y = axes[axes.size() - 2];
  constexpr int kTile = 32;
  const int rows = std::min(8, std::max(1, target.max_threads_per_block / kTile));
  auto [yo, xo, yi, xi] = to.tile(y, x, kTile, kTile);
  auto [round, row] = to.split(yi, rows);
  const IterVar bx = thread("blockIdx.x"), by = thread("blockIdx.y"), bz = thread("blockIdx.z");
  const IterVar tx = thread("threadIdx.x"), ty = thread("threadIdx.y");
  std::vector<IterVar> outer(axes.begin(), axes.end() - 2);
  std::vector<IterVar> order = outer;
  order.insert(order.end(), {yo, xo, round, row, xi});
  to.reorder(order);
  to.bind(yo, by).bind(xo, bx).bind(row, ty).bind(xi, tx);
  if (!outer.empty()) to.bind(to.fuse(outer), bz);
  Stage from = s[tile];
  from.compute_at(to, xo);
  const std::vector<IterVar> own = from.op().axis();
  auto [rest, column] = from.split(own.back(), kTile);
  auto [more, line] = from.split(own[own.size() - 2], rows);
  from.reorder({more, rest, line, column});
  from.bind(line, ty).bind(column, tx);
  // Rows are padded by one element, so that a column spans all banks.
  from.storage_align(own[own.size() - 2], kTile, 1);
  return s;
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

/// Distributes the reduction of an element over threads. Each thread adds every `threads`-th term,
/// and the sums of the threads are combined.
void reduce_by_threads(const Stage& stage, int threads, const IterVar& tx) {
  const std::vector<IterVar> axes = stage.op().reduce_axis();
  const IterVar all = axes.size() > 1 ? stage.fuse(axes) : axes.front();
  stage.bind(stage.split(all, threads).inner, tx);
}

int threads_for(const te::Operation& op, int most) {
  std::vector<te::Expr> extents;
  for (const IterVar& axis : op.reduce_axis()) extents.push_back(axis.dom()->extent);
  return power_of_two(most, count_of(extents).value_or(most));
}

/// Returns the operation that reduces: the tensor's own operation, or the one that computes the
/// pairs of an argmax.
te::Operation reduction_of(const Tensor& out) {
  if (!out.op().reduce_axis().empty() || out.op().inputs().empty()) return out.op();
  return out.op().inputs()[0].op();
}

}  // namespace

Schedule schedule_reduction(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const te::Operation op = reduction_of(out);
  if (op.reduce_axis().empty()) refuse("schedule_reduction", out, "it is not a reduction", where);
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_reduction", out, {out.op(), op}, where);
  Stage stage = s[out], sums = s[op];
  const IterVar tx = thread("threadIdx.x"), ty = thread("threadIdx.y");
  const IterVar bx = thread("blockIdx.x");
  // If the last dimension of the input is not reduced, it is the last one of the result.
  const std::vector<Tensor>& inputs = op.inputs();
  const auto& name = op.reduce_axis().back().name();
  const std::string last = "k" + std::to_string(inputs.empty() ? 0 : inputs[0].ndim() - 1);
  const bool is_by_rows = op.axis().empty() || name == last;
  const int most = std::min(256, target.max_threads_per_block);
  const IterVar elements = stage.fuse(stage.op().axis());
  if (is_by_rows) {
    stage.bind(elements, bx);
    if (!stage.same_as(sums)) sums.compute_at(stage, elements);
    reduce_by_threads(sums, threads_for(op, most), tx);
    return s;
  }
  auto [block, column] = stage.split(elements, 32);
  stage.bind(block, bx).bind(column, tx);
  if (!stage.same_as(sums)) {
    // For pairs of position and value, the threads share the pairs of a block's columns.
    sums.compute_at(stage, block).set_scope("shared");
    sums.bind(sums.fuse(op.axis()), tx);
  }
  reduce_by_threads(sums, threads_for(op, most / 32), ty);
  return s;
}

Schedule schedule_softmax(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  if (out.op().tag() != kSoftmaxOutput)
    refuse("schedule_softmax", out, "it is not a softmax", where);
  const te::Operation power = out.op().inputs()[0].op(), sum = out.op().inputs()[1].op();
  te::Operation greatest = power;
  for (const Tensor& x : power.inputs())
    if (x.op().tag() == kCommReduce) greatest = x.op();
  Schedule s = te::create_schedule(out);
  inline_maps(s, "schedule_softmax", out, {out.op(), sum, power, greatest}, where);
  s[power].compute_inline();
  Stage norm = s[out];
  std::vector<IterVar> axes = norm.op().axis();
  const IterVar along = axes.back();
  const bool is_last = sum.reduce_axis().size() == 1 && sum.axis().size() + 1 == axes.size() &&
                       greatest.reduce_axis().size() == 1;
  if (!is_last) refuse("schedule_softmax", out, "it is not along the last dimension", where);
  axes.pop_back();
  const IterVar row = norm.fuse(axes), tx = thread("threadIdx.x");
  const int threads = threads_for(sum, std::min(256, target.max_threads_per_block));
  norm.bind(row, thread("blockIdx.x"));
  norm.bind(norm.split(along, threads).inner, tx);
  for (const te::Operation& op : {greatest, sum}) {
    s[op].compute_at(norm, row).set_scope("shared");
    reduce_by_threads(s[op], threads, tx);
  }
  return s;
}

}  // namespace tenon::topi::gpu
