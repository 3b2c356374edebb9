#include "tune/measure/job.h"

#include "tune/database/json_text.h"

namespace tenon::tune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobArgument, dtype, shape, is_read, is_written)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Job, code, target, function, arguments, expected, records,
                                   device, threads, memory_limit_bytes, seed, number, repeat,
                                   min_repeat_ms, slow_seconds, relative_tolerance,
                                   absolute_tolerance)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Answer, outcome, seconds, reason)

std::string to_text(const Job& job) { return json_text(job); }
std::string to_text(const Answer& answer) { return json_text(answer); }
Job parse_job(const std::string& text) { return from_json_text<Job>(text); }
Answer parse_answer(const std::string& text) { return from_json_text<Answer>(text); }

}  // namespace tenon::tune
