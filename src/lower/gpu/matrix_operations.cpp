#include "lower/gpu/matrix_operations.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/modular_set.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/support/error.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::int64_t kWarpSize = 32;
/// The required alignment of tile rows in memory, and the maximum alignment required of a tile.
constexpr std::int64_t kRowAlignment = 16, kTileAlignment = 32;

struct TileShape {
  std::int64_t m, n, k;
  friend bool operator==(const TileShape&, const TileShape&) = default;
};
constexpr std::array kShapes = {TileShape{16, 16, 16}, TileShape{32, 8, 16}, TileShape{8, 32, 16}};

std::string text_of(const TileShape& shape) {
  return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " +
         std::to_string(shape.k);
}

DataType element_of(const Expr& data) { return data.as<VarNode>()->pointer->element.element(); }

std::string name_of(const Expr& data) { return "`" + Var::of(data).name() + "`"; }

/// The shape and layout inferred for a fragment.
struct FragmentKind {
  TileShape shape;
  bool is_by_columns;
};

class MatrixOperations {
 public:
  MatrixOperations(const PrimFunc& kernel, const TargetFacts& target)
      : kernel_(kernel), target_(target) {}

  void run() {
    const bool has_any = any_node(
        kernel_.body, [](const Evaluate& n) { return matrix_operation(n.value) != nullptr; },
        [](const Allocate& n) { return is_fragment(memory_scope(n.data)); });
    if (!has_any) return;
    check_device();
    stmt(kernel_.body, false);
  }

 private:
  // ---- device ----

  void check_device() const {
    std::string fragment = "`" + kernel_.attrs.global_symbol + "`";
    walk(kernel_.body, [&](const Allocate& n) {
      if (is_fragment(memory_scope(n.data))) fragment = name_of(n.data);
    });
    const std::string what = "fragment " + fragment + " of tensor cores: ";
    if (target_.kind != TargetKind::Cuda)
      throw LowerError(
          what + "only CUDA devices have them; use target cuda, or another scope (\"local\")");
    constexpr int kFirst = 70;
    if (compute_capability(target_) < kFirst)
      throw LowerError(what + target_.arch + " has none; they require sm_70 or later (-arch=)");
    for (const Attr* n = thread_attr(kernel_.body); n; n = thread_attr(n->body)) {
      const ThreadTag& tag = *std::get<IterVar>(n->subject).thread();
      if (!tag.is_thread() || tag.dim != 0) continue;
      const auto extent = constant_int(n->value);
      if (extent && *extent > 0 && *extent % kWarpSize == 0) return;
      throw LowerError(what + "`threadIdx.x` has " + print_expr(n->value) +
                       " threads, but a warp extends along it; give it a multiple of 32 threads");
    }
    throw LowerError(
        what +
        "no axis is bound to `threadIdx.x`, along which the 32 threads of a warp extend; bind an "
        "axis of extent 32, such as one of the stages that fetch the factors");
  }

  // ---- statements ----

  void stmt(const Stmt& s, bool is_apart) {
    match(
        s.node().value, [&](const If& n) { is_apart = is_apart || varies(n.condition); },
        [&](const While& n) { is_apart = is_apart || varies(n.condition); },
        [&](const For& n) {
          is_apart = is_apart || varies(n.min) || varies(n.extent);
          facts_.bind(n.var, Range::from_min_extent(n.min, n.extent), true);
        },
        [&](const Let& n) { set(lets_, n.var, substitute(n.value, lets_)); },
        [&](const Attr& n) {
          if (n.kind != AttrKind::ThreadExtent) return;
          const IterVar& axis = std::get<IterVar>(n.subject);
          const DataType index = axis.var().dtype();
          facts_.bind(axis.var(), Range::from_min_extent(make_int(index, 0), cast(index, n.value)),
                      true);
          if (axis.thread()->is_thread() && axis.thread()->dim == 0) lane_ = axis.var();
        },
        [&](const Store& n) { refuse_element(n.buffer); },
        [&](const Evaluate& n) {
          if (const Call* call = matrix_operation(n.value)) operation(*call, is_apart);
        },
        [](const auto&) {});
    for_each_child(
        s, [&](const Expr& e) { walk(e, [&](const Load& n) { refuse_element(n.buffer); }); },
        [&](const Stmt& child) { stmt(child, is_apart); });
  }

