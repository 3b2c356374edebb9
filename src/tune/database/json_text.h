// Conversion of structures to JSON text and back, for messages between processes of one program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tenon/support/error.h"
#include "tenon/tune/measure.h"

namespace tenon::tune {

/// Convert a measurement. Its outcome is written as by to_string.
void to_json(nlohmann::json& json, const Measurement& measurement);
void from_json(const nlohmann::json& json, Measurement& measurement);

/// Serializes the value. Invalid UTF-8 is replaced, because error messages may contain it.
template <class T>
std::string json_text(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Parses the message of a worker process. Throws RuntimeError if the message is malformed, which
/// means that the worker runs a different version of Tenon.
template <class T>
T from_json_text(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw RuntimeError(std::string("the tuner and one of its processes use different protocols: ") +
                       error.what());
  }
}

}  // namespace tenon::tune
