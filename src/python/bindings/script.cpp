// Scripts of block programs: parsing and printing.
#include "bindings/script.h"
#include "bindings/arguments.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/walk.h"

namespace tenon::python {

using tir::Expr;
using tir::Var;

namespace {

/// The text of an expression in which every variable has a name of its own, and these variables.
nb::object text_of_expression(const Expr& e) {
  tir::VarMap renamed;
  nb::list variables;
  for (const Var& var : tir::free_vars(e)) {
    const std::string name = "v" + std::to_string(nb::len(variables));
    tir::set(renamed, var, var.fresh(name));
    variables.append(nb::make_tuple(var, name, var.name(), var.dtype().str()));
  }
  return nb::make_tuple(s_tir::print_script(tir::substitute(e, renamed)), variables);
}

template <class Program>
void bind_print(nb::module_& m) {
  m.def(
      "print_script",
      [](const Program& program, bool modern) {
        using s_tir::ScriptStyle;
        return s_tir::print_script(program, modern ? ScriptStyle::Modern : ScriptStyle::V09);
      },
      "program"_a, "modern"_a = false, "Returns the text of a module or function.");
}

}  // namespace

void bind_script(nb::module_& m) {
  m.def(
      "parse_script", [](const std::string& text) { return s_tir::parse_script(text); }, "text"_a,
      "Parses the text of a module or function.");
  bind_print<tir::IRModule>(m);
  bind_print<tir::PrimFunc>(m);
  m.def(
      "print_script", [](const tir::Stmt& stmt, bool) { return s_tir::print_script(stmt); },
      "program"_a, "modern"_a = false);
  m.def(
      "print_script", [](const Expr& e, bool) { return s_tir::print_script(e); }, "program"_a,
      "modern"_a = false);
  m.def("script_text_of_expr", &text_of_expression, "expr"_a,
        "Returns the text of an expression and a list of its variables: the variable, its name in "
        "the text, its own name and its type.");
}

}  // namespace tenon::python
