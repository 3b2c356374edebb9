#include "driver/host_schedule.h"

namespace tenon {

void refuse_device_threads(const te::StageGraph& graph) {
  for (te::StageId id = 0; id < graph.size(); ++id) {
    const te::StageData& stage = graph.stage(id);
    for (const tir::IterVar& axis : stage.leaf_iter_vars) {
      const te::AxisAttributes* said = stage.attributes_of(axis);
      if (!said || !said->thread || said->thread->thread()->is_virtual()) continue;
      throw TargetError("build: axis `" + axis.name() + "` of stage `" + stage.op.name() + "` is bound to `" +
                            said->thread->thread()->str() +
                            "`, which a CPU does not have; on CPUs use parallel, vectorize and unroll",
                        said->where);
    }
  }
}

}  // namespace tenon
