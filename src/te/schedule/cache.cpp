// cache_read and cache_write: copies of tensors in other memory.
#include <algorithm>

#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "te/schedule/stage_edit.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

// ---- cache_read ---------------------------------------------------------------------------------

namespace {

/// Returns an unused name: "A.shared", or "A.shared.d" if that exists, ...
std::string free_cache_name(const ScheduleData& schedule, const Tensor& tensor,
                            std::string_view suffix) {
  std::string name = tensor.name() + "." + std::string(suffix);
  while (schedule.has_operation_named(name)) name += ".d";
  return name;
}

/// Returns the stages that read this output.
std::vector<StageNumber> readers_of(const ScheduleData& schedule, const StageOutput& output) {
  std::vector<StageNumber> result;
  for (StageNumber reader : schedule.readers(output.stage)) {
    const std::vector<StageOutput>& reads = schedule.reads(reader);
    if (std::ranges::find(reads, output) != reads.end()) result.push_back(reader);
  }
  return result;
}

Operation make_copy(const Tensor& source, std::string name, const SourceLocation& where) {
  std::vector<IterVar> axes = numbered_axes(source.shape());
  std::vector<Expr> indices(axes.begin(), axes.end());
  return make_compute(std::move(name), std::move(axes), {source(indices)}, {}, where);
}

/// Whether both operations are updates of the scan and `reader` reads `read` only at the current
/// step.
bool reads_at_own_step(const Operation& reader, const Operation& read, const Scan& scan) {
  const auto is_update = [&](const Operation& op) {
    return op.as<Compute>() &&
           std::ranges::any_of(scan.update, [&](const Tensor& t) { return t.op().same_as(op); });
  };
  return is_update(reader) && is_update(read) &&
         std::ranges::all_of(collect_reads(reader), [&](const TensorRead& access) {
           return !access.first.op().same_as(read) ||
                  access.second[0].same_as(reader.axis()[0].var());
         });
}

}  // namespace

Tensor Schedule::cache_read(const Tensor& tensor, const Name& scope,
                            const std::vector<Operation>& readers, SourceLocation where) const {
  ScheduleData& schedule = *data_;
  const StageOutput cached = schedule.require(tensor, "cache_read", where);
  const tir::StorageScope parsed =
      parse_scope("cache_read of tensor `" + tensor.name() + "`", scope, where);
  std::vector<StageNumber> reader_ids;
  for (const Operation& reader : readers)
    reader_ids.push_back(schedule.require(reader, "cache_read", where));
  if (readers.empty()) reader_ids = readers_of(schedule, cached);
  if (reader_ids.empty())
    throw ScheduleError("cache_read of tensor `" + tensor.name() + "`: no stage reads it", where);

  const Operation copy =
      make_copy(schedule.tensor(cached), free_cache_name(schedule, tensor, scope), where);
  auto to_copy = [&](const Tensor& read) -> std::optional<Tensor> {
    if (schedule.find(read) == cached) return copy.output(0);
    return std::nullopt;
  };
  std::vector<std::pair<StageNumber, Operation>> changed;
  for (StageNumber reader : reader_ids) {
    const StageData& stage = schedule.stage(reader);
    Operation op = replace_inputs(stage.op, to_copy);
    if (op.same_as(stage.op))
      throw ScheduleError(
          "cache_read of tensor `" + tensor.name() + "`: " + describe(stage) + " does not read it",
          where);
    changed.emplace_back(reader, std::move(op));
  }

  const StageNumber copy_id = schedule.insert_stage(copy, schedule.position(cached.stage) + 1);
  for (auto& [reader, op] : changed) schedule.set_op(reader, std::move(op));
  schedule.stage(copy_id).scope = parsed;
  schedule.stage(copy_id).scope_where = where;
  schedule.stage(copy_id).group = schedule.stage(cached.stage).group;
  return copy.output(0);
}

void copy_shared_parts(ScheduleData& schedule, StageNumber id) {
  const Operation op = schedule.stage(id).op;
  Scan scan = *op.as<Scan>();
  std::vector<Tensor*> parts;
  for (std::vector<Tensor>* tensors : {&scan.init, &scan.update})
    for (Tensor& tensor : *tensors) parts.push_back(&tensor);
  // Visits readers first. Copying an update adds a reader to the update's inputs.
  std::ranges::stable_sort(parts, std::greater{}, [&](const Tensor* part) {
    return schedule.position(*schedule.find(part->op()));
  });
  const auto has_two_roles = [&](const Operation& part) {
    return std::ranges::any_of(parts, [&](const Tensor* a) {
      return a->op().same_as(part) &&
             std::ranges::any_of(parts, [&](const Tensor* b) { return a != b && a->same_as(*b); });
    });
  };
  bool has_copies = false;
  for (Tensor* tensor : parts) {
    const Operation part = tensor->op();
    const StageNumber number = *schedule.find(part);
    const bool is_own =
        !part.as<Placeholder>() && !part.as<Scan>() && !schedule.stage(number).is_output &&
        !has_two_roles(part) &&
        std::ranges::all_of(schedule.readers_by_age(number), [&](StageNumber reader) {
          return reader == id || reads_at_own_step(schedule.stage(reader).op, part, scan);
        });
    if (is_own) continue;
    const Operation copy =
        make_copy(*tensor, free_cache_name(schedule, *tensor, "copy"), op.where());
    schedule.insert_stage(copy, schedule.position(id));
    *tensor = copy.output(0);
    has_copies = true;
  }
  if (has_copies)
    schedule.set_op(id,
                    make_operation(op.name(), op.tag(), std::move(scan), op.where(), op.attrs()));
}

