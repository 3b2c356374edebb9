#include "tenon/arith/reducer_laws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "tenon/arith/wraps.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

// ---- operators with known laws ------------------------------------------------------------------

bool is_value(const Expr& e, double value) {
  if (const std::optional<std::int64_t> known = constant_int(e))
    return *known == static_cast<std::int64_t>(value);
  const FloatImm* real = e.as<FloatImm>();
  return real && real->value == value;
}

bool is_same_constant(const Expr& a, const Expr& b) {
  const FloatImm* x = a.as<FloatImm>();
  const FloatImm* y = b.as<FloatImm>();
  if (x || y) return x && y && x->value == y->value;
  return constant_int(a) && constant_int(a) == constant_int(b);
}

/// Whether `identity` is the identity element of `op`. Accepts the finite limits of floats, which
/// TVM 0.9 text prints for Min and Max.
bool is_neutral_of(BinaryOp op, const Expr& identity) {
  const DataType type = identity.dtype();
  const auto is_limit = [&](bool greatest) {
    if (is_same_constant(identity, greatest ? max_value(type) : min_value(type))) return true;
    const FloatImm* real = identity.as<FloatImm>();
    return real && std::isinf(real->value) && (real->value > 0) == greatest;
  };
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Or:
      return is_value(identity, 0);
    case BinaryOp::Mul:
    case BinaryOp::And:
      return is_value(identity, 1);
    case BinaryOp::Min:
      return is_limit(true);
    case BinaryOp::Max:
      return is_limit(false);
    default:
      return false;
  }
}

/// Whether every component is an independent sum, product, minimum, maximum, conjunction or
/// disjunction with its identity element.
bool is_known_lawful(const CommReducerNode& reducer) {
  for (std::size_t k = 0; k < reducer.result.size(); ++k) {
    const Binary* n = reducer.result[k].as<Binary>();
    if (!n || !is_neutral_of(n->op, reducer.identity[k])) return false;
    const bool in_order = n->a.same_as(reducer.lhs[k]) && n->b.same_as(reducer.rhs[k]);
    const bool swapped = n->a.same_as(reducer.rhs[k]) && n->b.same_as(reducer.lhs[k]);
    if (!in_order && !swapped) return false;
  }
  return true;
}

// ---- rounding -----------------------------------------------------------------------------------

DataType without_rounding(DataType type) { return type.is_floating() ? Float(64) : type; }

/// Returns the expression with float64 instead of narrower floats, so that its rounding errors are
/// negligible. `vars` has the variables that replace others, and gets those that are new.
Expr in_float64(const Expr& e, VarMap& vars) {
  const auto wide = [&](const Expr& x) { return in_float64(x, vars); };
  const DataType type = without_rounding(e.dtype());
  if (const FloatImm* n = e.as<FloatImm>()) return make_float(type, n->value);
  if (e.as<VarNode>()) {
    const auto known = vars.find(&e.node());
    if (known != vars.end()) return known->second;
    if (type == e.dtype()) return e;
    const Var var(Var::of(e).name(), type);
    set(vars, Var::of(e), var);
    return var;
  }
  if (const Cast* n = e.as<Cast>()) return cast(type, wide(n->value));
  if (const Call* n = e.as<Call>(); n && std::holds_alternative<Intrin>(n->callee)) {
    std::vector<Expr> args;
    std::ranges::transform(n->args, std::back_inserter(args), wide);
    return make_call(type, std::get<Intrin>(n->callee), std::move(args));
  }
  if (const LetExpr* n = e.as<LetExpr>()) {
    set(vars, n->var, wide(n->value));
    return wide(n->body);
  }
  return map_children(e, wide);
}

Expr in_float64(const Expr& constant) {
  VarMap none;
  return in_float64(constant, none);
}

CommReducerNode in_float64(CommReducerNode reducer) {
  VarMap vars;
  for (std::vector<Var>* operands : {&reducer.lhs, &reducer.rhs})
    for (Var& var : *operands) var = Var::of(in_float64(var, vars));
  for (std::vector<Expr>* values : {&reducer.result, &reducer.identity})
    for (Expr& value : *values) value = in_float64(value, vars);
  return reducer;
}

// ---- sample terms -------------------------------------------------------------------------------

/// One constant per component of the reduction.
using Tuple = std::vector<Expr>;
using Terms = std::vector<Tuple>;

/// A deterministic pseudo-random sequence, so that trials are reproducible.
using Numbers =
    std::linear_congruential_engine<std::uint64_t, 6364136223846793005u, 1442695040888963407u, 0>;

std::size_t below(std::size_t limit, Numbers& numbers) {
  return static_cast<std::size_t>(numbers() >> 33) % limit;
}

