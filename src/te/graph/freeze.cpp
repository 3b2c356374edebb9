#include "tenon/te/freeze.h"

#include <algorithm>
#include <ranges>

#include "te/graph/thread_scope.h"
#include "te/schedule/normalize.h"
#include "te/schedule/stage_edit.h"
#include "tenon/te/graph.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

namespace {

// A drawing of the loops around the readers of a stage, for messages: the possible attach points.

std::string name_of(const StageGraph& graph, StageId id) {
  return "`" + graph.stage(id).origin_op.name() + "`";
}

/// Returns, for a stage `B` to be computed at loop `i.outer` of `C`, lines such as
///
///   for i.outer in `C`    <- `B` is to be computed here
///     for i.inner in `C`
///       `C` reads `B`
///   for i in `D`
///     `D` reads `B`
std::string draw_readers(const StageGraph& graph, StageId id, const AttachPoint& asked) {
  const std::string name = name_of(graph, id);
  std::string text;
  std::vector<AttachPoint> open;
  for (const StageId reader : graph.readers(id)) {
    std::vector<AttachPoint> loops = loops_of(graph, reader);
    std::ranges::reverse(loops);
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

}  // namespace

class GraphBuilder {
 public:
  explicit GraphBuilder(ScheduleData&& schedule)
      : schedule_(std::move(schedule)), id_of_(schedule_.stages.size()) {}

  StageGraph build() {
    number_stages();
    link_reads();
    place_initial_states();
    link_attachments();
    link_scans();
    settle_scopes();
    check_visible();
    for (StageId id : graph_.ids()) check_state_readers(id);
    for (StageId id : graph_.ids()) check_predicate(id);
    return std::move(graph_);
  }

 private:
  FrozenStage& stage(StageId id) { return graph_.stages_[id.index()]; }

  void number_stages() {
    for (std::size_t place = 0; place < schedule_.order.size(); ++place)
      id_of_[schedule_.order[place].index()] = StageId(place);
    for (StageNumber number : schedule_.order) {
      graph_.ids_.emplace_back(graph_.stages_.size());
      graph_.stages_.push_back(frozen(number));
    }
    for (const Operation& op : schedule_.known_ops)
      if (const std::optional<StageId> id = id_of_[schedule_.find(op)->index()])
        graph_.stage_of_.emplace(op.get(), *id);
    graph_.past_ops_ = std::move(schedule_.known_ops);
    for (StageNumber number : schedule_.outputs) graph_.outputs_.push_back(*id_of_[number.index()]);
    graph_.replaced_splits_ = schedule_.replaced_splits;
  }

  /// Freezes a stage. Moves the stage's data out of the schedule, which must not be used
  /// afterwards.
  FrozenStage frozen(StageNumber number) {
    StageData& data = schedule_.stage(number);
    FrozenStage result{std::move(static_cast<StageSpec&>(data))};
    const auto& [attach, where] = schedule_.effective_attach(number);
    result.attach_where = where;
    result.scope = data.scope.value_or(tir::StorageScope::Global);
    result.scope_is_set = data.scope.has_value();
    // A placeholder is not computed, regardless of its group.
    if (result.op.as<Placeholder>()) return result;
    if (const AttachAt* at = std::get_if<AttachAt>(&attach))
      result.place.emplace(*id_of_[at->stage.index()], at->axis);
    if (const AttachScanUpdate* at = std::get_if<AttachScanUpdate>(&attach)) {
      result.place.emplace(*id_of_[at->scan.index()], at->axis);
      result.is_scan_update = true;
    }
    return result;
  }

  void link_reads() {
    graph_.reads_.resize(graph_.size());
    graph_.readers_.resize(graph_.size());
    for (StageId id : graph_.ids()) {
      const Operation& op = graph_.stage(id).op;
      graph_.output_readers_.emplace_back(static_cast<std::size_t>(op.num_outputs()));
      for (const Tensor& input : op.inputs()) {
        const std::optional<StageId> producer = graph_.find(input.op());
        if (!producer || !(*producer < id))
          internal_error("a stage before the stage `" + input.name() + "` that it reads");
        auto& readers = graph_.output_readers_[producer->index()];
        readers[static_cast<std::size_t>(input.value_index())].push_back(id);
        graph_.reads_[id.index()].push_back(*producer);
        std::vector<StageId>& all = graph_.readers_[producer->index()];
        if (all.empty() || all.back() != id) all.push_back(id);
      }
      std::vector<StageId>& reads = graph_.reads_[id.index()];
      std::ranges::sort(reads);
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    }
  }

  /// Attaches each initial state that has no attachment of its own to the loop of its scan. The
  /// scan's region then determines which of its elements are computed. The initial state is stored
  /// in the scan's memory.
  void place_initial_states() {
    for (StageId id : graph_.ids()) {
      const Scan* scan = graph_.stage(id).op.as<Scan>();
      if (!scan || !graph_.stage(id).place) continue;
      for (const Tensor& init : scan->init) {
        const StageId initial = *graph_.find(init.op());
        FrozenStage& state = stage(initial);
        if (state.place) continue;
        state.place = graph_.stage(id).place;
        state.attach_where = graph_.stage(id).attach_where;
      }
    }
  }

  void link_attachments() {
    graph_.attached_.resize(graph_.size());
    // Visits outer stages first, because the paths of inner stages extend theirs.
    std::vector<StageId> outer_first;
    for (StageId id : graph_.ids()) {
      if (const std::optional<AttachPoint>& place = graph_.stage(id).place)
        graph_.attached_[place->stage.index()].push_back(id);
      else
        outer_first.push_back(id);
    }
    graph_.attach_paths_.resize(graph_.size());
    for (std::size_t n = 0; n < outer_first.size(); ++n) {
      const std::size_t index = outer_first[n].index();
      graph_.attach_paths_[index] = path_of(outer_first[n]);
      outer_first.insert(outer_first.end(), graph_.attached_[index].begin(),
                         graph_.attached_[index].end());
    }
    if (outer_first.size() != graph_.size())
      throw ScheduleError("stages are computed inside of each other, in a circle");
  }

  std::vector<AttachPoint> path_of(StageId id) const {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.place) return {};
    const StageId outer = stage.place->stage;
    if (stage.is_output)
      fail("compute_at", stage,
           stage.is_scan_update
               ? "it is computed in the steps of " + describe(graph_.stage(outer)) +
                     " and cannot be an output; make the scan an output"
               : "it is an output of the schedule and must be computed at root",
           stage.attach_where);
    const std::vector<IterVar>& loops = graph_.stage(outer).leaf_iter_vars;
    const std::optional<int> position = graph_.stage(outer).leaf_position(stage.place->axis);
    internal_check(position.has_value(), "a stage is attached at an axis that is no loop");
    std::vector<AttachPoint> path;
    for (std::size_t around = static_cast<std::size_t>(*position) + 1; around-- > 0;)
      path.push_back({outer, loops[around]});
    const std::vector<AttachPoint>& beyond = graph_.attach_path(outer);
    path.insert(path.end(), beyond.begin(), beyond.end());
    return path;
  }

  void link_scans() {
    for (StageId id : graph_.ids()) {
      const Scan* scan = graph_.stage(id).op.as<Scan>();
      if (!scan) continue;
      for (int k = 0; k < static_cast<int>(scan->update.size()); ++k) {
        const auto place = static_cast<std::size_t>(k);
        add_part(scan->init[place], {ScanPart::Role::Initial, {id, k}});
        add_part(scan->update[place], {ScanPart::Role::Update, {id, k}});
        add_part(scan->state[place], {ScanPart::Role::State, {id, k}});
      }
    }
  }

  void add_part(const Tensor& tensor, const ScanPart& part) {
    const std::optional<OutputId> output = graph_.find(tensor);
    if (!output) return;
    FrozenStage& of_stage = stage(output->stage);
    of_stage.scan_parts.resize(static_cast<std::size_t>(of_stage.op.num_outputs()));
    of_stage.scan_parts[static_cast<std::size_t>(output->index)] = part;
  }

  void settle_scopes() {
    // Visits consumers first, so that a scan gets its scope before its initial states and updates,
    // which take their scope from the scan.
    for (StageId id : graph_.ids() | std::views::reverse)
      if (!stage(id).scope_is_set) stage(id).scope = deduced_scope(id);
  }

  tir::StorageScope deduced_scope(StageId id) const {
    for (const std::optional<ScanPart>& part : graph_.stage(id).scan_parts)
      if (part && part->role != ScanPart::Role::State) return graph_.stage(part->state.stage).scope;
    int rank = -1;
    for (const AttachPoint& loop : graph_.attach_path(id))
      if (const IterVar* thread = thread_of(graph_, loop))
        rank = std::max(rank, rank_of(*thread->thread()));
    return default_scope(rank);
  }

  /// Checks that every reader runs inside the loop that the stage is attached to. Reports all
  /// readers outside that loop, with the lines that attached them.
  void check_visible() const {
    std::string others;
    std::optional<ScheduleError> first;
    for (StageId id : graph_.ids()) {
      const std::optional<StageId> reader = reader_outside(id);
      if (!reader) continue;
      const FrozenStage& stage = graph_.stage(id);
      const std::string text = "compute_at of " + describe(stage) + ": " + why_outside(id, *reader);
      if (first) {
        others += "\nas well, at " + to_string(stage.attach_where) + ": " + text;
      } else {
        first.emplace(text, stage.attach_where);
      }
    }
    if (first && !others.empty()) throw ScheduleError(first->sentence() + others, *first->where());
    if (first) throw *first;
  }

  std::optional<StageId> reader_outside(StageId id) const {
    const std::optional<AttachPoint>& place = graph_.stage(id).place;
    if (!place) return std::nullopt;
    for (StageId reader : graph_.readers(id))
      if (!has_loop(loops_around_reads(reader, id), *place)) return reader;
    return std::nullopt;
  }

  /// Returns the loops, innermost first, that contain all reads of stage `id` by the reader.
  std::vector<AttachPoint> loops_around_reads(StageId reader, StageId id) const {
    std::vector<AttachPoint> loops = loops_of(graph_, reader);
    std::erase_if(loops, [&](const AttachPoint& at) { return is_before_steps(reader, at.stage); });
    // The init is computed before the loops of the reduction.
    const auto is_own_reduction = [&](const AttachPoint& at) {
      return at.stage == reader && at.axis.kind() == IterKind::Reduce;
    };
    const auto outermost = std::find_if(loops.rbegin(), loops.rend(), is_own_reduction);
    if (reads_in_init(reader, id)) loops.erase(loops.begin(), outermost.base());
    return loops;
  }

  bool reads_in_init(StageId reader, StageId id) const {
    const Compute* compute = graph_.stage(reader).op.as<Compute>();
    const tir::ReduceNode* reduction = compute ? compute->reduction() : nullptr;
    const auto is_read = [&](const tir::ProducerLoad& read) {
      return graph_.find(Tensor::of(read).op()) == id;
    };
    return reduction && std::ranges::any_of(reduction->init, [&](const Expr& start) {
             return tir::any_node(start, is_read);
           });
  }

  /// Whether stage `scan` is a scan and stage `id` is an initial state of it, or is attached inside
  /// one. Initial states are computed before the scan's loops, even if they are attached to one of
  /// these loops.
  bool is_before_steps(StageId id, StageId scan) const {
    if (!graph_.stage(scan).op.as<Scan>()) return false;
    const auto is_initial = [&](StageId stage) {
      return std::ranges::any_of(graph_.stage(stage).scan_parts, [&](const auto& part) {
        return part && part->role == ScanPart::Role::Initial && part->state.stage == scan;
      });
    };
    return is_initial(id) ||
           std::ranges::any_of(graph_.attach_path(id),
                               [&](const AttachPoint& at) { return is_initial(at.stage); });
  }

  std::string why_outside(StageId id, StageId reader) const {
    const AttachPoint& place = *graph_.stage(id).place;
    return "it is computed inside of loop `" + place.axis.name() + "` of " +
           describe(graph_.stage(place.stage)) + ", but " + describe(graph_.stage(reader)) +
           (reader == place.stage ? " reads it in the init of its reduction," : " reads it") +
           " outside of that loop; " +
           (graph_.stage(id).is_scan_update ? "read the scan instead"
                                            : "it could be computed at " + legal_places(id) + ":" +
                                                  draw_readers(graph_, id, place));
  }

  /// Checks that the state of a scan is read only inside the time loop. No step has been computed
  /// before the loop.
  void check_state_readers(StageId id) const {
    const Scan* scan = graph_.stage(id).op.as<Scan>();
    if (!scan) return;
    for (const Tensor& state : scan->state) {
      const std::optional<StageId> placeholder = graph_.find(state.op());
      if (!placeholder) continue;
      for (StageId reader : graph_.readers(*placeholder)) {
        const std::vector<AttachPoint>& path = graph_.attach_path(reader);
        const bool inside =
            std::ranges::any_of(path, [&](const AttachPoint& p) { return p.stage == id; });
        if (inside || reader == id) continue;
        const FrozenStage& stage = graph_.stage(reader);
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

  /// Checks that a store predicate uses only axes of the stage and of the stages around it.
  void check_predicate(StageId id) const {
    const FrozenStage& stage = graph_.stage(id);
    if (!stage.store_predicate) return;
    for (const Var& var : tir::free_vars(*stage.store_predicate)) {
      const auto has_axis = [&](StageId other) {
        return std::ranges::any_of(graph_.stage(other).all_iter_vars,
                                   [&](const IterVar& axis) { return axis.var().same_as(var); });
      };
      const auto is_around = [&](const AttachPoint& at) { return has_axis(at.stage); };
      if (has_axis(id) || std::ranges::any_of(graph_.attach_path(id), is_around)) continue;
      const auto owner = std::ranges::find_if(graph_.ids(), has_axis);
      if (owner == graph_.ids().end()) continue;
      fail("set_store_predicate", stage,
           "the condition uses axis `" + var.name() + "` of " + describe(graph_.stage(*owner)) +
               ", which is not a loop around these stores",
           stage.store_predicate_where);
    }
  }

  /// Returns the loops that contain all readers, outermost first.
  std::string legal_places(StageId id) const {
    std::vector<AttachPoint> common;
    bool is_first = true;
    for (StageId reader : graph_.readers(id)) {
      const std::vector<AttachPoint> around = loops_around_reads(reader, id);
      if (is_first) common = around;
      std::erase_if(common, [&](const AttachPoint& p) { return !has_loop(around, p); });
      is_first = false;
    }
    std::string text;
    for (auto point = common.rbegin(); point != common.rend(); ++point)
      text += "`" + point->axis.name() + "` of " + describe(graph_.stage(point->stage)) + ", ";
    return text + (text.empty() ? "root only" : "or root");
  }

  ScheduleData schedule_;
  /// The frozen stages, indexed by stage number in the schedule; nullopt for an inlined stage.
  std::vector<std::optional<StageId>> id_of_;
  StageGraph graph_;
};

StageGraph freeze(const Schedule& schedule, SourceLocation where) {
  ScheduleData normalized = schedule.data();
  normalize(normalized, where);
  return GraphBuilder(std::move(normalized)).build();
}

std::optional<ScanPart> FrozenStage::scan_part(int output) const {
  if (scan_parts.empty()) return std::nullopt;
  return scan_parts[static_cast<std::size_t>(output)];
}

std::span<const StageId> StageGraph::reads(StageId id) const { return reads_[id.index()]; }
std::span<const StageId> StageGraph::readers(StageId id) const { return readers_[id.index()]; }
const std::vector<std::vector<StageId>>& StageGraph::output_readers(StageId id) const {
  return output_readers_[id.index()];
}
const std::vector<AttachPoint>& StageGraph::attach_path(StageId id) const {
  return attach_paths_[id.index()];
}

std::vector<StageId> StageGraph::attached_at(StageId stage, const IterVar& axis) const {
  std::vector<StageId> result;
  for (StageId id : attached_[stage.index()])
    if (attach_path(id).front().axis.same_as(axis)) result.push_back(id);
  return result;
}

std::optional<StageId> StageGraph::find(const Operation& op) const {
  auto found = stage_of_.find(op.get());
  return found == stage_of_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<OutputId> StageGraph::find(const Tensor& tensor) const {
  const std::optional<StageId> id = find(tensor.op());
  return id ? std::optional(OutputId{*id, tensor.value_index()}) : std::nullopt;
}

}  // namespace tenon::te
