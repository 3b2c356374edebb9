#include "tenon/te/freeze.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "te/schedule/normalize.h"
#include "te/schedule/operand_checks.h"

namespace tenon::te {

namespace {

/// Edges go from a stage to what it reads, or to the stage that it is computed in.
using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

std::vector<StageId> targets(const Digraph& graph, StageId id) {
  std::vector<StageId> result;
  for (auto [edge, end] = boost::out_edges(static_cast<std::size_t>(id), graph); edge != end;
       ++edge)
    result.push_back(static_cast<StageId>(boost::target(*edge, graph)));
  return result;
}

std::vector<StageId> sources(const Digraph& graph, StageId id) {
  std::vector<StageId> result;
  for (auto [edge, end] = boost::in_edges(static_cast<std::size_t>(id), graph); edge != end; ++edge)
    result.push_back(static_cast<StageId>(boost::source(*edge, graph)));
  return result;
}

std::vector<StageId> sorted_once(std::vector<StageId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::optional<StageId> attached_to(const StageData& stage) {
  if (const AttachAt* at = std::get_if<AttachAt>(&stage.attach)) return at->stage;
  if (const AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&stage.attach)) return at->scan;
  return std::nullopt;
}

/// Precondition: the stage is attached.
IterVar attach_axis(const StageData& stage) {
  if (const AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&stage.attach)) return at->axis;
  return std::get<AttachAt>(stage.attach).axis;
}

bool passes(const std::vector<AttachPoint>& path, const AttachPoint& point) {
  return std::any_of(path.begin(), path.end(), [&](const AttachPoint& p) {
    return p.stage == point.stage && p.axis.same_as(point.axis);
  });
}

}  // namespace

class GraphBuilder {
 public:
  explicit GraphBuilder(const ScheduleData& schedule)
      : schedule_(schedule), dense_(schedule.stages.size(), -1) {}

  StageGraph build() {
    number_stages();
    link_reads();
    link_attachments();
    for (StageId id = 0; id < graph_.size(); ++id) check_visible(id);
    for (StageId id = 0; id < graph_.size(); ++id) check_state_readers(id);
    for (StageId id = 0; id < graph_.size(); ++id) check_predicate(id);
    return std::move(graph_);
  }

 private:
  StageId dense(StageId id) const { return dense_[static_cast<std::size_t>(id)]; }

  void number_stages() {
    for (StageId id : schedule_.order) {
      dense_[static_cast<std::size_t>(id)] = graph_.size();
      graph_.stages_.push_back(schedule_.stage(id));
    }
    for (std::size_t n = 0; n < schedule_.order.size(); ++n) {
      const StageId id = schedule_.order[n];
      StageData& stage = graph_.stages_[n];
      stage.attach = stage.op.as<Placeholder>() ? Attach(AttachRoot{})
                                                : renumbered(schedule_.effective_attach(id));
      stage.attach_where = schedule_.effective_attach_where(id);
    }
    for (const Operation& op : schedule_.known_ops) {
      const StageId id = dense(*schedule_.find(op));
      if (id >= 0) graph_.stage_of_.emplace(op.get(), id);
    }
    graph_.past_ops_ = schedule_.known_ops;
    for (StageId id : schedule_.outputs) graph_.outputs_.push_back(dense(id));
    graph_.warnings_ = schedule_.warnings;
  }

