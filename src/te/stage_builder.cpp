#include "te/stage_builder.h"

#include <algorithm>
#include <ranges>

#include "te/graph/read_conditions.h"
#include "te/graph/thread_scope.h"
#include "te/intrinsics/tensorize.h"
#include "te/loops/compute_body.h"
#include "te/loops/guards.h"
#include "te/loops/thread_reduce.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Marks the thread attributes of loop headers as open during its lifetime.
class ScopedThreads {
 public:
  ScopedThreads(std::vector<IterVar>& open, const Shells& shells)
      : open_(open), before_(open.size()) {
    for (const LoopHeader& shell : shells) {
      const AttrShell* attr = std::get_if<AttrShell>(&shell);
      if (attr && attr->kind != AttrKind::Pragma) open_.push_back(attr->subject);
    }
  }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;
  ~ScopedThreads() {
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(before_), open_.end());
  }

 private:
  std::vector<IterVar>& open_;
  std::size_t before_;
};

}  // namespace

StageBuilder::StageBuilder(Program& program, Unread unread)
    : program_(program),
      read_conditions_(unread == Unread::Skipped
                           ? read_conditions(program.graph)
                           : std::vector<std::optional<Expr>>(program.graph.size())) {
  const StageGraph& graph = program.graph;
  for (StageId id : graph.ids())
    for (const auto& [axis, attributes] : graph.stage(id).attributes)
      has_threads_ = has_threads_ || attributes.thread.has_value();
  attached_.resize(graph.size());
  initial_.resize(graph.size());
  std::vector<bool> is_initial(graph.size(), false);
  for (StageId id : graph.ids()) {
    attached_[id.index()].resize(graph.stage(id).leaf_iter_vars.size() + 1);
    const Scan* scan = graph.stage(id).op.as<Scan>();
    if (!scan) continue;
    initial_[id.index()] = stages_of(scan->init);
    for (StageId initial : initial_[id.index()]) is_initial[initial.index()] = true;
  }
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    if (is_initial[id.index()] || stage.op.as<Placeholder>()) continue;
    if (!stage.place) {
      at_root_.push_back(id);
      continue;
    }
    const FrozenStage& outer = graph.stage(stage.place->stage);
    const std::size_t position =
        stage.is_scan_update ? outer.leaf_iter_vars.size()
                             : static_cast<std::size_t>(*outer.leaf_position(stage.place->axis));
    attached_[stage.place->stage.index()][position].push_back(id);
  }
}

std::vector<StageId> StageBuilder::stages_of(const std::vector<Tensor>& tensors) const {
  std::vector<StageId> stages;
  for (const Tensor& tensor : tensors) stages.push_back(*program_.graph.find(tensor.op()));
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

Stmt StageBuilder::build() { return behind(at_root_, std::nullopt); }

// ---- memory, statements, users ------------------------------------------------------------------

Stmt StageBuilder::pipeline(StageId id, const std::optional<Stmt>& consumer) {
  const FrozenStage& stage = program_.graph.stage(id);
  Stmt producer = provide(id);
  if (const std::optional<Expr> needed = skip_condition(id))
    producer = make_stmt(If{*needed, std::move(producer), std::nullopt});
  if (stage.double_buffer) {
    for (int k = stage.op.num_outputs(); k-- > 0;) {
      const Buffer buffer = program_.buffers.buffer_of(stage.op.output(k));
      producer = make_stmt(Attr{AttrKind::DoubleBufferWrite, Expr(buffer->data), "", 1, producer});
    }
  }
  return realize(id, consumer ? make_seq({producer, *consumer}) : producer);
}

std::optional<Expr> StageBuilder::skip_condition(StageId id) const {
  const FrozenStage& stage = program_.graph.stage(id);
  // Threads that synchronize must not diverge, so the stage is not skipped.
  if (!read_conditions_[id.index()] || stage.double_buffer || has_threads_) return std::nullopt;
  for (int k = 0; k < stage.op.num_outputs(); ++k)
    if (program_.buffers.is_argument(stage.op.output(k))) return std::nullopt;
  return program_.lower(*read_conditions_[id.index()], {});
}

namespace {

/// Returns the region of every output, per dimension.
std::vector<std::vector<Range>> output_regions(const FrozenStage& stage, const Program& program) {
  auto range_of = [&](const IterVar& axis) { return program.lower(program.bounds[axis], {}); };
  std::vector<std::vector<Range>> regions(static_cast<std::size_t>(stage.op.num_outputs()));
  if (const Scan* scan = stage.op.as<Scan>()) {
    // The states before the first step share the memory of the computed states.
    const Range steps = range_of(scan->scan_axis);
    std::size_t spatial = 0;
    for (std::size_t k = 0; k < regions.size(); ++k) {
      regions[k].push_back(Range(0, arith::simplify(steps.min + steps.extent)));
      for (std::size_t i = 1; i < scan->update[k].shape().size(); ++i) {
        regions[k].push_back(range_of(scan->spatial_axis[spatial++]));
      }
    }
    return regions;
  }
  for (std::size_t k = 0; k < regions.size(); ++k) {
    if (stage.op.axis().empty()) {
      for (const Expr& extent : stage.op.output(static_cast<int>(k)).shape())
        regions[k].push_back(Range(0, extent));
    } else {
      for (const IterVar& axis : stage.op.axis()) regions[k].push_back(range_of(axis));
    }
  }
  return regions;
}

Realize::Traits realize_traits(const FrozenStage& stage) {
  Realize::Traits traits;
  const std::vector<IterVar> stored = stored_axes(stage);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const AxisAttributes* attributes = stage.attributes_of(stored[i]);
    if (!attributes || !attributes->align) continue;
    traits.align.push_back(
        {static_cast<int>(i), attributes->align->factor, attributes->align->offset});
  }
  traits.double_buffer = stage.double_buffer;
  traits.rolling_buffer = stage.rolling_buffer;
  traits.scope_is_set = stage.scope_is_set;
  return traits;
}

}  // namespace

