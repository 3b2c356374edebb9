// What tuning tells: lines with a time and a level, on the standard error and in a file.
//
//   2025-04-10 13:50:43 [INFO] [task_scheduler.cc:159] Initializing Task #0: "main"
//
// The texts, the places in brackets included, are those of TVM's task scheduler, which readers of
// such logs (and their scripts) know.
#pragma once

#include <fstream>

#include "tenon/tune/tune.h"

namespace tenon::tune {

class Log {
 public:
  /// `own`: where lines go instead of the standard error. `folder`: empty, or where the file is
  /// made; a file that cannot be is done without.
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
