#include "tests/bench/common/program.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <regex>

#include "tenon/runtime/c_api.h"
#include "tenon/runtime/threads.h"
#include "tests/bench/common/peers.h"
#include "tests/bench/common/results.h"

namespace tenon::bench {

namespace po = boost::program_options;

namespace {

constexpr const char* kStandardOutput = "-";

po::options_description shared_options() {
  po::options_description options("of every benchmark");
  options.add_options()("help", "print this")("threads", po::value<int>()->default_value(1),
                                              "of everyone")(
      "turns", po::value<int>()->default_value(9), "times that each is timed, in turns")(
      "alone", po::bool_switch(), "only Tenon, after its results are compared with the libraries'")(
      "turn-ms", po::value<int>()->default_value(50), "how long a turn takes")(
      "filter", po::value<std::string>(), "only rows in whose name this regular expression is")(
      "json", po::value<std::string>()->implicit_value(kStandardOutput),
      "to this file, beside what it has of other benchmarks; without a name, a line for each row "
      "in place of the table")("compare", po::value<std::string>(),
                               "with the rows that --json wrote to this file");
  return options;
}

struct Copy {
  runtime::NDArray from, to;

  static std::int32_t run(void* copy, std::int64_t begin, std::int64_t end) {
    const auto& [from, to] = *static_cast<const Copy*>(copy);
    std::memcpy(to.data<std::uint8_t>() + begin, from.data<std::uint8_t>() + begin,
                static_cast<std::size_t>(end - begin));
    return kTenonOk;
  }
};

/// A copy by as many threads as the others have, unless starting them takes longer.
Contest copy_of(std::int64_t bytes) {
  const auto copy = std::make_shared<Copy>(runtime::NDArray::zeros({bytes}, UInt(8)),
                                           runtime::NDArray::zeros({bytes}, UInt(8)));
  constexpr std::int64_t kMinBytesOfThreads = 1 << 19;
  if (runtime::num_threads() == 1 || bytes < kMinBytesOfThreads)
    return {kCopy, [copy, bytes] { Copy::run(copy.get(), 0, bytes); }};
  return {kCopy, [copy, bytes] { tenon_parallel_for(&Copy::run, copy.get(), 0, bytes); }};
}

/// The machine's peak, measured once.
double peak_of(double (*measure)(int threads), int threads) {
  static std::map<double (*)(int), double> known;
  const auto [at, is_new] = known.try_emplace(measure);
  if (is_new) at->second = measure(threads);
  return at->second;
}

/// Seconds to copy so many bytes, measured once for each power of two.
double seconds_of_copy(double bytes) {
  static std::map<int, double> seconds_of_a_byte;
  const int log2 = std::max(10, static_cast<int>(std::ceil(std::log2(bytes))));
  const auto [at, is_new] = seconds_of_a_byte.try_emplace(log2);
  if (is_new) {
    const std::int64_t copied = std::int64_t{1} << log2;
    at->second = medians_of({copy_of(copied)}, 3, 0.01).at(kCopy) / static_cast<double>(copied);
  }
  return at->second * bytes;
}

std::map<std::string, double> bounds_of(const Work& work, const Settings& settings) {
  constexpr double kSecondsOfACall = 2e-9;  // measured by bench/calls
  std::map<std::string, double> bounds = {{"call", kSecondsOfACall}};
  if (work.peak) {
    bounds["multiply-adds"] = work.amount / peak_of(work.peak, settings.threads) * 1e-9;
    bounds["memory"] = seconds_of_copy(work.touched / 2);
  }
  return bounds;
}

/// How --turns, --turn-ms and --alone have rows timed.
struct Timing {
  int turns;
  double turn_seconds;
  bool is_alone;
};

Result timed(const Row& row, const Settings& settings, const Timing& timing) {
  std::vector<Contest> contests = row.prepare(settings);
  if (timing.is_alone) contests.erase(contests.begin() + 1, contests.end());
  const Work& work = row.work;
  const bool is_in_bytes = work.peak == nullptr;
  if (is_in_bytes) contests.push_back(copy_of(work.copied));
  const double peak = is_in_bytes ? 0 : peak_of(work.peak, settings.threads);
  Result result{row.name,
                settings.threads,
                work.amount,
                is_in_bytes,
                peak,
                medians_of(contests, timing.turns, timing.turn_seconds),
                bounds_of(work, settings)};
  if (is_in_bytes) {
    result.limit = 2e-9 * static_cast<double>(work.copied) / result.seconds.at(kCopy);
    result.bounds["memory"] = work.amount / result.limit * 1e-9;
  }
  return result;
}

/// How fast rows are beside those of an earlier run.
class Comparison {
 public:
  explicit Comparison(const std::string& path) : before_(ResultFile::read(path)) {}

