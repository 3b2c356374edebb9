#include "tenon/tune/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

#include "tenon/s_tir/script.h"
#include "tenon/tune/task_table.h"

namespace tenon::tune {

namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  return result;
}

/// Returns the range of a chart's axis: the range of the values, extended by a margin.
std::pair<double, double> axis(const std::vector<double>& values) {
  if (values.empty()) return {0, 1};
  const auto [low, high] = std::ranges::minmax(values);
  const double room = high > low ? 0.05 * (high - low) : std::max(std::abs(high) * 0.05, 0.5);
  return {low - room, high + room};
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(4);
  text << value;
  return text.str();
}

/// Returns a chart of the points (xs[n], ys[n]) as SVG. The axis of `ys` is logarithmic.
std::string chart(const std::string& title, const std::string& x_name, const std::string& y_name,
                  const std::vector<double>& xs, const std::vector<double>& ys, bool is_line) {
  constexpr double kWidth = 420, kHeight = 260, kLeft = 60, kBottom = 40, kTop = 12;
  std::vector<double> powers;
  for (const double y : ys) powers.push_back(std::log10(y));
  const auto [left, right] = axis(xs);
  const auto [bottom, top] = axis(powers);
  const auto x_of = [&](double x) {
    return kLeft + (x - left) / (right - left) * (kWidth - kLeft - 8);
  };
  const auto y_of = [&](double y) {
    return kHeight - kBottom -
           (std::log10(y) - bottom) / (top - bottom) * (kHeight - kBottom - kTop);
  };
  std::ostringstream svg;
  svg << "<figure><figcaption>" << escaped(title) << "</figcaption><svg viewBox=\"0 0 " << kWidth
      << ' ' << kHeight << "\" role=\"img\">";
  svg << "<path class=\"axis\" d=\"M" << kLeft << ' ' << kTop << "V" << kHeight - kBottom << "H"
      << kWidth - 8 << "\"/>";
  if (!xs.empty()) {
    for (const double share : {0.05, 0.5, 0.95}) {
      const double y = std::pow(10, bottom + share * (top - bottom));
      svg << "<text x=\"" << kLeft - 4 << "\" y=\"" << y_of(y) + 4 << "\" text-anchor=\"end\">"
          << number(y) << "</text>";
      const double x = left + share * (right - left);
      svg << "<text x=\"" << x_of(x) << "\" y=\"" << kHeight - kBottom + 14
          << "\" text-anchor=\"middle\">" << number(x) << "</text>";
    }
  }
  svg << "<text x=\"" << kWidth / 2 << "\" y=\"" << kHeight - 8 << "\" text-anchor=\"middle\">"
      << escaped(x_name) << "</text><text x=\"" << kLeft + 6 << "\" y=\"" << kTop + 8 << "\">"
      << escaped(y_name) << "</text>";
  if (is_line) {
    svg << "<path class=\"line\" d=\"";
    for (std::size_t n = 0; n < xs.size(); ++n)
      svg << (n == 0 ? "M" : "H") << x_of(xs[n]) << (n == 0 ? " " : "V") << y_of(ys[n]);
    svg << "\"/>";
  } else {
    for (std::size_t n = 0; n < xs.size(); ++n)
      svg << "<circle cx=\"" << x_of(xs[n]) << "\" cy=\"" << y_of(ys[n]) << "\" r=\"2.5\"/>";
  }
  svg << "</svg></figure>\n";
  return svg.str();
}

/// Returns the section about one program. `records` were all measured under the same conditions.
std::string section(const tir::IRModule& mod, const std::vector<Record>& records) {
  std::vector<double> trials, best, times, predicted, predicted_times, speeds;
  std::map<std::string, int> failures;
  for (std::size_t n = 0; n < records.size(); ++n) {
    const Measurement& own = records[n].measurement;
    if (!own.is_valid()) {
      ++failures[std::string(to_string(own.outcome)) + ": " + own.reason];
      continue;
    }
    const double microseconds = own.median() * 1e6;
    times.push_back(microseconds);
    trials.push_back(static_cast<double>(n + 1));
    best.push_back(best.empty() ? microseconds : std::min(best.back(), microseconds));
    if (!records[n].predicted) continue;
    predicted.push_back(*records[n].predicted);
    predicted_times.push_back(microseconds);
    speeds.push_back(1 / microseconds);
  }
  std::sort(times.begin(), times.end());
  std::vector<double> ranks(times.size());
  std::iota(ranks.begin(), ranks.end(), 1.0);
  const Conditions& conditions = records.front().conditions;
  std::ostringstream page;
  page << "<section><h2>" << escaped(mod.functions.begin()->first) << "</h2>\n<p>"
       << escaped(conditions.processor) << ", " << conditions.threads << " thread(s), target <code>"
       << escaped(conditions.target) << "</code>; " << records.size() << " trials, " << times.size()
       << " measured.";
  if (!times.empty())
    page << " Best " << number(times.front()) << " &micro;s, "
         << number(estimate_flops(mod) / times.front() / 1e3) << " GFLOPS; slowest "
         << number(times.back() / times.front()) << " times that.";
  page << "</p>\n<div class=\"charts\">"
       << chart("Best time over trials", "trial", "us", trials, best, true)
       << chart("All times in order", "candidate", "us", ranks, times, false)
       << chart("Predicted and measured (rank correlation " +
                    number(rank_correlation(predicted, speeds)) + ")",
                "prediction, larger is faster", "us", predicted, predicted_times, false)
       << "</div>\n";
  if (!failures.empty()) {
    page << "<table><tr><th>Did not count</th><th>Trials</th></tr>\n";
    for (const auto& [reason, count] : failures)
      page << "<tr><td>" << escaped(reason) << "</td><td>" << count << "</td></tr>\n";
    page << "</table>\n";
  }
  page << "<details><summary>Program</summary><pre>" << escaped(s_tir::print_script(mod))
       << "</pre></details></section>\n";
  return page.str();
}

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tuning</title><style>
body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; }
.charts { display: flex; flex-wrap: wrap; gap: 1em; } figure { margin: 0; flex: 1 1 24em; }
svg { width: 100%; } svg text { font: 10px sans-serif; } .axis { fill: none; stroke: #888; }
.line { fill: none; stroke: #06c; stroke-width: 1.5; } circle { fill: #06c; fill-opacity: 0.5; }
table { border-collapse: collapse; } td, th { border: 1px solid #ccc; }
td, th { padding: 0.2em 0.6em; text-align: left; }
pre { overflow-x: auto; }
</style></head><body><h1>Tuning</h1>
)";

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double agree = 0, ordered_a = 0, ordered_b = 0;
  const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double x = sign(a[i] - a[j]), y = sign(b[i] - b[j]);
      agree += x * y;
      ordered_a += x * x;
      ordered_b += y * y;
    }
  return ordered_a > 0 && ordered_b > 0 ? agree / std::sqrt(ordered_a * ordered_b) : 0;
}

std::string report(const Database& database) {
  std::string page = kHead;
  for (const tir::IRModule& mod : database.workloads()) {
    std::vector<std::vector<Record>> alike;
    for (const Record& record : database.records(mod)) {
      const auto group = std::find_if(alike.begin(), alike.end(), [&](const auto& own) {
        return own.front().conditions.are_like(record.conditions);
      });
      if (group == alike.end())
        alike.push_back({record});
      else
        group->push_back(record);
    }
    for (const std::vector<Record>& records : alike) page += section(mod, records);
  }
  return page + "</body></html>\n";
}

}  // namespace tenon::tune
