#include "lower/loops/flat_buffers.h"

#include <algorithm>
#include <limits>

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

// ---- flat indices -------------------------------------------------------------------------------

namespace {

void collect_terms(const Expr& e, std::vector<Expr>& terms) {
  if (const Binary* sum = as_binary(e, BinaryOp::Add)) {
    collect_terms(sum->a, terms);
    collect_terms(sum->b, terms);
  } else {
    terms.push_back(e);
  }
}

Expr times(const std::optional<Expr>& a, const Expr& b) { return a ? *a * b : b; }
std::optional<Expr> plus(const std::optional<Expr>& a, const Expr& b) { return a ? *a + b : b; }

/// Simplifies a sum by (rest + floordiv(x, k)*inner) * outer + floormod(x, k) == rest*outer + x,
/// where inner*outer == k.
std::optional<Expr> absorb_remainder(const Expr& product, const Binary& remainder) {
  const Binary* factor = as_binary(product, BinaryOp::Mul);
  if (!factor) return std::nullopt;
  Expr outer = factor->b;
  Expr scaled = factor->a;
  while ((factor = as_binary(scaled, BinaryOp::Mul))) {
    outer = factor->b * outer;
    scaled = factor->a;
  }
  std::optional<Expr> inner, rest;
  while (true) {
    if (const Binary* quotient = as_binary(scaled, BinaryOp::FloorDiv)) {
      const Expr whole = times(inner, outer);
      if (!structural_equal(whole, quotient->b) || !structural_equal(whole, remainder.b) ||
          !structural_equal(quotient->a, remainder.a))
        return std::nullopt;
      return rest ? *rest * outer + remainder.a : remainder.a;
    }
    if (const Binary* product_inside = as_binary(scaled, BinaryOp::Mul)) {
      inner = inner ? product_inside->b * *inner : product_inside->b;
      scaled = product_inside->a;
    } else if (const Binary* sum = as_binary(scaled, BinaryOp::Add); sum && !inner) {
      rest = plus(rest, sum->a);
      scaled = sum->b;
    } else {
      return std::nullopt;
    }
  }
}

/// Merges one pair of terms of a sum, a quotient and a remainder of the same index.
std::optional<Expr> merge_once(const Expr& sum) {
  std::vector<Expr> terms;
  collect_terms(sum, terms);
  for (std::size_t r = 0; r < terms.size(); ++r) {
    const Binary* remainder = as_binary(terms[r], BinaryOp::FloorMod);
    if (!remainder) continue;
    for (std::size_t p = 0; p < terms.size(); ++p) {
      std::optional<Expr> merged = absorb_remainder(terms[p], *remainder);
      if (!merged) continue;
      std::optional<Expr> others;
      for (std::size_t n = 0; n < terms.size(); ++n)
        if (n != r && n != p) others = plus(others, terms[n]);
      return plus(others, *merged);
    }
  }
  return std::nullopt;
}

/// Replaces floordiv(x, k)*k + floormod(x, k), the index of a fused and re-split axis, by x.
Expr merge_quotients(const Expr& sum) {
  Expr e = sum;
  if (const Binary* add = as_binary(e, BinaryOp::Add)) {
    const Binary* remainder = as_binary(add->b, BinaryOp::FloorMod);
    const Binary* product = as_binary(add->a, BinaryOp::Mul);
    const Binary* quotient = product ? as_binary(product->a, BinaryOp::FloorDiv) : nullptr;
    if (remainder && quotient && structural_equal(quotient->a, remainder->a) &&
        structural_equal(quotient->b, remainder->b) && structural_equal(product->b, quotient->b))
      return quotient->a;
  }
  while (std::optional<Expr> merged = merge_once(e)) e = *merged;
  return e;
}

/// A term of a sum, and whether it is added or subtracted.
using SignedTerm = std::pair<Expr, bool>;

void collect_signed(const Expr& e, bool is_added, std::vector<SignedTerm>& terms) {
  const Binary* n = e.as<Binary>();
  if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) {
    terms.emplace_back(e, is_added);
    return;
  }
  collect_signed(n->a, is_added, terms);
  collect_signed(n->b, n->op == BinaryOp::Add ? is_added : !is_added, terms);
}

