// Pages in a browser: headless Chromium, where it is installed.
//
//   Browsing browsing;
//   browsing.open("loaded", page);                      // written to a file first
//   browsing.run("rows", "return document.querySelectorAll('.row').length");
//   browsing.press(kDown + kEnter);
//   const std::optional<Browsed> seen = browsing.browse();    // none without a browser
//   seen->results["rows"]
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// Keys, as WebDriver writes them.
inline const std::string kEnter = "\uE007", kLeft = "\uE012", kRight = "\uE014", kDown = "\uE015",
                         kTab = "\uE004";

struct Browsed {
  nlohmann::json results;
  std::vector<std::string> console;
};

class Browsing {
 public:
  Browsing();
  ~Browsing();
  Browsing(const Browsing&) = delete;
  Browsing& operator=(const Browsing&) = delete;

  /// The result is the milliseconds until it was loaded.
  void open(const std::string& name, const std::string& page);
  /// The result is what the script returns.
  void run(const std::string& name, const std::string& script);
  void press(const std::string& keys);
  /// "dark" or "light": what the reader prefers from then on.
  void prefer(const std::string& scheme);
  /// The result is how many bytes it has as PDF.
  void print(const std::string& name);
  /// Does all of it in one browser. Throws std::runtime_error with what the browser said.
  std::optional<Browsed> browse() const;

 private:
  std::filesystem::path folder_;
  nlohmann::json steps_ = nlohmann::json::array();
};

}  // namespace tenon