  static void refuse_element(const Buffer& buffer) {
    if (!is_fragment(buffer->scope())) return;
    throw LowerError(
        "`" + buffer->name + "` of scope " + std::string(to_string(buffer->scope())) +
        " is read or written by single elements, but the threads of a warp hold them together in "
        "an unspecified order; tensorize the stage with "
        "an intrinsic that loads, multiplies, fills or stores whole tiles");
  }

  /// Whether the threads of a warp may compute different values for the expression.
  bool varies(const Expr& e) const {
    const Expr flat = substitute(e, lets_);
    return effect_of(flat) == Effect::UpdateState ||
           any_node(flat,
                    [](const Load& n) { return n.buffer->scope() > StorageScope::SharedDyn; }) ||
           (lane_ && uses_var(flat, *lane_));
  }

  // ---- operations ----

  void operation(const Call& call, bool is_apart) {
    const std::string what = "@tir." + std::string(to_string(std::get<Intrin>(call.callee))) +
                             " of fragment " + name_of(call.args[0]) + ": ";
    if (is_apart)
      throw LowerError(what +
                       "not all threads of a warp reach it, since a condition or a loop around it "
                       "depends on `threadIdx.x`; bind that loop to another axis");
    for (const Expr& arg : call.args) {
      const Call* address = as_call(arg, Intrin::tvm_access_ptr);
      const Expr& value = address ? address->args[2] : arg;
      if (value.dtype().is_integral() && varies(value))
        throw LowerError(
            what + "`" + print_expr(value) +
            "` differs between the threads of a warp, which execute the operation together; bind "
            "the "
            "loop to another axis than `threadIdx.x`");
    }
    if (call.is(Intrin::tvm_mma_sync)) return product(call, what);
    const FragmentKind kind = kind_of(call, what);
    const auto [known, is_new] = kinds_.try_emplace(&call.args[0].node(), kind);
    const bool is_load = call.is(Intrin::tvm_load_matrix_sync);
    if (known->second.shape != kind.shape ||
        (is_load && memory_scope(call.args[0]) != StorageScope::WmmaAccumulator &&
         known->second.is_by_columns != kind.is_by_columns))
      throw LowerError(what + "it is used as two shapes or layouts");
    if (!call.is(Intrin::tvm_fill_fragment)) memory(call, kind, what);
  }

  FragmentKind kind_of(const Call& call, const std::string& what) const {
    const auto m = constant_int(call.args[1]), n = constant_int(call.args[2]),
               k = constant_int(call.args[3]);
    const TileShape shape{m.value_or(0), n.value_or(0), k.value_or(0)};
    if (std::ranges::find(kShapes, shape) == kShapes.end())
      throw LowerError(what + "there are no products of " + text_of(shape) +
                       "; the supported shapes are 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16");
    check_type(element_of(call.args[0]), memory_scope(call.args[0]), what);
    const bool has_layout = !call.is(Intrin::tvm_fill_fragment);
    const StringImm* layout = has_layout ? call.args[7].as<StringImm>() : nullptr;
    if (has_layout && (!layout || (layout->value != "row_major" && layout->value != "col_major")))
      throw LowerError(what + "the layout is \"row_major\" or \"col_major\"");
    return {shape, layout && layout->value == "col_major"};
  }

  void check_type(DataType t, StorageScope scope, const std::string& what) const {
    if (scope == StorageScope::WmmaAccumulator) {
      if (t == Float(32) || t == Float(16) || t == Int(32)) return;
      throw LowerError(what + "sums must be float32, float16 or int32, not " + t.str());
    }
    for (const auto& [type, capability] : {std::pair(Float(16), 70), std::pair(BFloat(16), 80),
                                           std::pair(Int(8), 72), std::pair(UInt(8), 72)}) {
      if (type != t) continue;
      if (compute_capability(target_) >= capability) return;
      throw LowerError(what + target_.arch + " multiplies no " + t.str() + "; sm_" +
                       std::to_string(capability) + " and later can");
    }
    throw LowerError(what + "factors must be float16, bfloat16, int8 or uint8, not " + t.str());
  }

