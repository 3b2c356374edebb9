// The user's source line in errors.
#pragma once

#include "tenon/support/error.h"

namespace tenon::runtime {

/// Calls the function. A RuntimeError gets the line of the user's program.
template <class F>
auto at_line(const SourceLocation& where, F&& function) {
  try {
    return function();
  } catch (const RuntimeError& error) {
    throw RuntimeError(error.what(), where);
  }
}

}  // namespace tenon::runtime
