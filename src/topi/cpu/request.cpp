#include "topi/cpu/request.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"
#include "topi/cpu/arrange.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::Operation;
using te::Schedule;
using te::Stage;
using tir::Expr;

bool reads(const Operation& reader, const Operation& op) {
  return std::ranges::any_of(reader.inputs(),
                             [&](const Tensor& input) { return input.op().same_as(op); });
}

namespace {

bool is_free(const Schedule& s, const Stage& stage) {
  return te::is_untouched(stage) && !is_one_of(stage.op(), s.outputs());
}

}  // namespace

bool is_only_for(const Schedule& s, const Stage& stage, const std::vector<Operation>& readers) {
  return is_free(s, stage) && std::ranges::all_of(stage.readers(), [&](const Stage& reader) {
           return is_one_of(reader.op(), readers);
         });
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
  std::unordered_set<const te::OperationNode*> members{out.get()};
  for (auto op = above.rbegin() + 1; op != above.rend(); ++op) {
    const Stage stage = s[*op];
    std::vector<Operation> readers;
    for (const Stage& reader : stage.readers()) readers.push_back(reader.op());
    const bool is_read_inside = std::ranges::all_of(
        readers, [&](const Operation& reader) { return members.contains(reader.get()); });
    if (!is_read_inside || !is_free(s, stage) || !joins(*op, readers)) continue;
    group.push_back(*op);
    members.insert(op->get());
  }
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

namespace {

/// Counts the elements of inlined maps from which one element of a tensor is computed.
class InlinedElements {
 public:
  explicit InlinedElements(const Operation& out) { maps_[out.get()] = {0, {0}, 1}; }

  /// Adds a map. Returns false, and adds nothing, if one element of the tensor would be computed
  /// from too many elements of the map. Precondition: the operations that read the map were added.
  bool add(const Operation& map, const std::vector<Operation>& readers) {
    // An element that is read several times is computed once, but the lowered expression contains
    // all reads.
    constexpr std::size_t kMaxElements = 8;
    constexpr double kMaxReads = 1 << 12;
    Counts counts{maps_.size(), {}, 0};
    for (const Operation& reader : readers) {
      const Counts& outer = maps_.at(reader.get());
      std::vector<std::vector<Expr>> places;
      for (const Expr& e : reader.body())
        tir::walk(e, [&](const tir::ProducerLoad& load) {
          if (!Tensor::of(load).op().same_as(map)) return;
          counts.reads += outer.reads;
          if (std::ranges::none_of(places, [&](const std::vector<Expr>& place) {
                return tir::structural_equal(place, load.indices);
              }))
            places.push_back(load.indices);
        });
      for (std::size_t n = 0; n < places.size(); ++n)
        for (const std::size_t element : outer.elements)
          counts.elements.insert(is_own(places[n], reader) ? element
                                                           : id_of({outer.number, n, element}));
    }
    all_reads_ += counts.reads;
    if (counts.elements.size() > kMaxElements || all_reads_ > kMaxReads) {
      all_reads_ -= counts.reads;
      return false;
    }
    maps_[map.get()] = std::move(counts);
    return true;
  }

 private:
  struct Counts {
    std::size_t number;
    /// The different elements. Maps that are read at the reader's own position have the element of
    /// the reader.
    std::set<std::size_t> elements;
    double reads;
  };
  /// The number of a reader, of a place that it reads, and its own element.
  using Place = std::array<std::size_t, 3>;

  static bool is_own(const std::vector<Expr>& place, const Operation& reader) {
    return std::ranges::equal(place, reader.axis(), [](const Expr& index, const te::IterVar& axis) {
      return index.same_as(axis.var());
    });
  }
  std::size_t id_of(const Place& place) {
    return ids_.try_emplace(place, ids_.size() + 1).first->second;
  }

  std::unordered_map<const te::OperationNode*, Counts> maps_;
  std::map<Place, std::size_t> ids_;
  double all_reads_ = 0;
};

/// Returns the operations that are computed, directly or through maps, from the result of another
/// kind of operation. Only these can have their own schedules.
std::unordered_set<const te::OperationNode*> computed_from_others(const Schedule& s) {
  std::unordered_set<const te::OperationNode*> found;
  for (const Stage& stage : s.stages()) {
    const Operation op = stage.op();
    const bool is_other = op.as<te::Compute>() && !te::is_injective(op);
    if (is_other || std::ranges::any_of(op.inputs(), [&](const Tensor& input) {
          return found.contains(s[input].op().get());
        }))
      found.insert(op.get());
  }
  return found;
}

}  // namespace

void inline_maps(const Schedule& s, const Tensor& out) {
  const std::unordered_set<const te::OperationNode*> others = computed_from_others(s);
  const Operation of_out = s[out].op();
  InlinedElements elements(of_out);
  const std::vector<Operation> group = group_with(
      s, of_out, te::is_injective, [&](const Operation& op, const std::vector<Operation>& readers) {
        const bool may_have_schedule = others.contains(op.get());
        return te::is_injective(op) && !(may_have_schedule && has_own_schedule(s, op.output(0))) &&
               elements.add(op, readers);
      });
  for (auto op = group.begin() + 1; op != group.end(); ++op) s[*op].compute_inline();
}

}  // namespace tenon::topi::cpu
