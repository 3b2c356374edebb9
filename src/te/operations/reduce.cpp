#include "tenon/te/reduce.h"

#include <algorithm>
#include <cmath>

#include "te/operations/body.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::te {

namespace {

using tir::CommReducer;
using tir::CommReducerNode;
using tir::ReduceNode;

void check_is_there(const std::string& name, const Expr& e, const char* what,
                    const SourceLocation& where) {
  if (e.is_moved_from()) throw TypeError(name + ": the " + what + " has been moved from", where);
}

DataType type_of_numbers(const std::string& name, const Operand& terms) {
  const DataType type = terms.alone().dtype();
  if (type.is_handle())
    throw TypeError(name + ": the terms must be numbers, got `" + tir::print_expr(terms.alone()) +
                        "` of type " + type.str(),
                    terms.where());
  return type;
}

void check_axes(const std::string& name, std::span<const IterVar> axes,
                const SourceLocation& where) {
  if (axes.empty()) throw TypeError(name + ": a reduction needs at least one axis", where);
  for (std::size_t n = 0; n < axes.size(); ++n)
    for (std::size_t m = 0; m < n; ++m)
      if (axes[n].same_as(axes[m]))
        throw TypeError(name + ": axis `" + axes[n].name() + "` is listed twice", where);
  for (const IterVar& axis : axes)
    if (axis.kind() != IterKind::Reduce || !axis.dom())
      throw TypeError(name + ": `" + axis.name() + "` is a " + std::string(to_string(axis.kind())) +
                          " axis; a reduction is over axes made by te::reduce_axis",
                      where);
}

void check_is_simple(const std::string& name, const Expr& e, const char* what,
                     const SourceLocation& where) {
  if (tir::contains<tir::Reduce>(e))
    throw TypeError(
        name + ": the " + what +
            " is or contains a reduction, which must be the whole body of an operation; "
            "compute it as a separate tensor and read that",
        where);
}

/// Throws if `e` uses an axis of the reduction. `e` is a part of the reduction that must be the
/// same for all terms.
void check_is_invariant(const std::string& name, const std::string& what, const Expr& e,
                        std::span<const IterVar> axes, const SourceLocation& where) {
  for (const IterVar& axis : axes)
    if (tir::uses_var(e, axis.var()))
      throw TypeError(name + ": " + what + ", `" + tir::print_expr(e) + "`, depends on axis `" +
                          axis.name() + "`, over which it is reduced",
                      where);
}

/// Whether conversion to the type preserves a constant, up to rounding of floats.
bool keeps(const Expr& constant, DataType type) {
  if (const auto* lanes = constant.as<tir::Broadcast>())
    return lanes->lanes == type.lanes && keeps(lanes->value, type.element());
  const tir::IntImm* whole = constant.as<tir::IntImm>();
  const tir::FloatImm* real = constant.as<tir::FloatImm>();
  return !type.is_integral() || (whole && constant.dtype() == type) ||
         (whole && tenon::fits(whole->value, type)) ||
         (real && std::trunc(real->value) == real->value && std::fabs(real->value) < 9e18 &&
          tenon::fits(static_cast<std::int64_t>(real->value), type));
}

/// Returns the start values in the types of the sources.
std::vector<Expr> checked_inits(const std::string& name, const std::vector<Operand>& inits,
                                const std::vector<Expr>& sources, const std::vector<IterVar>& axes,
                                const SourceLocation& where) {
  if (inits.empty()) return {};
  if (inits.size() != sources.size())
    throw TypeError(name + ": got " + std::to_string(inits.size()) + " inits for " +
                        std::to_string(sources.size()) + " components",
                    where);
  std::vector<Expr> result;
  for (std::size_t n = 0; n < inits.size(); ++n) {
    const DataType type = sources[n].dtype();
    const bool is_float = type.is_floating() && inits[n].is_literal();
    const Expr init = is_float ? tir::cast(type, inits[n]) : inits[n].alone();
    const bool is_load = init.as<tir::ProducerLoad>() != nullptr;
    if (!is_load && !tir::is_constant(init))
      throw TypeError(name + ": an init must be a constant or an element of a tensor, got `" +
                          tir::print_expr(init) + "`",
                      where);
    if (!is_load && !keeps(init, type))
      throw TypeError(name + ": init " + std::to_string(n) + ", `" + tir::print_expr(init) +
                          "`, does not fit " + type.str(),
                      where);
    if (is_load && init.dtype() != type)
      throw TypeError(name + ": init " + std::to_string(n) + " is " + init.dtype().str() +
                          ", the component is " + type.str(),
                      where);
    check_is_invariant(name, "init " + std::to_string(n), init, axes, where);
    result.push_back(tir::cast(type, init));
  }
  return result;
}

std::vector<Expr> reduce(CommReducer combiner, std::vector<Expr> sources, std::vector<IterVar> axes,
                         const ReduceOptions& options, const SourceLocation& where) {
  const std::string& name = combiner->name;
  check_axes(name, axes, where);
  for (const Expr& source : sources) check_is_simple(name, source, "reduced value", where);
  for (const Expr& result : combiner->result)
    check_is_invariant(name, "the combination", result, axes, where);
  for (const Expr& identity : combiner->identity)
    check_is_invariant(name, "the identity", identity, axes, where);
  std::vector<Expr> inits = checked_inits(name, options.init, sources, axes, where);
  Expr condition = options.where.value_or(tir::make_true());
  check_is_there(name, condition, "condition", where);
  check_is_simple(name, condition, "condition", where);
  if (!condition.dtype().is_bool() || !condition.dtype().is_scalar())
    throw TypeError(name + ": the condition `" + tir::print_expr(condition) +
                        "` must be Bool, is " + condition.dtype().str(),
                    where);
  std::ranges::transform(sources, sources.begin(), tir::with_guards_on_indices);
  return components_of(std::make_shared<const ReduceNode>(
      ReduceNode{std::move(combiner), std::move(sources), std::move(inits), std::move(axes),
                 tir::as_guard(condition)}));
}

Expr reduce_binary(std::string name, Expr (*combine)(const Operand&, const Operand&), Expr identity,
                   const Operand& source, std::vector<IterVar> axes, const ReduceOptions& options) {
  Expr value = source.alone();
  Var x("x", value.dtype()), y("y", value.dtype());
  Expr result = combine(x, y);
  auto combiner = std::make_shared<const CommReducerNode>(
      CommReducerNode{{x}, {y}, {std::move(result)}, {std::move(identity)}, std::move(name)});
  return reduce(std::move(combiner), {std::move(value)}, std::move(axes), options, source.where())
      .front();
}

Expr reduce_logical(std::string name, Expr (*combine)(const Operand&, const Operand&),
                    bool identity, const Operand& source, std::vector<IterVar> axes,
                    const ReduceOptions& options) {
  const DataType type = source.alone().dtype();
  if (!type.is_bool())
    throw TypeError(name + ": the terms must be Bool, got " + type.str(), source.where());
  return reduce_binary(std::move(name), combine, tir::make_int(type, identity ? 1 : 0), source,
                       std::move(axes), options);
}

}  // namespace

