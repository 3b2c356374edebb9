#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/support/error.h"
#include "tenon/tune/database.h"
#include "tenon/tune/export.h"
#include "tests/fuzz/inputs/input.h"
#include "tests/fuzz/inputs/try_s_tir.h"

namespace tenon::fuzz {

namespace {

void try_script(const std::string& text) {
  for (const auto& [name, func] : parsed_script(text).functions) lower(func, {.name = name});
}

void try_trace(const std::string& text) {
  const s_tir::Schedule sch = applied_trace(text);
  tune::schedule_text(sch.trace());
  for (const auto& [name, func] : sch.mod().functions) lower(func, {.name = name});
}

void try_target(const std::string& text) {
  const Target target(text);
  Target again(target.str());
  target.describe();
}

/// The lines of the workload file stand before a line of dashes, the records after it.
void try_database(const std::string& text) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon_inputs_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::size_t middle = std::min(text.find("\n---\n"), text.size());
  std::ofstream(folder / "database_workload.json", std::ios::binary) << text.substr(0, middle);
  std::ofstream(folder / "database_tuning_record.json", std::ios::binary)
      << text.substr(std::min(middle + 5, text.size()));
  std::optional<tune::Database> database;
  try {
    database.emplace(folder, [](const std::string&) {});
  } catch (...) {
    std::filesystem::remove_all(folder);
    throw InternalError("a database with lines that cannot be read ends the program");
  }
  std::filesystem::remove_all(folder);
  const Target target("llvm -num-cores=1");
  for (const tir::IRModule& module : database->workloads()) {
    for (const tune::Record& record : database->records(module)) {
      try {
        s_tir::Schedule(module).apply_trace(record.trace);
      } catch (const InternalError&) {
        throw;
      } catch (const Error&) {
        continue;
      }
    }
    tune::apply_best(module, *database, target);
  }
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Script:
      return "script";
    case Kind::Trace:
      return "trace";
    case Kind::Target:
      return "target";
    case Kind::Database:
      return "database";
  }
  internal_error("a kind of input without a name");
}

std::optional<std::string> try_input(Kind kind, const std::string& text) {
  try {
    switch (kind) {
      case Kind::Script:
        try_script(text);
        break;
      case Kind::Trace:
        try_trace(text);
        break;
      case Kind::Target:
        try_target(text);
        break;
      case Kind::Database:
        try_database(text);
        break;
    }
  } catch (const InternalError& error) {
    return std::string("internal error: ") + error.what();
  } catch (const Error&) {
    return std::nullopt;
  } catch (const std::exception& error) {
    return std::string("an exception that is not an Error: ") + error.what();
  } catch (...) {
    return "an exception that is not an Error";
  }
  return std::nullopt;
}

}  // namespace tenon::fuzz
