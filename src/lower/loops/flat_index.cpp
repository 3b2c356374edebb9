#include "lower/loops/flat_index.h"

#include <algorithm>
#include <limits>

#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

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

/// Applies (rest + floordiv(x, k)*inner) * outer + floormod(x, k) == rest*outer + x, where
/// inner*outer == k.
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

/// Merges one quotient with the remainder of the same index among the terms of a sum.
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

struct SignedTerm {
  Expr e;
  bool is_added;
};

void collect_signed(const Expr& e, bool is_added, std::vector<SignedTerm>& terms) {
  const Binary* n = e.as<Binary>();
  if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) {
    terms.push_back({e, is_added});
    return;
  }
  collect_signed(n->a, is_added, terms);
  collect_signed(n->b, n->op == BinaryOp::Add ? is_added : !is_added, terms);
}

/// Removes zeros and cancelling terms from a sum, such as an index relative to the origin of a
/// buffer, `(floormod(f, 7) + begin) - begin`. The other terms are unchanged, so that the quotient
/// and the remainder of an axis can still be matched.
Expr without_cancelled_terms(const Expr& e) {
  if (!as_binary(e, BinaryOp::Add) && !as_binary(e, BinaryOp::Sub)) return e;
  std::vector<SignedTerm> terms, kept;
  collect_signed(e, true, terms);
  for (const SignedTerm& term : terms) {
    if (is_zero(term.e)) continue;
    const auto opposite = std::ranges::find_if(kept, [&](const SignedTerm& other) {
      return other.is_added != term.is_added && structural_equal(other.e, term.e);
    });
    if (opposite == kept.end()) {
      kept.push_back(term);
    } else {
      kept.erase(opposite);
    }
  }
  if (kept.size() == terms.size()) return e;
  std::optional<Expr> sum;
  for (const auto& [term, is_added] : kept) {
    if (is_added) {
      sum = plus(sum, term);
    } else {
      sum = sum.value_or(make_int(term.dtype(), 0)) - term;
    }
  }
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
    // The last index is size - 1, so a size of kMax + 1 still fits.
    if (extent > (kMax + 1) / std::max<std::int64_t>(step, 1)) return true;
    size = std::max(size, extent * step);
  }
  return false;
}

/// Whether the product of an index constant and its stride exceeds int32. In a window that begins
/// far along an axis, the terms are large although their difference is small.
bool has_far_terms(const Buffer& buffer, const std::vector<Expr>& indices) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  std::int64_t size = 1;
  bool is_far = false;
  for (std::size_t n = indices.size(); n-- > 0 && !is_far;) {
    const std::int64_t step =
        buffer->strides.empty() ? size : constant_int(buffer->strides[n]).value_or(1);
    if (step > 1)
      walk(indices[n], [&](const IntImm& constant) {
        const bool is_near = constant.value > -kMax / step && constant.value < kMax / step;
        is_far = is_far || !is_near;
      });
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
  // Quotients and remainders are paired before simplification, which reduces the coefficients in a
  // remainder and thereby hides the match.
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
  if (node.dtype.is_bool()) node.dtype = Int(8, node.dtype.lanes);
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
    // The slice is contiguous if every dimension after the first one with several elements is
    // whole.
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

}  // namespace tenon::lowering
