#include "tune/job.h"

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"

namespace tenon::tune {

namespace {

using nlohmann::json;

template <class Parse>
auto parsed(const std::string& text, const Parse& parse) {
  try {
    return parse(json::parse(text));
  } catch (const json::exception& error) {
    throw RuntimeError(std::string("the worker program and the tuner misunderstand each other: ") +
                       error.what());
  }
}

}  // namespace

std::string to_text(const Job& job) {
  json arguments = json::array();
  for (const JobArgument& argument : job.arguments)
    arguments.push_back({{"dtype", argument.dtype},
                         {"shape", argument.shape},
                         {"is_read", argument.is_read},
                         {"is_written", argument.is_written}});
  return json{{"library", job.library},
              {"function", job.function},
              {"arguments", arguments},
              {"expected", job.expected},
              {"records", job.records},
              {"threads", job.threads},
              {"memory_limit_bytes", job.memory_limit_bytes},
              {"seed", job.seed},
              {"number", job.number},
              {"repeat", job.repeat},
              {"min_repeat_ms", job.min_repeat_ms},
              {"slow_seconds", job.slow_seconds},
              {"relative_tolerance", job.relative_tolerance},
              {"absolute_tolerance", job.absolute_tolerance}}
      .dump();
}

std::string to_text(const Answer& answer) {
  return json{{"outcome", answer.outcome}, {"seconds", answer.seconds}, {"reason", answer.reason}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

Job parse_job(const std::string& text) {
  return parsed(text, [](const json& fields) {
    Job job;
    for (const json& argument : fields.at("arguments"))
      job.arguments.push_back({.dtype = argument.at("dtype"),
                               .shape = argument.at("shape").get<std::vector<std::int64_t>>(),
                               .is_read = argument.at("is_read"),
                               .is_written = argument.at("is_written")});
    fields.at("library").get_to(job.library);
    fields.at("function").get_to(job.function);
    fields.at("expected").get_to(job.expected);
    fields.at("records").get_to(job.records);
    fields.at("threads").get_to(job.threads);
    fields.at("memory_limit_bytes").get_to(job.memory_limit_bytes);
    fields.at("seed").get_to(job.seed);
    fields.at("number").get_to(job.number);
    fields.at("repeat").get_to(job.repeat);
    fields.at("min_repeat_ms").get_to(job.min_repeat_ms);
    fields.at("slow_seconds").get_to(job.slow_seconds);
    fields.at("relative_tolerance").get_to(job.relative_tolerance);
    fields.at("absolute_tolerance").get_to(job.absolute_tolerance);
    return job;
  });
}

Answer parse_answer(const std::string& text) {
  return parsed(text, [](const json& fields) {
    return Answer{.outcome = fields.at("outcome"),
                  .seconds = fields.at("seconds").get<std::vector<double>>(),
                  .reason = fields.at("reason")};
  });
}

}  // namespace tenon::tune
