#include "tenon/te/draw.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>

#include "tenon/arith/simplify.h"
#include "tenon/support/error.h"
#include "tenon/te/axis_map.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/print.h"

namespace tenon::te {

namespace {

using tir::print_expr;

std::string shape_text(const Tensor& tensor) {
  std::string text = tensor.dtype().str() + "[";
  for (const Expr& extent : tensor.shape())
    text += (text.back() == '[' ? "" : ", ") + print_expr(extent);
  return text + "]";
}

std::string range_text(const Range& range) {
  return print_expr(range.min) + ".." + print_expr(arith::simplify(range.min + range.extent));
}

bool is_input(const FrozenStage& stage) { return stage.op.as<Placeholder>() != nullptr; }

// ---- the outline --------------------------------------------------------------------------------

class Outline {
 public:
  explicit Outline(const Bounds& bounds) : bounds_(bounds), graph_(*bounds.graph()) {}

  std::string text() {
    for (const StageId id : graph_.ids())
      if (!graph_.stage(id).place && !is_input(graph_.stage(id))) produce(id);
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + '\n'; }

  void produce(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    line("produce " + stage.op.name() +
         (stage.scope == tir::StorageScope::Global && !stage.scope_is_set
              ? ""
              : " in " + std::string(to_string(stage.scope))) +
         ":");
    const std::size_t outside = depth_++;
    for (const IterVar& axis : stage.leaf_iter_vars) {
      line("for " + axis.var().name() + " in " + range_text(bounds_[axis]) + marks(stage, axis) +
           ":");
      ++depth_;
      for (const StageId inner : graph_.attached_at(id, axis)) produce(inner);
    }
    line(stage.op.as<Scan>() ? "scan " + stage.op.name() : "compute " + stage.op.name());
    depth_ = outside;
  }

  static std::string run_text(LoopMark mark) {
    switch (mark) {
      case LoopMark::Unrolled:
        return ", unrolled";
      case LoopMark::Vectorized:
        return ", vectorized";
      case LoopMark::Parallelized:
        return ", parallel";
    }
    internal_error("a loop mark without a word");
  }
  static std::string marks(const FrozenStage& stage, const IterVar& axis) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (!attributes) return "";
    std::string text;
    if (attributes->run) text += run_text(attributes->run->mark);
    if (attributes->thread) text += ", on " + attributes->thread->axis.var().name();
    if (attributes->tensorize) text += ", by " + attributes->tensorize->intrin.name();
    for (const Pragma& pragma : attributes->pragmas)
      text += ", " + pragma.key + " = " + print_expr(pragma.value);
    for (const PrefetchRequest& request : attributes->prefetches)
      text += ", prefetches " + request.tensor.name();
    return text;
  }

  const Bounds& bounds_;
  const StageGraph& graph_;
  std::string text_;
  std::size_t depth_ = 0;
};

// ---- graphs -------------------------------------------------------------------------------------

struct Node {
  std::string label;
  bool is_framed_twice = false;
};
using Drawing =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Node, std::string>;

std::string dot_of(const Drawing& drawing, const char* direction) {
  const auto quoted = [](const std::string& text) { return boost::escape_dot_string(text); };
  const auto node = [&](std::ostream& out, auto vertex) {
    out << "[label=" << quoted(drawing[vertex].label)
        << (drawing[vertex].is_framed_twice ? ", peripheries=2" : "") << "]";
  };
  const auto arrow = [&](std::ostream& out, auto edge) {
    if (!drawing[edge].empty()) out << "[label=" << quoted(drawing[edge]) << "]";
  };
  const auto settings = [&](std::ostream& out) {
    out << "rankdir=" << direction << "\nnode [shape=box, fontname=monospace]\n"
        << "edge [fontname=monospace]\n";
  };
  std::ostringstream out;
  boost::write_graphviz(out, drawing, node, arrow, settings);
  return out.str();
}

Drawing stages_of(const StageGraph& graph) {
  Drawing drawing;
  for (const StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    std::string label = stage.op.name();
    for (int n = 0; n < stage.op.num_outputs(); ++n) label += '\n' + shape_text(stage.op.output(n));
    if (!is_input(stage)) label += '\n' + std::string(to_string(stage.scope));
    boost::add_vertex({std::move(label), stage.is_output}, drawing);
  }
  return drawing;
}

std::string relation_name(const Relation& relation) {
  return std::visit(
      []<class R>(const R&) -> std::string {
        if constexpr (std::is_same_v<R, Split>) return "split";
        if constexpr (std::is_same_v<R, Fuse>) return "fuse";
        if constexpr (std::is_same_v<R, Rebase>) return "from 0";
        if constexpr (std::is_same_v<R, Singleton>) return "singleton";
        if constexpr (std::is_same_v<R, Transform>) return "transform_layout";
      },
      relation);
}

}  // namespace

std::string print_loops(const Schedule& schedule, SourceLocation where) {
  return Outline(infer_bound(schedule, where)).text();
}

std::string Schedule::print_loops(SourceLocation where) const {
  return te::print_loops(*this, where);
}

std::string dataflow_dot(const Schedule& schedule, SourceLocation where) {
  const StageGraph graph = freeze(schedule, where);
  Drawing drawing = stages_of(graph);
  for (const StageId id : graph.ids())
    for (const StageId read : graph.reads(id))
      boost::add_edge(read.index(), id.index(), "", drawing);
  return dot_of(drawing, "TB");
}

std::string attachment_dot(const Schedule& schedule, SourceLocation where) {
  const StageGraph graph = freeze(schedule, where);
  Drawing drawing = stages_of(graph);
  for (const StageId id : graph.ids())
    if (const std::optional<AttachPoint>& place = graph.stage(id).place)
      boost::add_edge(id.index(), place->stage.index(), place->axis.var().name(), drawing);
  return dot_of(drawing, "BT");
}

std::string axes_dot(const Schedule& schedule, const StageKey& key) {
  const Bounds bounds = infer_bound(schedule, key.where);
  const std::optional<StageId> id = bounds.graph()->find(key.op);
  if (!id)
    throw ScheduleError("there are no axes of `" + key.op.name() +
                            "` to be drawn: it is no stage of this schedule, or was inlined",
                        key.where);
  const FrozenStage& stage = bounds.graph()->stage(*id);
  Drawing drawing;
  AxisMap<std::size_t> vertices;
  for (const IterVar& axis : stage.all_iter_vars) {
    const Range* range = bounds.find(axis);
    vertices.set(axis,
                 boost::add_vertex({axis.var().name() + (range ? '\n' + range_text(*range) : ""),
                                    stage.has_leaf(axis)},
                                   drawing));
  }
  for (const Relation& relation : stage.relations)
    for (const IterVar& parent : parents_of(relation))
      for (const IterVar& child : children_of(relation))
        if (vertices.contains(parent) && vertices.contains(child))
          boost::add_edge(vertices.at(parent), vertices.at(child), relation_name(relation),
                          drawing);
  return dot_of(drawing, "TB");
}

std::string all_dots(const Schedule& schedule, SourceLocation where) {
  std::string text = dataflow_dot(schedule, where) + attachment_dot(schedule, where);
  const StageGraph graph = freeze(schedule, where);
  for (const StageId id : graph.ids())
    if (!is_input(graph.stage(id))) text += axes_dot(schedule, {graph.stage(id).op, where});
  return text;
}

}  // namespace tenon::te
