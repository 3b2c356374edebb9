// Lowers warp memory, which is shared by the threads of a warp along threadIdx.x, to shared memory
// with one part per warp.
//
//   attr threadIdx.y = 4 attr threadIdx.x = 32 { allocate W[32] (warp):  ... W[i] ... }
//   =>  allocate W[128] (shared):  ... W[threadIdx.y*32 + i] ...
//
// Threads may read the elements that other threads of their warp have written. A later pass inserts
// the required barriers.
//
// Throws LowerError if the memory or the number of threads is not constant.
#include "lower/passes.h"

#include "lower/rewriting.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool is_of_a_warp(const Var& data) {
  const auto& pointer = data.as<VarNode>()->pointer;
  return pointer && pointer->scope == StorageScope::Warp;
}

std::int64_t constant(const Expr& e, const std::string& what) {
  if (const std::optional<std::int64_t> value = constant_int(e)) return *value;
  throw LowerError("memory of a warp needs a constant size and a constant number of threads; " +
                   what +
                   " is known only when the function is called; keep the stage in shared "
                   "memory");
}

/// Thread axes with their extents, in nesting order.
using AxisExtents = std::vector<std::pair<Var, Expr>>;

Stmt without_warp_memory(const Stmt& s, AxisExtents& axes);

/// Returns the shared memory, with one part per warp, that replaces an allocation of warp memory.
/// `axes`: the thread axes around the allocation other than threadIdx.x.
Stmt shared_by_warps(const Allocate& n, AxisExtents& axes) {
  std::int64_t size = 1, warps = 1;
  for (const Expr& extent : n.extents) size *= constant(extent, "`" + n.data.name() + "`");
  Expr warp(0);
  for (const auto& [var, extent] : axes) {
    warp = warp * cast(Int(32), extent) + cast(Int(32), var);
    warps *= constant(extent, "the extent of `" + var.name() + "`");
  }
  const Var shared(n.data.name(),
                   PointerType{n.data.as<VarNode>()->pointer->element, StorageScope::Shared});
  // Each old buffer has exactly one new buffer, so that equal accesses stay equal.
  std::unordered_map<const BufferNode*, Buffer> buffers;
  const auto access = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    if (indices.size() != 1)
      throw LowerError("memory `" + n.data.name() +
                       "` of a warp has several physical dimensions, and only flat memory can be "
                       "divided among warps; lay it out without an axis separator, or keep it in "
                       "scope \"shared\"");
    const std::int64_t scale = n.dtype.lanes;
    const std::int64_t elements = size * scale / buffer->dtype.lanes;
    const Expr offset = warp * make_int(Int(32), elements);
    const Buffer& own = copy_once(buffers, buffer, [&](BufferNode& node) {
      node.data = shared;
      node.shape = {make_int(Int(32), size * warps)};
      node.strides = {};
    });
    const DataType type = indices[0].dtype();
    return std::pair(own, std::vector<Expr>{indices[0] + cast(type, offset)});
  };
  const Stmt body = with_accesses(without_warp_memory(n.body, axes), n.data, access);
  if (uses_var(body, n.data))
    throw LowerError(
        "memory `" + n.data.name() +
        "` of a warp is passed to a call by its address; keep the stage in shared memory");
  return make_stmt(Allocate{shared, n.dtype, {make_int(Int(32), size * warps)}, n.condition, body});
}

/// `axes`: the thread axes around `s` other than threadIdx.x.
Stmt without_warp_memory(const Stmt& s, AxisExtents& axes) {
  if (is_stack_low()) return with_deep_stack([&] { return without_warp_memory(s, axes); });
  if (const Allocate* n = s.as<Allocate>(); n && is_of_a_warp(n->data))
    return shared_by_warps(*n, axes);
  const IterVar* axis = launched_axis(s);
  const bool tells_warps =
      axis && axis->thread()->is_thread() && axis->thread()->dim.value_or(0) != 0;
  if (tells_warps) axes.emplace_back(axis->var(), s.as<Attr>()->value);
  Stmt result =
      map_statements(s, [&](const Stmt& child) { return without_warp_memory(child, axes); });
  if (tells_warps) axes.pop_back();
  return result;
}

}  // namespace

PrimFunc lower_warp_memory(const PrimFunc& func, const PassOptions&) {
  AxisExtents axes;
  return with_body(func, without_warp_memory(func.body, axes));
}

}  // namespace tenon::lowering
