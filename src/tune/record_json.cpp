#include "tune/record_json.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tenon/s_tir/script.h"

namespace tenon::tune {

namespace {

using nlohmann::json;

/// Sixteen digits: JSON's numbers are not sure to have 64 bits.
std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}
std::uint64_t parse_hex(const std::string& text) { return std::stoull(text, nullptr, 16); }

constexpr std::array kOutcomes = {Outcome::Measured, Outcome::BuildFailed, Outcome::Wrong,
                                  Outcome::Crashed, Outcome::TimedOut};

Outcome parse_outcome(const std::string& text) {
  for (const Outcome outcome : kOutcomes)
    if (to_string(outcome) == text) return outcome;
  throw TypeError("`" + text + "` is no outcome");
}

/// Anything that a damaged line can lead to.
template <class Parse>
auto parsed(const std::string& line, const Parse& parse) -> std::optional<decltype(parse(json()))> {
  try {
    return parse(json::parse(line));
  } catch (const json::exception&) {
  } catch (const Error&) {
  } catch (const std::logic_error&) {  // of stoull
  }
  return std::nullopt;
}

}  // namespace

std::string to_line(const tir::IRModule& workload, std::uint64_t hash) {
  return json{{"hash", hex(hash)}, {"script", s_tir::print_script(workload)}}.dump();
}

std::string to_line(const Record& record, std::uint64_t workload) {
  json line = {{"workload", hex(workload)},
               {"outcome", to_string(record.measurement.outcome)},
               {"seconds", record.measurement.seconds},
               {"target", record.conditions.target},
               {"processor", record.conditions.processor},
               {"threads", record.conditions.threads},
               {"arguments", record.arguments},
               {"version", record.version},
               {"trace", json::parse(record.trace.json())}};
  if (!record.measurement.reason.empty()) line["reason"] = record.measurement.reason;
  if (record.predicted) line["predicted"] = *record.predicted;
  // What a crashed program said may be no UTF-8.
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<WorkloadLine> parse_workload(const std::string& line) {
  return parsed(line, [](const json& fields) {
    return WorkloadLine{parse_hex(fields.at("hash").get<std::string>()),
                        s_tir::parse_script(fields.at("script").get<std::string>())};
  });
}

std::optional<RecordLine> parse_record(const std::string& line) {
  return parsed(line, [](const json& fields) {
    Record record{.trace = s_tir::parse_trace(fields.at("trace").dump()),
                  .measurement = {.outcome = parse_outcome(fields.at("outcome")),
                                  .seconds = fields.at("seconds").get<std::vector<double>>(),
                                  .reason = fields.value("reason", "")},
                  .conditions = {.target = fields.at("target"),
                                 .processor = fields.at("processor"),
                                 .threads = fields.at("threads")},
                  .arguments = fields.at("arguments").get<std::vector<std::string>>(),
                  .version = fields.at("version")};
    if (record.measurement.is_valid() && record.measurement.seconds.empty())
      throw TypeError("a measured record has no times");
    if (fields.contains("predicted")) record.predicted = fields.at("predicted").get<double>();
    return RecordLine{parse_hex(fields.at("workload").get<std::string>()), std::move(record)};
  });
}

}  // namespace tenon::tune
