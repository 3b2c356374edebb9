// fuzz_inputs [--kind script|trace|target|database] [--seed S] [--count N] [--limit SECONDS]
// [--print]: mutated inputs, of one kind or of each. Prints every finding; the exit status is 1 if
// there is one.
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/inputs/campaign.h"

int main(int argc, char** argv) {
  using namespace tenon::fuzz;
  Campaign campaign{.first_seed = 1, .count = 10000};
  std::string kind;
  bool prints = false;
  for (int n = 1; n < argc; ++n) {
    const std::string option = argv[n];
    if (option == "--print") {
      prints = true;
      continue;
    }
    const std::string value = n + 1 < argc ? argv[++n] : "";
    const auto number = std::strtoull(value.c_str(), nullptr, 10);
    if (option == "--kind") {
      kind = value;
    } else if (option == "--seed") {
      campaign.first_seed = number;
    } else if (option == "--count") {
      campaign.count = number;
    } else if (option == "--limit" && number > 0) {
      campaign.limit_s = static_cast<int>(number);
    } else {
      std::cerr
          << "fuzz_inputs: options are --kind script|trace|target|database, --seed S, --count N, "
             "--limit SECONDS (of one input), --print (the texts, without trying them)\n";
      return 2;
    }
  }
  std::uint64_t findings = 0, inputs = 0;
  for (const Kind each : kKinds) {
    if (!kind.empty() && kind != to_string(each)) continue;
    campaign.kind = each;
    if (prints) {
      for (std::uint64_t n = 0; n < campaign.count; ++n)
        std::cout << mutated(seeds_of(each), campaign.first_seed + n) << '\n';
      continue;
    }
    run(campaign, [&](const Finding& finding) {
      ++findings;
      std::cout << "---- " << to_string(each) << " " << finding.seed << ": " << finding.what << "\n"
                << finding.text.substr(0, 3000) << std::endl;
    });
    inputs += campaign.count;
  }
  if (!prints) std::cout << inputs << " inputs, " << findings << " finding(s)\n";
  return findings > 0 ? 1 : 0;
}
