#include "tune/search/log.h"

#include <chrono>
#include <ctime>
#include <iostream>

namespace tenon::tune {

namespace {

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "DEBUG";
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Warning:
      return "WARNING";
  }
  internal_error("unknown level");
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&time, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

}  // namespace

Log::Log(std::function<void(LogLevel, const std::string&)> own, const std::filesystem::path& folder)
    : own_(std::move(own)) {
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  file_.open(folder / "tuning.log", std::ios::app);
}

void Log::line(LogLevel level, const std::string& text) {
  const std::string whole = now() + " [" + name_of(level) + "] " + text + "\n";
  if (file_.is_open()) file_ << whole << std::flush;
  if (own_)
    own_(level, text);
  else
    std::cerr << whole << std::flush;
}

}  // namespace tenon::tune
