#include "lower/gpu/kernel_limits.h"

#include <algorithm>
#include <array>

#include "lower/gpu/matrix_operations.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/simplify.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Returns "stage `C`" or "stages `C`, `D`": the stages that the kernel computes.
std::string stages_of(const PrimFunc& kernel) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& stage) {
    if (std::find(names.begin(), names.end(), stage) == names.end()) names.push_back(stage);
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

class Limits {
 public:
  Limits(const PrimFunc& kernel, const TargetFacts& target, const VarMap& lets)
      : kernel_(kernel), target_(target), lets_(lets) {
    for (const Attr* n = kernel_.body.as<Attr>(); n && n->kind == AttrKind::ThreadExtent;
         n = n->body.as<Attr>()) {
      const Var& var = std::get<IterVar>(n->subject).var();
      facts_.bind(var,
                  Range::from_min_extent(make_int(var.dtype(), 0), cast(var.dtype(), n->value)));
      threads_.insert(&var.node());
    }
  }

  std::vector<LaunchCheck> run() {
    threads();
    shared_memory();
    private_memory();
    registers();
    return std::move(checks_);
  }

 private:
  /// Throws if the value provably exceeds the limit, and adds a launch check if it may.
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
    checks_.push_back({amount <= make_int(amount.dtype(), most),
                       what + "`" + print_expr(amount) + "`" + unit + limit});
  }

  std::string number(const Expr& value) const {
    const Expr amount = arith::simplify(substitute(value, lets_));
    const auto constant = constant_int(amount);
    return constant ? std::to_string(*constant) : print_expr(amount);
  }

  void threads() {
    Expr all = make_int(Int(64), 1);
    std::string product;
    for (const Attr* n = kernel_.body.as<Attr>(); n && n->kind == AttrKind::ThreadExtent;
         n = n->body.as<Attr>()) {
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

  /// Checks the private memory of a thread, in registers or not. The limit is that of CUDA's
  /// compute capabilities; OpenCL specifies none.
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
    throw LowerError(stages_of(kernel_) + ": what a thread keeps for itself (" + list + ") takes " +
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
    throw LowerError(stages_of(kernel_) + ": what a thread keeps in registers (" + list +
                     ") takes " + std::to_string(all) + " of them; the target has at most " +
                     std::to_string(most) + "; give each thread or warp smaller tiles");
  }

  const PrimFunc& kernel_;
  const TargetFacts& target_;
  const VarMap& lets_;
  arith::Facts facts_;
  /// The variables of the thread axes, which are unknown on the host.
  std::unordered_set<const ExprNode*> threads_;
  std::vector<LaunchCheck> checks_;
};

}  // namespace

int compute_capability(const TargetFacts& target) {
  int number = 0;
  for (const char c : target.arch)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return number;
}

std::vector<LaunchCheck> check_kernel_limits(const PrimFunc& kernel, const TargetFacts& target,
                                             const VarMap& lets) {
  check_matrix_operations(kernel, target);
  return Limits(kernel, target, lets).run();
}

}  // namespace tenon::lowering
