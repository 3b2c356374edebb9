#include "tenon/topi/tensor_intrinsics.h"

#include <array>

#include "tenon/te/reduce.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::topi {

using namespace tir;
using te::Tensor;
using te::TensorIntrin;
using te::TensorIntrinBody;

namespace {

using Buffers = std::span<const Buffer>;

/// The extents m, n and k of a matrix product, m x k by k x n.
using Extents = std::array<int, 3>;

/// Returns a buffer for the tensor whose row stride, in elements, is the variable `row`.
Buffer in_rows(const std::string& name, const Tensor& tensor, const std::string& scope) {
  return decl_buffer(
      tensor.shape(), tensor.dtype(),
      {.name = name, .strides = {te::var("row"), 1}, .scope = scope, .offset_factor = 1});
}

/// Returns the row-major number of a tile in a fragment that consists of several tiles.
Expr tile_number(const Buffer& tile) {
  const Expr &offset = tile->elem_offset, &row = tile->strides[0];
  const Expr tile_row = tile->shape[0] * row;
  return floordiv(offset, tile_row) * floordiv(row, tile->shape[1]) +
         floordiv(floormod(offset, tile_row), tile->shape[1]);
}

std::vector<Expr> tile_arguments(const Buffer& fragment, const Extents& tile) {
  const auto [m, n, k] = tile;
  return {fragment->data, m, n, k, tile_number(fragment)};
}

Stmt call(Intrin intrin, std::vector<Expr> args) {
  return make_evaluate(make_call(Handle(), intrin, std::move(args)));
}

/// A copy of a tile between memory and a fragment. `layout` is the layout in memory, as in
/// tvm_load_matrix_sync.
struct Copy {
  std::vector<int> shape;
  DataType type;
  std::string from_scope, to_scope;
  std::string layout;
  /// Whether the order of the two dimensions in the fragment's tensor is the reverse of that in
  /// memory.
  bool is_turned = false;
};

/// Declares a copy between memory and a fragment. `intrin` determines the direction.
TensorIntrin copy_of_tile(const char* name, Intrin intrin, const Copy& copy, const Extents& tile,
                          const SourceLocation& where) {
  const bool is_load = intrin == Intrin::tvm_load_matrix_sync;
  const bool in_groups = copy.layout == "vnni";
  const int group = in_groups ? 4 / copy.type.bytes() : 1;
  const int rows = copy.shape[0], columns = copy.shape[1];
  const Tensor from = te::placeholder({rows / group, columns * group}, "from", copy.type);
  const auto element = [&](const Expr& i, const Expr& j) {
    return in_groups ? from(floordiv(i, group), j * group + floormod(i, group)) : from(i, j);
  };
  const Tensor to = te::compute(
      {copy.is_turned ? columns : rows, copy.is_turned ? rows : columns}, {"i", "j"},
      [&](Var i, Var j) { return copy.is_turned ? element(j, i) : element(i, j); }, "to");
  const auto body = [=, layout = copy.layout](Buffers ins, Buffers outs) -> TensorIntrinBody {
    const Buffer &fragment = is_load ? outs[0] : ins[0], &memory = is_load ? ins[0] : outs[0];
    std::vector<Expr> args = tile_arguments(fragment, tile);
    args.push_back(memory.access_ptr(is_load ? "r" : "w"));
    args.push_back(memory->strides[0]);
    args.push_back(make_string(layout));
    return {.body = call(intrin, std::move(args))};
  };
  return te::decl_tensor_intrin(to.op(), body,
                                {.binds = {{from, in_rows("from", from, copy.from_scope)},
                                           {to, in_rows("to", to, copy.to_scope)}},
                                 .name = name},
                                where);
}

/// Declares the multiply-accumulate of tiles: the product of a tile of a and a tile of b is added
/// to a tile of the accumulator c. `types` and `transposed` are those of a, b and c.
TensorIntrin product_of_tiles(const char* name, const Extents& tile,
                              const std::array<DataType, 3>& types,
                              const std::array<bool, 3>& transposed, const SourceLocation& where) {
  const auto [m, n, length] = tile;
  const auto& [type_a, type_b, sum] = types;
  const auto& [transpose_a, transpose_b, transpose_c] = transposed;
  const Tensor a =
      te::placeholder({transpose_a ? length : m, transpose_a ? m : length}, "a", type_a);
  const Tensor b =
      te::placeholder({transpose_b ? n : length, transpose_b ? length : n}, "b", type_b);
  const te::IterVar k = te::reduce_axis({0, length}, "k");
  const auto element = [&](const Var& i, const Var& j) {
    const Expr x = transpose_a ? a(k, i) : a(i, k);
    const Expr y = transpose_b ? b(j, k) : b(k, j);
    return te::sum(cast(sum, x) * cast(sum, y), {k});
  };
  const Tensor c = te::compute(
      {transpose_c ? n : m, transpose_c ? m : n}, {"i", "j"},
      [&](Var i, Var j) { return transpose_c ? element(j, i) : element(i, j); }, "c");
  const auto body = [tile, zero = make_const(sum, 0)](Buffers ins,
                                                      Buffers outs) -> TensorIntrinBody {
    const Buffer &x = ins[0], &y = ins[1], &z = outs[0];
    std::vector<Expr> fill = tile_arguments(z, tile);
    fill.push_back(zero);
    const Stmt reset = call(Intrin::tvm_fill_fragment, std::move(fill));
    const Stmt update =
        call(Intrin::tvm_mma_sync, {z->data, tile_number(z), x->data, tile_number(x), y->data,
                                    tile_number(y), z->data, tile_number(z)});
    return {.body = make_seq({reset, update}), .reset = reset, .update = update};
  };
  return te::decl_tensor_intrin(c.op(), body,
                                {.binds = {{a, in_rows("a", a, "wmma.matrix_a")},
                                           {b, in_rows("b", b, "wmma.matrix_b")},
                                           {c, in_rows("c", c, "wmma.accumulator")}},
                                 .name = name},
                                where);
}

}  // namespace

