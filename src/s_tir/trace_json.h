// Traces as JSON; Trace::json writes them.
#pragma once

#include <string_view>

#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// TypeError for what is no trace: with line and column where it is no JSON, else with the step.
Trace parse_json_trace(std::string_view text);

}  // namespace tenon::s_tir
