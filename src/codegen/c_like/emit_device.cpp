// Constructs of kernels: thread indices, shared memory, barriers, exchanges within a warp.
#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/error.h"
#include "tenon/tir/launch.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

void CFunctionEmitter::refuse_in_kernel(const std::string& what) const {
  throw LowerError("kernel `" + name_ + "` has " + what + ", which devices cannot run");
}

void CFunctionEmitter::kernel_body(const Stmt& body) {
  read_fragments(body);
  stmt(body);
  Lines all = shared_memory_;
  all.add(out_);
  out_ = all;
}

void CFunctionEmitter::thread_axis(const Attr& n) {
  const IterVar& axis = std::get<IterVar>(n.subject);
  const std::optional<ThreadTag>& tag = axis.thread();
  if (!tag || !tag->dim || tag->is_virtual()) refuse_thread_axis(n);
  const DeviceDialect& device = *module_.dialect().device;
  const auto dimension = static_cast<std::size_t>(*tag->dim);
  const std::string_view index =
      tag->is_block() ? device.block_index[dimension] : device.thread_index[dimension];
  if (uses_var(n.body, axis.var()))
    define(axis.var(), {.name = bind(axis.var().name(), axis.var().dtype(), {std::string(index)}),
                        .is_index = true});
  stmt(n.body);
}

std::string CFunctionEmitter::space_of(const Var& data) const {
  const auto& pointer = data.as<VarNode>()->pointer;
  const StorageScope scope = pointer && pointer->scope ? *pointer->scope : StorageScope::Global;
  switch (scope) {
    case StorageScope::Global:
      return std::string(module_.dialect().device->of_global);
    case StorageScope::Shared:
    case StorageScope::SharedDyn:
      return std::string(module_.dialect().device->of_shared);
    case StorageScope::Local:
    case StorageScope::Warp:
    case StorageScope::WmmaMatrixA:
    case StorageScope::WmmaMatrixB:
    case StorageScope::WmmaAccumulator:
      return "";
  }
  internal_error("a storage scope without a meaning");
}

void CFunctionEmitter::device_memory(const Allocate& n) {
  const auto& pointer = n.data.as<VarNode>()->pointer;
  const StorageScope scope = pointer && pointer->scope ? *pointer->scope : StorageScope::Global;
  const bool is_local = scope == StorageScope::Local;
  const std::string& name = n.data.name();
  if (scope == StorageScope::SharedDyn) return dynamic_shared_memory(n);
  if (is_fragment(scope) && module_.dialect().device->has_tensor_cores) return fragment_memory(n);
  if (!is_local && scope != StorageScope::Shared)
    refuse_in_kernel("memory `" + name + "` of scope " + std::string(to_string(scope)));
  const auto bytes = constant_bytes(n);
  if (!bytes)
    refuse_in_kernel("memory `" + name + "` of scope " + std::string(to_string(scope)) +
                     " whose size is not constant");
  const DeviceDialect& device = *module_.dialect().device;
  const std::string type = array_type(module_.dialect(), n.dtype);
  const std::int64_t count = std::max<std::int64_t>(*bytes / n.dtype.element().bytes(), 1);
  // Shared memory may only be declared at the beginning of a kernel.
  const std::string taken = is_local ? names_.take(name) : names_.take_for_good(name);
  Lines& lines = is_local ? out_ : shared_memory_;
  const bool may_be_vector = *bytes >= 8;
  const bool is_for_matrices = matrix_memory_.contains(&n.data.node());
  lines.add(std::string(is_for_matrices ? "__align__(32) "
                        : may_be_vector ? device.aligned
                                        : "") +
            std::string(is_local ? "" : device.shared_memory) + type + " " + taken + "[" +
            std::to_string(count) + "]" + ";");
  define(n.data, {.name = taken, .pointee = type, .is_local = true, .space = space_of(n.data)});
  stmt(n.body);
}

/// Emits an allocation of dynamic shared memory (its size is set at launch). Allocations are placed
/// one after another, in the order in which the launch sums their sizes.
void CFunctionEmitter::dynamic_shared_memory(const Allocate& n) {
  has_dynamic_shared_ = true;
  const std::string type = memory_type(module_.dialect(), n.dtype);
  const std::string name = names_.take(n.data.name());
  const std::string space = space_of(n.data);
  const Text base{std::string(kDynamicShared)};
  const Text at =
      is_zero(dynamic_bytes_) ? base : infix(base, "+", index(dynamic_bytes_), Level::Sum);
  out_.add(space + type + "* const " + name + " = " + cast_to(space + type + "*", at).text + ";");
  dynamic_bytes_ = dynamic_bytes_ + dynamic_shared_bytes(n);
  define(n.data, {.name = name, .pointee = type, .is_local = true, .space = space});
  stmt(n.body);
}