  Attach renumbered(Attach attach) const {
    if (AttachAt* at = std::get_if<AttachAt>(&attach)) at->stage = dense(at->stage);
    if (AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach)) at->scan = dense(at->scan);
    return attach;
  }

  void link_reads() {
    const auto count = static_cast<std::size_t>(graph_.size());
    Digraph reads(count);
    for (StageId id = 0; id < graph_.size(); ++id) {
      std::vector<TensorReaders> outputs;
      const Operation& op = graph_.stage(id).op;
      for (int n = 0; n < op.num_outputs(); ++n) outputs.push_back({op.output(n), {}});
      graph_.output_readers_.push_back(std::move(outputs));
      for (const Tensor& input : op.inputs()) {
        const std::optional<StageId> producer = graph_.find(input.op());
        internal_check(producer && *producer < id,
                       "a stage before the stage `" + input.name() + "` that it reads");
        boost::add_edge(static_cast<std::size_t>(id), static_cast<std::size_t>(*producer), reads);
        auto& readers = graph_.output_readers_[static_cast<std::size_t>(*producer)];
        readers[static_cast<std::size_t>(input.value_index())].readers.push_back(id);
      }
    }
    for (StageId id = 0; id < graph_.size(); ++id) {
      graph_.reads_.push_back(sorted_once(targets(reads, id)));
      graph_.readers_.push_back(sorted_once(sources(reads, id)));
    }
  }

  void link_attachments() {
    const auto count = static_cast<std::size_t>(graph_.size());
    Digraph tree(count);
    for (StageId id = 0; id < graph_.size(); ++id)
      if (std::optional<StageId> outer = attached_to(graph_.stage(id)))
        boost::add_edge(static_cast<std::size_t>(id), static_cast<std::size_t>(*outer), tree);
    // Outer stages first: their paths are needed for the paths of what is computed inside of them.
    std::vector<std::size_t> outer_first;
    try {
      boost::topological_sort(tree, std::back_inserter(outer_first));
    } catch (const boost::not_a_dag&) {
      throw ScheduleError("stages are computed inside of each other, in a circle");
    }
    graph_.attach_paths_.resize(count);
    for (std::size_t id : outer_first) graph_.attach_paths_[id] = path_of(static_cast<StageId>(id));
    for (StageId id = 0; id < graph_.size(); ++id)
      graph_.attached_.push_back(sorted_once(sources(tree, id)));
  }

  std::vector<AttachPoint> path_of(StageId id) const {
    const StageData& stage = graph_.stage(id);
    const std::optional<StageId> outer = attached_to(stage);
    if (!outer) return {};
    if (stage.is_output)
      fail("compute_at", stage, "it is an output of the schedule and must be computed at root",
           stage.attach_where);
    const std::vector<IterVar>& loops = graph_.stage(*outer).leaf_iter_vars;
    std::size_t around =
        static_cast<std::size_t>(*graph_.stage(*outer).leaf_position(attach_axis(stage))) + 1;
    std::vector<AttachPoint> path;
    while (around-- > 0) path.push_back({*outer, loops[around]});
    const std::vector<AttachPoint>& beyond = graph_.attach_path(*outer);
    path.insert(path.end(), beyond.begin(), beyond.end());
    return path;
  }

  /// Every reader must run where the stage's values exist: inside of the loop that it is computed
  /// in.
  void check_visible(StageId id) const {
    const std::vector<AttachPoint>& path = graph_.attach_path(id);
    if (path.empty()) return;
    const AttachPoint& place = path.front();
    for (StageId reader : graph_.readers(id)) {
      if (reader == place.stage || passes(graph_.attach_path(reader), place)) continue;
      const StageData& stage = graph_.stage(id);
      fail("compute_at", stage,
           "it is computed inside of loop `" + place.axis.name() + "` of " +
               describe(graph_.stage(place.stage)) + ", but " + describe(graph_.stage(reader)) +
               " reads it outside of that loop; it could be computed at " + legal_places(id),
           stage.attach_where);
    }
  }

  /// The state of a scan holds earlier steps only inside of the time loop: before it, nothing is
  /// computed yet.
  void check_state_readers(StageId id) const {
    const Scan* scan = graph_.stage(id).op.as<Scan>();
    if (!scan) return;
    for (const Tensor& state : scan->state) {
      const std::optional<StageId> placeholder = graph_.find(state.op());
      if (!placeholder) continue;
      for (StageId reader : graph_.readers(*placeholder)) {
        const std::vector<AttachPoint>& path = graph_.attach_path(reader);
        const bool inside = std::any_of(path.begin(), path.end(),
                                        [&](const AttachPoint& p) { return p.stage == id; });
        if (inside || reader == id) continue;
        const StageData& stage = graph_.stage(reader);
        const std::vector<IterVar>& threads = graph_.stage(id).env_threads;
        fail("compute_at", stage,
             "it reads state `" + state.name() + "` of " + describe(graph_.stage(id)) +
                 " but is computed outside of its time loop" +
                 (threads.empty() ? "" : ", which runs in threads " + describe(threads)) +
                 "; compute it at a loop of the update",
             stage.op.where());
      }
    }
  }

  /// The stores of a stage know its own axes and those of the stages that it is computed in.
  void check_predicate(StageId id) const {
    const StageData& stage = graph_.stage(id);
    if (!stage.store_predicate) return;
    std::vector<IterVar> known = stage.all_iter_vars;
    for (const AttachPoint& point : graph_.attach_path(id)) {
      const std::vector<IterVar>& around = graph_.stage(point.stage).all_iter_vars;
      known.insert(known.end(), around.begin(), around.end());
    }
    for (StageId other = 0; other < graph_.size(); ++other) {
      std::vector<IterVar> axes = graph_.stage(other).all_iter_vars;
      std::erase_if(axes, [&](const IterVar& axis) { return contains(known, axis); });
      const std::optional<IterVar> used = find_axis_used(*stage.store_predicate, axes);
      if (!used) continue;
      fail("set_store_predicate", stage,
           "the condition uses axis `" + used->name() + "` of " + describe(graph_.stage(other)) +
               ", which is no loop around these stores",
           stage.store_predicate_where);
    }
  }

  /// Loops inside of which all readers run, outermost first.
  std::string legal_places(StageId id) const {
    std::vector<AttachPoint> common;
    bool is_first = true;
    for (StageId reader : graph_.readers(id)) {
      std::vector<AttachPoint> around = loops_around_body(reader);
      if (is_first) common = around;
      if (!is_first)
        std::erase_if(common, [&](const AttachPoint& p) { return !passes(around, p); });
      is_first = false;
    }
    std::string text;
    for (auto point = common.rbegin(); point != common.rend(); ++point)
      text += "`" + point->axis.name() + "` of " + describe(graph_.stage(point->stage)) + ", ";
    return text + (text.empty() ? "root only" : "or root");
  }

  std::vector<AttachPoint> loops_around_body(StageId id) const {
    std::vector<AttachPoint> loops;
    const std::vector<IterVar>& own = graph_.stage(id).leaf_iter_vars;
    for (std::size_t n = own.size(); n-- > 0;) loops.push_back({id, own[n]});
    const std::vector<AttachPoint>& path = graph_.attach_path(id);
    loops.insert(loops.end(), path.begin(), path.end());
    return loops;
  }

  const ScheduleData& schedule_;
  std::vector<StageId> dense_;
  StageGraph graph_;
};

StageGraph freeze(const Schedule& schedule, SourceLocation where) {
  ScheduleData normalized = schedule.data();
  normalize(normalized, where);
  return GraphBuilder(normalized).build();
}

}  // namespace tenon::te
