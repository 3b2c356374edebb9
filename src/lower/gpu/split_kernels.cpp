#include "tenon/lower/split_kernels.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <vector>

#include "lower/checks/barrier_hazards.h"
#include "lower/gpu/matrix_operations.h"
#include "lower/hoisted_extents.h"
#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/simplify.h"
#include "tenon/lower/pipeline.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/function.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/target.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- limits of a launch -------------------------------------------------------------------------

// Limits of a kernel launch: threads per block, blocks per grid, bytes of shared memory, registers.

/// A condition on the kernel's parameters that is checked at the launch, with the error message.
using LaunchCheck = std::pair<Expr, std::string>;

/// Returns "stage `C`" or "stages `C`, `D`": the stages that the kernel computes.
std::string stages_of(const PrimFunc& kernel) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& stage) {
    if (std::ranges::find(names, stage) == names.end()) names.push_back(stage);
  };
  walk(
      kernel.body,
      [&](const Store& n) {
        if (n.buffer->scope() == StorageScope::Global) add(n.buffer->name);
      },
      [&](const Evaluate& n) {
        const Call* call = matrix_operation(n.value);
        if (!call || !call->is(Intrin::tvm_store_matrix_sync)) return;
        const Var data = Var::of(written_by(*call));
        for (const BufferParam& param : kernel.buffers)
          if (param.buffer->data.same_as(data)) add(param.buffer->name);
      });
  std::string text = names.size() == 1 ? "stage" : "stages";
  for (std::size_t k = 0; k < names.size(); ++k) text += (k ? ", `" : " `") + names[k] + "`";
  return names.empty() ? "kernel `" + kernel.attrs.global_symbol + "`" : text;
}

/// Throws LowerError, with the kernel's stages and the memory, if the kernel provably exceeds the
/// limits of the target, or if it uses tensor-core operations that the target lacks. Returns the
/// checks that depend on values known only at the call. The variables of `lets` have
/// compiler-generated names, so checks and messages contain their values instead.
class Limits {
 public:
  Limits(const PrimFunc& kernel, const TargetFacts& target, const VarMap& lets)
      : kernel_(kernel), target_(target), lets_(lets) {
    for (const Attr* n = thread_attr(kernel_.body); n; n = thread_attr(n->body)) {
      const Var& var = std::get<IterVar>(n->subject).var();
      facts_.bind(var,
                  Range::from_min_extent(make_int(var.dtype(), 0), cast(var.dtype(), n->value)));
      threads_.insert(&var.node());
    }
  }

  std::vector<LaunchCheck> run() {
    check_matrix_operations(kernel_, target_);
    threads();
    shared_memory();
    private_memory();
    registers();
    return std::move(checks_);
  }

 private:
  /// Throws if the value provably exceeds the limit. Adds a launch check if it may exceed the
  /// limit.
  void at_most(const Expr& value, std::int64_t most, const std::string& what,
               const std::string& unit, const std::string& remedy) {
    const Expr amount = arith::simplify(substitute(value, lets_));
    const arith::ConstBound bound = arith::const_bound(amount, facts_);
    if (bound.is_at_most(most)) return;
    const std::string limit = "; the target has at most " + std::to_string(most) + remedy;
    if (bound.min && *bound.min > most)
      throw LowerError(what +
                       (constant_int(amount) ? std::to_string(*bound.min)
                                             : "at least " + std::to_string(*bound.min)) +
                       unit + limit);
    if (uses_var(amount, [&](const Expr& var) { return threads_.contains(&var.node()); }))
      throw LowerError(
          what + "`" + print_expr(amount) + "`" + unit +
          ", which differs between blocks, but all blocks get the same amount; bind an axis for "
          "which the producer's part always has the same size");
    checks_.emplace_back(amount <= make_int(amount.dtype(), most),
                         what + "`" + print_expr(amount) + "`" + unit + limit);
  }

  std::string number(const Expr& value) const {
    const Expr amount = arith::simplify(substitute(value, lets_));
    const auto constant = constant_int(amount);
    return constant ? std::to_string(*constant) : print_expr(amount);
  }

  void threads() {
    Expr all = make_int(Int(64), 1);
    std::string product;
    for (const Attr* n = thread_attr(kernel_.body); n; n = thread_attr(n->body)) {
      const ThreadTag& tag = *std::get<IterVar>(n->subject).thread();
      const int dim = tag.dim.value_or(0);
      const std::string what = stages_of(kernel_) + ": the extent of `" + tag.str() + "` is ";
      if (tag.is_thread()) {
        all = all * cast(Int(64), n->value);
        product += (product.empty() ? "`" : ", `") + tag.str() + "` of " + number(n->value);
      }
      if (target_.kind != TargetKind::Cuda) continue;
      if (tag.is_thread() && dim == 2) at_most(n->value, 64, what, "", "; split it, or fuse it");
      if (tag.is_block() && dim > 0)
        at_most(n->value, 65535, what, "", "; bind the longest axis to `blockIdx.x`");
    }
    at_most(all, target_.max_threads_per_block,
            stages_of(kernel_) + ": a block (" + product + ") has ", " threads",
            "; split the axes by smaller factors");
  }

