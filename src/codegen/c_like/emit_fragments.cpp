// Tensor cores in CUDA C: fragments are objects of nvcuda::wmma, held jointly by the threads of a
// warp, and the intrinsics are its functions.
//
//   nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[2];
//   nvcuda::wmma::load_matrix_sync(a[0], (const half*)(A_shared + k * 16), 72);
//   nvcuda::wmma::mma_sync(c[0], a[0], b[0], c[0]);
//
// The verifier of lowered kernels (lower/gpu/matrix_operations.h) has already checked that shapes,
// types and layouts exist and that a fragment has one of each.
#include "codegen/c_like/function_emitter.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/error.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

constexpr std::string_view kWmma = "nvcuda::wmma::";

DataType element_of(const Var& data) { return data.as<VarNode>()->pointer->element.element(); }

/// Returns wmma's name of a type. It differs from the memory type for 16-bit floats.
std::string wmma_type(const Dialect& dialect, DataType t) {
  if (t == Float(16)) return "half";
  if (t == BFloat(16)) return "__nv_bfloat16";
  return memory_type(dialect, t);
}

bool is_by_columns(const Expr& layout) {
  const StringImm* text = layout.as<StringImm>();
  return text && text->value == "col_major";
}

}  // namespace

/// Collects the kernel's fragments, from their loads and fills, and the shared memory that must be
/// aligned for matrix accesses.
void CFunctionEmitter::read_fragments(const Stmt& kernel) {
  walk(kernel, [&](const Call& n) {
    const bool is_load = n.is(Intrin::tvm_load_matrix_sync);
    const bool is_store = n.is(Intrin::tvm_store_matrix_sync);
    if (!is_load && !is_store && !n.is(Intrin::tvm_fill_fragment)) return;
    const auto number = [&](std::size_t k) {
      return static_cast<int>(constant_int(n.args[k]).value_or(0));
    };
    FragmentShape shape{.m = number(1), .n = number(2), .k = number(3)};
    shape.is_by_columns = is_load && is_by_columns(n.args[7]);
    fragments_.try_emplace(&n.args[0].node(), shape);
    if (!is_load && !is_store) return;
    if (const Call* address = as_call(n.args[5], Intrin::tvm_access_ptr))
      matrix_memory_.insert(&address->args[1].node());
  });
}

void CFunctionEmitter::fragment_memory(const Allocate& n) {
  const StorageScope scope = memory_scope(n.data);
  const auto found = fragments_.find(&n.data.node());
  if (found == fragments_.end())
    refuse_in_kernel("fragment `" + n.data.name() + "`, which is neither loaded nor filled,");
  const FragmentShape& shape = found->second;
  const bool is_sum = scope == StorageScope::WmmaAccumulator;
  const int rows = scope == StorageScope::WmmaMatrixB ? shape.k : shape.m;
  const int columns = scope == StorageScope::WmmaMatrixA ? shape.k : shape.n;
  const auto bytes = constant_bytes(n);
  if (!bytes)
    refuse_in_kernel("fragment `" + n.data.name() + "` whose number of tiles is not constant");
  const std::int64_t tile = std::int64_t{rows} * columns * element_of(n.data).bytes();
  const std::string wmma(kWmma);
  std::string type = wmma + "fragment<" + wmma +
                     (is_sum                               ? "accumulator"
                      : scope == StorageScope::WmmaMatrixA ? "matrix_a"
                                                           : "matrix_b") +
                     ", " + std::to_string(shape.m) + ", " + std::to_string(shape.n) + ", " +
                     std::to_string(shape.k) + ", " +
                     wmma_type(module_.dialect(), element_of(n.data));
  if (!is_sum) type += ", " + wmma + (shape.is_by_columns ? "col_major" : "row_major");
  const std::string name = names_.take(n.data.name());
  out_.add(type + "> " + name + "[" + std::to_string((*bytes + tile - 1) / tile) + "];");
  define(n.data, {.name = name, .is_local = true});
  stmt(n.body);
}

/// Returns one tile of an array of fragments.
Text CFunctionEmitter::tile(const Expr& data, const Expr& number) {
  return {find(data).name + "[" + index(number).text + "]"};
}

Text CFunctionEmitter::matrix_operation(Intrin intrin, const Call& n) {
  const auto wmma = [&](const char* function, const std::vector<Text>& args) {
    out_.add(call(std::string(kWmma) + function, args).text + ";");
    return Text{"0"};
  };
  if (intrin == Intrin::tvm_mma_sync)
    return wmma("mma_sync", {tile(n.args[0], n.args[1]), tile(n.args[2], n.args[3]),
                             tile(n.args[4], n.args[5]), tile(n.args[6], n.args[7])});
  const Var data = Var::of(n.args[0]);
  const DataType t = element_of(data);
  const Text fragment = tile(data, n.args[4]);
  const bool is_half = t.is_floating() && t.bits == 16;
  if (intrin == Intrin::tvm_fill_fragment) {
    const Text value = expr(n.args[5]);
    return wmma("fill_fragment",
                {fragment, is_half ? cast_to(wmma_type(module_.dialect(), t), value) : value});
  }
  const Call* address = as_call(n.args[5], Intrin::tvm_access_ptr);
  internal_check(address != nullptr, "a matrix whose address is no tvm_access_ptr");
  constexpr int kAlignment = 32;
  if (memory_scope(Var::of(address->args[1])) == StorageScope::Global)
    align(address->args[1], kAlignment);
  const bool is_load = intrin == Intrin::tvm_load_matrix_sync;
  Text memory = expr(n.args[5]);
  if (is_half)
    memory = cast_to((is_load ? "const " : "") + wmma_type(module_.dialect(), t) + "*", memory);
  const Text stride = index(n.args[6]);
  const bool is_sum = memory_scope(data) == StorageScope::WmmaAccumulator;
  const Text layout{is_by_columns(n.args[7]) ? "nvcuda::wmma::mem_col_major"
                                             : "nvcuda::wmma::mem_row_major"};
  if (!is_load) return wmma("store_matrix_sync", {memory, fragment, stride, layout});
  // The memory layout of a factor is part of the fragment's type.
  return is_sum ? wmma("load_matrix_sync", {fragment, memory, stride, layout})
                : wmma("load_matrix_sync", {fragment, memory, stride});
}

}  // namespace tenon::codegen