// ---- cache_write --------------------------------------------------------------------------------

namespace {

/// The relation between a stage and its cache. The stage's loops over data axes become the axes of
/// the cache.
struct Relayout {
  std::vector<IterVar> axes;
  /// The stage's root axes in terms of the axes of the cache.
  tir::VarMap root_values;
  /// Conditions that a point of the cache corresponds to an element of the stage's output.
  std::vector<Expr> predicates;
  /// The index of an element in the cache, in terms of the stage's root axes.
  std::vector<Expr> index;
};

/// Returns the relation. For the update of a scan, `first_step` is the first value of its time
/// axis.
Relayout relayout(const StageEdit& edit, const std::optional<Expr>& first_step) {
  const StageData& stage = edit.stage();
  const std::span<const IterVar> data_axes = scheduled_axes(stage.op);
  AxisRanges ranges;
  arith::Facts facts;
  for (const IterVar& axis : data_axes) {
    ranges.set(axis, *axis.dom());
    facts.bind(axis.var(), *axis.dom());
  }
  // Every axis keeps the extent that its split requests, even if the parent is shorter. A loop that
  // becomes an axis here may later be bound to a thread.
  pass_ranges_down(stage.relations, ranges, facts);

  Relayout result;
  AxisValues up, down;
  tir::VarMap new_vars;
  for (const IterVar& axis : data_axes) down.set(axis, axis);
  pass_index_down(stage.relations, ranges, down);
  for (const IterVar& leaf : stage.leaf_iter_vars) {
    if (contains(stage.op.reduce_axis(), leaf)) continue;
    if (leaf.kind() != IterKind::DataParallel)
      edit.fail(
          leaf,
          "the loop is part of a split or fused reduction axis; call cache_write before changing "
          "reduction axes");
    const Range& range = ranges.at(leaf);
    IterVar axis(range, leaf.var().fresh(leaf.name() + ".c"), IterKind::DataParallel);
    up.set(leaf, tir::is_one(range.extent) ? range.min : Expr(leaf));
    if (!tir::is_one(range.extent)) set(new_vars, leaf.var(), axis);
    result.axes.push_back(axis);
    result.index.push_back(down.at(leaf));
  }
  pass_index_up(stage.relations, ranges, up);
  for (Expr& predicate : guards_of(stage, data_axes, ranges, up, facts))
    result.predicates.push_back(tir::substitute(predicate, new_vars));
  // Loops that derive from the time axis may start before the first step, where no states exist.
  if (first_step && !contains(stage.leaf_iter_vars, data_axes.front()))
    result.predicates.push_back(tir::substitute(up.at(data_axes.front()), new_vars) >= *first_step);
  for (const IterVar& axis : data_axes)
    set(result.root_values, axis.var(), tir::substitute(up.at(axis), new_vars));
  return result;
}

std::vector<Expr> cached_bodies(const Compute& compute, const Relayout& layout) {
  std::vector<Expr> bodies = map_bodies(
      compute.body, [&](const Expr& e) { return tir::substitute(e, layout.root_values); },
      /*maps_ranges=*/true);
  if (layout.predicates.empty()) return bodies;
  Expr inside = tir::make_true();
  for (const Expr& predicate : layout.predicates) inside = inside && predicate;
  // Beyond the end of an axis, the body must not be evaluated, because inputs have no elements
  // there.
  auto only_inside = [&](const Expr& e) {
    return tir::if_then_else(inside, e, zero_of(e.dtype()));
  };
  if (const tir::Reduce* reduce = bodies.front().as<tir::Reduce>()) {
    tir::ReduceNode guarded = *reduce->reduction;
    // The range check precedes the reduction's own condition, which may read nonexistent elements
    // outside the ranges.
    guarded.condition = inside && guarded.condition;
    for (Expr& init : guarded.init)
      if (init.as<tir::ProducerLoad>()) init = only_inside(init);
    return components_of(std::make_shared<const tir::ReduceNode>(std::move(guarded)));
  }
  for (Expr& body : bodies) body = only_inside(body);
  return bodies;
}

/// The operation that computes into the cache, and the operation that copies from the cache.
using CachedOperation = std::pair<Operation, Operation>;

/// Returns reads of the cache at this index, one for each output.
std::vector<Expr> reads_of(const Operation& cache, const std::vector<Expr>& index) {
  std::vector<Expr> reads;
  for (const Tensor& output : outputs_of(cache)) reads.push_back(output(index));
  return reads;
}

CachedOperation in_two_steps(const Operation& op, const Compute& compute, const Relayout& layout,
                             std::string name) {
  const ComputeOptions options{op.tag(), op.attrs()};
  const Operation cache = make_compute(std::move(name), layout.axes, cached_bodies(compute, layout),
                                       options, op.where());
  return {cache, make_compute(op.name(), compute.axis, reads_of(cache, layout.index), options,
                              op.where())};
}

CachedOperation in_two_steps(const Operation& op, const TensorCompute& kind, const Relayout& layout,
                             std::string name) {
  TensorCompute cached = kind;
  cached.axis = layout.axes;
  cached.schedulable_ndim = static_cast<int>(layout.axes.size());
  std::vector<IterVar> copied(kind.axis.begin(), kind.axis.begin() + kind.schedulable_ndim);
  std::vector<Expr> index = layout.index;
  for (auto tile = kind.axis.begin() + kind.schedulable_ndim; tile != kind.axis.end(); ++tile) {
    cached.axis.emplace_back(tile->dom(), tile->var().fresh(tile->name() + ".c"), IterKind::Opaque);
    copied.emplace_back(tile->dom(), tile->var(), IterKind::DataParallel);
    index.push_back(*tile);
  }
  for (TensorRegion& input : cached.inputs)
    for (Range& range : input.ranges) range = tir::substitute(range, layout.root_values);
  for (Expr& scalar : cached.scalar_inputs) scalar = tir::substitute(scalar, layout.root_values);
  const Operation cache =
      make_operation(std::move(name), op.tag(), std::move(cached), op.where(), op.attrs());
  return {cache, make_compute(op.name(), std::move(copied), reads_of(cache, index),
                              {op.tag(), op.attrs()}, op.where())};
}

CachedOperation in_two_steps(const StageEdit& edit, const std::optional<Expr>& first_step,
                             std::string name) {
  const Operation& op = edit.stage().op;
  const Compute* compute = op.as<Compute>();
  const TensorCompute* tensor = op.as<TensorCompute>();
  if (!compute && !tensor)
    edit.fail("only the output of a compute or a tensor_compute can be cached on writing");
  const Relayout layout = relayout(edit, first_step);
  if (compute) return in_two_steps(op, *compute, layout, std::move(name));
  if (!layout.predicates.empty())
    edit.fail(
        "its loops are split by factors that do not divide them, and an intrinsic has no guard");
  return in_two_steps(op, *tensor, layout, std::move(name));
}

/// Returns the first time step of the scan that the stage updates; nullopt if it updates no scan.
std::optional<Expr> first_step_of(const ScheduleData& schedule, StageNumber id) {
  const StageData* stage = schedule.scan_of_state(id);
  if (!stage) return std::nullopt;
  const Scan& scan = *stage->op.as<Scan>();
  const bool is_update = std::ranges::any_of(
      scan.update, [&](const Tensor& update) { return schedule.find(update.op()) == id; });
  return is_update ? std::optional<Expr>(scan.scan_axis.dom()->min) : std::nullopt;
}

void check_whole_operation(const StageEdit& edit, const std::vector<Tensor>& tensors) {
  const auto outputs = static_cast<std::size_t>(edit.stage().op.num_outputs());
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    const StageOutput output = edit.schedule().require(tensors[n], edit.primitive(), edit.where());
    if (output.stage != edit.number())
      edit.fail("tensor `" + tensors[n].name() + "` belongs to another operation");
    if (output.index != static_cast<int>(n))
      edit.fail("the outputs must be listed in order, each once");
  }
  if (tensors.size() != outputs)
    edit.fail("the operation has " + std::to_string(outputs) +
              " outputs, which are computed together: list all of them");
}

}  // namespace