Expr sum(const Operand& e, std::vector<IterVar> axis, ReduceOptions options) {
  const DataType type = type_of_numbers("sum", e);
  return reduce_binary("sum", tir::operator+, tir::make_const(type, 0), e, std::move(axis),
                       options);
}
Expr prod(const Operand& e, std::vector<IterVar> axis, ReduceOptions options) {
  const DataType type = type_of_numbers("prod", e);
  return reduce_binary("prod", tir::operator*, tir::make_const(type, 1), e, std::move(axis),
                       options);
}
Expr min(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options) {
  return reduce_binary("min", tir::min,
                       tir::identity_of(tir::BinaryOp::Min, type_of_numbers("min", e)), e, axis,
                       options);
}
Expr max(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options) {
  return reduce_binary("max", tir::max,
                       tir::identity_of(tir::BinaryOp::Max, type_of_numbers("max", e)), e, axis,
                       options);
}
Expr all(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options) {
  return reduce_logical("all", tir::operator&&, true, e, axis, options);
}
Expr any(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options) {
  return reduce_logical("any", tir::operator||, false, e, axis, options);
}

Expr min(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options) {
  return min(e, std::vector<IterVar>(axis), std::move(options));
}
Expr max(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options) {
  return max(e, std::vector<IterVar>(axis), std::move(options));
}
Expr all(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options) {
  return all(e, std::vector<IterVar>(axis), std::move(options));
}
Expr any(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options) {
  return any(e, std::vector<IterVar>(axis), std::move(options));
}

