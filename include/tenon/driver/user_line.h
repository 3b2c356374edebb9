// Adds the line of the user's call to errors of steps that do not know their caller.
#pragma once

#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"

namespace tenon {

template <class E>
[[noreturn]] void throw_at(const E& error, const SourceLocation& where) {
  if (error.where()) throw E(error);
  throw E(error.what(), where);
}

/// Returns the result of `run`. A user error without a line is rethrown with this line; other
/// exceptions pass through.
template <class F>
auto with_user_line(const SourceLocation& where, F run) {
  try {
    return run();
  } catch (const InternalError&) {
    throw;
  } catch (const ScheduleError& e) {
    throw_at(e, where);
  } catch (const BoundError& e) {
    throw_at(e, where);
  } catch (const LowerError& e) {
    throw_at(e, where);
  } catch (const TargetError& e) {
    throw_at(e, where);
  } catch (const TypeError& e) {
    throw_at(e, where);
  } catch (const RuntimeError& e) {
    throw_at(e, where);
  } catch (const Error& e) {
    throw_at(e, where);
  }
}

/// Returns the result of `run`, which runs steps of the compiler for a call at this line. The steps
/// run on a deep stack.
template <class F>
auto run_steps(const SourceLocation& where, F run) {
  return with_user_line(where, [&] { return with_deep_stack(std::move(run)); });
}

}  // namespace tenon