std::vector<Tensor> Schedule::cache_write(const std::vector<Tensor>& tensors, const Name& scope,
                                          SourceLocation where) const {
  ScheduleData& schedule = *data_;
  if (tensors.empty()) throw ScheduleError("cache_write: no tensor is listed", where);
  const StageNumber id = schedule.require(tensors.front(), "cache_write", where).stage;
  const StageEdit edit(schedule, id, "cache_write", where);
  const tir::StorageScope parsed = parse_scope(edit.subject(), scope, where);
  const Operation op = edit.stage().op;
  check_whole_operation(edit, tensors);
  check_attached_axes_stay(edit, op.root_iter_vars());
  edit.check_not_tensorized();
  check_predicate_stays(edit, op.axis());
  const auto [cache, copy] =
      in_two_steps(edit, first_step_of(schedule, id), op.name() + "." + std::string(scope));

  const StageNumber cache_id = schedule.insert_stage(cache, schedule.position(id));
  schedule.set_op(id, copy);
  reset_loops(edit);
  schedule.stage(cache_id).scope = parsed;
  schedule.stage(cache_id).scope_where = where;
  schedule.stage(cache_id).group = schedule.stage(id).group;
  return outputs_of(cache);
}

Tensor Schedule::cache_write(const Tensor& tensor, const Name& scope, SourceLocation where) const {
  return cache_write(std::vector<Tensor>{tensor}, scope, where).front();
}

}  // namespace tenon::te
