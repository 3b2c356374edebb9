// The extension module `tenon._tenon`. The Python package `tenon` exports its contents.
#include "bindings/driver.h"
#include "bindings/errors.h"
#include "bindings/rooms.h"
#include "bindings/te.h"
#include "bindings/tir.h"

namespace tenon::python {

NB_MODULE(_tenon, extension) {
  PyModule m(extension);
  m.doc() = "Tenon: tensor expressions, schedules, and a compiler for them.";
  PyModule te = m.def_submodule("te", "Tensor expressions and schedules.");
  PyModule tir = m.def_submodule("tir", "The loop IR.");
  PyModule arith = m.def_submodule("arith", "Simplification, proofs, intervals.");
  PyModule s_tir = m.def_submodule("s_tir", "Block programs and their schedules.");
  PyModule topi = m.def_submodule("topi", "The operator library and its schedules.");
  PyModule tune = m.def_submodule("tune", "Schedules found by measuring.");
  PyModule runtime = m.def_submodule("runtime", "Arrays and compiled functions.");
  // Registered functions and callbacks exist until the process ends, so nanobind would report them
  // as leaks.
  nb::set_leak_warnings(false);
  m.def("set_package_folder", &set_package_folder, "folder"_a);
  bind_errors(m);
  bind_types(m);
  bind_expressions(m);
  bind_statements(m, tir);
  bind_operations(te);
  bind_externs(te);
  bind_schedules(te);
  bind_arith(arith);
  bind_runtime(m, runtime);
  bind_driver(m);
  bind_topi(topi, PyClass<te::Tensor>::existing(te.attr("Tensor")));
  bind_s_tir(s_tir);
  bind_tune(tune);
  bind_inspect(m, te, s_tir);
  bind_compat(m);
}

}  // namespace tenon::python
