// Wraps Python functions that the compiler calls from any thread.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace tenon::python {

/// A Python function. C++ threads without the GIL may copy and destroy the pointer; calls need the
/// GIL.
using Callback = std::shared_ptr<const nanobind::callable>;

inline Callback make_callback(const nanobind::callable& function) {
  return Callback(new nanobind::callable(function), [](const nanobind::callable* held) {
    if (!Py_IsInitialized()) return;
    const nanobind::gil_scoped_acquire gil;
    delete held;
  });
}

}  // namespace tenon::python
