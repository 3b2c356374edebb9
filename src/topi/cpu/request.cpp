#include "topi/cpu/request.h"

#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"

namespace tenon::topi::cpu {

using te::Operation;
using te::Schedule;
using te::Stage;

bool is_one_of(const Operation& op, const std::vector<Operation>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Operation& other) { return other.same_as(op); });
}

bool reads(const Operation& reader, const Operation& op) {
  const std::vector<Tensor> inputs = reader.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Tensor& input) { return input.op().same_as(op); });
}

bool is_only_for(const Schedule& s, const Stage& stage, const std::vector<Operation>& readers) {
  const Operation op = stage.op();
  if (!te::is_untouched(stage) || is_one_of(op, s.outputs())) return false;
  for (const Stage& reader : s.stages())
    if (reads(reader.op(), op) && !is_one_of(reader.op(), readers)) return false;
  return true;
}

void leave_loops_to_compiler(const Schedule& s, const std::vector<Operation>& scheduled) {
  for (const Stage& stage : s.stages())
    if (!is_one_of(stage.origin_op(), scheduled)) stage.autotune_loops();
}

void Request::inline_between(const Schedule& s) const {
  for (const Operation& op : between) s[op].compute_inline();
}

std::optional<Request> find_request(const Schedule& s, const Tensor& out, IsCore is_core) {
  if (is_core(out)) return Request{out, out, {}};
  if (!te::is_broadcast(out.op())) return std::nullopt;
  // Visits readers first, so that all readers of an operation are known.
  std::vector<Operation> maps{out.op()};
  std::optional<Tensor> core;
  const std::vector<Stage> stages = s.stages();
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const Operation op = stage->op();
    if (op.num_outputs() != 1 || op.output(0).ndim() != out.ndim()) continue;
    const bool is_read =
        std::any_of(maps.begin(), maps.end(), [&](const Operation& map) { return reads(map, op); });
    if (!is_read || !is_only_for(s, *stage, maps)) continue;
    if (is_core(op.output(0))) {
      if (core) return std::nullopt;
      core = op.output(0);
    } else if (te::is_broadcast(op)) {
      maps.push_back(op);
    }
  }
  if (!core) return std::nullopt;
  // Maps that do not read the operator are left unchanged.
  std::vector<Operation> from_core{core->op()};
  for (auto map = maps.rbegin(); map != maps.rend(); ++map)
    if (std::any_of(from_core.begin(), from_core.end(),
                    [&](const Operation& op) { return reads(*map, op); }))
      from_core.push_back(*map);
  if (!from_core.back().same_as(out.op())) return std::nullopt;
  return Request{out, *core, {from_core.begin() + 1, from_core.end() - 1}};
}

Request checked_request(const char* function, const Schedule& s, const Tensor& out, IsCore is_core,
                        const char* kind, const SourceLocation& where) {
  if (const std::optional<Request> found = find_request(s, out, is_core)) return *found;
  std::string why = "it is no " + std::string(kind) + ", and no map of the elements of one";
  for (const Stage& stage : s.stages()) {
    if (!is_core(stage.op().output(0))) continue;
    for (const Stage& reader : s.stages())
      if (reads(reader.op(), stage.op()) && !te::is_broadcast(reader.op()))
        why = "`" + reader.name() + "` is computed from the " + kind + " `" + stage.name() +
              "`, and is no map of its elements";
  }
  throw ScheduleError(std::string(function) + " of `" + out.name() + "`: " + why, where);
}

void inline_maps(const Schedule& s, const Tensor& out) {
  std::vector<Operation> group{s[out].op()};
  const std::vector<Stage> stages = s.stages();
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const Operation op = stage->op();
    if (is_one_of(op, group) || op.as<te::Placeholder>() || !te::is_injective(op)) continue;
    if (!is_only_for(s, *stage, group)) continue;
    group.push_back(op);
  }
  for (auto op = group.begin() + 1; op != group.end(); ++op) s[*op].compute_inline();
}

}  // namespace tenon::topi::cpu
