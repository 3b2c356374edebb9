// Wraps Python functions that the compiler calls from any thread.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace tenon::python {

/// A Python function. C++ threads without the GIL may copy and destroy this object.
class Callback {
 public:
  explicit Callback(const nanobind::callable& function)
      : function_(new nanobind::object(function), [](nanobind::object* held) {
          if (!Py_IsInitialized()) return;
          const nanobind::gil_scoped_acquire gil;
          delete held;
        }) {}
  /// Calls the function. The GIL must be held.
  template <class... Args>
  nanobind::object operator()(Args&&... args) const {
    return (*function_)(std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<nanobind::object> function_;
};

}  // namespace tenon::python
