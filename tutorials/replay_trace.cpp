// Replays a trace on a block program, and prints the result.
//
//   replay_trace MODULE.txt TRACE.txt [--emit=script|simple|ll|asm|html] [--check] [--target=llvm]
//
// MODULE.txt is a script as s_tir::print_script writes it. TRACE.txt is a trace as Schedule::trace
// prints it, or JSON. Standard output has only the program after the trace, as a script, as lowered
// loops, as LLVM IR or as assembly. With --emit=html it has a page with the program before and
// after the trace.
//
// With --check, the programs before and after the trace run, and the comparison of their results
// goes to standard error. If a step is refused, nothing is printed to standard output, the reason
// goes to standard error, and the exit status is 1.
#include <tenon/inspect/loop_page.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check_functions.h>

#include <fstream>
#include <iostream>
#include <sstream>

using namespace tenon;

namespace {

struct Options {
  std::vector<std::string> files;
  std::string emit = "script";
  std::string target = "llvm";
  bool check = false;
};

constexpr const char* kUsage =
    "usage: replay_trace MODULE.txt TRACE.txt [--emit=script|simple|ll|asm|html] [--check] "
    "[--target=llvm]\n";

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    const std::string argument = argv[n];
    const auto value_of = [&](const std::string& key) -> std::optional<std::string> {
      if (!argument.starts_with(key + "=")) return std::nullopt;
      return argument.substr(key.size() + 1);
    };
    if (const auto emit = value_of("--emit"))
      options.emit = *emit;
    else if (const auto target = value_of("--target"))
      options.target = *target;
    else if (argument == "--check")
      options.check = true;
    else if (argument.starts_with("--"))
      return std::nullopt;
    else
      options.files.push_back(argument);
  }
  const bool is_known = options.emit == "script" || options.emit == "simple" ||
                        options.emit == "ll" || options.emit == "asm" || options.emit == "html";
  if (options.files.size() != 2 || !is_known) return std::nullopt;
  return options;
}

std::string contents(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw RuntimeError("`" + path + "` cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Compares each function before and after, on the same random inputs.
bool check(const tir::IRModule& before, const tir::IRModule& after, const Target& target) {
  bool is_fine = true;
  for (const auto& [name, func] : before.functions) {
    const CheckReport report = check_functions(func, after.functions.at(name), {.target = target});
    std::cerr << name << ": " << (report.fine() ? "right" : "WRONG") << ", largest error "
              << report.worst.largest_error << " in `" << report.argument << "`\n";
    is_fine = is_fine && report.fine();
  }
  return is_fine;
}

int run(const Options& options) {
  const tir::IRModule before = s_tir::parse_script(contents(options.files[0]));
  s_tir::Schedule sch(before);
  sch.apply_trace(s_tir::parse_trace(contents(options.files[1])));
  const Target target(options.target);
  if (options.emit == "script") {
    std::cout << s_tir::print_script(sch.mod());
  } else if (options.emit == "simple") {
    for (const auto& [name, func] : sch.mod().functions)
      std::cout << lower(func, {.simple_mode = true, .name = name});
  } else if (options.emit == "html") {
    std::cout << loop_page("replay_trace", {view_loops(before, target, {.name = "before"}),
                                            view_loops(sch.mod(), target, {.name = "after"})});
  } else {
    std::cout << build(sch.mod(), target).get_source(options.emit);
  }
  return options.check && !check(before, sch.mod(), target) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::cerr << kUsage;
    return 2;
  }
  try {
    return run(*options);
  } catch (const Error& error) {
    std::cerr << error.sentence() << '\n';
    return 1;
  }
}
