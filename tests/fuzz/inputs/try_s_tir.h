// Scripts and traces as inputs.
#pragma once

#include <string>

#include "tenon/s_tir/schedule.h"

namespace tenon::fuzz {

/// The module of a script; InternalError if it is printed as a text that the parser refuses.
tir::IRModule parsed_script(const std::string& text);

/// The trace, which is printed and parsed again in both forms, applied to a small program.
s_tir::Schedule applied_trace(const std::string& text);

}  // namespace tenon::fuzz
