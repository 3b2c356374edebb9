// The extension module `tenon._tenon`. The Python package `tenon` exports its contents.
#include <atomic>
#include <chrono>
#include <thread>

#include "bindings/callback.h"
#include "bindings/driver.h"
#include "bindings/errors.h"
#include "bindings/rooms.h"
#include "bindings/te.h"
#include "bindings/tir.h"

namespace tenon::python {

namespace {

/// The thread that ends the interpreter, once it has begun.
std::atomic<std::thread::id> ending_thread;
/// The number of threads that wait for the GIL.
std::atomic<int> waiting_threads = 0;

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

constexpr auto kStep = std::chrono::milliseconds(1);

/// Waits for at most a tenth of a second.
void wait_shortly_until(const auto& holds) {
  for (int n = 0; n < 100 && !holds(); ++n) std::this_thread::sleep_for(kStep);
}

/// Does not return if the interpreter ends now. Other functions of `atexit` may need this thread,
/// so it only waits for a short time while they run.
void wait_if_ending() {
  wait_shortly_until(is_finalizing);
  while (is_finalizing()) std::this_thread::sleep_for(kStep);
}

}  // namespace

void take_gil(void (*take)(void*), void* state) {
  const auto is_ended_by_another = [&] {
    const std::thread::id ending = ending_thread;
    return ending != std::thread::id() && ending != std::this_thread::get_id();
  };
  ++waiting_threads;
  if (PyGILState_Check() == 0 && is_ended_by_another()) {
    --waiting_threads;
    wait_if_ending();
    ++waiting_threads;
  }
  take(state);
  --waiting_threads;
}

void watch_for_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    ending_thread = std::this_thread::get_id();
    // The threads that wait for the GIL take it now, because they cannot take it later. In a forked
    // process, these threads do not exist.
    const nb::gil_scoped_release release;
    wait_shortly_until([] { return waiting_threads == 0; });
  }));
}

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
  watch_for_exit();
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
