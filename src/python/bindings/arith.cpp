// The bindings of tenon/arith: simplification, proofs and intervals.
#include "bindings/rooms.h"

#include <nanobind/stl/shared_ptr.h>

#include "bindings/tir.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using arith::Facts;
using arith::Interval;
using tir::Expr;
using tir::Operand;
using tir::Range;
using tir::Var;

namespace {

/// A condition that holds inside a `with` block.
struct Constraint {
  std::shared_ptr<Facts> facts;
  Expr condition;
  std::optional<Facts::Scope> scope = std::nullopt;
};

arith::IntervalMap to_intervals(nb::handle object) {
  arith::IntervalMap map;
  for (auto& [var, interval] :
       pairs_from<Var, Interval>(object, "expected a dict of variables to intervals"))
    map.set(var, interval);
  return map;
}

std::string text_of_end(const std::optional<Expr>& end, const char* infinite) {
  return end ? tir::print_expr(*end) : infinite;
}

void bind_intervals(PyModule& arith) {
  using End = const std::optional<Operand>&;
  PyClass<Interval>(arith, "Interval",
                    "An interval with symbolic ends, inclusive at both. None is infinite.")
      .def(
          "__init__",
          [](Interval* self, End min, End max) {
            Interval made = Interval::everything();
            if (min && max)
              made = Interval::of(min->alone(), max->alone());
            else if (min)
              made = Interval::at_least(min->alone());
            else if (max)
              made = Interval::at_most(max->alone());
            new (self) Interval(std::move(made));
          },
          "min"_a = nb::none(), "max"_a = nb::none())
      .def_static("everything", &Interval::everything)
      .def_static("empty", &Interval::empty)
      .def_static(
          "point", [](const Operand& e) { return Interval::point(e.alone()); }, "value"_a)
      .def_static(
          "from_range", [](const RangeLike& r) { return Interval::from_range(r); }, "range"_a)
      .def_prop_ro("min", [](const Interval& i) { return i.min(); })
      .def_prop_ro("max", [](const Interval& i) { return i.max(); })
      .def_prop_ro("is_empty", &Interval::is_empty)
      .def_prop_ro("is_everything", &Interval::is_everything)
      .def_prop_ro("is_bounded", &Interval::is_bounded)
      .def_prop_ro("is_point", &Interval::is_point)
      .def("__repr__", [](const Interval& i) -> std::string {
        if (i.is_empty()) return "Interval.empty()";
        return "[" + text_of_end(i.min(), "-inf") + ", " + text_of_end(i.max(), "inf") + "]";
      });
  arith.def(
      "values_of",
      [](const Operand& e, nb::handle relaxed) {
        return arith::values_of(e.alone(), to_intervals(relaxed));
      },
      "expr"_a, "relaxed"_a,
      "Returns an interval that contains every value of the expression, for all values of the "
      "relaxed variables.");
  arith.def(
      "hull", [](const std::vector<Interval>& sets) { return arith::hull(sets); }, "sets"_a);
  arith.def(
      "intersect", [](const Interval& a, const Interval& b) { return arith::intersect(a, b); },
      "a"_a, "b"_a);
  arith.def(
      "deduce_bound",
      [](const Var& var, const Operand& condition, nb::handle hint, nb::handle relaxed) {
        return arith::deduce_bound(var, condition.alone(), to_intervals(hint),
                                   to_intervals(relaxed));
      },
      "var"_a, "condition"_a, "hint"_a = nb::none(), "relaxed"_a = nb::none(),
      "Returns the values of `var` for which the condition provably holds; None if they cannot be "
      "deduced.");
  arith.def(
      "region_lower_bound",
      [](const std::vector<RangeLike>& region, nb::handle domain, const Operand& predicate) {
        std::vector<std::pair<Var, Range>> ranges;
        for (auto& [var, range] : pairs_from<Var, RangeLike>(
                 domain, "region_lower_bound: domain must be a dict of variables to ranges"))
          ranges.emplace_back(var, range);
        return arith::region_lower_bound({region.begin(), region.end()}, ranges, predicate.alone());
      },
      "region"_a, "domain"_a, "predicate"_a = true,
      "Returns a region all of which is provably covered; None if none can be derived.");
  arith.def(
      "linear_form",
      [](const Operand& e,
         const std::vector<Var>& vars) -> std::optional<std::pair<std::vector<Expr>, Expr>> {
        const auto form = arith::linear_form(e.alone(), vars);
        if (!form) return std::nullopt;
        return std::pair(form->coefficients, form->base);
      },
      "expr"_a, "vars"_a,
      "Returns (coefficients, base) of a linear expression; None if it is not linear in `vars`.");
}

}  // namespace

