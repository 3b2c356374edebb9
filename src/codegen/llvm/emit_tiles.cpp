// Matrix operations on tile registers. A statement configures the tile registers once, for all
// fragments inside it. This is the outermost statement whose fragments fit in the registers.
#include "codegen/llvm/tiles.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <functional>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/llvm_versions.h"
#include "tenon/codegen/memory_plan.h"
#include "tenon/codegen/statements.h"
#include "tenon/support/error.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

constexpr std::int64_t kMaxRows = 16, kRowBytes = 64, kSumBytes = 4;

const Call* matrix_operation(const Expr& e) {
  const Call* call = e.as<Call>();
  const Intrin* intrin = call ? std::get_if<Intrin>(&call->callee) : nullptr;
  return intrin && is_matrix_operation(*intrin) ? call : nullptr;
}

DataType element_of(const Expr& data) { return data.as<VarNode>()->pointer->element.element(); }

/// Returns the beginning of error messages: "fragment `a` of tile registers: "
std::string about(const Expr& data) {
  return "fragment `" + Var::of(data).name() + "` of tile registers: ";
}

std::string text_of(const ProductShape& shape) {
  const auto [m, n, k] = shape;
  return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
}

/// Returns the shape of a fragment's tiles. Throws LowerError if the shape does not fit a tile
/// register.
TileShape tile_shape(const Expr& data, const ProductShape& product) {
  const auto [m, n, k] = product;
  const DataType type = element_of(data);
  const StorageScope scope = memory_scope(data);
  const bool is_sum = scope == StorageScope::WmmaAccumulator;
  const bool is_known = is_sum ? type == Float(32) || type == Int(32)
                               : type == BFloat(16) || type == Int(8) || type == UInt(8);
  if (!is_known)
    throw LowerError(about(data) +
                     "they multiply bfloat16 accumulated in float32, and int8 and "
                     "uint8 accumulated in int32, not " +
                     type.str());
  const std::int64_t group = kSumBytes / type.bytes();
  const bool fits_depth = is_sum || (k >= 1 && k % group == 0 && k / group <= kMaxRows);
  if (m < 1 || m > kMaxRows || n < 1 || n > kMaxRows || !fits_depth)
    throw LowerError(about(data) + "there are no products of " + text_of(product) +
                     "; m and n are at most 16, and a row of k elements has at most 64 bytes, a "
                     "multiple of 4");
  const auto shape = [](std::int64_t rows, std::int64_t bytes) {
    return TileShape{static_cast<int>(rows), static_cast<int>(bytes)};
  };
  if (scope == StorageScope::WmmaMatrixA) return shape(m, k * type.bytes());
  if (scope == StorageScope::WmmaMatrixB) return shape(k / group, n * kSumBytes);
  return shape(m, n * kSumBytes);
}

/// Returns the number of elements of a tile.
std::int64_t tile_elements(const Expr& data, const ProductShape& product) {
  const auto [m, n, k] = product;
  const StorageScope scope = memory_scope(data);
  return scope == StorageScope::WmmaMatrixA   ? m * k
         : scope == StorageScope::WmmaMatrixB ? k * n
                                              : m * n;
}

/// Whether the call may run foreign code that uses tile registers.
bool calls_foreign_code(const Call& call) {
  return std::holds_alternative<ExternCallee>(call.callee) || call.is(Intrin::tvm_call_packed);
}

llvm::Intrinsic::ID product_of(DataType a, DataType b) {
  if (a.is_bfloat()) return llvm::Intrinsic::x86_tdpbf16ps;
  if (a.is_int()) return b.is_int() ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbsud;
  return b.is_int() ? llvm::Intrinsic::x86_tdpbusd : llvm::Intrinsic::x86_tdpbuud;
}

}  // namespace

// ---- fragments and registers --------------------------------------------------------------------

