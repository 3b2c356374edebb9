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

class WarpMemory {
 public:
  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const Attr* n = thread_attr(s)) return threads(s, *n);
    if (const Allocate* n = s.as<Allocate>(); n && is_of_a_warp(n->data)) return memory(*n);
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  Stmt threads(const Stmt& s, const Attr& n) {
    const IterVar& axis = std::get<IterVar>(n.subject);
    const bool tells_warps = axis.thread()->is_thread() && axis.thread()->dim.value_or(0) != 0;
    if (tells_warps) axes_.emplace_back(axis.var(), n.value);
    Stmt result = map_statements(s, [&](const Stmt& child) { return stmt(child); });
    if (tells_warps) axes_.pop_back();
    return result;
  }

  Stmt memory(const Allocate& n) {
    std::int64_t size = 1, warps = 1;
    for (const Expr& extent : n.extents) size *= constant(extent, "`" + n.data.name() + "`");
    Expr warp(0);
    for (const auto& [var, extent] : axes_) {
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
    const Stmt body = with_accesses(stmt(n.body), n.data, access);
    if (uses_var(body, n.data))
      throw LowerError(
          "memory `" + n.data.name() +
          "` of a warp is passed to a call by its address; keep the stage in shared memory");
    return make_stmt(
        Allocate{shared, n.dtype, {make_int(Int(32), size * warps)}, n.condition, body});
  }

  /// The thread axes other than threadIdx.x, in nesting order, with their extents.
  std::vector<std::pair<Var, Expr>> axes_;
};

}  // namespace

PrimFunc lower_warp_memory(const PrimFunc& func, const PassOptions&) {
  return with_body(func, WarpMemory().stmt(func.body));
}

}  // namespace tenon::lowering