void bind_arith(PyModule& arith) {
  PyClass<Constraint>(arith, "Constraint")
      .def("__enter__", [](Constraint& c) { c.scope.emplace(c.facts->assume(c.condition)); })
      .def("__exit__", [](Constraint& c, const nb::args&) { c.scope.reset(); });
  PyClass<Facts>(arith, "Analyzer",
                 "Facts about variables, and simplification and proofs with them.")
      .def(nb::init<>())
      .def(
          "bind",
          [](Facts& facts, const Var& var, const std::variant<RangeLike, Operand>& value,
             bool replace) {
            try {
              if (const auto* range = std::get_if<RangeLike>(&value))
                facts.bind(var, static_cast<Range>(*range), replace);
              else
                facts.bind(var, std::get<Operand>(value).beside(var.dtype()), replace);
            } catch (const InternalError&) {
              // In C++, contradictory facts are an internal error. In Python, they are an error of
              // the user.
              throw TypeError("the variable `" + var.name() +
                              "` is already bound to another range or value; `replace` changes it");
            }
          },
          "var"_a, "value"_a, "replace"_a = false,
          "States that the variable is in a range, or equals an expression. TypeError if another "
          "range or value is known, unless `replace`.")
      .def(
          "constraint",
          [](const std::shared_ptr<Facts>& facts, const Operand& condition) {
            return Constraint{facts, condition.alone()};
          },
          "condition"_a, "Assumes the condition inside a `with` block.")
      .def(
          "simplify",
          [](const Facts& facts, const Operand& e, int rounds) {
            return arith::simplify(e.alone(), facts, rounds);
          },
          "expr"_a, "rounds"_a = 2)
      .def(
          "rewrite_simplify",
          [](const Facts& facts, const Operand& e) {
            return arith::rewrite_simplify(e.alone(), facts);
          },
          "expr"_a)
      .def(
          "canonical_simplify",
          [](const Facts& facts, const Operand& e) {
            return arith::canonical_simplify(e.alone(), facts);
          },
          "expr"_a)
      .def(
          "can_prove",
          [](const Facts& facts, const Operand& condition) {
            return arith::can_prove(condition.alone(), facts);
          },
          "condition"_a, "Whether the condition provably holds. False means \"not proved\".")
      .def(
          "can_prove_equal",
          [](const Facts& facts, const Operand& x, const Operand& y) {
            return arith::can_prove_equal(x.alone(), y.alone(), facts);
          },
          "a"_a, "b"_a)
      .def(
          "const_bound",
          [](const Facts& facts, const Operand& e) {
            const arith::ConstBound bound = arith::const_bound(e.alone(), facts);
            return std::pair(bound.min, bound.max);
          },
          "expr"_a, "Returns (min, max); None is infinite.")
      .def(
          "modular_set",
          [](const Facts& facts, const Operand& e) {
            const arith::ModularSet set = arith::modular_set(e.alone(), facts);
            return std::pair(set.coeff, set.base);
          },
          "expr"_a, "Returns (coeff, base): the value is coeff * k + base.")
      .def(
          "values_of",
          [](const Facts& facts, const Operand& e, nb::handle relaxed) {
            return arith::values_of(e.alone(), to_intervals(relaxed), facts);
          },
          "expr"_a, "relaxed"_a);
  bind_intervals(arith);
  arith.def(
      "simplify", [](const Operand& e) { return arith::simplify(e.alone()); }, "expr"_a);
  arith.def(
      "can_prove", [](const Operand& e) { return arith::can_prove(e.alone()); }, "condition"_a);
}

}  // namespace tenon::python
