// Structures as JSON text, for messages between processes of one program.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tenon/support/error.h"

namespace tenon::tune {

/// Invalid UTF-8 (in an error's message) is replaced.
template <class T>
std::string json_text(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// RuntimeError for malformed text: the other process has another version.
template <class T>
T from_json_text(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw RuntimeError(
        std::string("a process of the tuner's and the tuner misunderstand each other: ") +
        error.what());
  }
}

}  // namespace tenon::tune
