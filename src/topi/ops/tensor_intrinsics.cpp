#include "tenon/topi/tensor_intrinsics.h"

#include "tenon/te/reduce.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::topi::gpu {

using namespace tir;
using te::Tensor;
using te::TensorIntrin;
using te::TensorIntrinBody;

namespace {

using Buffers = std::span<const Buffer>;

void check_tile(const char* function, const MatrixTile& tile, const SourceLocation& where) {
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
}

/// Returns a buffer whose row pitch, in elements, is a variable named `row`.
Buffer in_rows(const std::string& name, const Tensor& tensor, const std::string& scope) {
  return decl_buffer(
      tensor.shape(), tensor.dtype(),
      {.name = name, .strides = {te::var("row"), 1}, .scope = scope, .offset_factor = 1});
}

/// Returns the number of a tile within a fragment of several, in row-major order.
Expr tile_number(const Buffer& tile) {
  const Expr &offset = tile->elem_offset, &row = tile->strides[0];
  const Expr tile_row = tile->shape[0] * row;
  return floordiv(offset, tile_row) * floordiv(row, tile->shape[1]) +
         floordiv(floormod(offset, tile_row), tile->shape[1]);
}

std::vector<Expr> tile_arguments(const Buffer& fragment, const MatrixTile& tile) {
  return {fragment->data, tile.m, tile.n, tile.k, tile_number(fragment)};
}

Stmt call(Intrin intrin, std::vector<Expr> args) {
  return make_evaluate(make_call(Handle(), intrin, std::move(args)));
}

struct Copy {
  std::vector<Expr> shape;
  DataType type;
  std::string from_scope, to_scope;
  bool is_by_columns;
};

/// Declares a copy between memory and a fragment. The written buffer determines the direction.
TensorIntrin copy_of_tile(const char* name, Intrin intrin, const Copy& copy, const MatrixTile& tile,
                          const SourceLocation& where) {
  const Tensor from = te::placeholder(copy.shape, "from", copy.type);
  const Tensor to = te::compute(
      copy.shape, {"i", "j"}, [&](Var i, Var j) { return from(i, j); }, "to");
  const bool is_load = intrin == Intrin::tvm_load_matrix_sync;
  const bool is_by_columns = copy.is_by_columns;
  const auto body = [=](Buffers ins, Buffers outs) -> TensorIntrinBody {
    const Buffer &fragment = is_load ? outs[0] : ins[0], &memory = is_load ? ins[0] : outs[0];
    std::vector<Expr> args = tile_arguments(fragment, tile);
    args.push_back(memory.access_ptr(is_load ? "r" : "w"));
    args.push_back(memory->strides[0]);
    args.push_back(make_string(is_by_columns ? "col_major" : "row_major"));
    return {.body = call(intrin, std::move(args))};
  };
  return te::decl_tensor_intrin(to.op(), body,
                                {.binds = {{from, in_rows("from", from, copy.from_scope)},
                                           {to, in_rows("to", to, copy.to_scope)}},
                                 .name = name},
                                where);
}

/// Declares the load of a tile of rows x columns, or of a tile of columns x rows in column-major
/// order.
TensorIntrin load_matrix(const char* name, const char* fragment, int rows, int columns,
                         bool is_by_columns, const std::string& scope, const MatrixTile& tile,
                         const SourceLocation& where) {
  check_tile(name, tile, where);
  if (is_by_columns) std::swap(rows, columns);
  return copy_of_tile(name, Intrin::tvm_load_matrix_sync,
                      {{rows, columns}, tile.type, scope, fragment, is_by_columns}, tile, where);
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
  check_tile("store_matrix", tile, where);
  return copy_of_tile("store_matrix", Intrin::tvm_store_matrix_sync,
                      {{tile.m, tile.n}, tile.sum, "wmma.accumulator", scope, false}, tile, where);
}

TensorIntrin multiply_matrices(const MatrixTile& tile, SourceLocation where) {
  check_tile("multiply_matrices", tile, where);
  const auto [m, n, length, type, sum, transpose_a, transpose_b] = tile;
  const Tensor a = te::placeholder({transpose_a ? length : m, transpose_a ? m : length}, "a", type);
  const Tensor b = te::placeholder({transpose_b ? n : length, transpose_b ? length : n}, "b", type);
  const te::IterVar k = te::reduce_axis({0, length}, "k");
  const Tensor c = te::compute(
      {m, n}, {"i", "j"},
      [&](Var i, Var j) {
        const Expr x = tile.transpose_a ? a(k, i) : a(i, k);
        const Expr y = tile.transpose_b ? b(j, k) : b(k, j);
        return te::sum(cast(tile.sum, x) * cast(tile.sum, y), {k});
      },
      "c");
  const auto body = [tile](Buffers ins, Buffers outs) -> TensorIntrinBody {
    const Buffer &x = ins[0], &y = ins[1], &z = outs[0];
    std::vector<Expr> fill = tile_arguments(z, tile);
    fill.push_back(make_const(tile.sum, 0));
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
                                 .name = "multiply_matrices"},
                                where);
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

}  // namespace tenon::topi::gpu
