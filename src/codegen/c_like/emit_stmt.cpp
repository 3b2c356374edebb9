#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

void CFunctionEmitter::body(const Stmt& body) {
  stack_ = stack_temporaries(body);
  stmt(body);
  out_.add("return 0;");
}

std::string CFunctionEmitter::function(const std::string& head) const {
  return head + " {\n" + (uses_status_ ? "  int32_t status = 0;\n" : "") + out_.text() + "}\n";
}

void CFunctionEmitter::stmt(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
  const bool is_of_several = comment(s);
  const int around = out_.mark();
  if (const int line = module_.line_of(s)) out_.set_mark(line);
  visit_lowered(s, [&](const auto& n) { emit(n); });
  out_.set_mark(around);
  if (is_of_several) commented_ = std::nullopt;
}

/// Emits a comment that names a stage, before the outermost statement that computes only this
/// stage. The comment is not repeated for later statements of the stage. Returns whether the
/// statement is a loop or branch that computes several stages; the previous comment does not apply
/// inside it or after it.
bool CFunctionEmitter::comment(const Stmt& s) {
  if (!comments_) return false;
  const std::set<int> stages = comments_->stored_by(s);
  if (stages.size() == 1 && commented_ != *stages.begin()) {
    commented_ = *stages.begin();
    out_.add("// " + comments_->line(*commented_));
  }
  const bool is_list = s.as<Seq>() || s.as<Attr>() || s.as<Let>() || s.as<Allocate>();
  const bool is_of_several = stages.size() > 1 && !is_list;
  if (is_of_several) commented_ = std::nullopt;
  return is_of_several;
}

void CFunctionEmitter::block(const std::string& head, const std::function<void()>& content) {
  out_.add(head.empty() ? "{" : head + " {");
  out_.indent();
  names_.open();
  content();
  names_.close();
  out_.outdent();
  out_.add("}");
}

std::string CFunctionEmitter::bind(const std::string& name, DataType type, const Text& value) {
  const std::string taken = names_.take(name);
  out_.add((type.is_handle() ? "void* const " : "const " + type_of(type) + " ") + taken + " = " +
           value.text + ";");
  return taken;
}

void CFunctionEmitter::emit(const Store& n) {
  const Expr position = flat_index(n.buffer, n.indices);
  if (position.dtype().lanes * n.buffer->dtype.lanes > 1) return store_lanes(n, position);
  put(n.buffer, position, {}, n.value);
}

void CFunctionEmitter::emit(const Let& n) {
  const bool is_index = !used_as_data_.contains(&n.var.node()) && this->is_index(n.value);
  if (n.value.dtype().is_vector()) {
    const std::string name = names_.take(n.var.name());
    keep_lanes(name, n.value);
    define(n.var, {.name = name, .is_lanes = true, .is_index = is_index});
    return stmt(n.body);
  }
  const Text value = is_index ? index(n.value) : expr(n.value);
  CVariable variable{.name = "", .is_index = is_index, .factor = known_factor(n.value)};
  if (const auto& pointer = n.var.as<VarNode>()->pointer) {
    variable.name = names_.take(n.var.name());
    variable.pointee = memory_type(module_.dialect(), pointer->element);
    if (is_kernel()) variable.space = space_of(n.var);
    out_.add(variable.space + variable.pointee + "* const " + variable.name + " = " +
             cast_to(variable.space + variable.pointee + "*", value).text + ";");
  } else {
    variable.name = bind(n.var.name(), n.var.dtype(), value);
  }
  define(n.var, std::move(variable));
  stmt(n.body);
}

void CFunctionEmitter::emit(const Evaluate& n) {
  if (effect_of(n.value) != Effect::UpdateState) return;
  const Text value = expr(n.value);
  // Calls that were already emitted as statements, and calls without effect, leave only the
  // constant 0.
  if (value.text != "0") out_.add(value.text + ";");
}

// ---- loops ----