  void shared_memory() {
    Expr all = make_int(Int(64), 0);
    std::string list;
    walk(kernel_.body, [&](const Allocate& n) {
      const StorageScope scope = memory_scope(n.data);
      if (!is_shared_memory(scope)) return;
      const bool is_dynamic = scope == StorageScope::SharedDyn;
      const Expr bytes = arith::simplify(is_dynamic ? dynamic_shared_bytes(n) : bytes_of(n));
      all = all + bytes;
      list += (list.empty() ? "`" : ", `") + n.data.name() + "` " + number(bytes);
    });
    at_most(all, target_.max_shared_bytes,
            stages_of(kernel_) + ": shared memory of a block (" + list + ") takes ", " bytes",
            "; stage smaller tiles, at a loop further inside");
  }

  /// Checks the size of a thread's private memory, whether in registers or not. CUDA's compute
  /// capabilities define a limit; OpenCL does not.
  void private_memory() {
    constexpr std::int64_t kMax = 512 * 1024;
    if (target_.kind != TargetKind::Cuda) return;
    std::int64_t all = 0;
    std::string list;
    walk(kernel_.body, [&](const Allocate& n) {
      const auto bytes = constant_int(arith::simplify(bytes_of(n)));
      if (memory_scope(n.data) != StorageScope::Local || !bytes) return;
      all += *bytes;
      list += (list.empty() ? "`" : ", `") + n.data.name() + "` " + std::to_string(*bytes);
    });
    if (all <= kMax) return;
    throw LowerError(stages_of(kernel_) + ": the local memory of a thread (" + list + ") takes " +
                     std::to_string(all) + " bytes; the target has at most " +
                     std::to_string(kMax) +
                     "; compute the stages at loops further inside, or keep them in global memory");
  }

  /// Checks the values that a thread must keep in registers: its part of the fragments and, if the
  /// target limits registers, memory of scope "local". Without a limit, "local" memory may be
  /// spilled.
  void registers() {
    constexpr std::int64_t kMax = 255, kBytes = 4, kWarpSize = 32;
    if (target_.kind != TargetKind::Cuda) return;
    std::int64_t all = 0;
    std::string list;
    walk(kernel_.body, [&](const Allocate& n) {
      const StorageScope scope = memory_scope(n.data);
      const bool is_tile = is_fragment(scope);
      if (!is_tile && (!target_.max_registers || scope != StorageScope::Local)) return;
      const auto bytes = constant_int(arith::simplify(bytes_of(n)));
      if (!bytes) return;
      const std::int64_t part = is_tile ? kBytes * kWarpSize : kBytes;
      const std::int64_t count = (*bytes + part - 1) / part;
      all += count;
      list += (list.empty() ? "`" : ", `") + n.data.name() + "` " + std::to_string(count);
    });
    const std::int64_t most = target_.max_registers.value_or(kMax);
    if (all <= most) return;
    throw LowerError(stages_of(kernel_) + ": the values that a thread keeps in registers (" + list +
                     ") take " + std::to_string(all) + " registers; the target has at most " +
                     std::to_string(most) + "; give each thread or warp smaller tiles");
  }

  const PrimFunc& kernel_;
  const TargetFacts& target_;
  const VarMap& lets_;
  arith::Facts facts_;
  /// The variables of the thread axes, whose values the host does not know.
  std::unordered_set<const ExprNode*> threads_;
  std::vector<LaunchCheck> checks_;
};

// ---- allocations of a kernel --------------------------------------------------------------------

/// Hoists the shared and warp memory of a block to the top of the kernel, as OpenCL requires.
/// Thread-local memory is not moved. `axes` are the thread axes of the kernel. Throws LowerError
/// for memory whose size is not known before the launch.
class MemoryOfBlocks {
 public:
  /// Enters the thread axes, whose variables are unknown at the launch.
  explicit MemoryOfBlocks(const std::vector<const Attr*>& axes) {
    for (const Attr* n : axes) {
      const Expr extent = n->value;
      loops_.push_back({std::get<IterVar>(n->subject).var(), Range::from_extent(extent)});
    }
  }

  Stmt body(const Stmt& s) {
    Stmt result = without(s);
    for (const Allocate& n : found_ | std::views::reverse)
      result = make_stmt(Allocate{n.data, n.dtype, n.extents, n.condition, result, false});
    return result;
  }

