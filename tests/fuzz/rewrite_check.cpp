#include "tests/fuzz/rewrite_check.h"

#include <cmath>
#include <sstream>

#include "tenon/arith/simplify.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"
#include "tests/definition/definition.h"
#include "tests/fuzz/random_expression.h"

namespace tenon::fuzz {

using testing::Definition;
using testing::NoOpinion;
using testing::Number;

namespace {

constexpr std::int64_t kSize = 7;
constexpr int kTrials = 8;

// ---- positions are whole numbers: what code computes wide enough --------------------------------

bool is_position(const Expr& e) { return e.dtype().element() == Int(32) && !is_data(e); }

Expr as_whole_numbers(const Expr& e);

Expr widened(const Expr& e) {
  const DataType type = Int(64, e.dtype().lanes);
  const tir::Binary* n = e.as<tir::Binary>();
  if (n && is_position(e)) return tir::make_binary(n->op, widened(n->a), widened(n->b));
  return tir::cast(type, as_whole_numbers(e));
}

/// The expression with the sums and products of positions in 64 bits: a rewritten one may have
/// other intermediate results.
Expr as_whole_numbers(const Expr& e) {
  if (const tir::Binary* n = e.as<tir::Binary>(); n && is_position(n->a) && is_position(n->b)) {
    const Expr result = tir::make_binary(n->op, widened(n->a), widened(n->b));
    return tir::is_comparison(n->op) ? result : tir::cast(e.dtype(), result);
  }
  return tir::map_children(e, [](const Expr& child) { return as_whole_numbers(child); });
}

/// Whether an element that is a float becomes an integer.
bool converts_floats(const Expr& e) {
  bool found = false;
  tir::walk(e, [&](const tir::Cast& n) { found = found || n.value.dtype().is_floating(); });
  return found;
}

bool has_sizes(const Expr& e, const std::vector<te::IterVar>& axes) {
  return tir::uses_var(e, [&](const Expr& var) {
    return std::ranges::none_of(axes,
                                [&](const te::IterVar& axis) { return var.same_as(axis.var()); });
  });
}

class RewriteCheck {
 public:
  RewriteCheck(const std::vector<LowerArgument>& args, const RewriteCheckOptions& options,
               Random& random)
      : options_(options),
        random_(random),
        arrays_(testing::make_arguments(args, {.symbol = kSize, .data = options.data})),
        definition_(memory_of(args), [](const Var&) { return kSize; }) {}

  std::string run(const te::Operation& op) {
    const te::Compute* compute = op.as<te::Compute>();
    if (!compute) return "";
    std::vector<te::IterVar> axes = compute->axis;
    axes.insert(axes.end(), compute->reduce_axis.begin(), compute->reduce_axis.end());
    std::vector<Expr> bodies = compute->body;
    if (const tir::ReduceNode* reduction = compute->reduction()) {
      bodies = reduction->source;
      bodies.push_back(reduction->condition);
    }
    for (const Expr& body : bodies)
      for (int n = 0; n < kTrials; ++n)
        if (std::string wrong = run(body, axes); !wrong.empty()) return wrong;
    return "";
  }

 private:
  std::vector<testing::TensorMemory> memory_of(const std::vector<LowerArgument>& args) const {
    std::vector<testing::TensorMemory> result;
    std::size_t n = 0;
    for (const LowerArgument& arg : args) {
      const te::Tensor* tensor = std::get_if<te::Tensor>(&arg);
      if (!tensor) continue;
      const testing::Arguments::Array& array = *arrays_.arrays[n++];
      result.push_back({*tensor, array.data(), array.shape});
    }
    return result;
  }

  struct Trial {
    const std::vector<te::IterVar>& axes;
    Definition::Index point;
    /// Whether there are variables: axes that stay, or sizes.
    bool has_positions;
    /// Whether elements that are floats become integers, which then are positions beside axes.
    bool converts_floats;
    /// One element in so many becomes a constant; 0: none.
    int one_in;
    tir::VarMap values = {};
    std::vector<std::pair<Expr, Expr>> replaced = {};
  };