namespace {

/// Receives a read or write of one tile of a fragment.
using AccessVisitor = FunctionRef<void(const Var& data, const Expr& index, bool is_write)>;

/// Calls `f` on the tile accesses of the statement itself, reads first.
void for_each_own_access(const Evaluate& n, AccessVisitor f) {
  const Call* call = matrix_operation(n.value);
  if (!call) return;
  const auto access = [&](std::size_t arg, std::size_t index, bool is_write) {
    f(Var::of(call->args[arg]), call->args[index], is_write);
  };
  if (!call->is(Intrin::tvm_mma_sync))
    return access(0, 4, !call->is(Intrin::tvm_store_matrix_sync));
  for (const std::size_t arg : {2, 4, 6}) access(arg, arg + 1, false);
  access(0, 1, true);
}

/// Calls `f` on the fragment of every tile access in the statement, in order.
void for_each_access(const Stmt& s, FunctionRef<void(const Var& data)> f) {
  walk(s, [&](const Evaluate& n) {
    for_each_own_access(n, [&](const Var& data, const Expr&, bool) { f(data); });
  });
}

bool is_among(const std::vector<Var>& list, const Var& data) {
  return std::ranges::any_of(list, [&](const Var& other) { return other.same_as(data); });
}

std::vector<Var> accessed_in(const Stmt& s) {
  std::vector<Var> found;
  for_each_access(s, [&](const Var& data) {
    if (!is_among(found, data)) found.push_back(data);
  });
  return found;
}

/// Whether the statement writes every tile of the fragment before reading it. Its value before the
/// statement is then unused.
bool begins_with_writes(const Stmt& s, const Var& data) {
  std::vector<std::int64_t> written;
  bool holds = true;
  const std::function<void(const Stmt&, bool)> visit = [&](const Stmt& child, bool is_certain) {
    if (const Evaluate* n = child.as<Evaluate>())
      return for_each_own_access(*n, [&](const Var& other, const Expr& index, bool is_write) {
        const auto tile = constant_int(index);
        if (!tile || !other.same_as(data)) return;
        if (!is_write && std::ranges::find(written, *tile) == written.end()) holds = false;
        if (is_write && is_certain) written.push_back(*tile);
      });
    const bool is_choice = child.as<If>() || child.as<While>();
    for_each_child(
        child, [](const Expr&) {}, [&](const Stmt& s) { visit(s, is_certain && !is_choice); });
  };
  visit(s, true);
  return holds;
}

}  // namespace

Fragments::Fragments(const Stmt& body) {
  for_each_access(body, [&](const Var& data) { ++uses_[&data.node()].accesses; });
  if (uses_.empty()) return;
  walk(body, [&](const Allocate& n) {
    if (const auto found = uses_.find(&n.data.node()); found != uses_.end())
      found->second.bytes = constant_bytes(n);
  });
  walk(body, [&](const Evaluate& n) {
    const Call* call = matrix_operation(n.value);
    if (!call || call->is(Intrin::tvm_mma_sync)) return;
    const auto extent = [&](std::size_t arg) { return constant_int(call->args[arg]).value_or(0); };
    ProductShape& shape = uses_.at(&call->args[0].node()).shape;
    if (shape == ProductShape{}) shape = {extent(1), extent(2), extent(3)};
  });
}

std::vector<std::span<const Stmt>> lives_of_fragments(std::span<const Stmt> stmts) {
  std::unordered_map<const ExprNode*, std::size_t> last;
  std::vector<std::vector<Var>> accessed;
  for (std::size_t k = 0; k < stmts.size(); ++k) {
    accessed.push_back(accessed_in(stmts[k]));
    for (const Var& data : accessed.back()) last[&data.node()] = k;
  }
  std::vector<std::span<const Stmt>> lives;
  std::size_t begin = 0, end = 0;
  for (std::size_t k = 0; k < stmts.size(); ++k) {
    for (const Var& data : accessed[k]) end = std::max(end, last[&data.node()]);
    if (k < end) continue;
    lives.push_back(stmts.subspan(begin, k + 1 - begin));
    begin = end = k + 1;
  }
  return lives;
}

TileRegisters::TileRegisters(const Stmt& s, const Fragments& fragments) : fragments_(fragments) {
  std::unordered_map<const ExprNode*, int> accesses;
  for_each_access(s, [&](const Var& data) { ++accesses[&data.node()]; });
  if (accesses.empty()) return;
  const Pointers all = accessed_in(s);
  for (const Var& data : all) {
    has_all_ = has_all_ && accesses.at(&data.node()) == fragments.of(data).accesses;
    if (!begins_with_writes(s, data))
      obstacle_ = "a tile of `" + data.name() + "` that is used before it is loaded or filled";
  }
  walk(
      s,
      [&](const Call& call) {
        if (calls_foreign_code(call)) obstacle_ = "the call of a function, which may use them too";
      },
      [&](const For& loop) {
        if (loop.kind == ForKind::Parallel)
          obstacle_ = "a parallel loop, whose other tasks may use them too";
      });
  visit(s, all, {});
}

