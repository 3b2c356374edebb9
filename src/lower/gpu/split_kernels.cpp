#include "tenon/lower/split_kernels.h"

#include <algorithm>
#include <array>

#include "lower/checks/barrier_hazards.h"
#include "lower/gpu/hoist_kernel_allocations.h"
#include "lower/gpu/kernel_limits.h"
#include "lower/rewriting.h"
#include "tenon/lower/pipeline.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

const Attr* thread_attr(const Stmt& s) {
  const Attr* n = s.as<Attr>();
  return n && n->kind == AttrKind::ThreadExtent ? n : nullptr;
}

const PointerType* pointer_of(const Expr& var) {
  const VarNode* n = var.as<VarNode>();
  return n && n->pointer ? &*n->pointer : nullptr;
}

/// The data pointers and numbers that a statement uses from outside, each in order of appearance.
struct Inputs {
  std::vector<Buffer> buffers;
  std::vector<Var> pointers, numbers;
};

class Splitter {
 public:
  Splitter(const PrimFunc& func, const TargetFacts& target) : func_(func), target_(target) {}

  DeviceProgram run() {
    PrimFunc host = func_;
    host.body = outside(func_.body);
    for (std::size_t k = checks_.size(); k-- > 0;)
      host.body = make_stmt(Assert{checks_[k].condition, checks_[k].message, host.body});
    return {std::move(host), std::move(kernels_)};
  }

 private:
  // ---- the host ----