  /// A point in the ranges of the axes; nullopt if one is empty.
  std::optional<Definition::Index> random_point(const std::vector<te::IterVar>& axes) {
    Definition::Index point;
    for (const te::IterVar& axis : axes) {
      const auto size_of = [](const Expr& e) {
        return tir::evaluate_int(e, [](const Var&) { return kSize; });
      };
      const std::int64_t extent = size_of(axis.dom()->extent);
      if (extent <= 0) return std::nullopt;
      const int most = static_cast<int>(std::min<std::int64_t>(extent, 1 << 30)) - 1;
      point.push_back(size_of(axis.dom()->min) + random_.between(0, most));
    }
    return point;
  }

  /// An element's own value, or another one: an expression has the same value after it was
  /// rewritten whatever its elements are.
  Expr value_for(const Expr& element, const Trial& trial) {
    const DataType type = element.dtype();
    if (random_.one_in(2)) return testing::constant_of(value_of(element, trial), type);
    std::mt19937 engine = random_.engine();
    if (type.is_bool() || random_.one_in(2))
      return testing::constant_of(testing::special_number(type, engine), type);
    // Constants that operators have rules for.
    if (!type.is_floating()) return make_const(type, random_.between(type.is_uint() ? 0 : -1, 1));
    return make_const(type, random_.pick(std::vector{0.0, -0.0, 1.0, -1.0}));
  }

  /// A variable that has a value in the trial, or the load itself. Beside axes, constants are
  /// positions, which may be taken not to overflow: large elements stay loads there.
  Expr instead_of(const Expr& load, Trial& trial) {
    if (trial.one_in == 0 || !random_.one_in(trial.one_in)) return load;
    try {
      const Expr value = value_for(load, trial);
      if (trial.has_positions && !may_stand_beside_axes(value, trial)) return load;
      const Var var("element", load.dtype());
      tir::set(trial.values, var, value);
      return var;
    } catch (const NoOpinion&) {  // An element that is not evaluated.
      return load;
    }
  }

  /// Replaces some loads by variables, equal loads by the same one.
  Expr with_variables(const Expr& e, Trial& trial) {
    if (e.as<tir::ProducerLoad>()) {
      for (const auto& [load, replacement] : trial.replaced)
        if (tir::structural_equal(load, e)) return replacement;
      if (const Expr var = instead_of(e, trial); !var.same_as(e)) {
        trial.replaced.emplace_back(e, var);
        return var;
      }
    }
    Expr rebuilt = tir::map_children(e, [&](const Expr& c) { return with_variables(c, trial); });
    if (e.as<tir::ProducerLoad>()) trial.replaced.emplace_back(e, rebuilt);
    return rebuilt;
  }

  static bool may_stand_beside_axes(const Expr& value, const Trial& trial) {
    constexpr std::int64_t kMaxOfPosition = 1000;
    if (const tir::FloatImm* n = value.as<tir::FloatImm>())
      return !trial.converts_floats || std::fabs(n->value) <= kMaxOfPosition;
    const std::int64_t number = tir::constant_int(value).value_or(0);
    return number <= kMaxOfPosition && number >= -kMaxOfPosition;
  }

  std::string run(const Expr& body, const std::vector<te::IterVar>& axes) {
    const std::optional<Definition::Index> point = random_point(axes);
    if (!point) return "";
    const bool has_axes = random_.one_in(2);
    Trial trial{axes, *point, has_axes || has_sizes(body, axes), converts_floats(body),
                has_axes ? random_.between(0, 3) : random_.between(1, 2)};
    arith::Facts facts;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const Var& var = axes[d].var();
      if (!has_axes) tir::set(trial.values, var, make_const(var.dtype(), (*point)[d]));
      facts.bind(var, *axes[d].dom());
    }
    const Expr mixed = with_variables(body, trial);
    try {
      const Expr before = tir::substitute(mixed, trial.values);
      const Number expected = value_of(before, trial);
      if (trial.has_positions && has_overflowing_positions(before, expected, trial)) return "";
      const Expr folded = tir::substitute_folding(mixed, trial.values);
      if (std::string wrong = compare("folding", before, folded, expected, trial); !wrong.empty())
        return wrong;
      return compare("simplification", folded, arith::simplify(folded, facts), expected, trial);
    } catch (const NoOpinion&) {
      return "";
    }
  }