 private:
  Stmt without(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return without(s); });
    if (const Allocate* n = s.as<Allocate>()) {
      const StorageScope scope = memory_scope(n->data);
      if (is_shared_memory(scope) || scope == StorageScope::Warp) {
        found_.push_back(*n);
        for (Expr& extent : found_.back().extents) extent = known_at_top(extent, n->data);
        return without(n->body);
      }
    }
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    if (const For* n = s.as<For>()) {
      loops_.push_back({n->var, Range::from_min_extent(n->min, n->extent)});
      const Stmt body = without(n->body);
      loops_.pop_back();
      // One thread runs all iterations of a parallel loop in a kernel.
      const ForKind kind = n->kind == ForKind::Parallel ? ForKind::Serial : n->kind;
      return make_stmt(For{n->var, n->min, n->extent, kind, body});
    }
    return map_statements(s, [&](const Stmt& child) { return without(child); });
  }

  /// Returns an upper bound of the extent over all iterations and blocks. The host computes the
  /// size at the launch, so the bound must not use variables of loops and blocks.
  Expr known_at_top(const Expr& inside, const Var& data) const {
    const Expr extent = substitute(inside, lets_);
    const auto is_inner = [&](const Expr& var) {
      return std::ranges::any_of(loops_, [&](const RangedVar& l) { return l.var.same_as(var); });
    };
    if (!uses_var(extent, is_inner) && effect_of(extent) == Effect::Pure)
      return loops_.empty() ? extent : with_safe_divisors(extent);
    if (const std::optional<Expr> bound = extent_bound(extent, loops_)) return *bound;
    throw LowerError(
        "memory `" + data.name() + "`, which the threads of a block share, has `" +
        print_expr(extent) +
        "` elements; that number differs between iterations or between blocks and has no known "
        "upper bound; compute the stage at a loop outside of those");
  }

  /// The enclosing loops and thread axes.
  std::vector<RangedVar> loops_;
  /// The values of variables defined inside the kernel.
  VarMap lets_;
  std::vector<Allocate> found_;
};

// ---- kernels ------------------------------------------------------------------------------------

const PointerType* pointer_of(const Expr& var) {
  const VarNode* n = var.as<VarNode>();
  return n && n->pointer ? &*n->pointer : nullptr;
}

class Splitter {
 public:
  Splitter(const PrimFunc& func, const TargetFacts& target) : func_(func), target_(target) {}

  DeviceProgram run() {
    PrimFunc host = func_;
    host.body = outside(func_.body);
    for (const auto& [condition, message] : checks_ | std::views::reverse)
      host.body = make_stmt(Assert{condition, message, host.body});
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
    // Kernels have no vector parameters, so each kernel recomputes the value of the let.
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
    Stmt body = MemoryOfBlocks(nest).body(*inside);
    for (const Attr* axis : nest | std::views::reverse)
      body = make_stmt(Attr{AttrKind::ThreadExtent, axis->subject, axis->key, axis->value, body});

    PrimFunc kernel = function(body);
    const std::vector<LaunchCheck> checks = Limits(kernel, target_, lets_).run();
    std::vector<Expr> args{make_string(kernel.attrs.global_symbol)};
    args.insert(args.end(), extents.begin(), extents.end());
    args.push_back(dynamic_shared_bytes_of(kernel.body));
    args.insert(args.end(), kernel.params.begin(), kernel.params.end());
    kernels_.push_back(std::move(kernel));
    return checked(checks,
                   make_evaluate(make_call(Int(32), Intrin::launch_kernel, std::move(args))));
  }

  /// Adds the run-time checks of a launch. A check that uses only the function's arguments runs at
  /// the function's entry.
  Stmt checked(const std::vector<LaunchCheck>& checks, Stmt launch) {
    for (const auto& [condition, message] : checks) {
      const bool is_late =
          uses_var(condition, [&](const Expr& var) { return defined_.contains(&var.node()); });
      if (is_late)
        launch = make_stmt(Assert{condition, message, launch});
      else
        checks_.emplace_back(condition, message);
    }
    return launch;
  }

  PrimFunc function(const Stmt& body) const {
    PrimFunc kernel{
        .params = {}, .buffers = {}, .body = body, .attrs = func_.attrs, .form = Form::Lowered};
    kernel.attrs.global_symbol += "_kernel" + std::to_string(kernels_.size());
    // The buffers, data pointers and scalars that the body uses but does not define, in order of
    // appearance.
    std::vector<Buffer> buffers;
    std::vector<Var> pointers, numbers;
    std::unordered_set<const ExprNode*> own, known;
    const auto add = [&](const Var& var) {
      if (!known.insert(&var.node()).second) return;
      (pointer_of(var) ? pointers : numbers).push_back(var);
    };
    walk(body, [&](const Allocate& n) { own.insert(&n.data.node()); });
    for (const Var& var : free_vars(body))
      if (!own.contains(&var.node())) add(var);
    const auto access = [&](const Buffer& buffer) {
      if (own.contains(&buffer->data.node())) return;
      add(buffer->data);
      buffers.push_back(buffer);
    };
    walk(
        body, [&](const Load& n) { access(n.buffer); }, [&](const Store& n) { access(n.buffer); });
    std::ranges::stable_sort(pointers, {}, [&](const Var& data) { return rank(data); });
    for (const Var& data : pointers) {
      kernel.params.push_back(data);
      const Buffer buffer = buffer_of(data, buffers);
      kernel.buffers.push_back({data, of_any_size(buffer, numbers), buffer});
    }
    kernel.params.insert(kernel.params.end(), numbers.begin(), numbers.end());
    return kernel;
  }

