// The sum of two arrays for every target, with the source of its code.
//
// The target determines the language of the code. `llvm` generates machine code in this process.
// `c` generates C, which the system's C compiler compiles. `opencl` and `cuda` generate a kernel
// from the loops that are bound to threads, and host code that launches it. Each target makes a
// module. All modules are called in the same way, with arrays on the device that runs the code.
#include <tenon/inspect/loop_page.h>
#include <tenon/tenon.h>
#include <tenon/tooling/command_line.h>

#include <iostream>

using namespace tenon;

namespace {

/// Whether the function adds two random arrays on the device.
bool adds(const runtime::Function& add, int n, Device device) {
  const auto a = runtime::NDArray::random({n}, Float(32));
  const auto b = runtime::NDArray::random({n}, Float(32));
  const auto there = runtime::NDArray::empty({n}, Float(32), device);
  add(a.copy_to(device), b.copy_to(device), there);
  const auto c = there.copy_to(cpu(0));
  for (int i = 0; i < n; ++i)
    if (c.data<float>()[i] != a.data<float>()[i] + b.data<float>()[i]) return false;
  return true;
}

struct Place {
  const char* target;
  Device device;
};

const Place kPlaces[] = {{"llvm", cpu(0)}, {"c", cpu(0)}, {"opencl", opencl(0)}, {"cuda", cuda(0)}};

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "C = A + B for every target, with the source of the code.",
      .size_means = "the number of elements",
      .size = 1024,
      .check_size = 1000,
      .greatest_size = 1 << 28};
  return run_command_line(argc, argv, settings, [&](const CommandLineOptions& options) {
    const int n = options.size.value_or(settings.size);
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::placeholder({n}, "B");
    te::Tensor C = te::compute(
        {n}, {"i"}, [&](Var i) { return A(i) + B(i); }, "C");

    bool right = true;
    std::vector<LoopView> views;
    for (const auto& [target, device] : kPlaces) {
      te::Schedule s = te::create_schedule({C});
      if (device.type != DeviceType::Cpu) {
        auto [block, thread] = s[C].split(s[C].axis(0), 64);
        s[C].bind(block, te::thread_axis("blockIdx.x"));
        s[C].bind(thread, te::thread_axis("threadIdx.x"));
      }
      if (options.emit == Emit::Html) {
        views.push_back(view_loops(s, {A, B, C}, Target(target), {.name = "add"}));
        views.back().name = target;
        continue;
      }
      const runtime::Module module = build(s, {A, B, C}, Target(target), {.name = "add"});
      std::cout << "---- " << target << " ----\n" << module.get_source();
      if (!options.runs()) continue;
      if (!device.exists()) {
        std::cout << "check " << target << ": left out, " << device.why_missing() << "\n";
        continue;
      }
      const bool is_right = adds(module["add"], n, device);
      std::cout << "check " << target << ": " << (is_right ? "right" : "wrong") << "\n";
      right &= is_right;
    }
    if (!views.empty()) std::cout << loop_page(options.program, views);
    return right ? 0 : 1;
  });
}
