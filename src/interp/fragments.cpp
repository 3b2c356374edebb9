// Tensor cores and tile registers. Fragments store their tiles row by row, and an operation of a
// warp is executed once for all of its threads.
#include <algorithm>

#include "interp/machine.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"

namespace tenon::interp {

namespace {

constexpr std::int64_t kMaxThreads = 1 << 12;

}  // namespace

std::int64_t row_along_x(const Thread& thread) {
  std::int64_t row = 0;
  std::array<std::int64_t, 3> place{};
  for (const auto& [tag, value] : thread.coordinates) {
    // Virtual threads have separate memory, so their coordinates are part of the row's number. Code
    // outside the virtual threads accesses the memory of the first one.
    if (tag.is_virtual()) row = row * kMaxThreads + value;
    if (tag.is_thread()) place[static_cast<std::size_t>(tag.dim.value_or(0))] = value;
  }
  return (row * kMaxThreads + place[1]) * kMaxThreads + place[2];
}

std::int64_t warp_along_x(const Thread& thread) {
  std::int64_t x = 0;
  for (const auto& [tag, value] : thread.coordinates)
    if (tag.is_thread() && tag.dim.value_or(0) == 0) x = value;
  return row_along_x(thread) * kMaxThreads + x / kWarpSize;
}

/// A tile in a fragment's memory.
struct Machine::Fragment {
  std::shared_ptr<Memory> memory;
  std::string name;
  DataType element;
  std::int64_t rows, columns, offset;

  std::int64_t place(std::int64_t row, std::int64_t column) const {
    return offset + (row * columns + column) * element.bytes();
  }
  Scalar read(std::int64_t row, std::int64_t column) const {
    if (!memory->is_written(place(row, column), element.bytes()))
      throw RuntimeError("fragment `" + name + "` is used before it is loaded or filled");
    return read_element(memory->data() + place(row, column), element);
  }
  void write(std::int64_t row, std::int64_t column, Scalar value) const {
    write_element(memory->data() + place(row, column), value, element);
    memory->mark_written(place(row, column), element.bytes());
  }
};

Machine::Fragment Machine::fragment(const Expr& data, const Expr& index, Thread& t) {
  const std::string& name = Var::of(data).name();
  const auto storage = storages_.find(&data.node());
  if (storage == storages_.end() || !storage->second->tile)
    throw RuntimeError("fragment `" + name + "` is used before it is loaded or filled");
  const auto& pointer = data.as<VarNode>()->pointer;
  const auto [m, n, k] = *storage->second->tile;
  const StorageScope scope = pointer->scope.value_or(StorageScope::Global);
  Fragment result{storage->second->of(t), name, pointer->element.element(), m, n, 0};
  if (scope == StorageScope::WmmaMatrixA) result.columns = k;
  if (scope == StorageScope::WmmaMatrixB) result.rows = k;
  const std::int64_t bytes = result.rows * result.columns * result.element.bytes();
  const std::int64_t number = eval_int(index, t);
  result.offset = number * bytes;
  if (number < 0 || result.offset + bytes > result.memory->bytes())
    throw RuntimeError("tile " + std::to_string(number) + " is outside of fragment `" + name + "`");
  return result;
}

/// Checks that all threads of a warp take part with equal arguments.
void Machine::matrix_operation(Intrin intrin, const Call& n, const Active& active) {
  const std::string name = "@tir." + std::string(to_string(intrin));
  std::map<std::int64_t, Active> warps;
  for (std::size_t id : active) warps[warp_along_x(threads_[id])].push_back(id);
  for (const auto& [warp, ids] : warps) {
    Thread& first = threads_[ids.front()];
    const bool has_lanes = std::ranges::any_of(first.coordinates, [](const auto& coordinate) {
      return coordinate.first.is_thread() && coordinate.first.dim == 0;
    });
    if (static_cast<std::int64_t>(ids.size()) != (has_lanes ? kWarpSize : 1))
      throw RuntimeError(name + " is reached by " + std::to_string(ids.size()) +
                         " threads of a warp, but requires all " + std::to_string(kWarpSize));
    for (const Expr& e : n.args) {
      const Call* address = as_call(e, Intrin::tvm_access_ptr);
      const Expr& compared = address ? address->args[2] : e;
      if (!compared.dtype().is_integral()) continue;
      const std::int64_t value = eval_int(compared, first);
      for (std::size_t id : ids)
        if (eval_int(compared, threads_[id]) != value)
          throw RuntimeError(name + ": the threads of a warp have different values of " +
                             print_expr(compared));
    }
    one_matrix_operation(intrin, n, first);
  }
}

void Machine::one_matrix_operation(Intrin intrin, const Call& n, Thread& t) {
  if (intrin == Intrin::tvm_mma_sync) return multiply_matrices(n, t);
  const auto storage = storages_.find(&n.args[0].node());
  if (storage == storages_.end())
    throw RuntimeError("fragment `" + Var::of(n.args[0]).name() + "` does not exist here");
  const std::array<std::int64_t, 3> tile{eval_int(n.args[1], t), eval_int(n.args[2], t),
                                         eval_int(n.args[3], t)};
  if (storage->second->tile.value_or(tile) != tile)
    throw RuntimeError("fragment `" + Var::of(n.args[0]).name() + "` is used with two shapes");
  storage->second->tile = tile;
  if (intrin != Intrin::tvm_fill_fragment)
    return move_matrix(n, intrin == Intrin::tvm_load_matrix_sync, t);
  const Fragment target = fragment(n.args[0], n.args[4], t);
  Scalar value = eval(n.args[5], t)[0];
  if (n.args[5].dtype().is_integral() && target.element.is_floating())
    value = floating(static_cast<double>(value.i));
  if (n.args[5].dtype().is_floating() && target.element.is_integral())
    value = integer(static_cast<std::int64_t>(value.d));
  for (std::int64_t row = 0; row < target.rows; ++row)
    for (std::int64_t column = 0; column < target.columns; ++column)
      target.write(row, column, value);
}

/// Loads or stores a matrix. The arguments are (fragment, m, n, k, index, address, row pitch in
/// elements, layout).
void Machine::move_matrix(const Call& n, bool is_load, Thread& t) {
  const Fragment tile = fragment(n.args[0], n.args[4], t);
  const Call* address = as_call(n.args[5], Intrin::tvm_access_ptr);
  if (!address) throw RuntimeError("a matrix whose address is not a tvm_access_ptr");
  const std::int64_t stride = eval_int(n.args[6], t);
  const StringImm* layout = n.args[7].as<StringImm>();
  const bool by_rows = !layout || layout->value == "row_major";
  const bool in_groups = layout && layout->value == "vnni";
  const std::int64_t group = std::max<std::int64_t>(4 / tile.element.bytes(), 1);
  const std::string& name = Var::of(address->args[1]).name();
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    for (std::int64_t column = 0; column < tile.columns; ++column) {
      const std::int64_t element = in_groups ? row / group * stride + column * group + row % group
                                   : by_rows ? row * stride + column
                                             : column * stride + row;
      const Place place = locate(*address, element, t, !is_load);
      if (is_load) {
        tile.write(row, column, read_element(place.address, tile.element));
        continue;
      }
      std::vector<std::byte> bytes(static_cast<std::size_t>(tile.element.bytes()));
      write_element(bytes.data(), tile.read(row, column), tile.element);
      const bool changes = !std::equal(bytes.begin(), bytes.end(), place.address);
      std::copy(bytes.begin(), bytes.end(), place.address);
      note_write(place, tile.element.bytes(), changes, t, [&] { return name; });
    }
  }
  if (is_load && !in_groups && options_.on_warp_access)
    note_matrix_load(*address, tile, by_rows, stride, t);
}