  /// Returns the position of an array in the order of kernel arguments. The caller's arrays come
  /// first, in their order, and allocations of the host follow.
  std::size_t rank(const Var& data) const {
    for (std::size_t k = 0; k < func_.buffers.size(); ++k)
      if (func_.buffers[k].buffer->data.same_as(data)) return k;
    for (std::size_t k = 0; k < allocated_.size(); ++k)
      if (allocated_[k].same_as(data)) return func_.buffers.size() + k;
    return func_.buffers.size() + allocated_.size();
  }

  Buffer buffer_of(const Var& data, const std::vector<Buffer>& used) const {
    for (const BufferParam& param : func_.buffers)
      if (param.buffer->data.same_as(data)) return param.buffer;
    for (const Buffer& buffer : used)
      if (buffer->data.same_as(data)) return buffer;
    return decl_buffer({Expr(1)}, pointer_of(data)->element, {.name = data.name(), .data = data});
  }

  /// Returns the buffer with a new variable for each extent that the kernel's scalar parameters do
  /// not determine. For example, a kernel that reads only the first row of a matrix does not
  /// receive the number of rows.
  static Buffer of_any_size(const Buffer& buffer, const std::vector<Var>& numbers) {
    BufferNode node = *buffer.get();
    bool is_known = true;
    for (Expr& extent : node.shape) {
      const std::vector<Var> vars = free_vars(extent);
      if (std::ranges::all_of(vars, [&](const Var& var) {
            return std::ranges::any_of(numbers,
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
  /// The values of the host's lets.
  VarMap lets_;
  /// The names of the host's loops that enclose the current statement, outermost first.
  std::vector<std::string> loops_;
};

}  // namespace

int compute_capability(const TargetFacts& target) {
  int number = 0;
  for (const char c : target.arch)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

DeviceProgram split_kernels(const PrimFunc& func, const TargetFacts& target) {
  DeviceProgram program = Splitter(func, target).run();
  for (const PrimFunc& kernel : program.kernels) {
    std::vector<Violation> violations = verify_kernel(kernel);
    // The analysis is independent of the pass that placed the barriers, and it checks the code that
    // is launched.
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

using Report = FunctionRef<void(std::string what, std::string where)>;

/// Verifies the statements inside the thread axes and the allocations of block memory.
void verify_inside(const Stmt& s, Report report) {
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

}  // namespace

std::vector<Violation> verify_kernel(const PrimFunc& kernel) {
  std::vector<Violation> violations;
  const auto report = [&](std::string what, std::string where) {
    violations.push_back({std::move(what), std::move(where)});
  };
  std::unordered_set<const ExprNode*> known;
  for (const Var& param : kernel.params) known.insert(&param.node());
  if (kernel.params.size() < kernel.buffers.size()) report("pointers that are not parameters", "");
  for (std::size_t k = 0; k < std::min(kernel.params.size(), kernel.buffers.size()); ++k)
    if (!kernel.params[k].same_as(kernel.buffers[k].buffer->data))
      report("a pointer that follows the numbers, or has no buffer", kernel.params[k].name());
  const Stmt* s = &kernel.body;
  std::vector<ThreadTag> tags;
  while (const Attr* n = thread_attr(*s)) {
    const ThreadTag& tag = *std::get<IterVar>(n->subject).thread();
    if (std::ranges::find(tags, tag) != tags.end())
      report("a thread axis that is entered twice", tag.str());
    tags.push_back(tag);
    for (const Var& var : free_vars(n->value))
      if (!known.contains(&var.node()))
        report("an extent that is not made of parameters", var.name());
    s = &n->body;
  }
  if (tags.empty()) report("no thread axis", "");
  while (const Allocate* n = s->as<Allocate>()) s = &n->body;
  verify_inside(*s, report);
  for (const Var& var : free_vars(kernel.body))
    if (!known.contains(&var.node())) report("a variable that is not a parameter", var.name());
  walk(kernel.body, [&](const Allocate& n) {
    if (memory_scope(n.data) == StorageScope::Global)
      report("global memory that is allocated inside", n.data.name());
  });
  return violations;
}

}  // namespace tenon::lowering
