#include "tenon/driver/races.h"

namespace tenon {

namespace {

using tir::IterKind;

void refuse(const te::FrozenStage& stage, const tir::IterVar& axis, const std::string& what,
            const SourceLocation& where) {
  throw ScheduleError(
      "build: axis `" + axis.name() + "` of stage `" + stage.origin_op.name() + "` " + what, where);
}

void check_axis(const te::FrozenStage& stage, const tir::IterVar& axis,
                const te::AxisAttributes& said) {
  if (axis.kind() == IterKind::Reduce && said.runs(te::LoopMark::Parallelized))
    refuse(stage, axis,
           "carries a reduction and is parallel, so that its iterations race for the result; "
           "rfactor the axis first, and run the new data axis in parallel",
           said.run->where);
  const bool over_blocks =
      said.thread && said.thread->axis.thread() && said.thread->axis.thread()->is_block();
  if (axis.kind() == IterKind::Reduce && over_blocks)
    refuse(
        stage, axis,
        "carries a reduction and is bound to " + said.thread->axis.name() +
            ": blocks cannot reduce together; rfactor the axis first, and bind the new data axis",
        said.thread->where);
}

}  // namespace

void refuse_races(const te::StageGraph& graph) {
  for (te::StageId id : graph.ids()) {
    const te::FrozenStage& stage = graph.stage(id);
    std::vector<std::pair<tir::IterVar, tir::IterVar>> bound;
    for (const tir::IterVar& axis : stage.leaf_iter_vars) {
      const te::AxisAttributes* said = stage.attributes_of(axis);
      if (!said) continue;
      check_axis(stage, axis, *said);
      if (!said->thread || !said->thread->axis.thread()) continue;
      for (const auto& [other, first] : bound)
        if (te::is_same_thread(other, said->thread->axis))
          refuse(
              stage, axis,
              "is bound to " + said->thread->axis.thread()->str() + ", and so is axis `" +
                  first.name() +
                  "`: only their diagonal would be computed; fuse the axes, or bind one to another thread "
                  "axis",
              said->thread->where);
      bound.emplace_back(said->thread->axis, axis);
    }
  }
}

}  // namespace tenon
