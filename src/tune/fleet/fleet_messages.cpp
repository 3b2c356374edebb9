#include "tune/fleet/fleet_messages.h"

#include "tune/database/json_text.h"

namespace tenon::tune {

// Kinds are sent as numbers. Both processes run the same program, so the numbers agree.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureOptions, build_workers, number, repeat, min_repeat_ms,
                                   slow_factor, run_timeout_s, memory_limit_bytes,
                                   relative_tolerance, absolute_tolerance, seed, worker)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, kind, task, ticket, script, hash, target, options,
                                   is_whole)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, kind, task, ticket, host, processor, error, cpu_seconds,
                                   measurement)

std::string to_text(const Order& order) { return json_text(order); }
std::string to_text(const Report& report) { return json_text(report); }
Order parse_order(const std::string& text) { return from_json_text<Order>(text); }
Report parse_report(const std::string& text) { return from_json_text<Report>(text); }

}  // namespace tenon::tune
