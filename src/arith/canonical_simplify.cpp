#include "arith/canonicalizer.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

// ---- conversions --------------------------------------------------------------------------------

Expr to_expr(const Canonical& value) {
  return match(
      value, [](const Expr& e) { return e; }, [](const Term& term) { return term.expr(); },
      [](const Sum& sum) { return sum.expr(); });
}

Term to_term(Canonical value) {
  if (Term* term = std::get_if<Term>(&value)) return std::move(*term);
  if (Sum* sum = std::get_if<Sum>(&value)) {
    if (sum->constant() == 0 && sum->terms().size() == 1) return sum->terms().front();
  }
  return Term(to_expr(value));
}

Sum to_sum(Canonical value) {
  if (Sum* sum = std::get_if<Sum>(&value)) return std::move(*sum);
  if (const Expr* e = std::get_if<Expr>(&value)) {
    if (const IntImm* number = e->as<IntImm>()) return Sum(e->dtype(), number->value);
  }
  return Sum(to_term(std::move(value)));
}

namespace {

/// Returns the value of a constant that is still a plain expression.
std::optional<std::int64_t> plain_constant(const Canonical& value) {
  const Expr* e = std::get_if<Expr>(&value);
  const IntImm* number = e ? e->as<IntImm>() : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

/// Whether the term is a sum or a constant multiple.
bool is_scaled(const Canonical& value) {
  const Term* term = std::get_if<Term>(&value);
  return std::holds_alternative<Sum>(value) || (term && term->scale != 1);
}

Canonical zero_of(DataType type) { return make_int(type, 0); }

bool is_index_arithmetic(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::TruncDiv:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return true;
    default:
      return false;
  }
}

}  // namespace

// ---- traversal ----------------------------------------------------------------------------------

Expr Canonicalizer::simplify(const Expr& e) {
  if (e.as<IntImm>()) return e;
  return visit_once(e, rewriting_, RewriteMemory::Step::Canonical, [&] {
    Expr result = to_expr(visit(e));
    const bool is_equal = result.node().hash == e.node().hash && tir::structural_equal(result, e);
    return is_equal ? e : result;
  });
}

Canonical Canonicalizer::visit(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { return visit(e); });
  if (e.as<IntImm>()) return e;
  if (e.dtype().is_index()) {
    const Binary* binary = e.as<Binary>();
    if (binary && is_index_arithmetic(binary->op)) return visit_arithmetic(*binary, e);
    if (const Cast* cast = e.as<Cast>()) return visit_cast(*cast, e);
  }
  if (const Reduce* reduce = e.as<Reduce>()) return visit_reduce(*reduce, e);
  return rewrite_node(e, rewriting_);
}

Canonical Canonicalizer::visit_arithmetic(const Binary& node, const Expr& e) {
  const InData operands(facts_.state(), e);
  Canonical a = visit(node.a);
  Canonical b = visit(node.b);
  std::optional<std::int64_t> left = plain_constant(a), right = plain_constant(b);
  if (left && right) {
    if (std::optional<Expr> folded = fold_constants(node.op, std::get<Expr>(a), std::get<Expr>(b)))
      return *folded;
  }
  switch (node.op) {
    case BinaryOp::Add:
      if (left == 0) return b;
      if (right == 0) return a;
      return add(std::move(a), std::move(b), 1);
    case BinaryOp::Sub:
      if (right == 0) return a;
      return add(std::move(a), std::move(b), -1);
    case BinaryOp::Mul:
      return multiply(std::move(a), std::move(b));
    default:
      break;
  }
  if (is_scaled(a) && wraps(node.a, facts_.state())) {
    // Only sums that provably do not overflow are decomposed.
    if (!may_overflow(node.a, facts_.state())) {
      Canonical parts = divide(node.op, a, b, e);
      if (!may_overflow(to_expr(parts), facts_.state())) return parts;
    }
    a = Term(to_expr(a));
  }
  return divide(node.op, std::move(a), b, e);
}

Canonical Canonicalizer::divide(BinaryOp op, Canonical a, const Canonical& b, const Expr& e) {
  const std::optional<std::int64_t> left = plain_constant(a), right = plain_constant(b);
  // Folds 0 div x and 0 mod x; x == 0 is undefined.
  if (left == 0 && right != 0) return zero_of(e.dtype());
  if (right && *right > 0 && *right != kNoUpper) {
    bool is_division = op == BinaryOp::FloorDiv || op == BinaryOp::TruncDiv;
    if (*right == 1) return is_division ? a : zero_of(e.dtype());
    if (op == BinaryOp::FloorDiv) return floor_divide(std::move(a), *right);
    if (op == BinaryOp::TruncDiv) return trunc_divide(std::move(a), *right);
    if (op == BinaryOp::FloorMod) return floor_remainder(std::move(a), *right);
    return trunc_remainder(std::move(a), *right);
  }
  return make_binary(op, to_expr(a), to_expr(b));
}

