// Parallel loops and regions whose bodies are lambdas.
#pragma once

#include <type_traits>

#include "tenon/runtime/c_api.h"

namespace tenon::runtime {

/// body(i) returns a status.
template <class Body>
std::int32_t parallel_for_status(std::int64_t begin, std::int64_t end, Body&& body) {
  auto run = [](void* closure, std::int64_t from, std::int64_t to) -> std::int32_t {
    for (std::int64_t i = from; i < to; ++i)
      if (std::int32_t status = (*static_cast<std::remove_reference_t<Body>*>(closure))(i);
          status != kTenonOk)
        return status;
    return kTenonOk;
  };
  return tenon_parallel_for(run, &body, begin, end);
}

template <class Body>
std::int32_t parallel_for(std::int64_t begin, std::int64_t end, Body&& body) {
  return parallel_for_status(begin, end, [&](std::int64_t i) -> std::int32_t {
    body(i);
    return kTenonOk;
  });
}

/// body(task, num_tasks) returns a status.
template <class Body>
std::int32_t parallel_launch(std::int32_t num_tasks, Body&& body) {
  auto run = [](void* closure, std::int32_t task, std::int32_t count) -> std::int32_t {
    return (*static_cast<std::remove_reference_t<Body>*>(closure))(task, count);
  };
  return tenon_parallel_launch(run, &body, num_tasks);
}

}  // namespace tenon::runtime