/// Returns constants at which the combination may change its behaviour, such as the limits of a
/// clamp.
std::set<double> thresholds_of(const CommReducerNode& reducer) {
  std::set<double> found;
  for (const Expr& result : reducer.result) {
    walk(result, [&](const IntImm& n) { found.insert(static_cast<double>(n.value)); });
    walk(result, [&](const FloatImm& n) { found.insert(n.value); });
  }
  return found;
}

/// `has_ends`: whether to add the ends of the type and their neighbours, whose sums wrap.
void add_integers(DataType type, const std::set<double>& thresholds, bool has_ends, Tuple& values) {
  const auto add = [&](double value) {
    if (std::fabs(value) < 9e18 && fits(static_cast<std::int64_t>(value), type))
      values.push_back(make_int(type, static_cast<std::int64_t>(value)));
  };
  for (int value : {0, 1, 2, 3, 5, 7, 100, -1, -2, -50}) add(value);
  for (double t : thresholds)
    for (double value : {t - 1, t, t + 1, std::trunc(t / 2) + 1, -t}) add(value);
  if (!has_ends) return;
  const Expr least = min_value(type), greatest = max_value(type);
  for (const Expr& end : {least, greatest}) values.push_back(end);
  values.push_back(make_int(type, *constant_int(least) + 1));
  values.push_back(make_int(type, *constant_int(greatest) - 1));
}

void add_floats(DataType type, const std::set<double>& thresholds, Tuple& values) {
  const auto add = [&](double value) { values.push_back(make_float(type, value)); };
  for (double value : {0.0, 1.0, 2.0, 3.0, 0.5, 7.0, 100.0, -1.0, -0.25, -50.0}) add(value);
  const double greatest = max_value(type).as<FloatImm>()->value;
  for (double t : thresholds)
    if (std::fabs(t) < greatest / 2)
      for (double value : {t * 0.75, t, t * 1.5, -t}) add(value);
  for (double value : {-0.0, -greatest, greatest}) add(value);
  for (double value : {1.0, -1.0}) add(value * std::numeric_limits<double>::infinity());
}

/// How to choose values for one component of a term.
struct Samples {
  DataType type;
  /// The candidates. Empty for an axis, whose values are consecutive integers.
  Tuple values;
  bool is_data = false;
};

bool is_axis(const Expr& source) {
  const Cast* n = source.as<Cast>();
  return (n ? n->value : source).as<VarNode>() && !wraps(source);
}

Samples samples_of(const Expr& source, const std::set<double>& thresholds) {
  const DataType type = source.dtype();
  if (is_constant(source)) return {type, {in_float64(source)}};
  Samples samples{type, {}, /*is_data=*/true};
  if (type.is_bool()) {
    for (int value : {0, 1}) samples.values.push_back(make_int(type, value));
  } else if (type.is_floating()) {
    add_floats(type, thresholds, samples.values);
  } else if (is_axis(source)) {
    samples.is_data = false;
  } else {
    add_integers(type, thresholds, wraps(source), samples.values);
  }
  for (Expr& value : samples.values) value = in_float64(value);
  return samples;
}

bool has_value(const Terms& terms, std::size_t component, const Expr& value) {
  return std::ranges::any_of(
      terms, [&](const Tuple& term) { return is_same_constant(term[component], value); });
}

