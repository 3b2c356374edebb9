#include "tenon/driver/device_threads.h"

namespace tenon {

namespace {

struct DeviceLoop {
  const te::FrozenStage& stage;
  tir::IterVar axis;
  tir::ThreadTag thread;
  SourceLocation where;
};

bool is_of_device(const std::optional<tir::ThreadTag>& thread) {
  return thread && !thread->is_virtual();
}

/// Returns the first axis that is bound to a thread, or the first thread around a whole scan.
std::optional<DeviceLoop> find_device_loop(const te::StageGraph& graph) {
  for (te::StageId id : graph.ids()) {
    const te::FrozenStage& stage = graph.stage(id);
    for (const tir::IterVar& axis : stage.leaf_iter_vars) {
      const te::ThreadMark* bound = stage.thread_mark_of(axis);
      if (is_of_device(axis.thread()))
        return DeviceLoop{stage, axis, *axis.thread(), stage.op.where()};
      if (bound && is_of_device(bound->axis.thread()))
        return DeviceLoop{stage, axis, *bound->axis.thread(), bound->where};
    }
  }
  return std::nullopt;
}

}  // namespace

bool runs_on_device(const te::StageGraph& graph) { return find_device_loop(graph).has_value(); }

void refuse_device_threads(const te::StageGraph& graph) {
  const std::optional<DeviceLoop> loop = find_device_loop(graph);
  if (!loop) return;
  throw TargetError("build: axis `" + loop->axis.name() + "` of stage `" +
                        loop->stage.origin_op.name() + "` is bound to `" + loop->thread.str() +
                        "`, which a CPU does not have; on CPUs use parallel, vectorize and unroll",
                    loop->where);
}

}  // namespace tenon
