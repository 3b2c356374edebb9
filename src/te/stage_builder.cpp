#include "te/stage_builder.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>

#include "te/bounds/stage_needs.h"
#include "te/graph/thread_scope.h"
#include "te/intrinsics/tensorize.h"
#include "te/loops/compute_nest.h"
#include "te/loops/loop_nest.h"
#include "te/loops/thread_reduce.h"
#include "te/operations/body.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/te/graph.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

StageBuilder::StageBuilder(Program& program, bool computes_unread)
    : program_(program),
      needs_(computes_unread ? std::vector<std::optional<Expr>>(program.graph.size())
                             : needs_of(program.graph)) {
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
  std::set<StageId> stages;
  for (const Tensor& tensor : tensors) stages.insert(*program_.graph.find(tensor.op()));
  return {stages.begin(), stages.end()};
}

Stmt StageBuilder::build() { return emit_before(at_root_, std::nullopt); }

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
  // A stage is not skipped inside threads that synchronize, because they must not diverge.
  if (!needs_[id.index()] || stage.double_buffer || has_threads_ ||
      program_.buffers.has_argument(stage.op))
    return std::nullopt;
  return program_.lower(*needs_[id.index()], {});
}

namespace {

/// Returns the region of every output as one range per dimension.
std::vector<std::vector<Range>> output_regions(const FrozenStage& stage, const Program& program) {
  auto range_of = [&](const IterVar& axis) { return program.lower(program.bounds[axis], {}); };
  std::vector<std::vector<Range>> regions(static_cast<std::size_t>(stage.op.num_outputs()));
  if (const Scan* scan = stage.op.as<Scan>()) {
    // The range of the time dimension starts at 0, because the initial states share the memory.
    const Range steps = range_of(scan->scan_axis);
    for (std::vector<Range>& region : regions)
      region.push_back(Range(0, arith::simplify(steps.min + steps.extent)));
    for_each_space(*scan, [&](std::size_t k, std::size_t, const IterVar& axis) {
      regions[k].push_back(range_of(axis));
    });
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
    const auto [factor, offset] = *attributes->align;
    traits.align.push_back({static_cast<int>(i), factor, offset});
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
  NestedBody body = body_of(id, nest.main);
  if (!nest.init) {
    body.innermost = guarded(nest.main_guards, make_stores(stage, program_, nest));
    return emit_level(body, 0);
  }
  const auto [init, update] = make_reduction(stage, program_, nest);
  body.innermost = guarded(nest.main_guards, update);
  initialize(body, nest, nest.init->levels.size(), guarded(nest.init_guards, init));
  return emit_level(body, 0);
}

Stmt StageBuilder::provide_intrinsic(StageId id) {
  const ComputeNest nest = make_compute_nest(id, program_);
  program_.define(nest.main.defines);
  const auto [depth, main, init] = make_intrinsic_body(id, program_, nest);
  NestedBody body = body_of(id, nest.main);
  body.levels.resize(depth);
  body.innermost = main;
  if (init) initialize(body, nest, depth, *init);
  return emit_level(body, 0);
}

Stmt StageBuilder::provide_thread_reduction(StageId id) {
  auto [order, own] = leaves_of_thread_reduction(program_.graph.stage(id));
  const std::size_t common = order.size();
  order.insert(order.end(), own.begin(), own.end());
  const LoopNest nest = make_loop_nest(id, program_, {.order = std::move(order)});
  program_.define(nest.defines);
  NestedBody body = body_of(id, nest);
  std::tie(body.innermost, body.extension) = make_thread_reduction(id, program_, nest);
  body.extension_depth = common;
  return emit_level(body, 0);
}

Stmt StageBuilder::provide_extern(StageId id) {
  const FrozenStage& stage = program_.graph.stage(id);
  const Extern& op = *stage.op.as<Extern>();
  Stmt body = make_stmt(Attr{AttrKind::ExternScope, Expr(0), "", 0, program_.lower(op.body, {})});
  auto bind = [&](const Buffer& view, const Tensor& tensor) {
    body = make_stmt(
        BufferView{view, program_.buffers.buffer_of(tensor), whole_region(view.shape()), body});
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
  LoopHeaders environment;
  for (const IterVar& thread : stage.env_threads) environment.push_back(launch_of(thread));
  NestedBody body = body_of(id, nest);
  body.guards = make_guards(id, nest, program_);
  body.stages = attached_[id.index()].back();
  body.extension = [&](const Stmt& loops) { return emit_before(initial_[id.index()], loops); };
  while (body.extension_depth < stage.leaf_iter_vars.size() &&
         stage.leaf_iter_vars[body.extension_depth].kind() == IterKind::ThreadIndex)
    ++body.extension_depth;

  return emit_inside(environment, [&] { return emit_level(body, 0); });
}

// ---- loops around statements --------------------------------------------------------------------

NestedBody StageBuilder::body_of(StageId id, const LoopNest& nest) const {
  const std::vector<std::size_t>& order = nest.order;
  NestedBody body{.levels = {}, .attached = std::vector<std::vector<StageId>>(order.size())};
  std::vector<std::size_t> depth_of(order.size());
  for (std::size_t depth = 0; depth < order.size(); ++depth) {
    depth_of[order[depth]] = depth;
    body.levels.push_back(&nest.levels[order[depth]]);
  }
  std::size_t depth = 0;
  for (std::size_t leaf = 0; leaf < order.size(); ++leaf) {
    depth = std::max(depth, depth_of[leaf]);
    const std::vector<StageId>& attached = attached_[id.index()][leaf];
    body.attached[depth].insert(body.attached[depth].end(), attached.begin(), attached.end());
  }
  for (std::vector<StageId>& attached : body.attached) std::ranges::sort(attached);
  return body;
}

void StageBuilder::initialize(NestedBody& body, const ComputeNest& nest, std::size_t depth,
                              Stmt init) const {
  body.extension = [this, &nest, depth, init = std::move(init)](const Stmt& loops) {
    Stmt first = init;
    for (std::size_t i = depth; i-- > nest.common;)
      first = wrap(without_open_threads(nest.init->levels[i]), std::move(first));
    return make_seq({first, loops});
  };
  body.extension_depth = nest.common;
}

Stmt StageBuilder::emit_level(const NestedBody& body, std::size_t depth) {
  const auto loops = [&] {
    if (depth == body.levels.size())
      return guarded(body.guards, emit_before(body.stages, body.innermost));
    return emit_inside(*body.levels[depth], [&] {
      return emit_inside(threads_of(body.attached[depth]), [&] {
        return emit_before(body.attached[depth], emit_level(body, depth + 1));
      });
    });
  };
  return depth == body.extension_depth && body.extension ? body.extension(loops()) : loops();
}

Stmt StageBuilder::emit_inside(const LoopHeaders& headers, FunctionRef<Stmt()> body) {
  const LoopHeaders closed = without_open_threads(headers);
  const auto before = static_cast<std::ptrdiff_t>(open_.size());
  for (const LoopHeader& header : closed)
    if (const IterVar* thread = header_thread(header)) open_.push_back(*thread);
  const Stmt inner = body();
  open_.erase(open_.begin() + before, open_.end());
  return wrap(closed, inner);
}

Stmt StageBuilder::emit_before(const std::vector<StageId>& stages, std::optional<Stmt> body) {
  for (StageId stage : std::views::reverse(stages)) body = pipeline(stage, body);
  return body ? *body : make_nop();
}

LoopHeaders StageBuilder::threads_of(const std::vector<StageId>& attached) const {
  LoopHeaders headers;
  for (StageId id : attached)
    for (const IterVar& thread : program_.lifted.around(id))
      if (std::ranges::none_of(headers, [&](const LoopHeader& header) {
            return header_thread(header)->same_as(thread);
          }))
        headers.push_back(launch_of(thread));
  return headers;
}

LoopHeader StageBuilder::launch_of(const IterVar& thread) const {
  const AttrKind kind =
      thread.thread()->is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent;
  return make_stmt(Attr{kind, thread, "", program_.bounds[thread].extent, make_nop()});
}

LoopHeaders StageBuilder::without_open_threads(const LoopHeaders& level) const {
  LoopHeaders headers = level;
  std::erase_if(headers, [&](const LoopHeader& header) {
    const IterVar* thread = header_thread(header);
    return thread && contains(open_, *thread);
  });
  return headers;
}

}  // namespace tenon::te
