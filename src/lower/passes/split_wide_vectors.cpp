#include "lower/passes/split_wide_vectors.h"

#include <algorithm>
#include <bit>

#include "lower/lane_value.h"
#include "lower/vector_body.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A tile of sums in registers is one vector of up to so many; wider ones cannot be meant to stay
/// in registers.
constexpr int kMostRegisters = 16;
/// Independent operations for the processor, and few enough for any body.
constexpr int kRegistersOfAPart = 4;

class WideSplitter {
 public:
  explicit WideSplitter(int bits) : bits_(bits) {}

  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) {
      std::optional<Stmt> parts = store(*n);
      return parts ? std::move(*parts) : s;
    }
    if (const Let* n = s.as<Let>()) {
      if (std::optional<Stmt> result = let(*n)) return std::move(*result);
    }
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  bool is_wide(DataType type) const {
    return type.is_vector() && registers_for(type, bits_) > kMostRegisters;
  }

  /// Whether anything that is computed for a value, indices among it, is too wide.
  bool has_wide(const Expr& e) const {
    if (is_wide(e.dtype())) return true;
    bool found = false;
    for_each_child(e, [&](const Expr& child) { found = found || has_wide(child); });
    return found;
  }

  std::optional<Stmt> store(const Store& n) const {
    if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return std::nullopt;
    if (n.value.dtype().lanes < 2 || (!has_wide(n.value) && !is_wide(n.indices[0].dtype())))
      return std::nullopt;
    if (!reads_what_it_stores(n)) return in_parts(n);
    const DataType element = n.value.dtype().element();
    const Buffer whole = memory_for(n.value.dtype());
    const Expr place = make_ramp(Expr(0), Expr(1), n.value.dtype().lanes);
    const std::optional<Stmt> compute = in_parts({whole, n.value, {place}});
    const std::optional<Stmt> copy = in_parts({n.buffer, make_load(whole, {place}), n.indices});
    if (!compute || !copy) return std::nullopt;
    return make_stmt(
        Allocate{whole->data, element, whole->shape, make_true(), make_seq({*compute, *copy})});
  }

  static Buffer memory_for(DataType type) {
    // Bools lie in bytes.
    return decl_buffer({Expr(type.lanes)}, type.element(), {.name = "whole", .scope = "local"});
  }

  /// Whether a part may find what an earlier part has stored. Parts that read just the elements
  /// that they store do not.
  static bool reads_what_it_stores(const Store& n) {
    bool found = false;
    const auto check = [&](const Load& load) {
      found |= load.buffer->data.same_as(n.buffer->data) &&
               !(load.buffer->dtype == n.buffer->dtype && n.indices[0].as<Ramp>() &&
                 structural_equal(load.indices[0], n.indices[0]));
    };
    walk(n.value, check);
    walk(n.indices[0], check);
    return found;
  }

  std::optional<Stmt> in_parts(const Store& n) const {
    const int lanes = n.value.dtype().lanes;
    const int bits = std::max<int>(n.value.dtype().bits, 8);
    const int width =
        std::max(1, static_cast<int>(std::bit_floor(static_cast<unsigned>(bits_ / bits))) *
                        kRegistersOfAPart);
    std::vector<Stmt> parts;
    const auto add = [&](const LanePart& part, const std::optional<Var>& var, int count) {
      const std::optional<Expr> value = part_of(n.value, part), index = part_of(n.indices[0], part);
      if (!value || !index) return false;
      const Stmt one = make_store(n.buffer, *value, {*index});
      parts.push_back(var ? make_stmt(For{*var, Expr(0), Expr(count), ForKind::Serial, one}) : one);
      return true;
    };
    const Var part("part");
    if (lanes >= width && !add({lanes, Expr(part) * width, width}, part, lanes / width))
      return std::nullopt;
    int first = lanes / width * width;
    for (int count = width / 2; count >= 1; count /= 2) {
      if (lanes - first < count) continue;
      if (!add({lanes, Expr(first), count}, std::nullopt, 1)) return std::nullopt;
      first += count;
    }
    return make_seq(std::move(parts));
  }

  /// The vector in memory of its own, and its uses as loads from there.
  std::optional<Stmt> let(const Let& n) {
    if (!is_wide(n.value.dtype())) return std::nullopt;
    const DataType type = n.value.dtype();
    const Buffer whole = memory_for(type);
    const Expr place = make_ramp(Expr(0), Expr(1), type.lanes);
    const std::optional<Stmt> compute = in_parts({whole, n.value, {place}});
    if (!compute) return std::nullopt;
    VarMap loads;
    set(loads, n.var, make_load(whole, {place}));
    const Stmt body = stmt(substitute(n.body, loads));
    return make_stmt(Allocate{whole->data, type.element(), whole->shape, make_true(),
                              make_seq({*compute, body})});
  }

  int bits_;
};

}  // namespace

PrimFunc split_wide_vectors(const PrimFunc& func, const PassOptions& options) {
  // Without registers no vector is too wide for them.
  const int bits = options.vector_registers ? options.vector_registers->bits : 0;
  if (bits <= 0 || renames_memory(func.body) || !func.attrs.noalias) return func;
  PrimFunc result = func;
  result.body = WideSplitter(bits).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