namespace gpu {

namespace {

/// Returns the extents of the tile. Throws TypeError if tensor cores do not support it.
Extents checked(const char* function, const MatrixTile& tile, const SourceLocation& where) {
  const auto is = [&](int m, int n) { return tile.m == m && tile.n == n && tile.k == 16; };
  const std::string what = std::string(function) + ": ";
  if (!is(16, 16) && !is(32, 8) && !is(8, 32))
    throw TypeError(what + "there are no tiles of " + std::to_string(tile.m) + " x " +
                        std::to_string(tile.n) + " x " + std::to_string(tile.k) +
                        "; there are 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16",
                    where);
  const bool is_small = tile.type == Int(8) || tile.type == UInt(8);
  const bool fits = tile.type == Float(16)    ? tile.sum == Float(32) || tile.sum == Float(16)
                    : tile.type == BFloat(16) ? tile.sum == Float(32)
                                              : is_small && tile.sum == Int(32);
  if (!fits)
    throw TypeError(what + "there are no tiles of " + tile.type.str() + " accumulated in " +
                        tile.sum.str() +
                        "; there are those of float16 in float32 or float16, of bfloat16 in "
                        "float32, of int8 and uint8 in int32",
                    where);
  return {tile.m, tile.n, tile.k};
}

/// Declares the load of a tile of rows x columns. If `is_by_columns`, the tensor is transposed and
/// the tile is in column-major order.
TensorIntrin load_matrix(const char* name, const char* fragment, int rows, int columns,
                         bool is_by_columns, const std::string& scope, const MatrixTile& tile,
                         const SourceLocation& where) {
  if (is_by_columns) std::swap(rows, columns);
  const char* layout = is_by_columns ? "col_major" : "row_major";
  return copy_of_tile(name, Intrin::tvm_load_matrix_sync,
                      {{rows, columns}, tile.type, scope, fragment, layout},
                      checked(name, tile, where), where);
}

}  // namespace

TensorIntrin load_matrix_a(const std::string& scope, const MatrixTile& tile, SourceLocation where) {
  return load_matrix("load_matrix_a", "wmma.matrix_a", tile.m, tile.k, tile.transpose_a, scope,
                     tile, where);
}

TensorIntrin load_matrix_b(const std::string& scope, const MatrixTile& tile, SourceLocation where) {
  return load_matrix("load_matrix_b", "wmma.matrix_b", tile.k, tile.n, tile.transpose_b, scope,
                     tile, where);
}

TensorIntrin store_matrix(const std::string& scope, const MatrixTile& tile, SourceLocation where) {
  return copy_of_tile("store_matrix", Intrin::tvm_store_matrix_sync,
                      {{tile.m, tile.n}, tile.sum, "wmma.accumulator", scope, "row_major"},
                      checked("store_matrix", tile, where), where);
}

TensorIntrin multiply_matrices(const MatrixTile& tile, SourceLocation where) {
  return product_of_tiles("multiply_matrices", checked("multiply_matrices", tile, where),
                          {tile.type, tile.type, tile.sum},
                          {tile.transpose_a, tile.transpose_b, false}, where);
}

TensorIntrin dot_product_of_four(DataType a_type, DataType b_type, SourceLocation where) {
  for (const DataType t : {a_type, b_type})
    if (t != Int(8) && t != UInt(8))
      throw TypeError("dot_product_of_four: the type must be int8 or uint8, not " + t.str(), where);
  const Tensor a = te::placeholder({4}, "a", a_type), b = te::placeholder({4}, "b", b_type);
  const te::IterVar k = te::reduce_axis({0, 4}, "k");
  const Tensor c = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(cast(Int(32), a(k)) * cast(Int(32), b(k)), {k}); },
      "c");
  const auto fours = [](const std::string& name, const Tensor& tensor, int offset_factor) {
    return decl_buffer(tensor.shape(), tensor.dtype(),
                       {.name = name, .strides = {1}, .offset_factor = offset_factor});
  };
  const auto body = [](Buffers ins, Buffers outs) -> TensorIntrinBody {
    const auto sum = [&](const Expr& start) {
      const auto four = [&](const Buffer& buffer) {
        return buffer.vload({0}, DataType(buffer.dtype()).with_lanes(4));
      };
      return outs[0].vstore({0},
                            make_call(Int(32), Intrin::dp4a, {four(ins[0]), four(ins[1]), start}));
    };
    const Expr zero = make_int(Int(32), 0);
    return {.body = sum(zero), .reset = outs[0].vstore({0}, zero), .update = sum(outs[0]({0}))};
  };
  return te::decl_tensor_intrin(
      c.op(), body,
      {.binds = {{a, fours("a", a, 4)}, {b, fours("b", b, 4)}, {c, fours("c", c, 1)}},
       .name = "dot_product_of_four"},
      where);
}

}  // namespace gpu