/// Removes zeros and cancelling terms from a sum, such as an index relative to the origin of a
/// buffer: `(floormod(f, 7) + begin) - begin`. The other terms stay unchanged, so the quotient and
/// the remainder of an axis can still be paired.
Expr without_cancelled_terms(const Expr& e) {
  if (!as_binary(e, BinaryOp::Add) && !as_binary(e, BinaryOp::Sub)) return e;
  std::vector<SignedTerm> terms, kept;
  collect_signed(e, true, terms);
  for (const auto& [term, is_added] : terms) {
    if (is_zero(term)) continue;
    const auto opposite = std::ranges::find_if(kept, [&](const SignedTerm& other) {
      return other.second != is_added && structural_equal(other.first, term);
    });
    if (opposite == kept.end())
      kept.emplace_back(term, is_added);
    else
      kept.erase(opposite);
  }
  if (kept.size() == terms.size()) return e;
  std::optional<Expr> sum;
  for (const auto& [term, is_added] : kept)
    sum = is_added ? plus(sum, term) : sum.value_or(make_int(term.dtype(), 0)) - term;
  return sum.value_or(make_int(e.dtype(), 0));
}

/// Whether indices into the buffer may exceed int32, judged by its constant extents and strides.
bool is_beyond_int32(const Buffer& buffer) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  std::int64_t size = 1;
  for (const Expr& stride : buffer->strides)
    if (constant_int(stride).value_or(0) > kMax) return true;
  for (std::size_t n = buffer->shape.size(); n-- > 0;) {
    const std::int64_t extent =
        std::max<std::int64_t>(constant_int(buffer->shape[n]).value_or(1), 1);
    const std::int64_t step =
        buffer->strides.empty() ? size : constant_int(buffer->strides[n]).value_or(1);
    // The last index is size - 1, so a size of kMax + 1 still fits in int32.
    if (extent > (kMax + 1) / std::max<std::int64_t>(step, 1)) return true;
    size = std::max(size, extent * step);
  }
  return false;
}

/// Whether a constant in the index is too large to be multiplied by `step` in int32. Examines the
/// constants that are terms or factors of the index, but not the divisors of quotients or the
/// indices of loads. A constant in a dividend is multiplied only by `step` divided by the divisor.
bool has_far_constant(const Expr& index, std::int64_t step) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (const IntImm* constant = index.as<IntImm>())
    return constant->value <= -kMax / step || constant->value >= kMax / step;
  if (index.as<Load>()) return false;
  if (const Binary* n = index.as<Binary>(); n && n->op == BinaryOp::FloorDiv)
    return has_far_constant(
        n->a, std::max<std::int64_t>(
                  step / std::max<std::int64_t>(constant_int(n->b).value_or(1), 1), 1));
  bool is_far = false;
  for_each_child(index, [&](const Expr& child) { is_far |= has_far_constant(child, step); });
  return is_far;
}

/// Whether the product of an index constant and its stride exceeds int32. This happens in a window
/// that begins far along an axis: each term is large although the difference of the terms is small.
bool has_far_terms(const Buffer& buffer, const std::vector<Expr>& indices) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  std::int64_t size = 1;
  bool is_far = false;
  for (std::size_t n = indices.size(); n-- > 0 && !is_far;) {
    const std::int64_t step =
        buffer->strides.empty() ? size : constant_int(buffer->strides[n]).value_or(1);
    is_far = step > 1 && has_far_constant(indices[n], step);
    size *= std::clamp<std::int64_t>(constant_int(buffer->shape[n]).value_or(1), 1, kMax / size);
  }
  return is_far;
}

/// Returns the buffer with 64-bit extents, strides and offset.
Buffer widened(const Buffer& buffer) {
  BufferNode node = *buffer.get();
  auto widen = [](Expr& e) {
    if (e.dtype() == Int(32)) e = cast(Int(64), e);
  };
  for (Expr& extent : node.shape) widen(extent);
  for (Expr& stride : node.strides) widen(stride);
  widen(node.elem_offset);
  return make_buffer(std::move(node));
}

Buffer widened_if_large(const Buffer& buffer) {
  return is_beyond_int32(buffer) ? widened(buffer) : buffer;
}

}  // namespace