void CFunctionEmitter::emit(const For& n) {
  if (n.kind == ForKind::Parallel && is_kernel()) refuse_in_kernel("a parallel loop");
  if (n.kind == ForKind::Parallel) {
    if (!task_) return parallel_loop(n);
    // Parallel loops inside the body are not divided among the tasks of the region.
    const std::optional<Task> task = std::exchange(task_, std::nullopt);
    block("", [&] { stmt(share_of_task(n, *task)); });
    task_ = task;
    return;
  }
  const DataType type = n.min.dtype();
  if (is_kernel() && n.kind == ForKind::Unrolled && !is_one(n.extent)) out_.add("#pragma unroll");
  if (is_one(n.extent)) {
    if (uses_var(n.body, n.var))
      define(n.var, {.name = bind(n.var.name(), n.var.dtype(), index(n.min)), .is_index = true});
    return stmt(n.body);
  }
  const Text begin = index(n.min);
  const Text extent = index(n.extent);
  Text end = is_zero(n.min) ? extent : infix(begin, "+", extent, Level::Sum);
  const auto first = constant_int(n.min), count = constant_int(n.extent);
  if (first && count) end = integer(*first + *count, type);
  // An end that is not a variable or a constant is stored in a variable, so that it is computed
  // once.
  const bool is_plain = (first && count) || (is_zero(n.min) && n.extent.as<VarNode>());
  if (is_plain || n.extent.dtype().bits > type.bits) return serial_loop(n.var, begin, end, n.body);
  block("", [&] {
    const Text last{bind(n.var.name() + "_end", type, end)};
    serial_loop(n.var, begin, last, n.body);
  });
}

void CFunctionEmitter::serial_loop(const Var& var, const Text& begin, const Text& end,
                                   const Stmt& body) {
  names_.open();
  const std::string counter = names_.take(var.name());
  block("for (" + type_of(var.dtype()) + " " + counter + " = " + begin.text + "; " + counter +
            " < " + end.within(Level::Sum) + "; ++" + counter + ")",
        [&] {
          define(var, {.name = counter, .is_index = true});
          ++loop_depth_;
          stmt(body);
          --loop_depth_;
        });
  names_.close();
}

void CFunctionEmitter::emit(const While& n) {
  names_.open();
  const auto [before, condition] = aside([&] { return expr(n.condition); });
  const auto body = [&] {
    ++loop_depth_;
    stmt(n.body);
    --loop_depth_;
  };
  if (before.empty()) {
    names_.close();
    return block("while (" + condition.text + ")", body);
  }
  block("for (;;)", [&] {
    out_.add(before);
    out_.add("if (!" + condition.within(Level::Unary) + ") break;");
    body();
  });
  names_.close();
}

// ---- branches ----

void CFunctionEmitter::emit(const If& n) {
  if (n.condition.dtype().is_vector()) return branch_by_lanes(n);
  block("if (" + index(n.condition).text + ")", [&] { stmt(n.then_case); });
  if (n.else_case) block("else", [&] { stmt(*n.else_case); });
}

/// Emits both sides. The stores in a side test, for each lane, whether the lane takes that side.
void CFunctionEmitter::branch_by_lanes(const If& n) {
  const auto side = [&](const Expr& condition, const Stmt& s) {
    block("", [&] {
      const std::string lanes = names_.take("lanes");
      keep_lanes(lanes, condition);
      if (!stored_lanes_.empty())
        for_lanes(condition.dtype().lanes, LaneOrder::Any, [&](const Lane& lane) {
          const std::string at = "[" + lane.text.text + "]";
          out_.add(lanes + at + " = " + lanes + at + " && " + stored_lanes_ + at + ";");
        });
      const std::string outer = std::exchange(stored_lanes_, lanes);
      stmt(s);
      stored_lanes_ = outer;
    });
  };
  side(n.condition, n.then_case);
  if (n.else_case) side(make_not(n.condition), *n.else_case);
}

void CFunctionEmitter::emit(const Assert& n) {
  if (is_kernel()) refuse_in_kernel("an assertion (`" + n.message + "`)");
  module_.use_runtime();
  const Text condition = expr(n.condition);
  block("if (!" + condition.within(Level::Unary) + ")", [&] {
    out_.add("set_last_error(" + c_string(n.message) + ");");
    leave("1");
  });
  stmt(n.body);
}

