#include "tenon/tooling/command_line.h"

#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>

#include "tenon/driver/text.h"
#include "tenon/runtime/threads.h"

namespace tenon {

namespace {

namespace po = boost::program_options;

constexpr std::array<std::pair<std::string_view, Emit>, 10> kEmits = {{{"simple", Emit::Simple},
                                                                       {"loops", Emit::Loops},
                                                                       {"final", Emit::Final},
                                                                       {"outline", Emit::Outline},
                                                                       {"dot", Emit::Dot},
                                                                       {"ll", Emit::Ll},
                                                                       {"asm", Emit::Asm},
                                                                       {"source", Emit::Source},
                                                                       {"svg", Emit::Svg},
                                                                       {"html", Emit::Html}}};

constexpr std::array<std::pair<std::string_view, ProfileForm>, 3> kProfiles = {
    {{"table", ProfileForm::Table}, {"json", ProfileForm::Json}, {"trace", ProfileForm::Trace}}};

/// An error in the arguments of the command line.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OptionText {
  const char* name;
  /// The name of the value. Empty if the option takes no value.
  const char* value;
  const char* help;
  /// The value if none is given. Null if a value is required.
  const char* implicit_value = nullptr;
  /// Whether the option may be repeated.
  bool is_list = false;
};

constexpr std::array<OptionText, 12> kOptions = {{
    {"help", "", "print this help and exit"},
    {"emit", "simple|loops|final|outline|dot|ll|asm|source|svg|html",
     "print the loops as TVM 0.9 text, the loops before any pass, the final loops from which code "
     "is generated, with all decisions of the compiler (see --autotune-loops), an outline of the "
     "schedule, Graphviz graphs (data flow, attachments, axes) as text or drawn, LLVM IR, "
     "assembly, the target's source, or an HTML page with loops, machine code and buffers side by "
     "side"},
    {"target", "TARGET", "the target, such as \"c\"; default: \"llvm -mcpu=native\""},
    {"size", "N", ""},
    {"threads", "N", "threads of parallel loops; default: the number of processors"},
    {"check", "", "run every schedule and compare its results with the reference"},
    {"time", "", "run every schedule and print its time"},
    {"profile", "table|json|trace",
     "run every schedule and print the time of each stage, as a table (default), as JSON, or as a "
     "trace for browsers. With --emit=html, the page shows it",
     "table"},
    {"save", "FOLDER",
     "write the code of every schedule to the folder, as numbered libraries for Module::load"},
    {"dump-after", "PASS|all",
     "print the function after a lowering pass to standard error; may be repeated", nullptr, true},
    {"time-passes", "",
     "print the time of each step of the compiler, passes included, to standard error"},
    {"autotune-loops", "yes|no",
     "whether the compiler jams and vectorizes all serial loops, or none; default: those of "
     "stages without a schedule"},
}};

po::options_description describe_options(const ProgramSettings& settings) {
  std::string size = settings.size_means + "; " + std::to_string(settings.size) + " by default";
  if (settings.check_size != settings.size)
    size += " (with --check, " + std::to_string(settings.check_size) + ")";
  po::options_description options("Options", 100);
  for (const OptionText& option : kOptions) {
    const char* help = *option.help == '\0' ? size.c_str() : option.help;
    if (*option.value == '\0') {
      options.add_options()(option.name, help);
    } else if (option.is_list) {
      auto* values = po::value<std::vector<std::string>>()->composing();
      options.add_options()(option.name, values->value_name(option.value), help);
    } else {
      auto* value = po::value<std::string>()->value_name(option.value);
      if (option.implicit_value) value->implicit_value(option.implicit_value);
      options.add_options()(option.name, value, help);
    }
  }
  return options;
}

std::string known_options() {
  std::vector<std::string> known;
  for (const OptionText& option : kOptions)
    known.push_back("--" + std::string(option.name) + (*option.value == '\0' ? "" : "=") +
                    option.value);
  return "Known: " + joined(known, ", ") + ".";
}

int parse_number(const std::string& option, const std::string& text, int least, int greatest) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > greatest)
    throw UsageError("--" + option + " needs a number from " + std::to_string(least) + " to " +
                     std::to_string(greatest) + ", not '" + text + "'.");
  return number;
}