Stmt StageBuilder::realize(StageId id, Stmt body) {
  const FrozenStage& stage = program_.graph.stage(id);
  const std::vector<std::vector<Range>> regions = output_regions(stage, program_);
  for (int k = stage.op.num_outputs(); k-- > 0;) {
    const Tensor output = stage.op.output(k);
    if (program_.buffers.is_argument(output) || program_.buffers.is_scan_state(output)) continue;
    body =
        make_stmt(Realize{program_.buffers.buffer_of(output), regions[static_cast<std::size_t>(k)],
                          make_true(), body, realize_traits(stage)});
  }
  return body;
}

Stmt StageBuilder::provide(StageId id) {
  return match(
      program_.graph.stage(id).op.kind(), [&](const Compute&) { return provide_compute(id); },
      [&](const Extern&) { return provide_extern(id); },
      [&](const Scan&) { return provide_scan(id); },
      [&](const TensorCompute&) { return provide_compute(id); },
      [](const Placeholder&) { return make_nop(); });
}

// ---- kinds of operations ------------------------------------------------------------------------

Stmt StageBuilder::provide_compute(StageId id) {
  const FrozenStage& stage = program_.graph.stage(id);
  if (calls_intrinsic(stage)) return provide_intrinsic(id);
  if (reduces_across_threads(stage)) return provide_thread_reduction(id);
  const ComputeNest nest = make_compute_nest(id, program_);
  program_.define(nest.main.defines);
  NestedBody body{levels_of(id, nest.main)};
  if (!nest.init) {
    Stmt stores = wrap(nest.main_guards, make_stores(stage, program_, nest.main));
    if (nest.fill_guards)
      stores = make_seq(
          {wrap(*nest.fill_guards, make_zeros(stage, program_, nest.main)), std::move(stores)});
    body.innermost = std::move(stores);
    return inside(body, 0);
  }
  const ReductionBody reduction = make_reduction(stage, program_, nest);
  body.innermost = wrap(nest.main_guards, reduction.update);
  body.with =
      Initialisation{&nest, nest.init->levels.size(), wrap(nest.init_guards, reduction.init)};
  body.with_depth = nest.common;
  return inside(body, 0);
}

Stmt StageBuilder::provide_intrinsic(StageId id) {
  const ComputeNest nest = make_compute_nest(id, program_);
  program_.define(nest.main.defines);
  const IntrinsicBody intrinsic = make_intrinsic_body(id, program_, nest);
  NestedBody body{levels_of(id, nest.main)};
  body.levels.resize(intrinsic.depth);
  body.innermost = intrinsic.main;
  if (intrinsic.init) {
    body.with = Initialisation{&nest, intrinsic.depth, *intrinsic.init};
    body.with_depth = nest.common;
  }
  return inside(body, 0);
}

Stmt StageBuilder::provide_thread_reduction(StageId id) {
  auto [order, own] = leaves_of_thread_reduction(program_.graph.stage(id));
  const std::size_t common = order.size();
  order.insert(order.end(), own.begin(), own.end());
  const LoopNest nest = make_loop_nest(id, program_, {.order = std::move(order)});
  program_.define(nest.defines);
  const ThreadReduction reduction = make_thread_reduction(id, program_, nest);
  NestedBody body{levels_of(id, nest)};
  body.innermost = reduction.update;
  body.with = &reduction;
  body.with_depth = common;
  return inside(body, 0);
}

Stmt StageBuilder::provide_extern(StageId id) {
  const FrozenStage& stage = program_.graph.stage(id);
  const Extern& op = *stage.op.as<Extern>();
  Stmt body = make_stmt(Attr{AttrKind::ExternScope, Expr(0), "", 0, program_.lower(op.body, {})});
  auto bind = [&](const Buffer& view, const Tensor& tensor) {
    std::vector<Range> region;
    for (const Expr& extent : view.shape()) {
      region.push_back(Range::from_min_extent(make_int(extent.dtype(), 0), extent));
    }
    body = make_stmt(BufferView{view, program_.buffers.buffer_of(tensor), std::move(region), body});
  };
  for (std::size_t k = op.output_buffers.size(); k-- > 0;)
    bind(op.output_buffers[k], stage.op.output(static_cast<int>(k)));
  for (std::size_t k = op.inputs.size(); k-- > 0;) bind(op.input_buffers[k], op.inputs[k]);
  return body;
}