std::vector<Expr> flat_index(const Buffer& given, const std::vector<Expr>& indices) {
  if (indices.size() != given->shape.size())
    internal_error("an access of `" + given->name + "` of another rank");
  const Buffer buffer = has_far_terms(given, indices) ? widened(given) : widened_if_large(given);
  const std::vector<int>& separators = buffer->axis_separators;
  std::vector<Expr> result(separators.size() + 1, Expr(0));
  std::size_t axis = 0;
  // Quotients and remainders must be paired before simplification. Simplification reduces the
  // coefficients in a remainder, which would hide that the two belong together.
  for (std::size_t n = 0; n < indices.size(); ++n) {
    if (axis < separators.size() && static_cast<int>(n) == separators[axis]) ++axis;
    Expr& sum = result[axis];
    const Expr index = without_cancelled_terms(indices[n]);
    sum =
        buffer->strides.empty() ? sum * buffer->shape[n] + index : sum + index * buffer->strides[n];
    if (n > 0) sum = merge_quotients(sum);
  }
  if (!is_zero(buffer->elem_offset)) result.back() = result.back() + buffer->elem_offset;
  for (Expr& index : result) index = arith::simplify(index);
  return result;
}

Buffer flat_buffer(const Buffer& buffer) {
  BufferNode node = *flattened(widened_if_large(buffer)).get();
  node.dtype = stored_type(node.dtype);
  return make_buffer(std::move(node));
}

Buffer slice(const Buffer& given, const std::vector<Expr>& begins,
             const std::vector<Expr>& extents) {
  const Buffer buffer = widened_if_large(given);
  BufferNode node = *buffer.get();
  node.elem_offset = flat_index(buffer, begins).back();
  node.shape = extents;
  node.name = buffer->name + "_slice";
  node.offset_factor = 1;
  if (node.strides.empty()) {
    // The slice is contiguous if it has one element in each leading dimension and is whole in every
    // dimension after the first with several elements.
    bool is_inside = false, is_contiguous = true;
    for (std::size_t n = 0; n < extents.size(); ++n) {
      if (is_inside &&
          !(is_zero(begins[n]) && is_zero(arith::simplify(extents[n] - buffer->shape[n]))))
        is_contiguous = false;
      if (!is_one(extents[n])) is_inside = true;
    }
    if (!is_contiguous) node.strides = compact_strides(buffer->shape);
  }
  return make_buffer(std::move(node));
}

int alignment_of_temporary(DataType type, const std::vector<Expr>& shape) {
  std::int64_t elements = 1;
  for (const Expr& extent : shape) {
    const std::optional<std::int64_t> value = constant_int(extent);
    if (!value || *value <= 0) return BufferNode::kDefaultAlignment;
    if (elements * *value > BufferNode::kDefaultAlignment) return BufferNode::kDefaultAlignment;
    elements *= *value;
  }
  const std::int64_t bytes = elements * type.bytes();
  int alignment = BufferNode::kDefaultAlignment;
  while (alignment > bytes) alignment /= 2;
  return alignment;
}

// ---- views --------------------------------------------------------------------------------------

namespace {

class Binder {
 public:
  Binder(const Buffer& declared, const VarMap& known, const arith::Facts& facts)
      : declared_(declared), known_(known), facts_(facts) {}

  /// Binds `formal` if it is a free variable of the declaration; otherwise compares its value with
  /// `actual`. Returns whether it was free.
  bool bind(const Expr& formal, const Expr& actual, const std::string& what) {
    if (formal.as<VarNode>() && !value_of(formal)) {
      const bool is_cut = formal.dtype() != actual.dtype() && formal.dtype().is_integral() &&
                          actual.dtype().is_integral();
      result_.values.emplace_back(Var::of(formal), is_cut ? cast(formal.dtype(), actual) : actual);
      return true;
    }
    const std::optional<Expr> value = value_of(formal);
    check((value ? *value : substitute_folding(formal, known_)) == actual, what, formal, actual);
    return false;
  }

  void check(const Expr& condition, const std::string& what, const Expr& formal,
             const Expr& actual) {
    const Expr simple = arith::simplify(condition, facts_);
    if (is_true(simple)) return;
    const std::string text = "buffer `" + declared_->name + "`: " + what + " is declared as " +
                             print_expr(formal) + ", but the memory bound to it has " +
                             print_expr(actual);
    if (is_false(simple)) throw LowerError(text);
    result_.checks.emplace_back(simple, text);
  }

