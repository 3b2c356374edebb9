#include "tune/measure/job.h"

#include "tune/database/json_text.h"

namespace tenon::tune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobArgument, dtype, shape, is_read, is_written)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Job, code, target, function, arguments, expected, records,
                                   device, threads, memory_limit_bytes, seed, number, repeat,
                                   min_repeat_ms, slow_seconds, relative_tolerance,
                                   absolute_tolerance)

void to_json(nlohmann::json& json, const Measurement& measurement) {
  json = {{"outcome", to_string(measurement.outcome)},
          {"seconds", measurement.seconds},
          {"reason", measurement.reason}};
}

void from_json(const nlohmann::json& json, Measurement& measurement) {
  const auto text = json.at("outcome").get<std::string>();
  const std::optional<Outcome> outcome = parse_outcome(text);
  measurement = {outcome.value_or(Outcome::Crashed), json.at("seconds"), json.at("reason")};
  if (!outcome) measurement = {Outcome::Crashed, {}, "its answer is `" + text + "`"};
}

std::string to_text(const Job& job) { return json_text(job); }
std::string to_text(const Measurement& answer) { return json_text(answer); }
Job parse_job(const std::string& text) { return from_json_text<Job>(text); }
Measurement parse_answer(const std::string& text) { return from_json_text<Measurement>(text); }

}  // namespace tenon::tune
