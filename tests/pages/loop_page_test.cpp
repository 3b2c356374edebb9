// Pages in a browser: nothing is complained of, loops fold, and the jumps between loops and machine
// code find what they should.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/inspect/loop_page.h"
#include "tenon_test_paths.h"

namespace tenon {
namespace {

// ---- the browser --------------------------------------------------------------------------------

// Pages in a browser: headless Chromium, where it is installed.
//
//   Browsing browsing;
//   browsing.open("loaded", page);                      // written to a file first
//   browsing.run("rows", "return document.querySelectorAll('.row').length");
//   browsing.press(kDown + kEnter);
//   const std::optional<Browsed> seen = browsing.browse();    // none without a browser
//   seen->results["rows"]

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

namespace fs = std::filesystem;

Browsing::Browsing() {
  static int count = 0;
  folder_ = fs::temp_directory_path() /
            ("tenon_pages_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  fs::create_directories(folder_);
}

Browsing::~Browsing() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Browsing::open(const std::string& name, const std::string& page) {
  const fs::path file = folder_ / ("page" + std::to_string(steps_.size()) + ".html");
  std::ofstream(file) << page;
  steps_.push_back({{"open", file.string()}, {"name", name}});
}

void Browsing::run(const std::string& name, const std::string& script) {
  steps_.push_back({{"run", script}, {"name", name}});
}

void Browsing::press(const std::string& keys) { steps_.push_back({{"press", keys}}); }

void Browsing::prefer(const std::string& scheme) { steps_.push_back({{"scheme", scheme}}); }

void Browsing::print(const std::string& name) { steps_.push_back({{"print", name}}); }

std::optional<Browsed> Browsing::browse() const {
  constexpr int kNoBrowser = 77;
  std::ofstream(folder_ / "steps.json") << steps_.dump();
  const std::string command = "python3 '" TENON_SOURCE_DIR "/tests/pages/browse.py' '" +
                              (folder_ / "steps.json").string() + "' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoBrowser) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(out);
  const nlohmann::json answer = nlohmann::json::parse(out);
  return Browsed{answer.at("results"), answer.at("console").get<std::vector<std::string>>()};
}

constexpr int kSize = 64;
/// A processor whose multiply-adds the tests know by name.
const Target kTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell");

/// C = A B in tiles, some rows unrolled.
std::vector<LoopView> views() {
  te::Tensor A = te::placeholder({kSize, kSize}, "A"), B = te::placeholder({kSize, kSize}, "B");
  te::IterVar k = te::reduce_axis({0, kSize}, "k");
  te::Tensor C = te::compute(
      {kSize, kSize}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
      "C<D>&\"");
  te::Schedule s = te::create_schedule({C});
  LoopView plain = view_loops(s, {A, B, C}, kTarget);
  plain.name = "plain";
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 16, 8);
  s[C].reorder({io, jo, k, ii, ji}).unroll(ii).vectorize(ji).parallel(io);
  LoopView tiled = view_loops(s, {A, B, C}, kTarget);
  tiled.name = "tiled";
  return {plain, tiled};
}

/// The same product for C.
std::vector<LoopView> source_views() {
  te::Tensor A = te::placeholder({kSize, kSize}, "A");
  te::IterVar k = te::reduce_axis({0, kSize}, "k");
  te::Tensor C = te::compute(
      {kSize}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "C");
  return {view_loops(te::create_schedule({C}), {A, C}, Target("c"))};
}

/// The least contrast (WCAG's, 1 to 21) of text against what is behind it, with the text.
constexpr const char* kContrasts = R"(
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parts = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const linear = (v) => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return parts(getComputedStyle(document.body).backgroundColor);
  };
  let least = [21, ''];
  for (const element of document.querySelectorAll('main *')) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [luminance(parts(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < least[0]) least = [contrast, element.textContent.slice(0, 40)];
  }
  return least;)";

std::string select(const std::string& selector) {
  return "document.querySelectorAll('" + selector + "')";
}

/// The results of one browser run, which all tests share.
class LoopPage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Browsing browsing;
    const std::string page = loop_page("a <page> & \"more\"", views());
    for (const char* name : {"loaded", "loaded again", "and again"}) browsing.open(name, page);
    browsing.run("title", "return document.title");
    browsing.run("fetched", "return performance.getEntriesByType('resource').length");
    browsing.run("tag", "return document.querySelector('.loops .tag').textContent");
    // Folding, by the keyboard: the first line is the outermost loop.
    browsing.run("focus", "document.querySelector('.loops').focus()");
    browsing.run("shown", "return " + select(".loops .row:not([hidden])") + ".length");
    browsing.press(kLeft);
    browsing.run("left", "return " + select(".loops .row:not([hidden])") + ".length");
    browsing.press(kRight);
    browsing.run("right", "return " + select(".loops .row:not([hidden])") + ".length");
    // From a loop to its code: the loop over k.
    browsing.run("to code", R"(
      const rows = [...document.querySelectorAll('.loops .row')];
      const loop = rows.find((row) => row.textContent.includes('for (k'));
      loop.click();
      const marked = [...document.querySelectorAll('.code .row.marked')];
      return { inside: marked.includes(document.querySelector('.code .cursor')),
               products: marked.filter((row) => row.textContent.startsWith('vfmadd')).length };)");
    browsing.run("products", R"(
      return [...document.querySelectorAll('.code .row')].filter((row) =>
        row.textContent.startsWith('vfmadd')).length)");
    // And back: from an instruction in the loop, with the keyboard.
    browsing.run("fold all",
                 "document.querySelector('.loops').parentElement.querySelector('button').click()");
    browsing.run("focus code", "document.querySelector('.code').focus()");
    browsing.press(kEnter);
    browsing.run("back", R"(
      const cursor = document.querySelector('.loops .cursor');
      return { text: cursor.textContent, hidden: cursor.hidden,
               focused: document.activeElement.className };)");
    browsing.run("hover", R"(
      const row = [...document.querySelectorAll('.loops .row')].at(-1);
      row.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
      return document.querySelectorAll('.code .row.marked').length)");
    // The other tab, with a run of statements that are alike.
    browsing.run("tab", "document.querySelectorAll('[role=tab]')[1].click()");
    browsing.run("second", "return document.querySelector('.loops').textContent");
    browsing.run("more", "return document.querySelector('.loops .rest:not([hidden])').textContent");
    browsing.run("address", "return location.hash");
    browsing.run("link", "location.hash = '#' + document.querySelector('[role=tab]').textContent");
    browsing.run("linked",
                 "return document.querySelector('[aria-selected=true]').tabIndex === 0 && "
                 "document.querySelector('[role=tab]').ariaSelected");
    browsing.run("tab again", "document.querySelectorAll('[role=tab]')[1].click()");
    for (const char* scheme : {"dark", "light"}) {
      browsing.prefer(scheme);
      browsing.run(scheme, kContrasts);
    }
    // Source in place of machine code: from a line of it to its loop.
    browsing.open("source", loop_page("source", source_views()));
    browsing.run("to source", R"(
      const row = [...document.querySelectorAll('.code .row')].find((each) =>
        each.textContent.includes('for (int32_t k'));
      row.click();
      return { loop: document.querySelector('.loops .cursor').textContent, source: row.textContent };)");
    browsing.print("printed");
    seen_ = browsing.browse();
  }
  static void TearDownTestSuite() { seen_.reset(); }

  void SetUp() override {
    if (!seen_) GTEST_SKIP() << "there is no Chromium; scripts/setup.sh --with-browser installs it";
  }

  static const nlohmann::json& result(const char* name) { return seen_->results.at(name); }

  static std::optional<Browsed> seen_;
};
std::optional<Browsed> LoopPage::seen_;