void CFunctionEmitter::emit(const Attr& n) {
  switch (n.kind) {
    case AttrKind::ThreadExtent:
      if (is_kernel()) return thread_axis(n);
      refuse_thread_axis(n);
    case AttrKind::VirtualThread:
      refuse_thread_axis(n);
    case AttrKind::Pragma: {
      if (is_kernel()) return stmt(n.body);
      if (is_pragma(n, PragmaKey::ParallelLaunchPoint) && !task_) return parallel_region(n.body);
      const std::optional<Task> outer = std::exchange(task_, task_inside(n, task_));
      stmt(n.body);
      task_ = outer;
      if (is_pragma(n, PragmaKey::ParallelBarrierWhenFinish)) check_status("parallel_barrier()");
      return;
    }
    case AttrKind::ReduceScope:
    case AttrKind::ExternScope:
    case AttrKind::DoubleBufferWrite:
    case AttrKind::RollingBufferScope:
    case AttrKind::BufferBound:
      return stmt(n.body);
  }
}

// ---- temporaries ----

void CFunctionEmitter::emit(const Allocate& n) {
  if (is_kernel()) return device_memory(n);
  if (!stack_.contains(&n.data.node())) return workspace(n);
  const std::string type = memory_type(module_.dialect(), n.dtype);
  const std::int64_t bytes = *constant_bytes(n);
  const std::int64_t count = std::max<std::int64_t>(bytes / n.dtype.element().bytes(), 1);
  const std::string name = names_.take(n.data.name());
  out_.add(std::string(bytes >= 64 ? "_Alignas(64) " : "") + type + " " + name + "[" +
           std::to_string(count) + "];");
  define(n.data, {.name = name, .pointee = type, .is_local = true});
  stmt(n.body);
}

void CFunctionEmitter::workspace(const Allocate& n) {
  module_.use_runtime();
  const std::string type = memory_type(module_.dialect(), n.dtype);
  Text bytes{std::to_string(n.dtype.bytes())};
  if (const auto constant = constant_bytes(n)) {
    bytes = {std::to_string(*constant)};
  } else {
    for (const Expr& extent : n.extents)
      bytes = call(module_.use_helper(Helper::SizeOfProduct), {bytes, index(extent)});
  }
  const std::string name = names_.take(n.data.name());
  out_.add(type + "* " + std::string(module_.dialect().restrict_word) + " " + name +
           " = workspace_alloc(" + bytes.text + ");");
  block("if (!" + name + ")", [&] { leave("3"); });
  workspaces_.push_back({.name = name, .label = module_.names().take("free_" + name)});
  define(n.data, {.name = name, .pointee = type, .is_local = true});
  stmt(n.body);
  const Workspace done = workspaces_.back();
  workspaces_.pop_back();
  if (done.is_jumped_to) out_.add_label(done.label);
  out_.add("workspace_free(" + name + ");");
  if (done.is_jumped_to) block("if (status != 0)", [&] { leave("status"); });
}

// ---- leaving ----

void CFunctionEmitter::check_status(const std::string& call) {
  module_.use_runtime();
  uses_status_ = true;
  out_.add("status = " + call + ";");
  block("if (status != 0)", [&] { leave("status"); });
}

void CFunctionEmitter::leave(const std::string& status) {
  may_fail_ = true;
  if (workspaces_.empty()) return out_.add("return " + status + ";");
  uses_status_ = true;
  if (status != "status") out_.add("status = " + status + ";");
  workspaces_.back().is_jumped_to = true;
  out_.add("goto " + workspaces_.back().label + ";");
}

void CFunctionEmitter::return_value(const Text& value) {
  may_fail_ = true;
  for (auto workspace = workspaces_.rbegin(); workspace != workspaces_.rend(); ++workspace)
    out_.add("workspace_free(" + workspace->name + ");");
  out_.add("return " + value.text + ";");
}

}  // namespace tenon::codegen
