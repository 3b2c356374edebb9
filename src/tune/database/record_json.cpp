#include "tune/database/record_json.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "tenon/s_tir/script.h"
#include "tenon/support/nesting.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

using nlohmann::json;

/// Returns the number as sixteen hexadecimal digits, because JSON numbers may have less than 64
/// bits of precision.
std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}
std::uint64_t parse_hex(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || stop != end) throw TypeError("`" + text + "` is not a hash");
  return value;
}

int parse_count(const json& field) {
  if (!field.is_number_unsigned() || !std::in_range<int>(field.get<std::uint64_t>()))
    throw TypeError(field.dump() + " is not a number of threads");
  return static_cast<int>(field.get<std::uint64_t>());
}

Outcome outcome_of(const std::string& text) {
  if (const std::optional<Outcome> outcome = parse_outcome(text)) return *outcome;
  throw TypeError("`" + text + "` is not an outcome");
}

/// Converts every exception, including std::bad_alloc, to an error about the line.
template <class Parse>
auto parsed(const std::string& line, const Parse& parse) -> decltype(parse(json())) {
  try {
    if (is_json_too_deep(line)) throw TypeError("lists are nested too deep");
    return parse(json::parse(line));
  } catch (const Error& error) {
    throw TypeError(error.sentence());
  } catch (const json::exception& error) {
    // The message has the form "[json.exception.parse_error.101] parse error at line 1, column 3:
    // ...".
    const std::string what = error.what();
    throw TypeError(what.substr(std::min(what.find("] ") + 2, what.size())));
  } catch (const std::exception& error) {
    throw TypeError(error.what());
  }
}

}  // namespace

std::string to_line(const tir::IRModule& workload, std::uint64_t hash) {
  try {
    return json{{"hash", hex(hash)}, {"script", s_tir::print_script(workload)}}.dump();
  } catch (const json::exception&) {
    throw TypeError("a name or string in the program is not UTF-8, which the database requires");
  }
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
  // The output of a crashed program may contain invalid UTF-8.
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::pair<std::uint64_t, tir::IRModule> parse_workload(const std::string& line) {
  return parsed(line, [](const json& fields) {
    const std::uint64_t hash = parse_hex(fields.at("hash").get<std::string>());
    tir::IRModule workload = s_tir::parse_script(fields.at("script").get<std::string>());
    if (structural_hash(workload) != hash)
      throw TypeError("the program does not have the hash " + hex(hash));
    return std::pair(hash, std::move(workload));
  });
}

std::pair<std::uint64_t, Record> parse_record(const std::string& line) {
  return parsed(line, [](const json& fields) {
    Record record{.trace = s_tir::parse_trace(fields.at("trace").dump()),
                  .measurement = {.outcome = outcome_of(fields.at("outcome")),
                                  .seconds = fields.at("seconds").get<std::vector<double>>(),
                                  .reason = fields.value("reason", "")},
                  .conditions = {.target = fields.at("target"),
                                 .processor = fields.at("processor"),
                                 .threads = parse_count(fields.at("threads"))},
                  .arguments = fields.at("arguments").get<std::vector<std::string>>(),
                  .version = fields.at("version")};
    if (record.measurement.outcome == Outcome::Measured && !record.measurement.is_valid())
      throw TypeError("a measured record has no times, or one that is not positive");
    if (fields.contains("predicted")) record.predicted = fields.at("predicted").get<double>();
    return std::pair(parse_hex(fields.at("workload").get<std::string>()), std::move(record));
  });
}

}  // namespace tenon::tune
