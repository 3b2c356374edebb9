#include "tenon/inspect/loop_page.h"

#include <nlohmann/json.hpp>

namespace tenon {

/// The text of the files in page/, which the build embeds.
extern const char* const kLoopPageStyle;
extern const char* const kLoopPageScript;

namespace {

using Json = nlohmann::ordered_json;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const LoopView& view) {
  Json stages = Json::array(), stmts = Json::array(), code = Json::array(), buffers = Json::array();
  for (const LoopView::Stage& each : view.stages)
    stages.push_back({{"name", each.name},
                      {"line", each.line},
                      {"source", each.source},
                      {"seconds", optional(each.seconds)},
                      {"share", optional(each.share)},
                      {"in", each.counted_in ? Json(*each.counted_in) : Json(nullptr)}});
  // An entry is written as an array of its members instead of an object, because there are
  // thousands of entries.
  for (const LoopView::Stmt& each : view.stmts)
    stmts.push_back({static_cast<int>(each.kind), each.first, each.last, each.parent, each.stage});
  for (const LoopView::Instruction& each : view.code)
    code.push_back({static_cast<int>(each.kind), each.text, each.stmt, each.is_guessed ? 1 : 0});
  for (const LoopView::Buffer& each : view.buffers)
    buffers.push_back({each.name, each.scope, each.place, each.required, each.allocated, each.bytes,
                       each.memory_bytes});
  return {{"name", view.name},        {"target", view.target}, {"outline", view.outline},
          {"refused", view.refused},  {"stages", stages},      {"buffers", buffers},
          {"lines", view.lines},      {"stmts", stmts},        {"code", code},
          {"language", view.language}};
}

/// Returns the views as JSON for a script element. `<` is escaped, so that it cannot end the
/// script. Invalid UTF-8 is replaced, because names may contain arbitrary bytes.
std::string data_of(const std::vector<LoopView>& views) {
  Json all = Json::array();
  for (const LoopView& view : views) all.push_back(json_of(view));
  std::string result;
  for (const char c : all.dump(-1, ' ', false, Json::error_handler_t::replace))
    result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

}  // namespace

std::string loop_page(const std::string& title, const std::vector<LoopView>& views) {
  // The content security policy ensures that the page loads nothing from elsewhere.
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
         escaped(title) +
         "</title>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<style>\n" +
         std::string(kLoopPageStyle) + "</style>\n</head>\n<body>\n<h1>" + escaped(title) +
         "</h1>\n<noscript>This page draws itself with JavaScript, which is off.</noscript>\n"
         "<main id=\"main\"></main>\n<script type=\"application/json\" id=\"data\">" +
         data_of(views) + "</script>\n<script>\n" + std::string(kLoopPageScript) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace tenon
