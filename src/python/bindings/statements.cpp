// Buffers, statements, functions and the builder of loop programs.
#include "bindings/arguments.h"
#include "bindings/tir.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/print.h"

namespace tenon::python {

using tir::Buffer;
using tir::Expr;
using tir::IRModule;
using tir::PrimFunc;
using tir::Stmt;

void bind_statements(nb::module_& m, nb::module_& tir) {
  nb::class_<Stmt>(m, "Stmt", "A statement of a loop program.")
      .def("same_as", &Stmt::same_as, "other"_a)
      .def("__str__", [](const Stmt& s) { return tir::print_stmt(s); })
      .def("__repr__", [](const Stmt& s) { return tir::print_stmt(s); });
  nb::class_<PrimFunc>(m, "PrimFunc", "A function of the loop IR.")
      .def_ro("params", &PrimFunc::params)
      .def_ro("body", &PrimFunc::body)
      .def_prop_ro("name", [](const PrimFunc& f) { return f.attrs.global_symbol; })
      .def("__str__", [](const PrimFunc& f) { return text_of(f); })
      .def("__repr__", [](const PrimFunc& f) { return text_of(f); });
  nb::class_<IRModule>(m, "IRModule", "Functions by name.")
      .def_prop_ro("functions", [](const IRModule& module) { return module.functions; })
      .def(
          "__getitem__",
          [](const IRModule& module, const std::string& name) {
            const auto found = module.functions.find(name);
            if (found == module.functions.end()) throw nb::key_error(name.c_str());
            return found->second;
          },
          "name"_a)
      .def("__str__", [](const IRModule& module) { return text_of(module); })
      .def("__repr__", [](const IRModule& module) { return text_of(module); });
  static_cast<void>(tir);
}

}  // namespace tenon::python
