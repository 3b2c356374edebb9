// Structures as texts of JSON that processes of one program send each other.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tenon/support/error.h"

namespace tenon::tune {

/// Bytes that are no UTF-8 (of an error's message) are replaced.
template <class T>
std::string json_text(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// RuntimeError for what is no such text: the other process is of another version.
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