void TileRegisters::visit(const Stmt& s, const Pointers& pending, InUse in_use) {
  if (pending.empty()) return;
  if (const Seq* n = s.as<Seq>()) return visit(*n, pending, in_use);
  Pointers inside;
  const bool is_plain = !s.as<If>() && !s.as<While>() && !s.as<Evaluate>();
  for (const Var& data : pending)
    if (is_plain && begins_with_writes(s, data))
      inside.push_back(data);
    else
      assign(data, in_use);
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { visit(child, inside, in_use); });
}

/// A fragment occupies registers from the first to the last statement that accesses it.
void TileRegisters::visit(const Seq& n, Pointers pending, InUse in_use) {
  // The first and the last statement that accesses each fragment.
  std::unordered_map<const ExprNode*, std::pair<std::size_t, std::size_t>> lives;
  for (std::size_t k = 0; k < n.stmts.size(); ++k)
    for (const Var& data : accessed_in(n.stmts[k])) {
      auto& [first, last] = lives.try_emplace(&data.node(), k, k).first->second;
      last = k;
    }
  for (std::size_t k = 0; k < n.stmts.size(); ++k) {
    Pointers inside;
    for (const Var& data : pending) {
      const auto& [first, last] = lives.at(&data.node());
      if (first != k) continue;
      if (last == k)
        inside.push_back(data);
      else
        assign(data, in_use);
    }
    visit(n.stmts[k], inside, in_use);
    for (const Var& data : pending)
      if (const auto& [first, last] = lives.at(&data.node()); last == k && first < k)
        for (const int r : registers_[&data.node()]) in_use[static_cast<std::size_t>(r)] = false;
  }
}

void TileRegisters::assign(const Var& data, InUse& in_use) {
  const FragmentUse& use = fragments_.of(data);
  const TileShape shape = tile_shape(data, use.shape);
  const std::int64_t tile_bytes = tile_elements(data, use.shape) * element_of(data).bytes();
  if (!use.bytes || *use.bytes % tile_bytes != 0)
    throw LowerError(about(data) + "its size is not a constant number of tiles");
  std::vector<int>& registers = registers_[&data.node()];
  for (std::int64_t tile = 0; tile < *use.bytes / tile_bytes; ++tile) {
    const auto find = [&](const TileShape& wanted) {
      std::size_t r = 0;
      while (r < kCount && (in_use[r] || shapes_[r] != wanted)) ++r;
      return r;
    };
    std::size_t found = find(shape);
    if (found == kCount) found = find(TileShape{});
    if (found == kCount) {
      obstacle_ = "more than the 8 tiles that exist; make the tile of sums smaller";
      return;
    }
    shapes_[found] = shape;
    in_use[found] = true;
    registers.push_back(static_cast<int>(found));
  }
}

// ---- code ---------------------------------------------------------------------------------------

bool FunctionEmitter::begins_tiles(const Stmt& s) {
  if (tiles_ || computation_.fragments.empty() || module_.traits().tile_products == TileProducts{})
    return false;
  const TileRegisters tiles(s, computation_.fragments);
  if (!tiles.has_any()) return false;
  if (tiles.fit()) {
    with_tiles(tiles, s);
    return true;
  }
  // The fragments do not fit here, but those of an inner statement may.
  if (tiles.has_all()) tile_obstacle_ = tiles.obstacle();
  return false;
}

void FunctionEmitter::with_tiles(const TileRegisters& tiles, const Stmt& s) {
  // The memory layout of the operand of the instruction ldtilecfg.
  struct {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  } configuration;
  static_assert(sizeof configuration == 64);
  for (std::size_t r = 0; r < TileRegisters::kCount; ++r) {
    const auto [rows, row_bytes] = tiles.shapes()[r];
    configuration.row_bytes[r] = static_cast<std::uint16_t>(row_bytes);
    configuration.rows[r] = static_cast<std::uint8_t>(rows);
  }
  llvm::Constant* bytes = llvm::ConstantDataArray::getRaw(
      llvm::StringRef(reinterpret_cast<const char*>(&configuration), sizeof configuration),
      sizeof configuration, builder_.getInt8Ty());
  llvm::GlobalVariable* data =
      add_constant(module_.module(), bytes, llvm::GlobalValue::PrivateLinkage, "tiles");
  data->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  data->setAlignment(llvm::Align(kRowBytes));
  check_status(builder_.CreateCall(module_.runtime_function("tenon_enable_tiles")));
  tile_instruction(llvm::Intrinsic::x86_ldtilecfg, {data});
  tiles_ = &tiles;
  stmt_code(s);
  tiles_ = nullptr;
  tile_instruction(llvm::Intrinsic::x86_tilerelease, {});
}

