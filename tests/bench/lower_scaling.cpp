// How the time of `lower` grows with the number of stages: chains of element-wise stages, each
// stage at root, all inlined, or all computed at one loop of the last stage. Should grow in
// proportion, and stay below a second at 800.
#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>

using namespace tenon;

namespace {

using Clock = std::chrono::steady_clock;

enum class Place { Root, Inline, SplitLoop };

struct Chain {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

Chain make_chain(int length, Place place) {
  const int n = 1024;
  te::Tensor first = te::placeholder({n}, "A");
  std::vector<te::Tensor> stages;
  te::Tensor last = first;
  for (int i = 0; i < length; ++i) {
    te::Tensor read = last;
    last = te::compute(
        {n}, {"i"}, [&](Var x) { return read(x) * 2.0f + 1.0f; }, "T" + std::to_string(i));
    stages.push_back(last);
  }
  te::Schedule s = te::create_schedule({last});
  stages.pop_back();
  if (place == Place::Inline)
    for (const te::Tensor& stage : stages) s[stage].compute_inline();
  if (place == Place::SplitLoop) {
    auto [outer, inner] = s[last].split(s[last].axis(0), 32);
    for (const te::Tensor& stage : stages) s[stage].compute_at(s[last], outer);
  }
  return {s, {first, last}};
}

double lower_seconds(const Chain& chain) {
  const Clock::time_point start = Clock::now();
  const tir::IRModule module = lower(chain.schedule, chain.args, {.simple_mode = true});
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  internal_check(module.functions.size() == 1, "lower gave no function");
  return seconds;
}

/// The least of three.
double measure(int length, Place place) {
  const Chain chain = make_chain(length, place);
  double best = lower_seconds(chain);
  for (int n = 1; n < 3; ++n) best = std::min(best, lower_seconds(chain));
  return best;
}

void print_row(const std::string& name, Place place) {
  std::cout << std::left << std::setw(34) << name << std::right << std::fixed
            << std::setprecision(1);
  double half = 0, whole = 0;
  for (const int length : {100, 200, 400, 800}) {
    half = whole;
    whole = measure(length, place);
    std::cout << std::setw(11) << whole * 1e3 << std::flush;
  }
  std::cout << std::setw(12) << std::setprecision(2) << whole / half << std::endl;
}

}  // namespace

int main() {
  std::cout
      << "milliseconds of lower, by number of stages\n"
      << "stages                                    100        200        400        800     800 / 400\n";
  print_row("all at root", Place::Root);
  print_row("all inlined", Place::Inline);
  print_row("all computed at one split loop", Place::SplitLoop);
}
