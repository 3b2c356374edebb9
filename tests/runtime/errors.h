// The error that an expression throws.
#pragma once

#include <string>

#include "tenon/support/error.h"

namespace tenon::runtime {

/// The message of the RuntimeError that the function throws, without the place at its end; "nothing
/// thrown" if none.
template <class F>
std::string message_of(F&& function) {
  try {
    function();
  } catch (const RuntimeError& error) {
    const std::string text = error.what();
    return error.where() ? text.substr(0, text.rfind(" (at ")) : text;
  }
  return "nothing thrown";
}

}  // namespace tenon::runtime
