// device_kit: runs the cases of device_kit_prepare on a device. Needs only the runtime library.
//
//   device_kit probe   --kernels kernels/sm_90 --results results/probe.jsonl
//   device_kit check   --kernels kernels/sm_90 --results results/topi.jsonl --group topi
//   device_kit measure --kernels kernels/sm_90 --results results/tables.jsonl
//   device_kit run     --kernels kernels/sm_90 --only NAME     one case in this process, for tools
//   device_kit report results
#include <cstdio>
#include <optional>
#include <sstream>

#include "tenon/support/error.h"
#include "tests/device_kit/measure.h"
#include "tests/device_kit/results.h"

namespace tenon::device_kit {

namespace {

int usage() {
  std::fprintf(stderr,
               "usage: device_kit probe|check|measure|run --kernels FOLDER --results FILE\n"
               "         [--group G,H] [--only TEXT] [--device cuda|opencl] [--limit SECONDS]\n"
               "         [--no-numbers]\n"
               "       device_kit report FOLDER\n");
  return 2;
}

/// Returns nullopt for unknown or incomplete options.
std::optional<CheckOptions> parse(int argc, char** argv) {
  CheckOptions options;
  for (int n = 2; n < argc; ++n) {
    const std::string name = argv[n];
    if (name == "--no-numbers") {
      options.numbers = false;
      continue;
    }
    if (n + 1 == argc) return std::nullopt;
    const std::string text = argv[++n];
    if (name == "--kernels") {
      options.kernels = text;
    } else if (name == "--results") {
      options.results = text;
    } else if (name == "--group") {
      std::istringstream words(text);
      for (std::string group; std::getline(words, group, ',');) options.groups.insert(group);
    } else if (name == "--only") {
      options.only = text;
    } else if (name == "--limit") {
      options.seconds = std::stod(text);
    } else if (name == "--device" && (text == "cuda" || text == "opencl")) {
      options.device = text == "cuda" ? cuda(0) : opencl(0);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

int run(const CheckOptions& options) {
  std::string wrong;
  if (options.only.starts_with("runtime_")) {
    wrong = run_runtime_check(options, options.only);
  } else {
    wrong = run_case(options, options.only);
  }
  std::printf("%s: %s\n", options.only.c_str(), wrong.empty() ? "right" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "report" && argc == 3) return report(argv[2]) ? 0 : 1;
  const std::optional<CheckOptions> options = parse(argc, argv);
  if (!options) return usage();
  if (command == "probe") return probe(*options);
  if (command == "check") return check(*options);
  if (command == "measure") return measure(*options);
  if (command == "run") return run(*options);
  return usage();
}

}  // namespace

}  // namespace tenon::device_kit

int main(int argc, char** argv) {
  try {
    return tenon::device_kit::main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device_kit: %s\n", error.what());
    return 1;
  }
}
