#include "tests/bench/common/results.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/bench/common/program.h"

namespace tenon::bench {

namespace {

bool is_row_of(const Json& row, const Result& result) {
  return row.value("name", "") == key_of(result.name) && row.value("threads", 0) == result.threads;
}

}  // namespace

std::string key_of(const std::string& name) {
  std::istringstream words(name);
  std::string key;
  for (std::string word; words >> word;) key += (key.empty() ? "" : " ") + word;
  return key;
}

std::optional<std::string> Result::best_peer() const {
  std::optional<std::string> best;
  for (const auto& [name, time] : seconds)
    if (!name.starts_with(kTenon) && name != kCopy && (!best || time < seconds.at(*best)))
      best = name;
  return best;
}

double Result::ratio() const {
  const std::optional<std::string> best = best_peer();
  return best ? seconds.at(*best) / seconds.at(kTenon) : 0;
}

std::string Result::reason() const {
  if (bounds.empty()) return "";
  const auto longest =
      std::ranges::max_element(bounds, {}, [](const auto& bound) { return bound.second; });
  return formatted("%s %.0f %%", longest->first.c_str(),
                   100 * longest->second / seconds.at(kTenon));
}

std::string distribution_of(const std::vector<Result>& results) {
  std::vector<const Result*> order;
  double logarithms = 0;
  for (const Result& r : results) {
    if (!r.best_peer()) continue;
    order.push_back(&r);
    logarithms += std::log(r.ratio());
  }
  if (order.empty()) return "no row has peers";
  std::ranges::sort(order, {}, [](const Result* r) { return r->ratio(); });
  const auto count = static_cast<double>(order.size());
  std::string text = formatted(
      "%zu rows, to the best peer of each: geometric mean %.3f, 5th percentile %.3f, "
      "median %.3f",
      order.size(), std::exp(logarithms / count), order[order.size() / 20]->ratio(),
      order[order.size() / 2]->ratio());
  for (std::size_t n = 0; n < std::min<std::size_t>(order.size(), 10); ++n) {
    const Result& r = *order[n];
    text += formatted("\n%6.3f  %s  %s  (%s)", r.ratio(), key_of(r.name).c_str(),
                      r.best_peer()->c_str(), r.reason().c_str());
  }
  return text;
}

std::string line_of(const Result& r) {
  std::string line =
      formatted("%s %2d %11.4f ms %7.1f %s %5.1f %% of %s%.0f", r.name.c_str(), r.threads,
                r.seconds.at(kTenon) * 1e3, r.rate(kTenon), r.is_in_bytes ? "GB/s" : "GFLOPS",
                100 * r.rate(kTenon) / r.limit, r.is_in_bytes ? "a copy's " : "", r.limit);
  const std::optional<std::string> best = r.best_peer();
  if (!best) return line;
  line += formatted("  %.3f of %s, %s ", r.ratio(), best->c_str(), r.reason().c_str());
  for (const auto& [name, time] : r.seconds)
    if (name != kTenon && name != kCopy) line += formatted(" %s %.1f", name.c_str(), r.rate(name));
  return line;
}

Json json_of(const Result& r) {
  const char* unit = r.is_in_bytes ? "gbs" : "gflops";
  Json row{{"name", key_of(r.name)},
           {"threads", r.threads},
           {"milliseconds", r.seconds.at(kTenon) * 1e3},
           {unit, r.rate(kTenon)},
           {"share_of_peak", r.rate(kTenon) / r.limit},
           {"peak", r.limit}};
  if (const std::optional<std::string> best = r.best_peer()) {
    row["best_peer"] = *best;
    row["ratio"] = r.ratio();
    row["reason"] = r.reason();
  }
  for (const auto& [name, time] : r.seconds)
    if (name != kTenon && name != kCopy) row["peers"][name] = r.rate(name);
  return row;
}

// ---- files --------------------------------------------------------------------------------------

ResultFile ResultFile::read(const std::string& path) {
  ResultFile file;
  std::ifstream in(path);
  if (!in) return file;
  file.programs_ = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!file.programs_.is_object())
    throw std::runtime_error("`" + path + "` holds no results of benchmarks");
  return file;
}

void ResultFile::write(const std::string& path) const {
  std::ofstream out(path);
  out << programs_.dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write `" + path + "`");
}

std::optional<Json> ResultFile::find(const std::string& program, const Result& result) const {
  if (const auto rows = programs_.find(program); rows != programs_.end())
    for (const Json& row : *rows)
      if (is_row_of(row, result)) return row;
  return std::nullopt;
}

void ResultFile::put(const std::string& program, const Result& result) {
  Json& rows = programs_[program];
  for (Json& row : rows)
    if (is_row_of(row, result)) {
      row = json_of(result);
      return;
    }
  rows.push_back(json_of(result));
}

}  // namespace tenon::bench
