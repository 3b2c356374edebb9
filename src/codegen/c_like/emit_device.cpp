// Constructs of kernels: thread indices, shared memory, barriers, exchanges within a warp.
#include <numeric>

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
  switch (memory_scope(data)) {
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
  const StorageScope scope = memory_scope(n.data);
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
  const bool may_be_vector = *bytes >= 4;
  const bool is_for_matrices = matrix_memory_.contains(&n.data.node());
  lines.add(std::string(is_for_matrices ? "__align__(32) "
                        : may_be_vector ? device.aligned
                                        : "") +
            std::string(is_local ? "" : device.shared_memory) + type + " " + taken + "[" +
            std::to_string(count) + "]" + ";");
  define(n.data, {.name = taken, .pointee = type, .is_local = true, .space = space_of(n.data)});
  stmt(n.body);
}

/// Emits an allocation of dynamic shared memory, whose total size is set at launch. Allocations are
/// placed consecutively, in the order in which the launch adds up their sizes.
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
    const Text copy = call(module_.use_helper(Helper::CopyAsync),
                           {expr(n.args[0]), expr(n.args[1]), expr(n.args[2])});
    out_.add(copy.text + ";");
  }
  return {"0"};
}

/// Emits an intrinsic that only exists on devices.
Text CFunctionEmitter::device_intrin(Intrin intrin, const Call& n, DataType type,
                                     const Lane& lane) {
  const DeviceDialect& device = *module_.dialect().device;
  const Text none{"0"};
  const auto shuffle = [&](const char* function, Helper helper) {
    if (device.has_cuda_shuffles)
      return call(function, {expr(n.args[0], lane), expr(n.args[1], lane), expr(n.args[2], lane),
                             expr(n.args[3], lane)});
    if (device.shuffle.empty()) refuse_in_kernel("an exchange within a warp");
    return call(module_.use_helper(helper, n.args[1].dtype().element()),
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
      // Exchanges of this language take no mask, because all threads that reach an exchange take
      // part. The mask is therefore a constant.
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
      if (!is_matrix_operation(intrin)) return call_intrin(intrin, n, type, lane);
      if (!device.has_tensor_cores) refuse_in_kernel("an operation of tensor cores");
      return matrix_operation(intrin, n);
  }
}

// ---- vectors ------------------------------------------------------------------------------------

// Vectors in kernels: contiguous elements are loaded and stored by vector types of the language;
// arithmetic is done lane by lane, as on the device.

namespace {

/// Returns the position of the first element if the accessed elements are contiguous: a ramp of
/// stride 1 in a buffer of scalars, or one element of a buffer of vectors. Otherwise returns
/// nullopt.
std::optional<Expr> first_element(const Buffer& buffer, const Expr& position) {
  if (!buffer->dtype.is_scalar()) {
    if (!position.dtype().is_scalar()) return std::nullopt;
    return position * make_int(position.dtype(), buffer->dtype.lanes);
  }
  const Ramp* ramp = position.as<Ramp>();
  return ramp && is_one(ramp->stride) ? std::optional(ramp->base) : std::nullopt;
}

/// Like first_element, for the elements that `e` loads. Nullopt if `e` is not a load.
std::optional<Expr> first_loaded(const Expr& e) {
  const Load* load = e.as<Load>();
  return load ? first_element(load->buffer, flat_index(load->buffer, load->indices)) : std::nullopt;
}

/// Collects the loads that every lane evaluates and that do not depend on variables bound inside
/// the expression.
void collect_loads(const Expr& e, std::vector<Expr>& loads) {
  if (is_lazy(e) || e.as<LetExpr>() || e.as<Shuffle>()) return;
  if (first_loaded(e)) loads.push_back(e);
  for_each_child(e, [&](const Expr& child) { collect_loads(child, loads); });
}

/// Returns the template with its placeholders replaced.
std::string filled(std::string_view words, const std::string& type, int lanes,
                   const std::string& address, const std::string& value) {
  std::string text(words);
  replace_all(text, "$T", type);
  replace_all(text, "$N", std::to_string(lanes));
  replace_all(text, "$P", address);
  replace_all(text, "$V", value);
  return text;
}

}  // namespace

/// Returns the address of the first lane.
Text CFunctionEmitter::lane_address(const Buffer& buffer, const Expr& base) {
  const Text first = pointer(buffer->data, buffer->dtype.element());
  return is_zero(base) ? first : infix(first, "+", index(base), Level::Sum);
}

/// Like lane_address. Also aligns the memory if vector accesses of the language require it.
std::string CFunctionEmitter::vector_address(const Buffer& buffer, const Expr& base) {
  if (module_.dialect().device->vectors.needs_alignment) align(buffer->data, 16);
  return lane_address(buffer, base).text;
}

/// Returns a number that provably divides the index, found from the structure of the expression.
std::int64_t CFunctionEmitter::known_factor(const Expr& e) const {
  // The magnitude of the minimum does not fit in int64.
  if (const auto value = constant_int(e))
    return *value == std::numeric_limits<std::int64_t>::min() ? std::int64_t{1} << 62
                                                              : std::abs(*value);
  if (const Cast* n = e.as<Cast>()) return known_factor(n->value);
  if (e.as<VarNode>()) {
    const auto found = variables_.find(&e.node());
    return found == variables_.end() ? 1 : found->second.factor;
  }
  const Binary* n = e.as<Binary>();
  if (!n) return 1;
  const std::int64_t a = known_factor(n->a), b = known_factor(n->b);
  // Divisors larger than any vector are not multiplied further, to avoid overflow.
  constexpr std::int64_t kMax = 1 << 20;
  if (n->op == BinaryOp::Mul) return a >= kMax || b >= kMax ? std::max(a, b) : a * b;
  if (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) return std::gcd(a, b);
  return 1;
}

/// Returns the name of the vector type, "float4". Returns "" if the type does not exist or the
/// address is not provably aligned for it.
std::string CFunctionEmitter::vector_in_memory(DataType element, int lanes,
                                               const Expr& base) const {
  const VectorWords& words = module_.dialect().device->vectors;
  const bool is_number = !element.is_bool() && element.bits >= 32 && !element.is_handle();
  if (!is_number || (lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)) return "";
  if (lanes * element.bytes() > words.most_bytes) return "";
  if (words.needs_alignment && known_factor(base) % lanes != 0) return "";
  const std::string_view name =
      words.names[element.is_floating() ? 2 : element.is_uint()][element.bits == 64];
  return std::string(name) + std::to_string(lanes);
}

/// Emits a copy of contiguous elements that have no vector type as a copy of bytes. Returns false
/// if the store is not such a copy.
bool CFunctionEmitter::copy_vector(const Store& n, const Expr& to) {
  const VectorWords& words = module_.dialect().device->vectors;
  const DataType element = n.buffer->dtype.element();
  const std::optional<Expr> from = first_loaded(n.value);
  if (!words.needs_alignment || element.bits >= 32 || !from) return false;
  const Buffer& source = n.value.as<Load>()->buffer;
  if (source->dtype.element() != element) return false;
  const int bytes = n.value.dtype().lanes * element.bytes();
  if (bytes != 4 && bytes != 8 && bytes != 16) return false;
  for (const Expr* base : {&to, &*from})
    if (known_factor(*base) * element.bytes() % bytes != 0) return false;
  const std::string type = bytes == 4 ? "unsigned int" : "uint" + std::to_string(bytes / 4);
  const std::string value = filled(words.load, type, bytes / 4, vector_address(source, *from), "");
  out_.add(filled(words.store, type, bytes / 4, vector_address(n.buffer, to), value) + ";");
  return true;
}

/// Emits one statement for all lanes. Returns false if the store must be emitted lane by lane.
bool CFunctionEmitter::store_vector(const Store& n, const Expr& position) {
  const int lanes = n.value.dtype().lanes;
  const std::optional<Expr> first = first_element(n.buffer, position);
  if (!is_kernel() || !first) return false;
  if (copy_vector(n, *first)) return true;
  const DataType element = n.buffer->dtype.element();
  const std::string type = vector_in_memory(element, lanes, *first);
  if (type.empty()) return false;
  block("", [&] {
    std::vector<Expr> loads;
    collect_loads(n.value, loads);
    for (const Expr& e : loads) load_vector(e);
    const VectorWords& words = module_.dialect().device->vectors;
    std::string value;
    const auto whole = vector_loads_.find(&n.value.node());
    if (whole != vector_loads_.end()) {
      value = whole->second;
    } else {
      for (int lane = 0; lane < lanes; ++lane)
        value += (lane ? ", " : "") + expr(n.value, Lane::at(lane)).text;
      value = filled(words.construct, type, lanes, "", value);
    }
    out_.add(filled(words.store, type, lanes, vector_address(n.buffer, *first), value) + ";");
    vector_loads_.clear();
  });
  return true;
}

/// Returns four 8-bit integers as one 32-bit integer. Contiguous, aligned bytes are loaded
/// together.
Text CFunctionEmitter::four_bytes(const Expr& e) {
  if (const auto base = first_loaded(e); base && known_factor(*base) % 4 == 0) {
    const Buffer& buffer = e.as<Load>()->buffer;
    align(buffer->data, 4);
    return {"*(const int*)" + lane_address(buffer, *base).within(Level::Unary), Level::Unary};
  }
  std::vector<Text> bytes;
  for (int lane = 0; lane < 4; ++lane) bytes.push_back(expr(e, Lane::at(lane)));
  return call(module_.use_helper(Helper::FourBytes), bytes);
}

/// Emits dp4a(a, b, c). CUDA has a function for two signed factors; other cases use a PTX
/// instruction.
Text CFunctionEmitter::dot_product(const Call& n) {
  const DataType a = n.args[0].dtype(), b = n.args[1].dtype(), t = n.args[2].dtype();
  const Text x = four_bytes(n.args[0]), y = four_bytes(n.args[1]), sum = expr(n.args[2]);
  if (!a.is_uint() && !b.is_uint()) {
    const Text result = call("__dp4a", {x, y, t.is_uint() ? cast_to("int", sum) : sum});
    return t.is_uint() ? cast_to("unsigned int", result) : result;
  }
  const std::string of_a = a.is_uint() ? "u32" : "s32", of_b = b.is_uint() ? "u32" : "s32";
  const std::string name = "dp4a_" + of_a + "_" + of_b;
  module_.use_helper_text(name, "int " + name +
                                    "(int a, int b, int c) {\n  int sum;\n  asm(\"dp4a." + of_a +
                                    "." + of_b +
                                    " %0, %1, %2, %3;\" : \"=r\"(sum) : \"r\"(a), \"r\"(b), "
                                    "\"r\"(c));\n  return sum;\n}\n");
  return call(name, {x, y, sum});
}

void CFunctionEmitter::load_vector(const Expr& e) {
  const Load& n = *e.as<Load>();
  const Expr base = *first_loaded(e);
  const std::string type = vector_in_memory(n.buffer->dtype.element(), e.dtype().lanes, base);
  if (type.empty() || vector_loads_.contains(&e.node())) return;
  const std::string name = names_.take(n.buffer->name + "_lanes");
  out_.add("const " + type + " " + name + " = " +
           filled(module_.dialect().device->vectors.load, type, e.dtype().lanes,
                  vector_address(n.buffer, base), "") +
           ";");
  vector_loads_.emplace(&e.node(), name);
}

// ---- fragments of tensor cores ------------------------------------------------------------------

// Tensor cores in CUDA C: fragments are objects of nvcuda::wmma, held jointly by the threads of a
// warp, and the intrinsics are its functions.
//
//   nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> a[2];
//   nvcuda::wmma::load_matrix_sync(a[0], (const half*)(A_shared + k * 16), 72);
//   nvcuda::wmma::mma_sync(c[0], a[0], b[0], c[0]);
//
// The verifier of lowered kernels (lower/gpu/matrix_operations.h) has already checked that shapes,
// types and layouts are supported and that each fragment has exactly one shape, type and layout.

namespace {

constexpr std::string_view kWmma = "nvcuda::wmma::";

DataType element_of(const Var& data) { return data.as<VarNode>()->pointer->element.element(); }

/// Returns the name of a type in wmma. It differs from memory_type for 16-bit floats.
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

/// Collects the kernel's fragments from the operations that load and fill them. Also collects the
/// shared memory that must be aligned for matrix accesses.
void CFunctionEmitter::read_fragments(const Stmt& kernel) {
  walk(kernel, [&](const Call& n) {
    const bool is_load = n.is(Intrin::tvm_load_matrix_sync);
    const bool is_store = n.is(Intrin::tvm_store_matrix_sync);
    if (!is_load && !is_store && !n.is(Intrin::tvm_fill_fragment)) return;
    const auto number = [&](std::size_t k) {
      return static_cast<int>(constant_int(n.args[k]).value_or(0));
    };
    fragments_.try_emplace(&n.args[0].node(), number(1), number(2), number(3),
                           is_load && is_by_columns(n.args[7]));
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
  const auto& [product_m, product_n, product_k, has_columns] = found->second;
  const bool is_sum = scope == StorageScope::WmmaAccumulator;
  const int rows = scope == StorageScope::WmmaMatrixB ? product_k : product_m;
  const int columns = scope == StorageScope::WmmaMatrixA ? product_k : product_n;
  const auto bytes = constant_bytes(n);
  if (!bytes)
    refuse_in_kernel("fragment `" + n.data.name() + "` whose number of tiles is not constant");
  const std::int64_t tile = std::int64_t{rows} * columns * element_of(n.data).bytes();
  const std::string wmma(kWmma);
  std::string type = wmma + "fragment<" + wmma +
                     (is_sum                               ? "accumulator"
                      : scope == StorageScope::WmmaMatrixA ? "matrix_a"
                                                           : "matrix_b") +
                     ", " + std::to_string(product_m) + ", " + std::to_string(product_n) + ", " +
                     std::to_string(product_k) + ", " +
                     wmma_type(module_.dialect(), element_of(n.data));
  if (!is_sum) type += ", " + wmma + (has_columns ? "col_major" : "row_major");
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
  // The type of a factor's fragment includes its memory layout.
  return is_sum ? wmma("load_matrix_sync", {fragment, memory, stride, layout})
                : wmma("load_matrix_sync", {fragment, memory, stride});
}

}  // namespace tenon::codegen
