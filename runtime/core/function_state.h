// The state behind a Function's handle.
#pragma once

#include <memory>
#include <optional>

#include "runtime/arrays/argument_check.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/module_impl.h"

namespace tenon::runtime {

struct Function::State {
  ArgumentChecker checker;
  PackedCall call;
  std::shared_ptr<const void> keep_alive;

  /// Runs the code. RuntimeError, with the caller's line if known.
  void run(const CheckedArguments& args, const std::optional<SourceLocation>& where) const;
};

}  // namespace tenon::runtime