  /// Returns the text that follows the row.
  std::string add(const std::string& program, const Result& result) {
    const std::optional<Json> before = before_.find(program, result);
    if (!before) return "  (new)";
    const double factor = before->value("milliseconds", 0.0) / (result.seconds.at(kTenon) * 1e3);
    logarithms_ += std::log(factor);
    ++rows_;
    char text[128];
    std::snprintf(text, sizeof text, "  %.3f of before, %.3f of the best peer then", factor,
                  before->value("ratio", 0.0));
    return text;
  }
  void print_mean(std::ostream& out) const {
    if (rows_ > 0)
      out << rows_ << " rows: " << std::exp(logarithms_ / rows_)
          << " times as fast as before, in the geometric mean\n";
  }

 private:
  ResultFile before_;
  double logarithms_ = 0;
  int rows_ = 0;
};

std::vector<Row> chosen_rows(const Program& program, const po::variables_map& given) {
  std::vector<Row> rows = program.rows(given);
  if (given.count("filter") != 0) {
    const std::regex filter(given["filter"].as<std::string>());
    std::erase_if(rows,
                  [&](const Row& row) { return !std::regex_search(key_of(row.name), filter); });
  }
  if (rows.empty()) throw po::error("no row is left");
  return rows;
}

int run_rows(const Program& program, const po::variables_map& given) {
  const Settings settings{positive(given, "threads"),
                          Target("llvm -num-cores=" + std::to_string(positive(given, "threads")))};
  const Timing timing{positive(given, "turns"), positive(given, "turn-ms") * 1e-3,
                      given["alone"].as<bool>()};
  const std::vector<Row> rows = chosen_rows(program, given);
  const std::string json = given.count("json") != 0 ? given["json"].as<std::string>() : "";
  ResultFile file = json.empty() || json == kStandardOutput ? ResultFile() : ResultFile::read(json);
  std::optional<Comparison> comparison;
  if (given.count("compare") != 0) comparison.emplace(given["compare"].as<std::string>());

  prepare_for_peers(settings.threads);
  runtime::set_num_threads(settings.threads);
  if (json != kStandardOutput) print_peers(std::cout, settings.threads);
  int status = 0;
  std::map<std::string, std::vector<Result>> results;
  for (const Row& row : rows) {
    const std::string& group = row.group.empty() ? program.name : row.group;
    try {
      const Result result = timed(row, settings, timing);
      if (json == kStandardOutput)
        std::cout << json_of(result).dump() << std::endl;
      else
        std::cout << line_of(result) << (comparison ? comparison->add(group, result) : "")
                  << std::endl;
      file.put(group, result);
      results[group].push_back(result);
    } catch (const std::exception& error) {
      std::cerr << program.name << ": " << row.name << ": " << error.what() << "\n";
      status = 1;
    }
  }
  if (comparison) comparison->print_mean(std::cout);
  if (json != kStandardOutput && rows.size() > 1)
    for (const auto& [group, of_group] : results)
      std::cout << "# " << group << ": " << distribution_of(of_group) << "\n";
  if (!json.empty() && json != kStandardOutput) file.write(json);
  return status;
}

}  // namespace

std::string formatted(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

runtime::NDArray taken_out(const runtime::NDArray& result) {
  const runtime::NDArray copy = result.copy_to(cpu(0));
  runtime::NDArray::zeros(result.shape(), result.dtype()).copy_to(result);
  return copy;
}

int positive(const po::variables_map& given, const char* option) {
  const int value = given[option].as<int>();
  if (value < 1) throw po::error("--" + std::string(option) + " takes a positive number");
  return value;
}

int run(int argc, char** argv, const Program& program) {
  po::options_description options;
  options.add(program.options).add(shared_options());
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
    if (given.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    return run_rows(program, given);
  } catch (const po::error& error) {
    std::cerr << program.name << ": " << error.what() << "\n" << options;
    return 2;
  } catch (const std::regex_error& error) {
    std::cerr << program.name << ": --filter: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << program.name << ": " << error.what() << "\n";
    return 2;
  }
}

}  // namespace tenon::bench