bool parse_yes_or_no(const std::string& option, const std::string& text) {
  if (text != "yes" && text != "no")
    throw UsageError("--" + option + " needs yes or no, not '" + text + "'.");
  return text == "yes";
}

template <class Value, std::size_t kCount>
Value parse_choice(const std::string& option, const std::string& text,
                   const std::array<std::pair<std::string_view, Value>, kCount>& choices) {
  std::vector<std::string> known;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    known.emplace_back(name);
  }
  throw UsageError("unknown --" + option + "='" + text + "'. Known: " + joined(known, ", ") + ".");
}

std::vector<std::string> parse_passes(const std::vector<std::string>& wanted) {
  const std::vector<std::string> known = pass_names();
  std::vector<std::string> passes;
  for (const std::string& pass : wanted) {
    if (pass == "all") return known;
    if (std::ranges::find(known, pass) == known.end())
      throw UsageError("unknown pass --dump-after='" + pass + "'. Known: all, " +
                       joined(known, ", ") + ".");
    if (std::ranges::find(passes, pass) == passes.end()) passes.push_back(pass);
  }
  return passes;
}

Target parse_target(const std::string& text) {
  try {
    return Target(text);
  } catch (const TargetError& error) {
    throw UsageError("--target='" + text + "': " + error.what() + ".");
  }
}

po::variables_map parse_words(int argc, char** argv, const po::options_description& options) {
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    const po::parsed_options parsed = po::command_line_parser(argc, argv)
                                          .options(options)
                                          .style(style)
                                          .allow_unregistered()
                                          .run();
    for (const po::option& option : parsed.options)
      if (option.unregistered || option.position_key != -1)
        throw UsageError("unknown option '" + option.original_tokens.at(0) + "'. " +
                         known_options());
    po::store(parsed, values);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + ". " + known_options());
  }
  return values;
}

/// Returns the options, or nullopt if help is requested.
std::optional<CommandLineOptions> parse(int argc, char** argv, const ProgramSettings& settings) {
  const po::variables_map values = parse_words(argc, argv, describe_options(settings));
  if (values.contains("help")) return std::nullopt;
  auto text = [&](const char* name) { return values[name].as<std::string>(); };
  CommandLineOptions options;
  if (values.contains("emit")) options.emit = parse_choice("emit", text("emit"), kEmits);
  if (values.contains("target")) options.target = parse_target(text("target"));
  if (values.contains("size"))
    options.size = parse_number("size", text("size"), settings.least_size, settings.greatest_size);
  if (values.contains("threads"))
    options.threads = parse_number("threads", text("threads"), 1, runtime::kMaxThreads);
  options.check = values.contains("check");
  options.time = values.contains("time");
  if (values.contains("save")) options.save = text("save");
  if (values.contains("profile"))
    options.profile = parse_choice("profile", text("profile"), kProfiles);
  if (values.contains("dump-after"))
    options.dump_after = parse_passes(values["dump-after"].as<std::vector<std::string>>());
  options.time_passes = values.contains("time-passes");
  if (values.contains("autotune-loops"))
    options.autotune_loops = parse_yes_or_no("autotune-loops", text("autotune-loops"));
  return options;
}

void print_passes(const char* heading, std::span<const lowering::Pass> passes) {
  std::cout << '\n' << heading << ":\n";
  for (const lowering::Pass& pass : passes)
    std::cout << "  " << std::left << std::setw(40) << pass.name << pass.reason << '\n';
}

void print_help(const std::string& program, const ProgramSettings& settings) {
  std::cout << "usage: " << program << " [options]\n\n"
            << settings.about << "\n\n"
            << describe_options(settings);
  print_passes("Passes in order, with the reasons for their positions",
               lowering::lowering_passes());
  print_passes("Then, for CPUs", lowering::host_passes());
}

}  // namespace