Text CFunctionEmitter::asynchronous_copy(Intrin intrin, const Call& n) {
  if (intrin == Intrin::ptx_commit_group) {
    out_.add("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
  } else if (intrin == Intrin::ptx_wait_group) {
    out_.add("asm volatile(\"cp.async.wait_group " +
             std::to_string(constant_int(n.args[0]).value_or(0)) + ";\" ::: \"memory\");");
  } else {
    for (const Expr* address : {&n.args[0], &n.args[1]}) {
      const Call* pointer = as_call(*address, Intrin::tvm_access_ptr);
      if (!pointer) refuse_in_kernel("a copy whose address is not a tvm_access_ptr");
      align(pointer->args[1], 16);
    }
    const Text copy = call(module_.helpers().use(Helper::CopyAsync),
                           {expr(n.args[0]), expr(n.args[1]), expr(n.args[2])});
    out_.add(copy.text + ";");
  }
  return {"0"};
}

/// Emits an intrinsic that exists on devices only.
Text CFunctionEmitter::device_intrin(Intrin intrin, const Call& n, DataType type,
                                     const Lane& lane) {
  const DeviceDialect& device = *module_.dialect().device;
  const Text none{"0"};
  const auto shuffle = [&](const char* function, Helper helper) {
    if (device.has_cuda_shuffles)
      return call(function, {expr(n.args[0], lane), expr(n.args[1], lane), expr(n.args[2], lane),
                             expr(n.args[3], lane)});
    if (device.shuffle.empty()) refuse_in_kernel("an exchange within a warp");
    return call(module_.helpers().use(helper, n.args[1].dtype().element()),
                {expr(n.args[1], lane), expr(n.args[2], lane), expr(n.args[3], lane)});
  };
  switch (intrin) {
    case Intrin::tvm_storage_sync: {
      const StringImm* scope = n.args[0].as<StringImm>();
      out_.add(std::string(scope && scope->value == "warp" ? device.warp_barrier
                                                           : device.block_barrier));
      return none;
    }
    // Prefetching is a hint, and devices hide latency by other means.
    case Intrin::prefetch:
      return none;
    case Intrin::thread_return:
      out_.add("return;");
      return none;
    case Intrin::ptx_cp_async:
    case Intrin::ptx_commit_group:
    case Intrin::ptx_wait_group:
      if (!device.has_ptx) refuse_in_kernel("an asynchronous copy");
      return asynchronous_copy(intrin, n);
    case Intrin::tvm_load_matrix_sync:
    case Intrin::tvm_store_matrix_sync:
    case Intrin::tvm_fill_fragment:
    case Intrin::tvm_mma_sync:
      if (!device.has_tensor_cores) refuse_in_kernel("an operation of tensor cores");
      return matrix_operation(intrin, n);
    case Intrin::dp4a:
      if (!device.has_ptx) refuse_in_kernel("a sum of four products as an instruction");
      return dot_product(n);
    case Intrin::tvm_warp_shuffle:
      return shuffle("__shfl_sync", Helper::ShuffleTo);
    case Intrin::tvm_warp_shuffle_up:
      return shuffle("__shfl_up_sync", Helper::ShuffleUp);
    case Intrin::tvm_warp_shuffle_down:
      return shuffle("__shfl_down_sync", Helper::ShuffleDown);
    case Intrin::tvm_warp_activemask:
      if (device.has_cuda_shuffles) return {"__activemask()"};
      // The mask is a constant, because exchanges of this language take no mask: all threads that
      // execute an exchange take part.
      if (!device.shuffle.empty()) return integer(0xffffffff, UInt(32));
      refuse_in_kernel("the mask of a warp's threads");
    case Intrin::tvm_thread_allreduce:
    case Intrin::launch_kernel:
    case Intrin::isnullptr:
    case Intrin::tvm_stack_make_array:
    case Intrin::tvm_stack_make_shape:
    case Intrin::tvm_call_packed:
    case Intrin::handle_add_byte_offset:
    case Intrin::ret:
      refuse_in_kernel("a call of @tir." + std::string(to_string(intrin)));
    default:
      return call_intrin(intrin, n, type, lane);
  }
}

}  // namespace tenon::codegen
