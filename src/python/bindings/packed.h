// Python functions that generated code calls.
#pragma once

#include "bindings/documentation.h"

#include <string>

namespace tenon::python {

/// A call of generated code. Exceptions of Python functions are kept until no call runs, because
/// several threads of one call may raise, and only one exception is rethrown. Requires the GIL to
/// make and to destroy.
class RunningCall {
 public:
  RunningCall();
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;
};

/// Throws the exception of a Python function that made a call fail with this message. Returns if
/// the failure has another cause.
void rethrow_raised(const std::string& message);

void bind_packed(PyModule& m, PyModule& runtime);

}  // namespace tenon::python