int run_command_line(int argc, char** argv, const ProgramSettings& settings,
                     const std::function<int(const CommandLineOptions&)>& body) {
  const std::string program =
      argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "program";
  try {
    std::optional<CommandLineOptions> options = parse(argc, argv, settings);
    if (!options) {
      print_help(program, settings);
      return 0;
    }
    options->program = program;
    if (options->threads) runtime::set_num_threads(*options->threads);
    return body(*options);
  } catch (const UsageError& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cout << std::flush;
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

lowering::PassOptions PassReports::watch(lowering::PassOptions passes, std::string title) {
  if (options_.autotune_loops) passes.autotune_loops = options_.autotune_loops;
  if (options_.dump_after.empty() && !options_.time_passes) return passes;
  passes.on_pass = [this,
                    title = std::move(title)](const lowering::PassOptions::PassReport& report) {
    const std::string pass(report.pass);
    ran_.insert(pass);
    if (options_.time_passes) add_step(times_, report.pass, report.seconds);
    if (std::ranges::find(options_.dump_after, pass) == options_.dump_after.end()) return;
    err_ << "=== " << title << " after " << pass << " ===\n"
         << tir::IRModule{{{"main", report.after}}};
  };
  return passes;
}

StepListener PassReports::steps() {
  if (!options_.time_passes) return {};
  return [this](std::string_view step, double seconds) { add_step(times_, step, seconds); };
}

tir::IRModule PassReports::lower(const std::string& title, const te::Schedule& schedule,
                                 const std::vector<LowerArgument>& args, LowerOptions options,
                                 SourceLocation where) {
  options.passes = watch(options.passes, title);
  options.on_step = steps();
  const auto start = std::chrono::steady_clock::now();
  tir::IRModule module = tenon::lower(schedule, args, options, where);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (options_.time_passes) err_ << "lower " << title << ": " << time.count() << " ms\n";
  return module;
}

codegen::Artifact PassReports::compile(const std::string& title, const te::Schedule& schedule,
                                       const std::vector<LowerArgument>& args, const Target& target,
                                       BuildOptions options, SourceLocation where) {
  double llvm = 0;
  options.passes = watch(options.passes, title);
  options.on_step = steps();
  if (options_.time_passes)
    options.on_step = [&, all = options.on_step](std::string_view step, double seconds) {
      if (is_step_of_llvm(step)) llvm += seconds * 1e3;
      all(step, seconds);
    };
  const auto start = std::chrono::steady_clock::now();
  codegen::Artifact artifact = tenon::compile(schedule, args, target, options, where);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (options_.time_passes)
    err_ << "compile " << title << ": " << time.count() << " ms, of which LLVM " << llvm << " ms\n";
  return artifact;
}

tir::IRModule PassReports::final_loops(const std::string& title, const te::Schedule& schedule,
                                       const std::vector<LowerArgument>& args, const Target& target,
                                       BuildOptions options, SourceLocation where) {
  options.passes = watch(options.passes, title);
  tir::IRModule module;
  options.passes.on_pass =
      [&, watched = options.passes.on_pass](const lowering::PassOptions::PassReport& report) {
        module.functions.insert_or_assign(report.after.attrs.global_symbol, report.after);
        if (watched) watched(report);
      };
  tenon::compile(schedule, args, target, options, where);
  return module;
}

void PassReports::finish() {
  if (options_.time_passes) print_steps(err_, times_);
  std::vector<std::string> idle;
  for (const std::string& pass : options_.dump_after)
    if (!ran_.contains(pass)) idle.push_back(pass);
  if (!idle.empty() && options_.dump_after.size() < pass_names().size())
    err_ << "these passes did not run, so nothing is dumped after them: " << joined(idle, ", ")
         << " (the passes before machine code run with --emit=ll or asm)\n";
}

}  // namespace tenon