void FunctionEmitter::tile_instruction(unsigned id, const std::vector<llvm::Value*>& args) {
  builder_.CreateCall(declare_intrinsic(module_.module(), static_cast<llvm::Intrinsic::ID>(id), {}),
                      args);
}

void FunctionEmitter::refuse_fragment(const Expr& data) const {
  if (module_.traits().tile_products == TileProducts{})
    throw LowerError(
        about(data) +
        "the target's processor has none; choose one with Intel AMX (-mcpu=sapphirerapids, or "
        "-mattr=+amx-tile,+amx-bf16,+amx-int8), a CUDA device, or another scope (\"local\")");
  if (tile_obstacle_)
    throw LowerError(about(data) + "the statement around its uses has " + *tile_obstacle_);
  throw LowerError(
      about(data) +
      "it is read or written by single elements, which registers do not allow; tensorize the "
      "stage with an intrinsic that loads, multiplies, fills or stores whole tiles");
}

llvm::Value* FunctionEmitter::tile(const Expr& data, const Expr& index) {
  const auto number = constant_int(index);
  if (!number)
    throw LowerError(about(data) + "the number of its tile is `" + print_expr(index) +
                     "`, but the number of a register is a constant; unroll the loops over tiles");
  const std::vector<int>& registers = tiles_->of(data);
  if (*number < 0 || *number >= static_cast<std::int64_t>(registers.size()))
    throw LowerError(about(data) + "it has no tile " + std::to_string(*number));
  return builder_.getInt8(static_cast<std::uint8_t>(registers[static_cast<std::size_t>(*number)]));
}

void FunctionEmitter::matrix_operation(Intrin intrin, const Call& n) {
  const Expr& data = n.args[0];
  if (!tiles_) refuse_fragment(data);
  if (intrin == Intrin::tvm_mma_sync) return multiply_tiles(n);
  const auto refuse = [&](const std::string& why) {
    throw LowerError(about(data) + "@tir." + std::string(to_string(intrin)) + " " + why);
  };
  const auto extent = [&](std::size_t arg) { return constant_int(n.args[arg]).value_or(0); };
  if (ProductShape{extent(1), extent(2), extent(3)} != computation_.fragments.of(data).shape)
    refuse("uses it as a tile of another shape");
  llvm::Value* target = tile(data, n.args[4]);
  if (intrin == Intrin::tvm_fill_fragment) {
    const auto* value = llvm::dyn_cast<llvm::Constant>(expr(n.args[5]));
    if (!value || !value->isNullValue()) refuse("fills it with another value than 0");
    return tile_instruction(llvm::Intrinsic::x86_tilezero, {target});
  }
  const StorageScope scope = memory_scope(data);
  const std::string wanted = scope == StorageScope::WmmaMatrixB ? "vnni" : "row_major";
  const StringImm* layout = n.args[7].as<StringImm>();
  const bool is_load = intrin == Intrin::tvm_load_matrix_sync;
  const bool is_turned = !is_load && layout && layout->value == "col_major";
  if (!layout || (layout->value != wanted && !is_turned))
    refuse("requires the layout \"" + wanted + "\" of this factor or sum");
  if (!is_load && scope != StorageScope::WmmaAccumulator) refuse("stores a factor");
  const Call* address = as_call(n.args[5], Intrin::tvm_access_ptr);
  if (!address || address->args[0].dtype() != element_of(data))
    refuse("has an address that is not an access_ptr of a buffer of " + element_of(data).str());
  llvm::Value* pitch = builder_.CreateMul(index(n.args[6]), int64(element_of(data).bytes()));
  if (is_turned)
    return store_turned_tile(target, expr(n.args[5]), pitch, computation_.fragments.of(data).shape);
  tile_instruction(is_load ? llvm::Intrinsic::x86_tileloadd64 : llvm::Intrinsic::x86_tilestored64,
                   {target, expr(n.args[5]), pitch});
}