Terms draw(const std::vector<Samples>& samples, std::size_t count, bool has_ties,
           Numbers& numbers) {
  std::vector<std::size_t> first;
  for (std::size_t k = 0; k < samples.size(); ++k) first.push_back(below(3, numbers));
  // Repeats components of the previous term in half of the trials, so that terms tie.
  const bool repeats = has_ties && below(2, numbers) == 0;
  Terms terms;
  for (std::size_t n = 0; n < count; ++n) {
    Tuple term;
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const Tuple& values = samples[k].values;
      if (values.empty()) {
        term.push_back(make_int(samples[k].type, static_cast<std::int64_t>(first[k] + n)));
      } else if (repeats && n > 0 && below(2, numbers) == 0) {
        term.push_back(terms[n - 1][k]);
      } else {
        std::size_t place = below(values.size(), numbers);
        for (std::size_t tries = 1; !has_ties && tries < values.size(); ++tries) {
          if (!has_value(terms, k, values[place])) break;
          place = (place + 1) % values.size();
        }
        term.push_back(values[place]);
      }
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

// ---- the trial ----------------------------------------------------------------------------------

constexpr int kTrials = 160;
/// A term is combined with itself up to kMaxDoublings times, to represent the partial result of
/// fewer than 2^(kMaxDoublings + 1) equal terms.
constexpr std::size_t kMaxDoublings = 10;

Expr constant(DataType type, const std::variant<std::int64_t, double>& value) {
  if (const auto* number = std::get_if<double>(&value)) return make_float(type, *number);
  return make_int(type, std::get<std::int64_t>(value));
}

/// Returns the variables of a reducer that are not its operands: axes and parameters.
std::vector<Var> parameters_of(const CommReducerNode& reducer) {
  std::vector<Var> result;
  for (const std::vector<Expr>* values : {&reducer.result, &reducer.identity})
    for (const Expr& value : *values)
      for (const Var& var : free_vars(value)) {
        const auto is_var = [&](const Var& other) { return other.same_as(var); };
        if (std::ranges::none_of(reducer.lhs, is_var) &&
            std::ranges::none_of(reducer.rhs, is_var) && std::ranges::none_of(result, is_var))
          result.push_back(var);
      }
  return result;
}

class Trial {
 public:
  Trial(const CommReducerNode& reducer, std::span<const Expr> sources, bool has_init,
        ReductionChange change)
      : general_(in_float64(reducer)),
        parameters_(parameters_of(general_)),
        reducer_(general_),
        has_init_(has_init),
        change_(change) {
    const std::set<double> thresholds = thresholds_of(reducer);
    for (const Expr& source : sources) samples_.push_back(samples_of(source, thresholds));
    are_terms_known_ = std::ranges::none_of(samples_, &Samples::is_data);
  }

  std::optional<std::string> run() {
    for (int n = 0; n < kTrials; ++n) {
      draw_parameters();
      Terms terms = draw(samples_, 3, !change_.ignores_ties, numbers_);
      if (are_terms_known_) accumulate(terms);
      start_ = has_init_ ? draw(samples_, 1, true, numbers_).front() : Tuple(reducer_.identity);
      largest_ = 1;
      for (const Tuple& term : terms) note_magnitude(term);
      note_magnitude(start_);
      if (change_.reorders)
        if (auto found = reordered(terms)) return found;
      if (change_.regroups)
        if (auto found = regrouped(terms)) return found;
    }
    return std::nullopt;
  }

  bool is_neutral() {
    for (int n = 0; n < kTrials; ++n) {
      draw_parameters();
      largest_ = 1;
      const Tuple term = draw(samples_, 1, true, numbers_).front();
      if (differ(combine(reducer_.identity, term), term)) return false;
    }
    return true;
  }

 private:
  /// Replaces terms by partial results of repeated terms. If the terms are constants, only a large
  /// partial result can reach the limit of a clamp.
  void accumulate(Terms& terms) {
    for (Tuple& term : terms) {
      const Tuple one = term;
      const std::size_t most = below(kMaxDoublings + 1, numbers_);
      for (std::size_t k = below(1 + most, numbers_); k > 0; --k) {
        term = combine(term, term);
        if (below(2, numbers_) == 0) term = combine(term, one);
      }
    }
  }

  /// Gives each parameter of the reducer a value.
  void draw_parameters() {
    if (parameters_.empty()) return;
    VarMap values;
    parameters_text_.clear();
    for (const Var& var : parameters_) {
      const Tuple candidates = samples_of(var, {}).values;
      const Expr value = candidates.empty()
                             ? make_int(var.dtype(), static_cast<std::int64_t>(below(9, numbers_)))
                             : candidates[below(candidates.size(), numbers_)];
      set(values, var, value);
      parameters_text_ += "with " + var.name() + " = " + print_expr(value) + ", ";
    }
    for (std::size_t k = 0; k < general_.result.size(); ++k) {
      reducer_.result[k] = substitute(general_.result[k], values);
      const Expr identity = substitute(general_.identity[k], values);
      reducer_.identity[k] = constant(identity.dtype(), evaluate(identity));
    }
  }

  std::optional<std::string> reordered(const Terms& terms) {
    const Tuple in_order = fold(start_, terms);
    for (std::size_t n = 0; n + 1 < terms.size(); ++n) {
      Terms other = terms;
      std::swap(other[n], other[n + 1]);
      const Tuple result = fold(start_, other);
      if (differ(in_order, result))
        return beginning(terms, in_order) + ", and " + text(result) + " in the order " +
               text(other);
    }
    return std::nullopt;
  }

  std::optional<std::string> regrouped(const Terms& terms) {
    const std::span<const Tuple> all = terms;
    const Tuple in_order = fold(start_, all);
    std::optional<std::string> found;
    const auto check = [&](const Tuple& result, const std::string& groups) {
      if (!found && differ(in_order, result))
        found = beginning(all, in_order) + ", and " + text(result) + " from the groups " + groups +
                ", each of which starts from the identity " + text(reducer_.identity);
    };
    for (std::size_t cut = 0; cut <= terms.size(); ++cut) {
      const auto left = all.first(cut), right = all.subspan(cut);
      const Tuple a = group(left), b = group(right);
      const std::string groups = "{" + text(left) + "} and {" + text(right) + "}";
      // Combines the groups in sequence, as a later loop does, and in a tree, as threads do.
      check(combine(combine(start_, a), b), groups);
      check(combine(start_, combine(a, b)), groups);
    }
    // A thread that has a single term does not combine it with the identity element.
    const auto check_terms = [&](const Tuple& result, std::size_t first, std::size_t count) {
      if (!found && differ(in_order, result))
        found = beginning(all, in_order) + ", and " + text(result) + " with " +
                text(all.subspan(first, count)) + " combined first";
    };
    check_terms(combine(start_, combine(terms[0], combine(terms[1], terms[2]))), 1, 2);
    check_terms(combine(start_, combine(combine(terms[0], terms[1]), terms[2])), 0, 2);
    return found;
  }

  /// Returns the values as text, in the types of the reducer.
  std::string text(const Tuple& values) const {
    std::string result;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const FloatImm* real = values[k].as<FloatImm>();
      result += result.empty() ? "" : ", ";
      result += print_expr(real ? make_float(samples_[k].type, real->value) : values[k]);
    }
    return values.size() == 1 ? result : "(" + result + ")";
  }

  std::string text(std::span<const Tuple> terms) const {
    std::string result;
    for (const Tuple& term : terms) result += (result.empty() ? "" : ", ") + text(term);
    return result;
  }

  std::string beginning(std::span<const Tuple> terms, const Tuple& result) const {
    return parameters_text_ + "from " + text(start_) +
           (are_terms_known_ ? ", the partial results " : ", the terms ") + text(terms) + " give " +
           text(result) + " one after another";
  }

  /// Returns the partial result of the terms, starting with the identity element.
  Tuple group(std::span<const Tuple> terms) { return fold(reducer_.identity, terms); }

  Tuple fold(Tuple value, std::span<const Tuple> terms) {
    for (const Tuple& term : terms) value = combine(value, term);
    return value;
  }

  Tuple combine(const Tuple& a, const Tuple& b) {
    VarMap values;
    for (std::size_t k = 0; k < a.size(); ++k) {
      set(values, reducer_.lhs[k], a[k]);
      set(values, reducer_.rhs[k], b[k]);
    }
    Tuple result;
    for (const Expr& e : reducer_.result)
      result.push_back(constant(e.dtype(), evaluate(substitute(e, values))));
    note_magnitude(result);
    return result;
  }

  void note_magnitude(const Tuple& values) {
    for (const Expr& value : values) {
      const FloatImm* real = value.as<FloatImm>();
      if (real && std::isfinite(real->value)) largest_ = std::max(largest_, std::fabs(real->value));
    }
  }

  bool differ(const Tuple& a, const Tuple& b) const {
    for (std::size_t k = 0; k < a.size(); ++k)
      if (differ(a[k], b[k])) return true;
    return false;
  }

  bool differ(const Expr& a, const Expr& b) const {
    const FloatImm* x = a.as<FloatImm>();
    const FloatImm* y = b.as<FloatImm>();
    if (!x || !y) return constant_int(a) != constant_int(b);
    if (!std::isfinite(x->value) || !std::isfinite(y->value)) return false;
    // The rounding errors of float64 are proportional to the largest intermediate result.
    constexpr double kTolerance = 0x1p-40;
    return std::fabs(x->value - y->value) > kTolerance * largest_;
  }

  const CommReducerNode general_;
  const std::vector<Var> parameters_;
  std::string parameters_text_;
  /// The reducer in which the current values replace the parameters.
  CommReducerNode reducer_;
  const bool has_init_;
  const ReductionChange change_;
  std::vector<Samples> samples_;
  bool are_terms_known_;
  Numbers numbers_;
  Tuple start_;
  /// The maximum magnitude of a finite float in the terms, the start value and the results of
  /// combining them; at least 1.
  double largest_ = 1;
};

bool can_try(std::span<const Expr> sources) {
  return std::ranges::none_of(sources, [](const Expr& source) {
    return source.dtype().is_vector() || source.dtype().is_handle();
  });
}

}  // namespace

std::optional<std::string> find_counterexample(const CommReducerNode& reducer,
                                               std::span<const Expr> sources, bool has_init,
                                               ReductionChange change) {
  if (!can_try(sources) || is_known_lawful(reducer)) return std::nullopt;
  try {
    return Trial(reducer, sources, has_init, change).run();
  } catch (const Error&) {
    return "it calls a function whose results are not known at compile time";
  }
}

bool is_identity_neutral(const CommReducerNode& reducer, std::span<const Expr> sources) {
  if (!can_try(sources) || is_known_lawful(reducer)) return true;
  try {
    return Trial(reducer, sources, false, {}).is_neutral();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tenon::arith