  /// Checks a product, whose arguments are (d, index, a, index, b, index, c, index).
  void product(const Call& call, const std::string& what) {
    const Expr &d = call.args[0], &a = call.args[2], &b = call.args[4], &c = call.args[6];
    if (memory_scope(a) != StorageScope::WmmaMatrixA ||
        memory_scope(b) != StorageScope::WmmaMatrixB ||
        memory_scope(c) != StorageScope::WmmaAccumulator || memory_scope(d) != memory_scope(c))
      throw LowerError(what +
                       "it takes fragments of the scopes wmma.accumulator, wmma.matrix_a, "
                       "wmma.matrix_b and wmma.accumulator");
    const DataType factor = element_of(a), sum = element_of(d);
    const bool fits = factor == Float(16)    ? sum == Float(32) || sum == Float(16)
                      : factor == BFloat(16) ? sum == Float(32)
                                             : sum == Int(32);
    if (element_of(b) != factor || element_of(c) != sum || !fits)
      throw LowerError(what + "there are no products of " + factor.str() + " and " +
                       element_of(b).str() + " accumulated in " + sum.str());
    for (const Expr* operand : {&a, &b, &c}) {
      const auto kind = kinds_.find(&operand->node());
      if (kind == kinds_.end())
        throw LowerError(what + name_of(*operand) + " is neither loaded nor filled before");
      const auto known = kinds_.try_emplace(&d.node(), kind->second).first;
      if (known->second.shape != kind->second.shape)
        throw LowerError(what + "its tiles are those of " + text_of(known->second.shape) +
                         ", those of " + name_of(*operand) + " of " + text_of(kind->second.shape));
    }
  }

  // ---- memory ----

  void memory(const Call& call, const FragmentKind& kind, const std::string& what) const {
    const Call* address = as_call(call.args[5], Intrin::tvm_access_ptr);
    if (!address) throw LowerError(what + "its address is not an access_ptr of a buffer");
    const Expr& data = address->args[1];
    const DataType t = element_of(call.args[0]);
    if (address->args[0].dtype() != t)
      throw LowerError(what + "it is of " + t.str() + ", but memory " + name_of(data) + " of " +
                       address->args[0].dtype().str());
    if (memory_scope(data) > StorageScope::SharedDyn)
      throw LowerError(what + "memory " + name_of(data) + " is " +
                       std::string(to_string(memory_scope(data))) +
                       "; matrices are loaded from and stored to global and shared memory");
    const StorageScope scope = memory_scope(call.args[0]);
    const std::int64_t rows = scope == StorageScope::WmmaMatrixB ? kind.shape.k : kind.shape.m;
    const std::int64_t columns = scope == StorageScope::WmmaMatrixA ? kind.shape.k : kind.shape.n;
    const std::int64_t length = (kind.is_by_columns ? rows : columns) * t.bytes();
    if (factor_of(call.args[6]) * t.bytes() % kRowAlignment != 0)
      throw LowerError(what + "rows of " + name_of(data) + " are `" + print_expr(call.args[6]) +
                       "` elements apart, which is not provably a multiple of 16 bytes; pad them "
                       "with storage_align, or choose such an extent");
    if (factor_of(address->args[2]) * t.bytes() % std::min(length, kTileAlignment) != 0)
      throw LowerError(what + "tiles in " + name_of(data) + " begin at `" +
                       print_expr(address->args[2]) + "`, which is not provably a multiple of " +
                       std::to_string(std::min(length, kTileAlignment)) + " bytes");
  }

  /// Returns the largest provable divisor of the value; 0 if the value is provably 0.
  std::int64_t factor_of(const Expr& value) const {
    const arith::ModularSet set = arith::modular_set(substitute(value, lets_), facts_);
    return std::gcd(set.coeff, set.base);
  }

  const PrimFunc& kernel_;
  const TargetFacts& target_;
  VarMap lets_;
  arith::Facts facts_;
  std::optional<Var> lane_;
  /// The inferred kinds. Never iterated, because the keys are addresses.
  std::unordered_map<const ExprNode*, FragmentKind> kinds_;
};

}  // namespace

const Call* matrix_operation(const Expr& e) {
  for (const Intrin intrin : {Intrin::tvm_load_matrix_sync, Intrin::tvm_store_matrix_sync,
                              Intrin::tvm_fill_fragment, Intrin::tvm_mma_sync})
    if (const Call* call = as_call(e, intrin)) return call;
  return nullptr;
}

const Expr& written_by(const Call& call) {
  if (!call.is(Intrin::tvm_store_matrix_sync)) return call.args[0];
  const Call* address = as_call(call.args[5], Intrin::tvm_access_ptr);
  return address ? address->args[1] : call.args[0];
}

void check_matrix_operations(const PrimFunc& kernel, const TargetFacts& target) {
  MatrixOperations(kernel, target).run();
}

}  // namespace tenon::lowering