/// Records the accesses of a load: a warp reads 32 row segments of 16 bytes, in groups of eight.
/// The rows are those of memory, which are columns of the tile unless `by_rows`. They are `stride`
/// elements apart.
void Machine::note_matrix_load(const Call& address, const Fragment& tile, bool by_rows,
                               std::int64_t stride, Thread& t) {
  const DataType element = address.args[0].dtype().element();
  const Var data = Var::of(address.args[1]);
  const Buffer buffer = decl_buffer({1}, element, {.name = data.name(), .data = data});
  if (!is_shared_memory(buffer->scope())) return;
  constexpr int kPiece = 16;
  const std::int64_t first = locate(address, 0, t, false).offset;
  const std::int64_t warp = t.position / kWarpSize * kWarpSize;
  WarpOffsets offsets;
  const auto finish = [&] {
    if (!offsets.empty()) warp_uses_.push_back({{buffer.get(), false, kPiece, 1}, offsets});
    offsets.clear();
  };
  const std::int64_t rows = by_rows ? tile.rows : tile.columns;
  const std::int64_t length = by_rows ? tile.columns : tile.rows;
  for (std::int64_t byte = 0; byte < length * element.bytes(); byte += kPiece) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto lane = static_cast<std::int64_t>(offsets.size());
      offsets.emplace_back(warp + lane, first + row * stride * element.bytes() + byte);
      if (lane + 1 == kWarpSize) finish();
    }
  }
  finish();
  kept_buffers_.push_back(buffer);
}

/// Computes d = a * b + c, rounded once.
void Machine::multiply_matrices(const Call& n, Thread& t) {
  const Fragment a = fragment(n.args[2], n.args[3], t), b = fragment(n.args[4], n.args[5], t);
  const Fragment c = fragment(n.args[6], n.args[7], t);
  const auto target = storages_.find(&n.args[0].node());
  if (target != storages_.end() && !target->second->tile)
    target->second->tile = storages_.at(&n.args[6].node())->tile;
  const Fragment d = fragment(n.args[0], n.args[1], t);
  if (a.columns != b.rows || a.rows != d.rows || b.columns != d.columns || c.rows != d.rows)
    throw RuntimeError("@tir.tvm_mma_sync of fragments `" + a.name + "` and `" + b.name +
                       "`, which are tiles of products of different shapes");
  const bool is_floating = d.element.is_floating();
  for (std::int64_t row = 0; row < d.rows; ++row) {
    for (std::int64_t column = 0; column < d.columns; ++column) {
      Scalar sum = c.read(row, column);
      for (std::int64_t k = 0; k < a.columns; ++k) {
        const Scalar x = a.read(row, k), y = b.read(k, column);
        sum = is_floating ? floating(sum.d + x.d * y.d) : integer(sum.i + x.i * y.i);
      }
      d.write(row, column, fit(sum, d.element));
    }
  }
}

}  // namespace tenon::interp