// ---- user-defined reducers ----------------------------------------------------------------------

Reducer::Reducer(Combine combine, Identity identity, Name name, SourceLocation where)
    : combine_(std::move(combine)), identity_(std::move(identity)), name_(std::move(name)) {
  if (!combine_ || !identity_)
    throw TypeError("comm_reducer `" + name_ + "`: the " + (combine_ ? "identity" : "combination") +
                        " is an empty function",
                    where);
}

std::vector<Expr> Reducer::operator()(std::vector<Expr> sources, std::vector<IterVar> axis,
                                      ReduceOptions options, SourceLocation where) const {
  if (sources.empty()) throw TypeError(name_ + ": a reduction needs at least one component", where);
  std::vector<DataType> types;
  std::vector<Var> x, y;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    check_is_there(name_, sources[n], "reduced value", where);
    types.push_back(sources[n].dtype());
    const std::string suffix = sources.size() == 1 ? "" : std::to_string(n);
    x.emplace_back("x" + suffix, types.back());
    y.emplace_back("y" + suffix, types.back());
  }
  std::vector<Expr> result = combine_(x, y), identity = identity_(types);
  auto check = [&](std::vector<Expr>& values, const std::string& what) {
    if (values.size() != sources.size())
      throw TypeError(name_ + ": the " + what + " gives " + std::to_string(values.size()) +
                          " components for " + std::to_string(sources.size()),
                      where);
    for (std::size_t n = 0; n < values.size(); ++n) {
      check_is_there(name_, values[n], what.c_str(), where);
      check_is_simple(name_, values[n], what.c_str(), where);
      tir::walk(values[n], [&](const tir::ProducerLoad& load) {
        throw TypeError(
            name_ + ": the " + what + " reads tensor `" + load.producer->name() +
                "`; it may use only its own operands, and an initial value belongs in the init",
            where);
      });
      if (tir::is_constant(values[n]) && keeps(values[n], types[n]))
        values[n] = tir::cast(types[n], values[n]);
      if (values[n].dtype() != types[n])
        throw TypeError(name_ + ": component " + std::to_string(n) + " of the " + what + " is " +
                            values[n].dtype().str() + ", the reduced value is " + types[n].str(),
                        where);
    }
  };
  check(result, "combination");
  check(identity, "identity");
  auto combiner = std::make_shared<const CommReducerNode>(
      CommReducerNode{std::move(x), std::move(y), std::move(result), std::move(identity), name_});
  return reduce(std::move(combiner), std::move(sources), std::move(axis), options, where);
}

Expr Reducer::operator()(const Operand& source, std::vector<IterVar> axis,
                         ReduceOptions options) const {
  return (*this)(std::vector<Expr>{source.alone()}, std::move(axis), std::move(options),
                 source.where())
      .front();
}

Reducer comm_reducer(Reducer::Combine combine, Reducer::Identity identity, Name name,
                     SourceLocation where) {
  return Reducer(std::move(combine), std::move(identity), std::move(name), where);
}

}  // namespace tenon::te