/// Emits the initial states, then a loop over the steps with the stages of a step innermost.
/// Threads of the whole scan enclose both.
Stmt StageBuilder::provide_scan(StageId id) {
  const FrozenStage& stage = program_.graph.stage(id);
  const LoopNest nest = make_loop_nest(id, program_);
  program_.define(nest.defines);
  Shells environment;
  for (const IterVar& thread : stage.env_threads) {
    environment.push_back(
        AttrShell{AttrKind::ThreadExtent, thread, "", program_.bounds[thread].extent});
  }
  NestedBody body{levels_of(id, nest)};
  for (const Expr& guard : make_guards(id, nest, program_))
    body.guards.push_back(GuardShell{guard});
  body.stages = attached_[id.index()].back();
  body.with = initial_[id.index()];
  while (body.with_depth < stage.leaf_iter_vars.size() &&
         stage.leaf_iter_vars[body.with_depth].kind() == IterKind::ThreadIndex)
    ++body.with_depth;

  const Shells threads = closed_only(environment);
  const ScopedThreads opening(open_, threads);
  return wrap(threads, inside(body, 0));
}

// ---- loops around statements --------------------------------------------------------------------

std::vector<NestedBody::Level> StageBuilder::levels_of(StageId id, const LoopNest& nest) {
  const std::vector<std::size_t>& order = nest.order;
  std::vector<NestedBody::Level> levels;
  std::vector<std::size_t> depth_of(order.size());
  for (std::size_t depth = 0; depth < order.size(); ++depth) {
    depth_of[order[depth]] = depth;
    levels.push_back({&nest.levels[order[depth]], {}});
  }
  std::size_t depth = 0;
  for (std::size_t leaf = 0; leaf < order.size(); ++leaf) {
    depth = std::max(depth, depth_of[leaf]);
    const std::vector<StageId>& attached = attached_[id.index()][leaf];
    levels[depth].attached.insert(levels[depth].attached.end(), attached.begin(), attached.end());
  }
  for (NestedBody::Level& level : levels) std::sort(level.attached.begin(), level.attached.end());
  return levels;
}

Stmt StageBuilder::inside(const NestedBody& body, std::size_t depth) {
  auto content = [&]() -> Stmt {
    if (depth == body.levels.size()) return innermost(body);
    const NestedBody::Level& level = body.levels[depth];
    const Shells shells = closed_only(*level.shells);
    const ScopedThreads opening(open_, shells);
    const Shells threads = closed_only(threads_of(level.attached));
    const ScopedThreads opening_threads(open_, threads);
    const Stmt loops = behind(level.attached, inside(body, depth + 1));
    return wrap(shells, wrap(threads, loops));
  };
  return depth == body.with_depth ? joined(body.with, content()) : content();
}

Stmt StageBuilder::innermost(const NestedBody& body) {
  return wrap(body.guards, behind(body.stages, body.innermost));
}

Stmt StageBuilder::joined(const NestedBody::With& with, Stmt loops) {
  return match(
      with, [&](std::monostate) { return loops; },
      [&](const Initialisation& front) {
        return make_seq({initialised(front), loops});
      },
      [&](const std::vector<StageId>& stages) { return behind(stages, loops); },
      [&](const ThreadReduction* reduction) { return reduction->around(loops); });
}

Stmt StageBuilder::initialised(const Initialisation& front) const {
  Stmt init = front.init;
  for (std::size_t i = front.depth; i-- > front.nest->common;)
    init = wrap(closed_only(front.nest->init->levels[i]), std::move(init));
  return init;
}

Stmt StageBuilder::behind(const std::vector<StageId>& stages, std::optional<Stmt> body) {
  for (StageId stage : std::views::reverse(stages)) body = pipeline(stage, body);
  return body ? *body : make_nop();
}

Shells StageBuilder::threads_of(const std::vector<StageId>& attached) const {
  Shells shells;
  for (StageId id : attached) {
    for (const IterVar& thread : program_.lifted.around(id)) {
      const bool is_known = std::any_of(shells.begin(), shells.end(), [&](const LoopHeader& shell) {
        return std::get<AttrShell>(shell).subject.same_as(thread);
      });
      if (is_known) continue;
      const bool is_virtual = thread.thread()->is_virtual();
      shells.push_back(AttrShell{is_virtual ? AttrKind::VirtualThread : AttrKind::ThreadExtent,
                                 thread, "", program_.bounds[thread].extent});
    }
  }
  return shells;
}

Shells StageBuilder::closed_only(const Shells& level) const {
  Shells shells;
  for (const LoopHeader& shell : level) {
    const AttrShell* attr = std::get_if<AttrShell>(&shell);
    const bool is_open = attr && attr->kind != AttrKind::Pragma &&
                         std::any_of(open_.begin(), open_.end(), [&](const IterVar& thread) {
                           return thread.same_as(attr->subject);
                         });
    if (!is_open) shells.push_back(shell);
  }
  return shells;
}

}  // namespace tenon::te
