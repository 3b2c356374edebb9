// The log of tuning: lines with time and level, on stderr and in a file.
//
//   2025-04-10 13:50:43 [INFO] [task_scheduler.cc:159] Initializing Task #0: "main"
//
// The texts, including the locations in brackets, are those of TVM's task scheduler, so that
// scripts for its logs work.
#pragma once

#include <fstream>

#include "tenon/tune/tune.h"

namespace tenon::tune {

class Log {
 public:
  /// `own` receives the lines instead of stderr. The file is created in `folder`, if it is not
  /// empty. If that fails, logging continues without the file.
  Log(std::function<void(LogLevel, const std::string&)> own, const std::filesystem::path& folder);

  void info(const std::string& text) { line(LogLevel::Info, text); }
  void debug(const std::string& text) { line(LogLevel::Debug, text); }
  void warning(const std::string& text) { line(LogLevel::Warning, text); }
  void line(LogLevel level, const std::string& text);

 private:
  std::function<void(LogLevel, const std::string&)> own_;
  std::ofstream file_;
};

}  // namespace tenon::tune
