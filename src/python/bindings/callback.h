// The GIL, and Python functions that the compiler calls from any thread.
//
// Before version 3.14, CPython unwinds a thread that takes the GIL while the interpreter ends.
// C++ functions that must not throw then end the process, so such threads wait here instead.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace tenon::python {

/// Registers a function of Python's `atexit` that tells other threads to wait.
void watch_for_exit();

/// Calls `take`, which takes the GIL. If the interpreter ends, does not return on any thread except
/// the one that ends it.
void take_gil(void (*take)(void*), void* state);

/// Releases the GIL until it is destroyed.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    take_gil([](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }, state_);
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds the GIL until it is destroyed. The thread may hold it already.
class HeldGil {
 public:
  HeldGil() {
    take_gil([](void* state) { *static_cast<PyGILState_STATE*>(state) = PyGILState_Ensure(); },
             &state_);
  }
  ~HeldGil() { PyGILState_Release(state_); }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// A Python function. C++ threads without the GIL may copy and destroy the pointer; calls need the
/// GIL.
using Callback = std::shared_ptr<const nanobind::callable>;

inline Callback make_callback(const nanobind::callable& function) {
  return Callback(new nanobind::callable(function), [](const nanobind::callable* held) {
    if (!Py_IsInitialized()) return;
    const HeldGil gil;
    delete held;
  });
}

}  // namespace tenon::python
