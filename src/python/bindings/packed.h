// Support for Python functions that generated code calls.
#pragma once

#include "bindings/documentation.h"

#include <string>

namespace tenon::python {

/// Exists while a call of generated code is running. Exceptions of Python functions are stored
/// until no call is running: several threads of one call may raise exceptions, but only one of them
/// is rethrown. The GIL must be held on construction and destruction.
class RunningCall {
 public:
  RunningCall();
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;
};

/// If a call failed with this message because a Python function raised an exception, rethrows that
/// exception. Otherwise returns.
void rethrow_raised(const std::string& message);

void bind_packed(PyModule& m, PyModule& runtime);

}  // namespace tenon::python