namespace cpu {

namespace {

/// Returns the extents of the tile. Throws TypeError if tile registers do not support it.
Extents checked(const char* function, const RegisterTile& tile, const SourceLocation& where) {
  const auto is_byte = [](DataType t) { return t == Int(8) || t == UInt(8); };
  const std::string what = std::string(function) + ": ";
  const bool are_bytes = is_byte(tile.a) && is_byte(tile.b);
  if (!are_bytes && (tile.a != BFloat(16) || tile.b != BFloat(16)))
    throw TypeError(what + "there are no tiles of " + tile.a.str() + " and " + tile.b.str() +
                        "; there are those of bfloat16, and of int8 and uint8",
                    where);
  const int bytes = tile.k * tile.a.bytes();
  const bool fits = tile.m >= 1 && tile.m <= 16 && tile.n >= 1 && tile.n <= 16 && tile.k >= 1 &&
                    bytes % 4 == 0 && bytes <= 64;
  if (!fits)
    throw TypeError(what + "there are no tiles of " + std::to_string(tile.m) + " x " +
                        std::to_string(tile.n) + " x " + std::to_string(tile.k) + " for " +
                        tile.a.str() +
                        "; m and n are at most 16, and k elements have at most 64 bytes, a "
                        "multiple of 4",
                    where);
  return {tile.m, tile.n, tile.k};
}

}  // namespace

TensorIntrin load_tile_a(const std::string& scope, const RegisterTile& tile, SourceLocation where) {
  return copy_of_tile(
      "load_tile_a", Intrin::tvm_load_matrix_sync,
      {{tile.m, tile.k}, tile.a, scope, "wmma.matrix_a", "row_major", tile.transpose_a},
      checked("load_tile_a", tile, where), where);
}

TensorIntrin load_tile_b(const std::string& scope, const RegisterTile& tile, SourceLocation where) {
  return copy_of_tile("load_tile_b", Intrin::tvm_load_matrix_sync,
                      {{tile.k, tile.n}, tile.b, scope, "wmma.matrix_b", "vnni", tile.transpose_b},
                      checked("load_tile_b", tile, where), where);
}

TensorIntrin multiply_tiles(const RegisterTile& tile, SourceLocation where) {
  return product_of_tiles("multiply_tiles", checked("multiply_tiles", tile, where),
                          {tile.a, tile.b, tile.sum()},
                          {tile.transpose_a, tile.transpose_b, tile.transpose_c}, where);
}

TensorIntrin store_tile(const std::string& scope, const RegisterTile& tile, SourceLocation where) {
  return copy_of_tile("store_tile", Intrin::tvm_store_matrix_sync,
                      {{tile.transpose_c ? tile.n : tile.m, tile.transpose_c ? tile.m : tile.n},
                       tile.sum(),
                       "wmma.accumulator",
                       scope,
                       tile.transpose_c ? "col_major" : "row_major"},
                      checked("store_tile", tile, where), where);
}

}  // namespace cpu

}  // namespace tenon::topi