namespace {

std::int64_t constant_of(const Canonical& value) {
  if (const Sum* sum = std::get_if<Sum>(&value)) return sum->constant();
  return plain_constant(value).value_or(0);
}

DataType type_of(const Canonical& value) {
  return match(
      value, [](const Expr& e) { return e.dtype(); }, [](const Term& term) { return term.dtype(); },
      [](const Sum& sum) { return sum.dtype(); });
}

/// Whether the sum of the constants overflows. The whole sum need not wrap, as in x - minimum for a
/// negative x, but a sum with a wrapped constant cannot be divided.
bool constant_wraps(const Canonical& a, const Canonical& b, int sign) {
  std::int64_t sum = 0;
  const bool overflows = sign > 0 ? __builtin_add_overflow(constant_of(a), constant_of(b), &sum)
                                  : __builtin_sub_overflow(constant_of(a), constant_of(b), &sum);
  return overflows || !fits(sum, type_of(a));
}

}  // namespace

Canonical Canonicalizer::add(Canonical a, Canonical b, int sign) {
  if (constant_wraps(a, b, sign))
    return make_binary(sign > 0 ? BinaryOp::Add : BinaryOp::Sub, to_expr(a), to_expr(b));
  Sum sum = to_sum(std::move(a));
  if (std::optional<std::int64_t> value = plain_constant(b)) {
    sum.add(wrap(sign > 0 ? *value : static_cast<std::int64_t>(-static_cast<std::uint64_t>(*value)),
                 sum.dtype()));
  } else if (const Sum* other = std::get_if<Sum>(&b)) {
    sum.add(*other, sign);
  } else {
    sum.add(to_term(std::move(b)), sign);
  }
  return sum;
}

Canonical Canonicalizer::multiply(Canonical a, Canonical b) {
  if (plain_constant(a)) std::swap(a, b);
  std::optional<std::int64_t> factor = plain_constant(b);
  // A product of two unknowns is one opaque index.
  if (!factor) return fold(BinaryOp::Mul, to_expr(a), to_expr(b));
  if (*factor == 0) return b;
  if (*factor == 1) return a;
  if (Sum* sum = std::get_if<Sum>(&a)) {
    std::int64_t constant = 0;
    if (__builtin_mul_overflow(sum->constant(), *factor, &constant) ||
        !fits(constant, sum->dtype()))
      return fold(BinaryOp::Mul, to_expr(a), to_expr(b));
    sum->multiply(*factor);
    return a;
  }
  Term term = to_term(std::move(a));
  term.multiply(*factor);
  return term;
}

Canonical Canonicalizer::visit_cast(const Cast& node, const Expr& e) {
  if (!node.value.dtype().is_index()) return rewrite_node(e, rewriting_);
  Canonical value = visit(node.value);
  if (Sum* sum = std::get_if<Sum>(&value); sum && can_cast_terms(*sum, e.dtype(), facts_)) {
    sum->cast_terms(e.dtype());
    return value;
  }
  if (Term* term = std::get_if<Term>(&value); term && can_cast_terms(*term, e.dtype(), facts_)) {
    term->index = cast(e.dtype(), term->index);
    return value;
  }
  return cast(e.dtype(), to_expr(value));
}

Canonical Canonicalizer::visit_reduce(const Reduce&, const Expr& e) {
  Expr simplified = rewrite_node(e, rewriting_);
  const Reduce* node = simplified.as<Reduce>();
  if (!node || !node->reduction->axis.empty() || !node->reduction->init.empty()) return simplified;
  // With a single point, the result is the source if the condition holds, otherwise the identity.
  auto index = static_cast<std::size_t>(node->value_index);
  const ReduceNode& reduction = *node->reduction;
  return simplify(make_select(reduction.condition, reduction.source[index],
                              reduction.combiner->identity[index]));
}

Expr canonical_simplify(const Expr& e, const Facts& facts) {
  return Canonicalizer(facts).simplify(e);
}

}  // namespace tenon::arith
