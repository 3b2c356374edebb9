// make_kernels PATH: writes PATH.o, PATH.h and PATH.so with the function scale(A, B): B = 2 A, of
// any length, in parallel.
#include <tenon/tenon.h>

using namespace tenon;

int main(int, char** argv) {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n}, "A");
  const te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].parallel(s[B].axis(0));
  const runtime::Module module = build(s, {A, B}, Target("llvm"), {.name = "scale"});
  const std::string path = argv[1];
  for (const char* suffix : {".o", ".h", ".so"}) module.save(path + suffix);
}
