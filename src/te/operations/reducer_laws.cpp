#include "te/operations/reducer_laws.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

/// One constant per component.
using Tuple = std::vector<Expr>;

constexpr std::array kNumbers = {3, 5, 2, 7, 1, 4, 6};
constexpr int kTriples = 8;

Expr constant(DataType type, const std::variant<std::int64_t, double>& value) {
  if (const auto* number = std::get_if<double>(&value)) return make_float(type, *number);
  return make_int(type, std::get<std::int64_t>(value));
}

class Trial {
 public:
  explicit Trial(const ReduceNode& reduction)
      : reduction_(reduction), reducer_(*reduction.combiner) {}

  std::optional<std::string> run() const {
    for (int n = 0; n < kTriples; ++n) {
      const Tuple a = sample(3 * n), b = sample(3 * n + 1), c = sample(3 * n + 2);
      const Tuple left = combine(combine(a, b), c), right = combine(a, combine(b, c));
      for (std::size_t k = 0; k < left.size(); ++k)
        if (differ(left[k], right[k]))
          return "of " + text(a) + ", " + text(b) + " and " + text(c) + " it makes " + text(left) +
                 " or " + text(right) + ", as the order goes";
    }
    return std::nullopt;
  }

 private:
  Tuple sample(int n) const {
    Tuple values;
    for (std::size_t k = 0; k < reduction_.source.size(); ++k) {
      const Expr& source = reduction_.source[k];
      const int number =
          kNumbers[(static_cast<std::size_t>(n) * (k + 2) + 3 * k) % kNumbers.size()];
      if (is_constant(source)) {
        values.push_back(source);
      } else if (source.dtype().is_bool()) {
        values.push_back(make_int(source.dtype(), number % 2));
      } else {
        values.push_back(source.dtype().is_floating() ? make_float(source.dtype(), number)
                                                      : make_int(source.dtype(), number));
      }
    }
    return values;
  }

  Tuple combine(const Tuple& a, const Tuple& b) const {
    VarMap values;
    for (std::size_t k = 0; k < a.size(); ++k) {
      set(values, reducer_.lhs[k], a[k]);
      set(values, reducer_.rhs[k], b[k]);
    }
    Tuple result;
    for (const Expr& e : reducer_.result)
      result.push_back(constant(e.dtype(), evaluate(substitute(e, values))));
    return result;
  }

  static bool differ(const Expr& a, const Expr& b) {
    const FloatImm* x = a.as<FloatImm>();
    const FloatImm* y = b.as<FloatImm>();
    if (!x || !y) return constant_int(a) != constant_int(b);
    if (!std::isfinite(x->value) || !std::isfinite(y->value)) return false;
    return std::fabs(x->value - y->value) >
           0.05 * std::max({1.0, std::fabs(x->value), std::fabs(y->value)});
  }

  static std::string text(const Tuple& values) {
    std::string result;
    for (const Expr& value : values) {
      result += result.empty() ? "" : ", ";
      result += print_expr(value);
    }
    return values.size() == 1 ? result : "(" + result + ")";
  }

  const ReduceNode& reduction_;
  const CommReducerNode& reducer_;
};

}  // namespace

std::optional<std::string> find_dependence_on_order(const ReduceNode& reduction) {
  for (const Expr& source : reduction.source)
    if (source.dtype().is_vector()) return std::nullopt;
  try {
    return Trial(reduction).run();
  } catch (const Error&) {
    // It calls what the interpreter does not know.
    return std::nullopt;
  }
}

}  // namespace tenon::te
