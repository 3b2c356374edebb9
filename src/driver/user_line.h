// Errors of steps that do not know where they were called from get the line of the user's call.
#pragma once

#include <utility>

#include "tenon/support/error.h"

namespace tenon {

/// What `run` returns. A mistake of the user's that names no line is thrown again with this one; others pass
/// through.
template <class F>
auto with_user_line(const SourceLocation& where, F run) {
  try {
    return run();
  } catch (const LowerError& e) {
    if (e.where()) throw;
    throw LowerError(e.what(), where);
  } catch (const TargetError& e) {
    if (e.where()) throw;
    throw TargetError(e.what(), where);
  } catch (const TypeError& e) {
    if (e.where()) throw;
    throw TypeError(e.what(), where);
  }
}

}  // namespace tenon