  Stmt outside(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return outside(s); });
    if (thread_attr(s)) return launch(s);
    if (const For* n = s.as<For>()) {
      loops_.push_back(n->var.name());
      defined_.insert(&n->var.node());
      const Stmt body = outside(n->body);
      loops_.pop_back();
      expr(n->min), expr(n->extent);
      return make_stmt(For{n->var, n->min, n->extent, ForKind::Serial, body});
    }
    // Kernels have no vector parameters, so each kernel recomputes the vector.
    if (const Let* n = s.as<Let>(); n && n->value.dtype().is_vector())
      return outside(substitute(n->body, VarMap{{&n->var.node(), n->value}}));
    if (const Let* n = s.as<Let>()) {
      defined_.insert(&n->var.node());
      set(lets_, n->var, substitute(n->value, lets_));
    }
    if (const Store* n = s.as<Store>()) refuse(n->buffer);
    if (const Allocate* n = s.as<Allocate>()) {
      if (memory_scope(n->data) != StorageScope::Global) refuse_memory(*n);
      allocated_.push_back(n->data);
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e), e; },
        [&](const Stmt& child) { return outside(child); });
  }

  void expr(const Expr& e) const {
    if (as_call(e, Intrin::address_of)) return;
    if (const Load* n = e.as<Load>()) refuse(n->buffer);
    for_each_child(e, [&](const Expr& child) { expr(child); });
  }

  [[noreturn]] void refuse(const Buffer& buffer) const {
    std::string text = "stage `" + buffer->name + "` is not bound to any thread: ";
    if (loops_.empty()) {
      text +=
          "it is outside of all loops and runs on the host, which cannot reach device memory; "
          "compute it inside of a stage that is bound, with compute_at or compute_inline";
    } else {
      std::string loops;
      for (const std::string& loop : loops_) loops += (loops.empty() ? "`" : ", `") + loop + "`";
      text += "its loops " + loops +
              " run on the host, which cannot reach memory of the device; bind one of them, as in "
              "`s[" +
              buffer->name + "].bind(" + loops_.front() + ", te::thread_axis(\"blockIdx.x\"))`";
    }
    throw LowerError(text);
  }

  [[noreturn]] static void refuse_memory(const Allocate& n) {
    throw LowerError("memory `" + n.data.name() + "` is " +
                     std::string(to_string(memory_scope(n.data))) +
                     ", which each launch of threads has for itself, but stands outside of any "
                     "launch; compute it inside of a thread axis, or set its scope to \"global\"");
  }

  // ---- one kernel ----

  Stmt launch(const Stmt& s) {
    std::array<Expr, 6> extents{Expr(1), Expr(1), Expr(1), Expr(1), Expr(1), Expr(1)};
    const Stmt* inside = &s;
    std::vector<const Attr*> nest;
    while (const Attr* n = thread_attr(*inside)) {
      const ThreadTag& tag = *std::get<IterVar>(n->subject).thread();
      extents[(tag.is_block() ? 0u : 3u) + static_cast<std::size_t>(tag.dim.value_or(0))] =
          n->value;
      nest.push_back(n);
      inside = &n->body;
    }
    Stmt body = hoist_kernel_allocations(*inside, nest);
    for (std::size_t k = nest.size(); k-- > 0;)
      body = make_stmt(
          Attr{AttrKind::ThreadExtent, nest[k]->subject, nest[k]->key, nest[k]->value, body});

    PrimFunc kernel = function(body);
    const std::vector<LaunchCheck> checks = check_kernel_limits(kernel, target_, lets_);
    std::vector<Expr> args{make_string(kernel.attrs.global_symbol)};
    args.insert(args.end(), extents.begin(), extents.end());
    args.push_back(dynamic_shared_bytes_of(kernel.body));
    args.insert(args.end(), kernel.params.begin(), kernel.params.end());
    kernels_.push_back(std::move(kernel));
    return checked(checks,
                   make_evaluate(make_call(Int(32), Intrin::launch_kernel, std::move(args))));
  }

  /// Adds the checks of a launch. Checks that only use the function's arguments run at its entry.
  Stmt checked(const std::vector<LaunchCheck>& checks, Stmt launch) {
    for (const LaunchCheck& check : checks) {
      const bool is_late = uses_var(
          check.condition, [&](const Expr& var) { return defined_.contains(&var.node()); });
      if (is_late)
        launch = make_stmt(Assert{check.condition, check.message, launch});
      else
        checks_.push_back(check);
    }
    return launch;
  }

  PrimFunc function(const Stmt& body) const {
    PrimFunc kernel{
        .params = {}, .buffers = {}, .body = body, .attrs = func_.attrs, .form = Form::Lowered};
    kernel.attrs.global_symbol += "_kernel" + std::to_string(kernels_.size());
    Inputs inputs = inputs_of(body);
    std::stable_sort(inputs.pointers.begin(), inputs.pointers.end(),
                     [&](const Var& a, const Var& b) { return rank(a) < rank(b); });
    for (const Var& data : inputs.pointers) {
      kernel.params.push_back(data);
      const Buffer buffer = buffer_of(data, inputs);
      kernel.buffers.push_back({data, of_any_size(buffer, inputs), buffer});
    }
    kernel.params.insert(kernel.params.end(), inputs.numbers.begin(), inputs.numbers.end());
    return kernel;
  }

  static Inputs inputs_of(const Stmt& body) {
    Inputs inputs;
    std::unordered_set<const ExprNode*> own, known;
    const auto add = [&](const Var& var) {
      if (!known.insert(&var.node()).second) return;
      (pointer_of(var) ? inputs.pointers : inputs.numbers).push_back(var);
    };
    walk(body, [&](const Allocate& n) { own.insert(&n.data.node()); });
    for (const Var& var : free_vars(body))
      if (!own.contains(&var.node())) add(var);
    const auto access = [&](const Buffer& buffer) {
      if (own.contains(&buffer->data.node())) return;
      add(buffer->data);
      inputs.buffers.push_back(buffer);
    };
    walk(
        body, [&](const Load& n) { access(n.buffer); }, [&](const Store& n) { access(n.buffer); });
    return inputs;
  }

  /// Orders the caller's arrays as given, followed by the allocations of the host.
  std::size_t rank(const Var& data) const {
    for (std::size_t k = 0; k < func_.buffers.size(); ++k)
      if (func_.buffers[k].buffer->data.same_as(data)) return k;
    for (std::size_t k = 0; k < allocated_.size(); ++k)
      if (allocated_[k].same_as(data)) return func_.buffers.size() + k;
    return func_.buffers.size() + allocated_.size();
  }

  Buffer buffer_of(const Var& data, const Inputs& inputs) const {
    for (const BufferParam& param : func_.buffers)
      if (param.buffer->data.same_as(data)) return param.buffer;
    for (const Buffer& buffer : inputs.buffers)
      if (buffer->data.same_as(data)) return buffer;
    return decl_buffer({Expr(1)}, pointer_of(data)->element, {.name = data.name(), .data = data});
  }

  /// Returns the buffer with variables for the extents that the kernel's numbers do not determine.
  /// A kernel that reads only the first row of a matrix does not get the number of rows.
  static Buffer of_any_size(const Buffer& buffer, const Inputs& inputs) {
    BufferNode node = *buffer.get();
    bool is_known = true;
    for (Expr& extent : node.shape) {
      const std::vector<Var> vars = free_vars(extent);
      if (std::ranges::all_of(vars, [&](const Var& var) {
            return std::ranges::any_of(inputs.numbers,
                                       [&](const Var& number) { return number.same_as(var); });
          }))
        continue;
      extent = Var("size", extent.dtype());
      is_known = false;
    }
    return is_known ? buffer : make_buffer(std::move(node));
  }

  static Expr dynamic_shared_bytes_of(const Stmt& body) {
    Expr bytes(0);
    walk(body, [&](const Allocate& n) {
      if (memory_scope(n.data) == StorageScope::SharedDyn) bytes = bytes + dynamic_shared_bytes(n);
    });
    return bytes;
  }

  const PrimFunc& func_;
  const TargetFacts& target_;
  std::vector<PrimFunc> kernels_;
  std::vector<Var> allocated_;
  std::vector<LaunchCheck> checks_;
  /// The variables that the host defines.
  std::unordered_set<const ExprNode*> defined_;
  /// The values of the lets among them.
  VarMap lets_;
  /// The enclosing loops of the host.
  std::vector<std::string> loops_;
};

}  // namespace

