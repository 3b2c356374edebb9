#include "te/graph/draw_readers.h"

#include <ranges>

namespace tenon::te {

namespace {

/// Returns the loops, outermost first.
std::vector<AttachPoint> loops_of(const StageGraph& graph, StageId id) {
  const std::vector<AttachPoint>& path = graph.attach_path(id);
  std::vector<AttachPoint> loops(path.rbegin(), path.rend());
  for (const IterVar& leaf : graph.stage(id).leaf_iter_vars) loops.push_back({id, leaf});
  return loops;
}

bool same_loop(const AttachPoint& a, const AttachPoint& b) {
  return a.stage == b.stage && a.axis.same_as(b.axis);
}

std::string name_of(const StageGraph& graph, StageId id) {
  return "`" + graph.stage(id).origin_op.name() + "`";
}

}  // namespace

std::string draw_readers(const StageGraph& graph, StageId id, const AttachPoint& asked) {
  const std::string name = name_of(graph, id);
  std::string text;
  std::vector<AttachPoint> open;
  for (const StageId reader : graph.readers(id)) {
    const std::vector<AttachPoint> loops = loops_of(graph, reader);
    std::size_t depth = 0;
    while (depth < open.size() && depth < loops.size() && same_loop(open[depth], loops[depth]))
      ++depth;
    for (; depth < loops.size(); ++depth) {
      const AttachPoint& loop = loops[depth];
      text += "\n" + std::string(2 * depth + 2, ' ') + "for " + loop.axis.name() + " in " +
              name_of(graph, loop.stage);
      if (same_loop(loop, asked)) text += "    <- " + name + " is to be computed here";
    }
    text += "\n" + std::string(2 * depth + 2, ' ') + name_of(graph, reader) + " reads " + name;
    open = loops;
  }
  return text;
}

}  // namespace tenon::te