/// Stores the columns of a tile of 32-bit elements as rows. The tile is stored to a square on the
/// stack, which is transposed in registers: halves, quarters, ... of pairs of rows are exchanged.
void FunctionEmitter::store_turned_tile(llvm::Value* tile, llvm::Value* address, llvm::Value* pitch,
                                        const ProductShape& shape) {
  constexpr int kSide = kMaxRows;
  const auto [m, n, k] = shape;
  llvm::Type* row_type = llvm::FixedVectorType::get(builder_.getInt32Ty(), kSide);
  llvm::Value* square =
      entry_alloca(row_type, int64(kSide), static_cast<int>(kRowBytes), "turned_tile");
  tile_instruction(llvm::Intrinsic::x86_tilestored64, {tile, square, int64(kRowBytes)});
  std::vector<llvm::Value*> rows;
  for (unsigned r = 0; r < kSide; ++r)
    rows.push_back(builder_.CreateAlignedLoad(
        row_type, builder_.CreateConstInBoundsGEP1_64(row_type, square, r),
        llvm::Align(kRowBytes)));
  for (int half = kSide / 2; half > 0; half /= 2)
    for (int r = 0; r < kSide; ++r) {
      if (r & half) continue;
      llvm::Value *&upper = rows[static_cast<std::size_t>(r)],
                  *&lower = rows[static_cast<std::size_t>(r + half)];
      std::vector<int> of_upper, of_lower;
      for (int lane = 0; lane < kSide; ++lane) {
        const bool is_low = (lane & half) == 0;
        of_upper.push_back(is_low ? lane : kSide + lane - half);
        of_lower.push_back(is_low ? lane + half : kSide + lane);
      }
      llvm::Value* first = builder_.CreateShuffleVector(upper, lower, of_upper);
      lower = builder_.CreateShuffleVector(upper, lower, of_lower);
      upper = first;
    }
  std::vector<llvm::Constant*> mask(static_cast<std::size_t>(kSide), builder_.getFalse());
  std::fill_n(mask.begin(), m, builder_.getTrue());
  for (std::int64_t column = 0; column < n; ++column) {
    llvm::Value* row =
        builder_.CreateGEP(builder_.getInt8Ty(), address, builder_.CreateMul(pitch, int64(column)));
    llvm::Value* values = rows[static_cast<std::size_t>(column)];
    if (m == kSide)
      builder_.CreateAlignedStore(values, row, llvm::Align(kSumBytes));
    else
      builder_.CreateMaskedStore(values, row, llvm::Align(kSumBytes),
                                 llvm::ConstantVector::get(mask));
  }
}

/// Emits d = a * b + c, with the arguments (d, index, a, index, b, index, c, index).
void FunctionEmitter::multiply_tiles(const Call& n) {
  const Expr &d = n.args[0], &a = n.args[2], &b = n.args[4], &c = n.args[6];
  for (const Expr* operand : {&a, &b, &c}) {
    if (computation_.fragments.of(*operand).shape != computation_.fragments.of(d).shape)
      throw LowerError(about(*operand) + "it is a tile of " +
                       text_of(computation_.fragments.of(*operand).shape) + ", but the sum of " +
                       text_of(computation_.fragments.of(d).shape));
  }
  const bool are_in_place = memory_scope(a) == StorageScope::WmmaMatrixA &&
                            memory_scope(b) == StorageScope::WmmaMatrixB &&
                            memory_scope(d) == StorageScope::WmmaAccumulator;
  if (!are_in_place || !d.same_as(c) || tile(d, n.args[1]) != tile(c, n.args[7]))
    throw LowerError(about(d) +
                     "a product of wmma.matrix_a and wmma.matrix_b is added to the same tile of "
                     "wmma.accumulator, not to another one");
  const DataType x = element_of(a), y = element_of(b);
  const bool are_bfloats = x.is_bfloat() && y.is_bfloat() && element_of(d) == Float(32);
  const bool are_bytes = x.is_integral() && y.is_integral() && element_of(d) == Int(32);
  if (!are_bfloats && !are_bytes)
    throw LowerError(about(d) + "there are no products of " + x.str() + " and " + y.str() +
                     " accumulated in " + element_of(d).str());
  const TileProducts& products = module_.traits().tile_products;
  if (are_bfloats ? !products.of_bfloats : !products.of_bytes)
    throw LowerError(about(d) + "the target's processor multiplies no tiles of " + x.str() +
                     "; that requires the feature " + (are_bfloats ? "amx-bf16" : "amx-int8"));
  tile_instruction(product_of(x, y), {tile(d, n.args[1]), tile(a, n.args[3]), tile(b, n.args[5])});
}

}  // namespace tenon::codegen