  /// Binds a size, and checks that it fits the type of the declared variable.
  void bind_size(const Expr& formal, const Expr& actual, const std::string& what) {
    if (bind(formal, actual, what) && formal.dtype().bits < actual.dtype().bits)
      check(cast(actual.dtype(), cast(formal.dtype(), actual)) == actual,
            what + " of type " + formal.dtype().str(), formal, actual);
  }

  void bind_offset(const Expr& formal, const Expr& actual) {
    if (!bind(formal, actual, "the offset")) return;
    if (formal.dtype().bits < actual.dtype().bits) result_.wide_offset = actual;
    if (declared_->offset_factor <= 1) return;
    const Expr factor = make_int(actual.dtype(), declared_->offset_factor);
    check(floormod(actual, factor) == 0, "the factor of the offset", factor, actual);
  }

  ViewBinding take() { return std::move(result_); }

 private:
  std::optional<Expr> value_of(const Expr& var) const {
    if (auto found = known_.find(&var.node()); found != known_.end()) return found->second;
    for (const auto& [bound, value] : result_.values)
      if (bound.same_as(var)) return value;
    return std::nullopt;
  }

  const Buffer& declared_;
  const VarMap& known_;
  const arith::Facts& facts_;
  ViewBinding result_;
};

void check_kind(const Buffer& declared, const Buffer& piece) {
  if (stored_type(declared->dtype) != stored_type(piece->dtype))
    throw LowerError("buffer `" + declared->name + "` of " + declared->dtype.str() +
                     " cannot be bound to `" + piece->name + "` of " + piece->dtype.str());
  const std::optional<PointerType>& pointer = declared->data.as<VarNode>()->pointer;
  if (pointer && pointer->scope && *pointer->scope != piece->scope())
    throw LowerError("buffer `" + declared->name + "` is declared in scope \"" +
                     std::string(to_string(*pointer->scope)) + "\", `" + piece->name +
                     "` is in \"" + std::string(to_string(piece->scope())) + "\"");
  if (declared->shape.size() > piece->shape.size())
    throw LowerError("buffer `" + declared->name + "` has " +
                     std::to_string(declared->shape.size()) + " dimensions, the region of `" +
                     piece->name + "` has " + std::to_string(piece->shape.size()));
}

}  // namespace

ViewBinding bind_view(const Buffer& declared, const Buffer& piece, const VarMap& known,
                      const arith::Facts& facts) {
  check_kind(declared, piece);
  Binder binder(declared, known, facts);
  if (is_zero(declared->elem_offset) && !is_zero(piece->elem_offset))
    throw LowerError("buffer `" + declared->name +
                     "` is declared without an offset but is bound to a region that begins at " +
                     print_expr(piece->elem_offset) +
                     " of its memory: declare it with offset_factor = 1");
  binder.bind(declared->data, piece->data, "the data pointer");
  binder.bind_offset(declared->elem_offset, piece->elem_offset);
  const std::size_t missing = piece->shape.size() - declared->shape.size();
  for (std::size_t n = 0; n < missing; ++n)
    binder.check(piece->shape[n] == 1, "a dimension that is left out", 1, piece->shape[n]);
  for (std::size_t n = 0; n < declared->shape.size(); ++n)
    binder.bind_size(declared->shape[n], piece->shape[n + missing],
                     "shape[" + std::to_string(n) + "]");
  if (declared->strides.empty()) {
    const std::vector<Expr> compact = compact_strides(piece->shape);
    for (std::size_t n = missing; n < piece->strides.size(); ++n)
      if (!is_one(piece->shape[n]) &&
          !is_true(arith::simplify(piece->strides[n] == compact[n], facts)))
        throw LowerError("buffer `" + declared->name +
                         "` is declared compact but is bound to a region of `" + piece->name +
                         "` with strides: declare its strides as variables");
    return binder.take();
  }
  const std::vector<Expr> strides =
      piece->strides.empty() ? compact_strides(piece->shape) : piece->strides;
  for (std::size_t n = 0; n < declared->strides.size(); ++n) {
    // In a dimension of one element, the stride is never used, so any declared stride is valid.
    if (is_one(piece->shape[n + missing]) && !declared->strides[n].as<VarNode>()) continue;
    binder.bind_size(declared->strides[n], strides[n + missing],
                     "strides[" + std::to_string(n) + "]");
  }
  return binder.take();
}

}  // namespace tenon::lowering
