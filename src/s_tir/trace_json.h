// Parsing of traces in JSON; Trace::json writes them.
#pragma once

#include <string_view>

#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// Throws TypeError for anything else: with line and column for invalid JSON, otherwise with the
/// step.
Trace parse_json_trace(std::string_view text);

}  // namespace tenon::s_tir
