#include "topi/cpu/request.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "topi/cpu/arrange.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::Operation;
using te::Schedule;
using te::Stage;

bool reads(const Operation& reader, const Operation& op) {
  return std::ranges::any_of(reader.inputs(),
                             [&](const Tensor& input) { return input.op().same_as(op); });
}

bool is_only_for(const Schedule& s, const Stage& stage, const std::vector<Operation>& readers) {
  const Operation op = stage.op();
  if (!te::is_untouched(stage) || is_one_of(op, s.outputs())) return false;
  return std::ranges::all_of(stage.readers(),
                             [&](const Stage& reader) { return is_one_of(reader.op(), readers); });
}

bool is_map_only_for(const Schedule& s, const Tensor& x, const Operation& reader) {
  return te::is_injective(x.op()) && is_only_for(s, s[x], {reader});
}

std::vector<Operation> group_with(
    const Schedule& s, const Operation& out, const std::function<bool(const Operation&)>& continues,
    const std::function<bool(const Operation&, const std::vector<Operation>&)>& joins) {
  // The transitive producers of `out`, and `out`. Producers precede their consumers.
  std::vector<Operation> above;
  std::unordered_set<const te::OperationNode*> seen{out.get()};
  std::vector<std::pair<Operation, std::size_t>> path{{out, 0}};
  while (!path.empty()) {
    auto& [op, next] = path.back();
    if (next < op.inputs().size() && (next > 0 || path.size() == 1 || continues(op))) {
      const Operation input = op.inputs()[next++].op();
      if (input.as<te::Compute>() && seen.insert(input.get()).second) path.emplace_back(input, 0);
      continue;
    }
    above.push_back(op);
    path.pop_back();
  }
  std::vector<Operation> group{out};
  for (auto op = above.rbegin() + 1; op != above.rend(); ++op)
    if (is_only_for(s, s[*op], group) && joins(*op, group)) group.push_back(*op);
  return group;
}

void leave_loops_to_compiler(const Schedule& s, const std::vector<Operation>& scheduled) {
  for (const Stage& stage : s.stages())
    if (!is_one_of(stage.origin_op(), scheduled)) stage.autotune_loops();
}

void Request::inline_maps(const Schedule& s) const {
  for (const Operation& op : between) s[op].compute_inline();
}

Tensor Request::sums_in_registers(const Schedule& s) const {
  if (!is_mapped()) return s.cache_write(core, "local");
  s[core].set_scope("local");
  return core;
}

void Request::inline_reshapes(const Schedule& s) const {
  for (const Tensor& input : core.op().inputs())
    if (is_reshape(input.op()) && is_map_only_for(s, input, core.op())) s[input].compute_inline();
}

namespace {

/// Whether the operation has a single output of the same rank as `out`.
bool has_rank_of(const Operation& op, const Tensor& out) {
  return op.num_outputs() == 1 && op.output(0).ndim() == out.ndim();
}
bool is_map_like(const Operation& op, const Tensor& out) {
  return has_rank_of(op, out) && te::is_broadcast(op);
}

}  // namespace

std::optional<Request> find_request(const Schedule& s, const Tensor& out, IsCore is_core) {
  if (is_core(out)) return Request{out, out, {}};
  if (!te::is_broadcast(out.op())) return std::nullopt;
  std::optional<Tensor> core;
  const std::vector<Operation> maps = group_with(
      s, out.op(), [&](const Operation& op) { return is_map_like(op, out); },
      [&](const Operation& op, const std::vector<Operation>&) {
        // The last operation of a core may look like a map.
        const bool is_last_core = !core && has_rank_of(op, out) && is_core(op.output(0));
        if (is_last_core) core = op.output(0);
        return !is_last_core && is_map_like(op, out);
      });
  if (!core) return std::nullopt;
  // Collects the maps that read the operator, directly or through other maps. All other maps are
  // left unchanged.
  std::vector<Operation> from_core{core->op()};
  for (auto map = maps.rbegin(); map != maps.rend(); ++map)
    if (std::ranges::any_of(from_core, [&](const Operation& op) { return reads(*map, op); }))
      from_core.push_back(*map);
  if (!from_core.back().same_as(out.op())) return std::nullopt;
  return Request{out, *core, {from_core.begin() + 1, from_core.end() - 1}};
}

Request checked_request(const char* function, const Schedule& s, const Tensor& out, IsCore is_core,
                        const char* kind, const SourceLocation& where) {
  if (const std::optional<Request> found = find_request(s, out, is_core)) return *found;
  std::string why = "it is not a " + std::string(kind) + " and not an elementwise map of one";
  for (const Stage& stage : s.stages()) {
    if (!is_core(stage.op().output(0))) continue;
    for (const Stage& reader : s.stages())
      if (reads(reader.op(), stage.op()) && !te::is_broadcast(reader.op()))
        why = "`" + reader.name() + "` is computed from the " + kind + " `" + stage.name() +
              "`, and is no map of its elements";
  }
  refuse(function, out, why, where);
}

Schedule schedule_core(const char* function, const Tensor& out, IsCore is_core, const char* kind,
                       const ArrangeCore& arrange, const tir::TargetFacts& target,
                       const SourceLocation& where) {
  const Schedule s = te::create_schedule(out);
  arrange(s, checked_request(function, s, out, is_core, kind, where), target);
  leave_loops_to_compiler(s, {});
  return s;
}

void inline_maps(const Schedule& s, const Tensor& out) {
  const std::vector<Operation> group = group_with(
      s, s[out].op(), te::is_injective, [&](const Operation& op, const std::vector<Operation>&) {
        return te::is_injective(op) && !has_own_schedule(s, op.output(0));
      });
  for (auto op = group.begin() + 1; op != group.end(); ++op) s[*op].compute_inline();
}

}  // namespace tenon::topi::cpu