DeviceProgram split_kernels(const PrimFunc& func, const TargetFacts& target) {
  DeviceProgram program = Splitter(func, target).run();
  for (const PrimFunc& kernel : program.kernels) {
    std::vector<Violation> violations = verify_kernel(kernel);
    // This analysis is independent of the one that placed the barriers, and it checks the launched
    // code.
    if (violations.empty()) violations = find_barrier_hazards(kernel);
    if (!violations.empty())
      throw PassFailure("split-kernels", violations[0].what + " (" + violations[0].where + ")",
                        print_function(func), print_function(kernel));
  }
  return program;
}

// ---- joining ------------------------------------------------------------------------------------

PrimFunc join_kernels(const DeviceProgram& program) {
  PrimFunc result = program.host;
  result.body = rewrite(result.body, [&](const Evaluate& n, const Stmt&) -> std::optional<Stmt> {
    const Call* call = as_call(n.value, Intrin::launch_kernel);
    if (!call) return std::nullopt;
    const std::string& name = call->args[kLaunchName].as<StringImm>()->value;
    for (const PrimFunc& kernel : program.kernels)
      if (kernel.attrs.global_symbol == name) {
        VarMap args;
        for (std::size_t k = 0; k < kernel.params.size(); ++k)
          if (!kernel.params[k].same_as(call->args[kLaunchArguments + k]))
            set(args, kernel.params[k], call->args[kLaunchArguments + k]);
        return args.empty() ? kernel.body : replace_vars(kernel.body, std::move(args));
      }
    internal_error("a launch of `" + name + "`, which is not a kernel");
  });
  return result;
}

// ---- verification -------------------------------------------------------------------------------

namespace {

class KernelVerifier {
 public:
  std::vector<Violation> run(const PrimFunc& kernel) {
    for (const Var& param : kernel.params) known_.insert(&param.node());
    if (kernel.params.size() < kernel.buffers.size())
      report("pointers that are not parameters", "");
    for (std::size_t k = 0; k < std::min(kernel.params.size(), kernel.buffers.size()); ++k)
      if (!kernel.params[k].same_as(kernel.buffers[k].buffer->data))
        report("a pointer that follows the numbers, or has no buffer", kernel.params[k].name());
    const Stmt* s = &kernel.body;
    std::vector<ThreadTag> tags;
    for (const Attr* n = thread_attr(*s); n; n = thread_attr(*s)) {
      const ThreadTag& tag = *std::get<IterVar>(n->subject).thread();
      if (std::find(tags.begin(), tags.end(), tag) != tags.end())
        report("a thread axis that is entered twice", tag.str());
      tags.push_back(tag);
      for (const Var& var : free_vars(n->value))
        if (!known_.contains(&var.node()))
          report("an extent that is not made of parameters", var.name());
      s = &n->body;
    }
    if (tags.empty()) report("no thread axis", "");
    for (const Allocate* n = s->as<Allocate>(); n; n = s->as<Allocate>()) s = &n->body;
    inside(*s);
    for (const Var& var : free_vars(kernel.body))
      if (!known_.contains(&var.node())) report("a variable that is not a parameter", var.name());
    walk(kernel.body, [&](const Allocate& n) {
      if (memory_scope(n.data) == StorageScope::Global)
        report("global memory that is allocated inside", n.data.name());
    });
    return std::move(violations_);
  }

 private:
  /// Verifies statements inside the axes and the block memory.
  void inside(const Stmt& s) {
    walk(
        s,
        [&](const Attr& n) {
          if (n.kind == AttrKind::ThreadExtent) report("a thread axis inside", attr_text(n));
        },
        [&](const Allocate& n) {
          if (is_shared_memory(memory_scope(n.data)))
            report("memory of the block that is allocated inside", n.data.name());
        },
        [&](const For& n) {
          if (n.kind == ForKind::Parallel) report("a parallel loop", n.var.name());
        },
        [&](const Call& n) {
          if (n.is(Intrin::launch_kernel)) report("a launch inside of a kernel", "");
        });
  }

  void report(std::string what, std::string where) {
    violations_.push_back({std::move(what), std::move(where)});
  }

  std::unordered_set<const ExprNode*> known_;
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> verify_kernel(const PrimFunc& kernel) {
  return KernelVerifier().run(kernel);
}

}  // namespace tenon::lowering