TEST_F(LoopPage, HasNothingToComplainOf) { EXPECT_EQ(seen_->console, std::vector<std::string>{}); }

TEST_F(LoopPage, FetchesNothing) { EXPECT_EQ(result("fetched"), 0); }

TEST_F(LoopPage, NamesAreTextAndNoMarkup) {
  EXPECT_EQ(result("title"), "a <page> & \"more\"");
  EXPECT_NE(result("tag").get<std::string>().find("C<D>&\", loop_page_test.cpp:"),
            std::string::npos)
      << result("tag");
}

/// Far above what it takes, which is some ten milliseconds: machines are busy.
TEST_F(LoopPage, IsThereInASecond) {
  std::vector<double> times{result("loaded"), result("loaded again"), result("and again")};
  std::ranges::sort(times);
  RecordProperty("milliseconds", std::to_string(times[1]));
  EXPECT_LT(times[1], 1000);
}

TEST_F(LoopPage, ALoopFoldsAndUnfolds) {
  EXPECT_LT(result("left"), result("shown"));
  EXPECT_EQ(result("right"), result("shown"));
}

TEST_F(LoopPage, ALoopLeadsToItsCode) {
  EXPECT_TRUE(result("to code").at("inside")) << result("to code");
  EXPECT_GT(result("products"), 0);
  EXPECT_EQ(result("to code").at("products"), result("products"));
}

TEST_F(LoopPage, ALineOfSourceLeadsToItsLoop) {
  const nlohmann::json& seen = result("to source");
  EXPECT_NE(seen.at("loop").get<std::string>().find("for (k"), std::string::npos) << seen;
  // Its indentation is kept.
  EXPECT_TRUE(seen.at("source").get<std::string>().starts_with("    for (")) << seen;
}

TEST_F(LoopPage, AnInstructionLeadsToItsLoopAndUnfoldsIt) {
  const nlohmann::json& back = result("back");
  EXPECT_FALSE(back.at("hidden")) << back;
  EXPECT_EQ(back.at("focused"), "text loops");
}

/// WCAG requires a contrast of 4.5 to 1 for text.
TEST_F(LoopPage, IsReadableInDarkAndLight) {
  EXPECT_GE(result("dark").at(0), 4.5) << result("dark");
  EXPECT_GE(result("light").at(0), 4.5) << result("light");
}

TEST_F(LoopPage, Prints) { EXPECT_GT(result("printed"), 10'000); }

TEST_F(LoopPage, PointingMarksTheCode) { EXPECT_GT(result("hover"), 0); }

TEST_F(LoopPage, TabsShowOtherSchedules) {
  EXPECT_NE(result("second").get<std::string>().find("\"parallel\""), std::string::npos);
}

TEST_F(LoopPage, AddressesNameTheSchedule) {
  EXPECT_EQ(result("address"), "#tiled");
  EXPECT_EQ(result("linked"), "true");
}

TEST_F(LoopPage, LongRunsOfStatementsAreFolded) {
  EXPECT_NE(result("more").get<std::string>().find("more like this"), std::string::npos);
}

}  // namespace
}  // namespace tenon