  Number value_of(const Expr& e, const Trial& trial) {
    return definition_.value(e, trial.axes, trial.point);
  }

  /// Whether a position leaves its type, which makes the value undefined: elements wrap, but
  /// positions may be taken not to overflow. Constants that stand for elements become positions.
  bool has_overflowing_positions(const Expr& e, const Number& expected, const Trial& trial) {
    const Number whole = value_of(as_whole_numbers(e), trial);
    return overflows(e, trial) || !testing::same(expected, whole, e.dtype(), options_.zeros);
  }

  /// Whether the result of an operation on two positions exceeds their type.
  bool overflows(const Expr& e, const Trial& trial) {
    bool result = false;
    tir::walk(e, [&](const tir::Binary& n) {
      const DataType type = n.a.dtype();
      if ((type != Int(64) && type != Int(32)) || is_data(n.a, true) || is_data(n.b, true)) return;
      const auto value = [&](const Expr& operand) {
        return static_cast<std::int64_t>(value_of(operand, trial).whole);
      };
      try {
        std::int64_t number = 0;
        bool is_beyond = false;
        if (n.op == tir::BinaryOp::Add)
          is_beyond = __builtin_add_overflow(value(n.a), value(n.b), &number);
        if (n.op == tir::BinaryOp::Sub)
          is_beyond = __builtin_sub_overflow(value(n.a), value(n.b), &number);
        if (n.op == tir::BinaryOp::Mul)
          is_beyond = __builtin_mul_overflow(value(n.a), value(n.b), &number);
        result |= is_beyond || !fits(number, type);
      } catch (const NoOpinion&) {  // An operand that is not evaluated.
      }
    });
    return result;
  }

  std::string compare(const char* what, const Expr& before, const Expr& after,
                      const Number& expected, const Trial& trial) {
    const DataType type = before.dtype();
    std::string found;
    try {
      // Without axes all is constant, and values that replace elements wrap.
      const Number value = value_of(trial.has_positions ? as_whole_numbers(after) : after, trial);
      if (testing::same(expected, value, type, options_.zeros)) return "";
      const double tolerated = options_.tolerance * std::max(1.0, std::fabs(expected.real));
      // Without a tolerance, zeros of different signs differ.
      if (type.is_floating() && tolerated > 0 && std::isfinite(expected.real) &&
          std::fabs(value.real - expected.real) <= tolerated)
        return "";
      found = testing::text_of(value, type);
    } catch (const NoOpinion& reason) {
      found = reason.what();
    }
    std::ostringstream out;
    out << what << ": " << before << " becomes " << after << ", expected "
        << testing::text_of(expected, type) << ", got " << found;
    return out.str();
  }

  const RewriteCheckOptions& options_;
  Random& random_;
  testing::Arguments arrays_;
  Definition definition_;
};

}  // namespace

std::string check_rewrites(const std::vector<LowerArgument>& args,
                           const std::vector<te::Tensor>& stages, Random random,
                           const RewriteCheckOptions& options) {
  RewriteCheck check(args, options, random);
  for (const te::Tensor& stage : stages)
    if (stage.value_index() == 0)
      if (std::string wrong = check.run(stage.op()); !wrong.empty())
        return "rewriting, symbol 7: " + stage.name() + ": " + wrong;
  return "";
}

}  // namespace tenon::fuzz
