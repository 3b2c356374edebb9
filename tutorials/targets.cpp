// One sum of two arrays for every target, each with the source of its code.
//
// A schedule says nothing of the language that its code is written in: the target does. `llvm`
// makes machine code in this process, `c` text that the system's C compiler takes. Both give the
// same module, which is called in the same way.
#include <tenon/tenon.h>
#include <tenon/tooling/command_line.h>

#include <iostream>

using namespace tenon;

namespace {

/// Whether the function adds.
bool adds(const runtime::Function& add, int n) {
  const auto a = runtime::NDArray::random({n}, Float(32));
  const auto b = runtime::NDArray::random({n}, Float(32));
  const auto c = runtime::NDArray::empty({n}, Float(32), cpu(0));
  add(a, b, c);
  for (int i = 0; i < n; ++i)
    if (c.data<float>()[i] != a.data<float>()[i] + b.data<float>()[i]) return false;
  return true;
}

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
    te::Schedule s = te::create_schedule({C});

    bool right = true;
    for (const char* target : {"llvm", "c"}) {
      const runtime::Module module = build(s, {A, B, C}, Target(target), {.name = "add"});
      std::cout << "---- " << target << " ----\n" << module.get_source();
      if (!options.runs()) continue;
      const bool is_right = adds(module["add"], n);
      std::cout << "check " << target << ": " << (is_right ? "right" : "wrong") << "\n";
      right &= is_right;
    }
    return right ? 0 : 1;
  });
}
